"""Other processes that use a gate."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from langgraph_compression import ThreadBusy
from tests.threads.gate_stores import Store
from tests.threads.gate_witness import Witness

SECONDS = 30


@contextmanager
def process(work: Callable[..., None], *args: object) -> Iterator["Other"]:
    """A process, spawned, that runs `work(connection, *args)`; killed at the end."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    child = spawn.Process(target=work, args=(theirs, *args))
    child.start()
    theirs.close()
    try:
        yield Other(child, ours)
    finally:
        child.kill()
        child.join(SECONDS)
        child.close()
        ours.close()


class Other:
    """Another process and the way to talk with it."""

    def __init__(self, child: Any, connection: "Connection[Any, Any]") -> None:
        self.child, self.connection = child, connection

    def hears(self, word: str) -> None:
        """Tell it something."""
        self.connection.send(word)

    def says(self) -> Any:
        """The next thing it tells."""
        assert self.connection.poll(SECONDS), "the process says nothing"
        return self.connection.recv()

    def kill(self) -> None:
        """SIGKILL, as the system does when memory is short."""
        self.child.kill()
        self.child.join(SECONDS)


def visit_often(connection: "Connection[Any, Any]", store: Store, folder: Path, times: int) -> None:
    """Turns, and each fifth time compress now; says how often it was inside and its refusals."""
    gate, witness = store.open(), Witness(folder)
    connection.send("ready")
    connection.recv()
    inside, refusals = 0, []
    for number in range(times):
        try:
            hold = gate.maintenance("t") if number % 5 == 4 else gate.turn("t")
            with hold:
                witness.visit(0.001)
            inside += 1
        except ThreadBusy as busy:
            refusals.append(busy.reason)
    connection.send((inside, refusals))


def hold_or_wait(connection: "Connection[Any, Any]", store: Store) -> None:
    """Take a turn, say so, and leave it when told: by return, or by `os._exit`."""
    gate = store.open()
    connection.send("ready")
    connection.recv()
    with gate.turn("t"):
        connection.send("inside")
        if connection.recv() == "exit":
            os._exit(1)
    connection.send("left")


def take_turns_when_told(connection: "Connection[Any, Any]", store: Store, log: Path) -> None:
    """For each word an OS thread that waits its turn and then writes the word down."""
    from concurrent.futures import ThreadPoolExecutor

    gate = store.open()

    def write(word: str) -> None:
        with gate.turn("t"), log.open("a") as file:
            file.write(word + "\n")

    connection.send("ready")
    with ThreadPoolExecutor(8) as pool:
        while (word := connection.recv()) != "end":
            pool.submit(write, word)
    connection.send("written")

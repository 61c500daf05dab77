"""The contract of gates, for every gate, within one process."""

import asyncio
import gc
import itertools
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from pathlib import Path

import pytest

from langgraph_compression import CompressionError, ThreadBusy
from langgraph_compression.threads.gate import Gate, Reason
from tests.threads.gate_stores import busy_reason, wait_until_queued
from tests.threads.gate_witness import Witness

SECONDS = 10
"""Far more than anything here takes; a test that hangs fails instead."""


def turn(gate: Gate, note: Callable[[], object] = lambda: None) -> None:
    with gate.turn("t"):
        note()


async def aturn(gate: Gate, note: Callable[[], object] = lambda: None) -> None:
    async with gate.turn("t"):
        note()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """OS threads."""
    with ThreadPoolExecutor(32) as pool:
        yield pool


# What compress now is told.


def test_a_free_thread_can_be_maintained_again_and_again(gate: Gate) -> None:
    assert [busy_reason(gate) for _ in range(3)] == [None, None, None]


def test_busy_by_a_turn(gate: Gate) -> None:
    with gate.turn("t"):
        assert busy_reason(gate) == "running"
        assert busy_reason(gate, "another") is None
    assert busy_reason(gate) is None


def test_busy_by_a_turn_async(gate: Gate) -> None:
    async def main() -> None:
        async with gate.turn("t"):
            with pytest.raises(ThreadBusy) as caught:
                async with gate.maintenance("t"):
                    pytest.fail("entered")
            assert caught.value.reason == "running"
        async with gate.maintenance("t"):
            pass

    asyncio.run(main())


def test_busy_by_maintenance(gate: Gate) -> None:
    with gate.maintenance("t"):
        assert busy_reason(gate) == "running"
    assert busy_reason(gate) is None


def test_busy_by_a_queue(gate: Gate, pool: ThreadPoolExecutor) -> None:
    with gate.turn("t"):
        queued = pool.submit(turn, gate)
        wait_until_queued(gate)
        assert not queued.done()
    queued.result(SECONDS)
    assert busy_reason(gate) is None


def test_a_refusal_can_be_sent_to_another_process() -> None:
    busy = pickle.loads(pickle.dumps(ThreadBusy("t", "waiting", ["model"], forceable=True)))
    assert (busy.thread_id, busy.reason) == ("t", "waiting")
    assert (busy.resumable_at, busy.forceable) == (("model",), True)
    assert "'t'" in str(busy)
    assert "waiting" in str(busy)


def test_of_eight_maintenances_at_once_one_is_accepted(
    gate: Gate, pool: ThreadPoolExecutor
) -> None:
    start, refused = threading.Barrier(8), threading.Semaphore(0)

    def maintain() -> Reason | None:
        start.wait(SECONDS)
        try:
            with gate.maintenance("t"):
                for _ in range(7):
                    assert refused.acquire(timeout=SECONDS)
                return None
        except ThreadBusy as busy:
            refused.release()
            return busy.reason

    for _ in range(3):
        answers = [task.result() for task in [pool.submit(maintain) for _ in range(8)]]
        assert sorted(map(str, answers)) == ["None"] + 7 * ["running"]


def test_of_eight_async_maintenances_at_once_one_is_accepted(gate: Gate) -> None:
    async def main() -> None:
        refused = asyncio.Semaphore(0)

        async def maintain() -> Reason | None:
            try:
                async with gate.maintenance("t"):
                    async with asyncio.timeout(SECONDS):
                        for _ in range(7):
                            await refused.acquire()
                    return None
            except ThreadBusy as busy:
                refused.release()
                return busy.reason

        answers = await asyncio.gather(*(maintain() for _ in range(8)))
        assert sorted(map(str, answers)) == ["None"] + 7 * ["running"]

    asyncio.run(main())


# Order.


def test_turns_wait_for_maintenance(gate: Gate, pool: ThreadPoolExecutor) -> None:
    log: list[str] = []
    with gate.maintenance("t"):
        waiting = pool.submit(turn, gate, lambda: log.append("turn"))
        wait_until_queued(gate)
        time.sleep(0.1)
        log.append("maintained")
    waiting.result(SECONDS)
    assert log == ["maintained", "turn"]


def test_turns_keep_their_order(gate: Gate, pool: ThreadPoolExecutor) -> None:
    log: list[int] = []
    with gate.turn("t"):
        waiting = []
        for number in range(8):
            waiting.append(pool.submit(turn, gate, partial(log.append, number)))
            time.sleep(0.05)
    for task in waiting:
        task.result(SECONDS)
    assert log == list(range(8))


def test_async_turns_keep_the_order_in_which_their_tasks_start(gate: Gate) -> None:
    log: list[int] = []

    async def main() -> None:
        async with gate.turn("t"):
            waiting = [
                asyncio.create_task(aturn(gate, partial(log.append, number)))
                for number in range(20)
            ]
            await asyncio.sleep(0.3)
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(*waiting)

    asyncio.run(main())
    assert log == list(range(20))


def test_sync_and_async_turns_stand_in_one_queue(gate: Gate, pool: ThreadPoolExecutor) -> None:
    """From OS threads and from an event loop in each of several threads."""
    log: list[int] = []
    with gate.turn("t"):
        waiting: list[Future[None]] = []
        for number in range(8):

            def note(number: int = number) -> None:
                log.append(number)

            if number % 2:
                waiting.append(pool.submit(turn, gate, note))
            else:
                waiting.append(pool.submit(asyncio.run, aturn(gate, note)))
            time.sleep(0.05)
    for task in waiting:
        task.result(SECONDS)
    assert log == list(range(8))


def test_turns_never_interleave(gate: Gate, pool: ThreadPoolExecutor, tmp_path: Path) -> None:
    """OS threads and event loops, ordinary turns and compress now."""
    witness = Witness(tmp_path)
    accepted = itertools.count()

    def visitor() -> None:
        for _ in range(10):
            turn(gate, witness.visit)

    async def avisitor() -> None:
        for _ in range(10):
            await aturn(gate, witness.visit)

    def maintainer() -> None:
        for _ in range(10):
            try:
                with gate.maintenance("t"):
                    witness.visit()
                    next(accepted)
            except ThreadBusy:
                time.sleep(0.005)

    async def avisitors() -> None:
        await asyncio.gather(avisitor(), avisitor())

    tasks = [pool.submit(visitor), pool.submit(visitor), pool.submit(maintainer)]
    tasks += [pool.submit(asyncio.run, avisitors()) for _ in range(2)]
    for task in tasks:
        task.result(6 * SECONDS)
    assert witness.visits() == 60 + next(accepted)


def test_threads_do_not_wait_for_each_other(gate: Gate) -> None:
    with ExitStack() as held:
        for number in range(5):
            held.enter_context(gate.turn(f"t-{number}", timeout=SECONDS))


def test_threads_do_not_wait_for_each_other_async(gate: Gate) -> None:
    async def main() -> None:
        async with AsyncExitStack() as held, asyncio.timeout(SECONDS):
            for number in range(5):
                await held.enter_async_context(gate.turn(f"t-{number}"))

    asyncio.run(main())


# Release.


def test_an_error_releases_and_is_passed_on(gate: Gate) -> None:
    for hold in (gate.turn("t"), gate.maintenance("t")):
        with pytest.raises(ZeroDivisionError), hold:
            raise ZeroDivisionError
        assert busy_reason(gate) is None


def test_an_error_releases_and_is_passed_on_async(gate: Gate) -> None:
    async def fail(hold: object) -> None:
        async with hold:  # type: ignore[attr-defined]
            raise ZeroDivisionError

    for make in (gate.turn, gate.maintenance):
        with pytest.raises(ZeroDivisionError):
            asyncio.run(fail(make("t")))
        assert busy_reason(gate) is None


def test_cancellation_of_the_holder_releases(gate: Gate) -> None:
    async def main() -> None:
        inside = asyncio.Event()

        async def hold() -> None:
            async with gate.turn("t"):
                inside.set()
                await asyncio.sleep(3600)

        holder = asyncio.create_task(hold())
        await inside.wait()
        waiting = asyncio.create_task(aturn(gate))
        holder.cancel()
        async with asyncio.timeout(SECONDS):
            with pytest.raises(asyncio.CancelledError):
                await holder
            await waiting

    asyncio.run(main())
    assert busy_reason(gate) is None


def test_cancellation_in_the_queue_leaves_it(gate: Gate) -> None:
    log: list[int] = []

    async def main() -> None:
        async with gate.turn("t"):
            waiting = [
                asyncio.create_task(aturn(gate, partial(log.append, number))) for number in range(4)
            ]
            await asyncio.sleep(0.1)
            for cancelled in (waiting[0], waiting[2]):
                cancelled.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await cancelled
            for cancelled in (waiting[1], waiting[3]):
                assert not cancelled.done()
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(waiting[1], waiting[3])

    asyncio.run(main())
    assert log == [1, 3]
    assert busy_reason(gate) is None


@pytest.mark.parametrize("steps", range(6))
def test_cancellation_at_any_moment_leaves_nothing_behind(gate: Gate, steps: int) -> None:
    """Cancelled after some rounds of the event loop, while the store is being asked."""

    async def main() -> None:
        for pause in (0.0, 0.0002, 0.001):
            task = asyncio.create_task(aturn(gate, lambda: None))
            for _ in range(steps):
                await asyncio.sleep(pause)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        async with asyncio.timeout(SECONDS):
            await aturn(gate)

    asyncio.run(main())
    assert busy_reason(gate) is None


def test_the_end_of_an_event_loop_releases(gate: Gate) -> None:
    """Tasks that hold and wait when `asyncio.run` ends are cancelled by it."""

    async def main() -> None:
        holder = asyncio.create_task(hold_for_ever(gate))
        waiting = asyncio.create_task(aturn(gate))
        await asyncio.sleep(0.2)
        assert not holder.done()
        assert not waiting.done()

    asyncio.run(main())
    turn(gate)
    assert busy_reason(gate) is None


async def hold_for_ever(gate: Gate) -> None:
    async with gate.turn("t"):
        await asyncio.sleep(3600)


# A connection that is forgotten says so on its way out.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_forgotten_coroutine_releases(gate: Gate) -> None:
    """Its event loop is closed without cancelling it."""
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)
    tasks = [loop.create_task(hold_for_ever(gate)), loop.create_task(aturn(gate))]
    loop.run_until_complete(asyncio.sleep(0.2))
    loop.close()
    assert busy_reason(gate) == "queued"
    tasks.clear()
    deadline = time.monotonic() + SECONDS
    while busy_reason(gate):  # A question that was on its way keeps its task for a moment.
        assert time.monotonic() < deadline
        gc.collect()


# Waiting.


def test_waiting_does_not_block_the_event_loop(gate: Gate) -> None:
    async def main() -> float:
        async with gate.turn("t"):
            waiting = [asyncio.create_task(aturn(gate)) for _ in range(5)]
            longest, last = 0.0, time.monotonic()
            for _ in range(100):
                await asyncio.sleep(0.002)
                longest = max(longest, time.monotonic() - last)
                last = time.monotonic()
        await asyncio.gather(*waiting)
        return longest

    assert asyncio.run(main()) < 0.5


def test_turns_go_on_soon(gate: Gate, pool: ThreadPoolExecutor) -> None:
    with gate.turn("t"):
        waiting = pool.submit(turn, gate)
        time.sleep(0.3)
    released = time.monotonic()
    waiting.result(SECONDS)
    assert time.monotonic() - released < 1


@pytest.mark.parametrize("timeout", [0, 0.1])
def test_a_timeout_ends_the_waiting(gate: Gate, pool: ThreadPoolExecutor, timeout: float) -> None:
    async def wait() -> None:
        async with gate.turn("t", timeout=timeout):
            pytest.fail("entered")

    with gate.turn("t"):
        begin = time.monotonic()
        with pytest.raises(ThreadBusy, match="running"):
            pool.submit(gate.turn("t", timeout=timeout).__enter__).result(SECONDS)
        with pytest.raises(ThreadBusy, match="running"):
            pool.submit(asyncio.run, wait()).result(SECONDS)
        assert 2 * timeout <= time.monotonic() - begin < 2 * timeout + 2
        assert busy_reason(gate) == "running"
    with gate.turn("t", timeout=0):
        pass


@pytest.mark.parametrize("timeout", [-1, float("nan")])
def test_a_timeout_without_sense_is_refused(gate: Gate, timeout: float) -> None:
    with pytest.raises(CompressionError, match="timeout"):
        gate.turn("t", timeout=timeout)


# Mistakes.


def test_a_turn_in_its_own_turn_is_an_error(gate: Gate) -> None:
    with gate.turn("t"), gate.turn("another"):
        with pytest.raises(CompressionError, match="own turn"):
            turn(gate)
        assert busy_reason(gate) == "running"
    turn(gate)


def test_a_turn_in_its_own_turn_is_an_error_async(gate: Gate) -> None:
    async def main() -> None:
        async with gate.maintenance("t"):
            with pytest.raises(CompressionError, match="own turn"):
                await aturn(gate)
        await aturn(gate)

    asyncio.run(main())


def test_waiting_without_await_in_an_event_loop_is_an_error(gate: Gate) -> None:
    async def main() -> None:
        async with gate.turn("t"):
            with pytest.raises(CompressionError, match="async with"):
                await asyncio.create_task(blocking())
            with pytest.raises(ThreadBusy):
                await asyncio.create_task(blocking(timeout=0))
        await blocking()

    async def blocking(timeout: float | None = None) -> None:
        with gate.turn("t", timeout=timeout):
            pass

    asyncio.run(main())


def test_a_hold_is_good_for_one_time(gate: Gate) -> None:
    hold = gate.turn("t")
    with hold:
        with pytest.raises(CompressionError, match="another"), hold:
            pytest.fail("entered")
        assert busy_reason(gate) == "running"
    with pytest.raises(CompressionError, match="another"), hold:
        pytest.fail("entered")


# Names of threads.

ODD_IDS = ["", " ", "t", "T", "é", "e\u0301", "线程", "a\0b", "\0", "\ud800", "'; --", "x" * 70_000]


def test_every_string_is_a_thread_of_its_own(gate: Gate) -> None:
    with ExitStack() as held:
        for thread_id in ODD_IDS:
            held.enter_context(gate.turn(thread_id, timeout=SECONDS))
        assert {busy_reason(gate, thread_id) for thread_id in ODD_IDS} == {"running"}
    assert {busy_reason(gate, thread_id) for thread_id in ODD_IDS} == {None}


@pytest.mark.parametrize("thread_id", [None, 1, b"t"])
def test_other_values_are_refused(gate: Gate, thread_id: object) -> None:
    with pytest.raises(CompressionError, match="give a string"):
        gate.turn(thread_id)  # type: ignore[arg-type]

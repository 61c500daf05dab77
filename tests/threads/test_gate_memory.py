"""What only the gate in memory promises."""

import asyncio
import tracemalloc

from langgraph_compression import MemoryGate


def test_threads_that_nobody_uses_cost_no_memory() -> None:
    gate = MemoryGate()

    async def use(first: int) -> None:
        for number in range(first, first + 5_000):
            async with gate.turn(f"thread {number}"):
                pass
            with gate.maintenance(f"thread {number}"):
                pass

    asyncio.run(use(0))
    tracemalloc.start()
    try:
        asyncio.run(use(5_000))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 100_000, "bytes, less than 20 for each thread"


def test_two_gates_know_nothing_of_each_other() -> None:
    with MemoryGate().turn("t"), MemoryGate().turn("t", timeout=0):
        pass

"""Child processes: what is killed, what survives, what it costs."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator

import psutil
import pytest
from paths import ROOT

from graph.adapters.processes.worker_pool import WorkerDied, WorkerError, WorkerPool, WorkerTimeout

PATIENCE, HELD = 300.0, 900.0
"""As in world.py, which a child that imports this file for its functions need not load."""


def take_memory(megabytes: int) -> int:
    return len(bytearray(megabytes << 20))


def fail_plainly(message: str) -> None:
    raise ValueError(message)


def fail_strangely() -> None:
    raise type("Strange", (Exception,), {})("odd")


def print_much(text: str) -> str:
    print(text * 1000, flush=True)
    os.write(1, text.encode())
    return text


def loaded_modules(name: str) -> list[str]:
    __import__(name)
    return sorted(sys.modules)


@pytest.fixture
async def children() -> AsyncIterator[WorkerPool]:
    pool = WorkerPool(workers=2, memory_mb=512)
    yield pool
    await pool.aclose()


def gone(pid: int) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


async def test_a_function_returns_its_value_from_another_process(children: WorkerPool) -> None:
    assert await children.run(print_much, "é", timeout=PATIENCE) == "é"
    assert await children.run(os.getpid, timeout=PATIENCE) != os.getpid()


async def test_children_start_at_first_use_and_are_kept(children: WorkerPool) -> None:
    first = await children.run(os.getpid, timeout=PATIENCE)
    assert await children.run(os.getpid, timeout=PATIENCE) == first


async def test_a_child_that_reads_pdfs_loads_neither_langgraph_nor_langchain(children: WorkerPool) -> None:
    modules = await children.run(loaded_modules, "graph.adapters.documents.file_reader", timeout=PATIENCE)
    heavy = {"langgraph", "langchain_core", "pydantic", "psycopg", "lxml", "typer"}
    assert not heavy & set(modules)


async def test_a_task_that_hangs_is_killed_and_the_next_one_is_fine(children: WorkerPool) -> None:
    pid = await children.run(os.getpid, timeout=PATIENCE)
    with pytest.raises(WorkerTimeout):
        await children.run(time.sleep, HELD, timeout=0.3)
    assert gone(pid)
    assert await children.run(os.getpid, timeout=PATIENCE) != pid


async def test_a_child_that_dies_costs_only_its_own_task(children: WorkerPool) -> None:
    slow = asyncio.create_task(children.run(time.sleep, 1, timeout=PATIENCE))
    await asyncio.sleep(0.1)
    with pytest.raises(WorkerDied, match="exit code 3"):
        await children.run(os._exit, 3, timeout=PATIENCE)
    with pytest.raises(WorkerDied, match="SIGABRT"):
        await children.run(os.abort, timeout=PATIENCE)
    await slow
    assert await children.run(os.path.basename, "a/b", timeout=PATIENCE) == "b"


async def test_a_child_killed_while_idle_is_replaced(children: WorkerPool) -> None:
    pid = await children.run(os.getpid, timeout=PATIENCE)
    os.kill(pid, signal.SIGKILL)
    (idle,) = children._idle
    async with asyncio.timeout(PATIENCE):
        while idle.returncode is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert await children.run(os.getpid, timeout=PATIENCE) != pid


@pytest.mark.skipif(sys.platform != "linux", reason="the memory limit is enforced on Linux only")
async def test_a_task_that_takes_too_much_memory_fails_alone(children: WorkerPool) -> None:
    with pytest.raises(WorkerDied, match="512 MB"):
        await children.run(take_memory, 2000, timeout=PATIENCE)
    assert await children.run(take_memory, 10, timeout=PATIENCE) == 10 << 20


async def test_a_child_that_has_grown_is_replaced_after_its_task(children: WorkerPool) -> None:
    pid = await children.run(os.getpid, timeout=PATIENCE)
    await children.run(take_memory, 300, timeout=PATIENCE)
    assert await children.run(os.getpid, timeout=PATIENCE) != pid


async def test_an_exception_of_the_function_arrives_as_itself(children: WorkerPool) -> None:
    with pytest.raises(ValueError, match="no good"):
        await children.run(fail_plainly, "no good", timeout=PATIENCE)
    with pytest.raises(WorkerError, match="Strange: odd"):
        await children.run(fail_strangely, timeout=PATIENCE)


async def test_no_more_than_the_given_number_run_at_once(children: WorkerPool) -> None:
    await asyncio.gather(*(children.run(time.sleep, 0.1, timeout=PATIENCE) for _ in range(6)))
    assert len(psutil.Process().children()) == 2


async def test_cancelling_kills_the_child(children: WorkerPool) -> None:
    pid = await children.run(os.getpid, timeout=PATIENCE)
    task = asyncio.create_task(children.run(time.sleep, HELD, timeout=2 * HELD))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gone(pid)


async def test_closing_ends_what_still_runs(children: WorkerPool) -> None:
    await children.run(os.getpid, timeout=PATIENCE)
    task = asyncio.create_task(children.run(time.sleep, HELD, timeout=2 * HELD))
    await asyncio.sleep(0.3)
    await children.aclose()
    with pytest.raises(WorkerDied):
        await task
    with pytest.raises(WorkerDied, match="closed"):
        await children.run(os.getpid, timeout=PATIENCE)


async def test_closing_ends_also_a_child_that_is_only_starting(children: WorkerPool) -> None:
    task = asyncio.create_task(children.run(os.getpid, timeout=PATIENCE))
    await asyncio.sleep(0)
    await children.aclose()
    with pytest.raises(WorkerDied, match="closed"):
        await task


PARENT = """
    import asyncio, os, sys, time
    from graph.adapters.processes.worker_pool import WorkerPool

    async def main():
        children = WorkerPool(workers=2)
        pids = await asyncio.gather(*(children.run(os.getpid, timeout=300) for _ in range(2)))
        print(*pids, flush=True)
        await asyncio.gather(*(children.run(time.sleep, 900, timeout=1000) for _ in range(2)))

    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(130)
"""


def start_parent() -> tuple[subprocess.Popen[str], list[int]]:
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PARENT)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    time.sleep(0.3)
    return parent, pids


def test_killing_the_parent_leaves_no_child() -> None:
    parent, pids = start_parent()
    assert pids and all(psutil.pid_exists(pid) for pid in pids)
    parent.kill()
    parent.communicate(timeout=PATIENCE)
    assert all(gone(pid) for pid in pids)


def test_ctrl_c_in_the_terminal_prints_no_traceback_of_a_child() -> None:
    parent, pids = start_parent()
    os.killpg(parent.pid, signal.SIGINT)
    _, errors = parent.communicate(timeout=PATIENCE)
    assert parent.returncode == 130
    assert "Traceback" not in errors
    assert all(gone(pid) for pid in pids)


async def test_a_large_parent_does_not_make_its_children_look_used_up() -> None:
    ballast = bytearray(600 << 20)
    ballast[:: 1 << 12] = b"x" * len(ballast[:: 1 << 12])
    pool = WorkerPool(workers=1, memory_mb=512)
    try:
        first = await pool.run(os.getpid, timeout=PATIENCE)
        assert await pool.run(os.getpid, timeout=PATIENCE) == first
    finally:
        await pool.aclose()
        del ballast

"""Worker processes that can be killed: documents are parsed there, so that a hostile one costs only itself.

Each worker has pipes of its own. A pool that shares one channel breaks as a whole when a worker dies while it holds the
channel's lock, or when it dies idle; here nothing is shared, so a death is the end of one task.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graph.adapters.processes.worker import HEADER, PIPE_BYTES, encode

WORKER = Path(__file__).with_name("worker.py")
LARGEST_ANSWER = 512 << 20
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class WorkerTimeout(Exception):
    """The function did not return in time; its process was killed."""


class WorkerDied(Exception):
    """The process of the function ended before it returned; the message says how."""


class WorkerError(Exception):
    """The function raised something that does not exist in this process."""


def usable_cpus() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class WorkerPool:
    """Runs functions in worker processes, at most `workers` at a time; they start at first use and are kept.

    Bound to the event loop of its first use. `memory_mb` is the limit of one worker.
    """

    def __init__(self, workers: int | None = None, memory_mb: int = 2048) -> None:
        self.workers = workers or usable_cpus()
        self.memory_mb = memory_mb
        self._slots = asyncio.Semaphore(self.workers)
        self._idle: list[asyncio.subprocess.Process] = []
        self._all: set[asyncio.subprocess.Process] = set()
        self._closed = False

    async def run(self, function: Callable[..., Any], *args: Any, timeout: float) -> Any:
        """Call a module-level function with JSON-plain arguments in a worker; return its JSON-plain value.

        A mapping that it returns may hold bytes, too.

        `timeout` counts from when a worker is free for it. Cancelling kills the worker.
        Raises WorkerTimeout, WorkerDied, or what the function raises (WorkerError for a class unknown here).
        """
        request = encode({"module": function.__module__, "name": function.__qualname__, "args": args})
        async with self._slots:
            if self._closed:
                raise WorkerDied("the children were closed")
            worker = await self._take()
            healthy = False
            try:
                if self._closed:  # while it started
                    raise WorkerDied("the children were closed")
                async with asyncio.timeout(timeout):
                    answer = await self._exchange(worker, request)
                healthy = not answer["retire"]
            except TimeoutError:
                raise WorkerTimeout(f"no answer within {timeout:g} s") from None
            finally:
                if healthy and not self._closed:
                    self._idle.append(worker)
                else:
                    await asyncio.shield(self._end(worker))
        return self._outcome(answer)

    async def aclose(self) -> None:
        """Kill all workers; what still runs in one ends with WorkerDied. Safe to call twice."""
        self._closed = True
        self._idle.clear()
        await asyncio.gather(*(self._end(worker) for worker in list(self._all)))

    async def _take(self) -> asyncio.subprocess.Process:
        while self._idle:
            worker = self._idle.pop()
            if worker.returncode is None:
                return worker
            await self._end(worker)
        return await self._start()

    async def _start(self) -> asyncio.subprocess.Process:
        command = [sys.executable, str(WORKER), str(os.getpid()), str(self.memory_mb), json.dumps(sys.path)]
        worker = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=PIPE_BYTES,
            env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
            start_new_session=True,  # a Ctrl-C in the terminal is for the parent alone
        )
        self._all.add(worker)
        return worker

    async def _exchange(self, worker: asyncio.subprocess.Process, request: bytes) -> dict[str, Any]:
        assert worker.stdin is not None and worker.stdout is not None
        try:
            worker.stdin.write(request)
            await worker.stdin.drain()
            (size,) = HEADER.unpack(await worker.stdout.readexactly(HEADER.size))
            if size > LARGEST_ANSWER:
                raise WorkerDied(f"an answer of {size} bytes is too large")
            body = await worker.stdout.readexactly(size)
            answer = json.loads(body) if size < 1 << 18 else await asyncio.to_thread(json.loads, body)
            for key, length in answer["bytes"].items():
                size += length
                if size > LARGEST_ANSWER:
                    raise WorkerDied(f"an answer of {size} bytes is too large")
                answer["value"][key] = await worker.stdout.readexactly(length)
        except (asyncio.IncompleteReadError, BrokenPipeError, ConnectionResetError):
            raise WorkerDied(await self._reason(worker)) from None
        except (ValueError, TypeError, KeyError, AttributeError):
            raise WorkerDied("its answer was not in the agreed form") from None
        if not isinstance(answer, dict) or "retire" not in answer:
            raise WorkerDied("its answer was not in the agreed form")
        return answer

    async def _reason(self, worker: asyncio.subprocess.Process) -> str:
        try:
            code = await asyncio.wait_for(worker.wait(), 5)
        except TimeoutError:
            return "its process closed its pipes"
        if code >= 0:
            return f"its process ended with exit code {code}"
        return f"its process was ended by {signal.Signals(-code).name}"

    def _outcome(self, answer: dict[str, Any]) -> Any:
        if "memory" in answer:
            raise WorkerDied(f"it needs more than {self.memory_mb} MB of memory")
        if "error" in answer:
            raise rebuilt(answer["error"])
        return answer.get("value")

    async def _end(self, worker: asyncio.subprocess.Process) -> None:
        if worker not in self._all:
            return
        self._all.discard(worker)
        with contextlib.suppress(ProcessLookupError):
            worker.kill()
        assert worker.stdin is not None
        worker.stdin.close()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            await worker.stdin.wait_closed()
        await worker.wait()


def rebuilt(error: dict[str, Any]) -> Exception:
    """Make the exception that a worker described; only from classes that are loaded here already."""
    loaded: Any = sys.modules.get(str(error["module"]))
    for part in str(error["name"]).split("."):
        loaded = getattr(loaded, part, None)
    if isinstance(loaded, type) and issubclass(loaded, Exception):
        with contextlib.suppress(TypeError, ValueError):
            return loaded(*error["args"])
    return WorkerError(f"{error['name']}: {error['text']}")

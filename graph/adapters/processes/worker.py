"""Main loop of a worker of `graph.adapters.processes.worker_pool`; started by its path, it imports next to nothing.

Protocol, over stdin and the descriptor that was stdout: an 8-byte big-endian length, then that many bytes of JSON.
JSON, not pickle: a child that a hostile document has taken over can answer nonsense, but not run code in its parent.
Bytes in the mapping that a function returns follow the JSON of an answer as they are; its `bytes` says how many under
which key, in their order.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import struct
import sys
import threading
import time
from typing import Any, BinaryIO

PR_SET_PDEATHSIG = 1
PIPE_BYTES = 1 << 20
HEADER = struct.Struct(">Q")


def end_with_parent(parent: int) -> None:
    """End this process when its parent ends, however the parent ends."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the call above
        os._exit(1)
    if sys.platform != "linux":
        threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def limit_memory(megabytes: int) -> None:
    """Let an allocation above this fail; where the system has no such limit, nothing is limited."""
    try:
        import resource
    except ImportError:
        return
    # On Linux the data segment counts private writable memory; address space would also count mapped model files.
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (megabytes << 20, megabytes << 20))


def widen(pipe: int) -> None:
    """Enlarge a pipe to hold a whole answer: each refill of a small one wakes both processes. Only Linux can."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def used_mb() -> float:
    """Peak memory of this process in MB, or 0 where it is not known."""
    # On Linux the usage that the system reports begins with what the parent had when it forked, so a large parent
    # would make every new child look used up; the high-water mark of the address space begins anew.
    with contextlib.suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024


def call(message: dict[str, Any]) -> dict[str, Any]:
    """Run what the message names and describe its outcome."""
    try:
        function: Any = importlib.import_module(message["module"])
        for part in message["name"].split("."):
            function = getattr(function, part)
        return {"value": function(*message["args"])}
    except MemoryError:
        return {"memory": True}
    except Exception as error:  # noqa: BLE001 - it is the parent's to judge
        return {"error": describe(error)}


def describe(error: Exception) -> dict[str, Any]:
    """Describe an exception as JSON-plain data from which the parent can make it again."""
    try:
        args = json.loads(json.dumps(error.args))
    except (TypeError, ValueError):
        args = [str(error)]
    return {"module": type(error).__module__, "name": type(error).__qualname__, "args": args, "text": str(error)}


def read_message(stream: BinaryIO) -> Any:
    """The next message, or None at the end of the stream."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    return json.loads(stream.read(HEADER.unpack(header)[0]))


def encode(message: Any) -> bytes:
    body = json.dumps(message, separators=(",", ":")).encode()
    return HEADER.pack(len(body)) + body


def split_bytes(outcome: dict[str, Any]) -> dict[str, bytes]:
    """Take the bytes out of what a function returned: as JSON they would be written and read twice."""
    value = outcome.get("value")
    if not isinstance(value, dict):
        return {}
    data = {key: part for key, part in value.items() if isinstance(part, bytes)}
    outcome["value"] = {key: part for key, part in value.items() if key not in data}
    return data


def serve(parent: int, memory_mb: int) -> None:
    """Answer messages until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    answers = os.fdopen(os.dup(1), "wb")
    widen(answers.fileno())
    os.dup2(2, 1)  # whatever a library prints must not get between the answers
    limit_memory(memory_mb)
    requests = sys.stdin.buffer
    while (message := read_message(requests)) is not None:
        outcome = call(message)
        # Memory that a library does not give back would add up over a night.
        retire = "memory" in outcome or used_mb() > memory_mb / 2
        data = split_bytes(outcome)
        answers.write(encode({**outcome, "retire": retire, "bytes": {key: len(part) for key, part in data.items()}}))
        for part in data.values():
            answers.write(part)
        answers.flush()
        if retire:
            return


if __name__ == "__main__":
    sys.path[:] = json.loads(sys.argv[3])
    serve(int(sys.argv[1]), int(sys.argv[2]))

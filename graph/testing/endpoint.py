"""A stand-in for a paid model endpoint: a real HTTP server on loopback which speaks the chat-completions protocol.

It runs in a process of its own, writes down every call it receives, and fails on purpose where it is told to.
``ScriptedEndpoint`` starts one and stops it; ``python -m graph.testing.endpoint`` runs one by hand. Either
way it ends with the process that started it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from graph.testing.faults import FAULTS, Settings
from graph.testing.server import serve

__all__ = ["FAULTS", "ScriptedEndpoint", "main"]


class ScriptedEndpoint:
    """A scripted endpoint in a process of its own, for as long as the ``with`` block lasts."""

    def __init__(
        self,
        *,
        log: Path | str | None = None,
        port: int = 0,
        latency: float = 0.0,
        seed: int = 0,
        faults: Mapping[str, float] | None = None,
        script: Sequence[Mapping[str, Any]] | None = None,
        retry_after: float | str | None = None,
        slow_seconds: float | None = None,
        key: str | None = None,
        models: Sequence[str] = (),
        context_tokens: int | None = None,
    ) -> None:
        self._log = Path(log) if log is not None else None
        self._port = port
        settings: dict[str, Any] = {
            "latency": latency,
            "seed": seed,
            "faults": dict(faults or {}),
            "script": list(script or ()),
            "retry_after": retry_after,
            "slow_seconds": slow_seconds,
            "key": key,
            "models": list(models),
            "context_tokens": context_tokens,
        }
        self._settings = {name: part for name, part in settings.items() if part is not None}
        self._process: subprocess.Popen[bytes] | None = None
        self.base_url = ""

    @property
    def log(self) -> Path:
        if self._log is None:
            own = tempfile.mkdtemp(prefix="scripted-endpoint-")
            weakref.finalize(self, shutil.rmtree, own, ignore_errors=True)
            self._log = Path(own) / "calls.jsonl"
        return self._log

    @property
    def pid(self) -> int:
        if self._process is None:
            raise RuntimeError("the scripted endpoint isn't running")
        return self._process.pid

    def start(self, timeout: float = 60.0) -> Self:
        command = [sys.executable, "-P", "-m", __spec__.name, "--port", str(self._port), "--log", str(self.log)]
        command += ["--settings", "-", "--parent", str(os.getpid())]
        root = str(Path(__file__).resolve().parents[2])
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,
        )
        assert process.stdin is not None and process.stdout is not None
        try:
            with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
                pipe.write(json.dumps(self._settings).encode())
            line = _first_line(process.stdout, timeout)
            if not line.startswith("READY "):
                raise RuntimeError(f"the scripted endpoint didn't come up (it said {line!r})")
        except BaseException:
            self.stop()
            raise
        self.base_url = line.split()[1]
        self._port = int(self.base_url.rpartition(":")[2].partition("/")[0])
        return self

    def stop(self) -> None:
        """End the process. The log stays readable, and ``start`` brings it back at the same address."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(2.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def calls(self, event: str | None = None) -> list[dict[str, Any]]:
        """The lines of the log since the last reset, all or those of one event."""
        lines = self.log.read_bytes().rpartition(b"\n")[0] if self.log.exists() else b""
        records: list[dict[str, Any]] = []
        for line in lines.splitlines():
            record = json.loads(line)
            if record["event"] == "reset":
                records.clear()
            else:
                records.append(record)
        return [record for record in records if event in (None, record["event"])]

    def counts(self) -> dict[str, Any]:
        counts: dict[str, Any] = self._request("GET", "/_counts")
        return counts

    def script(self, rules: Sequence[Mapping[str, Any]] | None = None, **settings: Any) -> None:
        """Put a new script, or other settings (``faults=``, ``latency=``, …), in the place of the present ones."""
        self._request("POST", "/_script", settings | ({} if rules is None else {"script": list(rules)}))

    def release(self, match: str = "") -> None:
        """Answer at once the calls that wait for their time, all or those with these words in the prompt.

        With a delay that nobody waits for, a test decides when its calls end, however fast or slow the machine is.
        """
        self._request("POST", "/_release", match)

    def reset(self) -> None:
        """Clear the counters, forget the calls and return to the settings of the start."""
        self._request("POST", "/_reset", {})

    def _request(self, method: str, path: str, body: Any = None) -> Any:
        host = self.base_url.removeprefix("http://").removesuffix("/v1")
        with contextlib.closing(http.client.HTTPConnection(host, timeout=60)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            reply = json.loads(response.read())
        if response.status != 200:
            raise ValueError(reply["error"]["message"])
        return reply


def _first_line(pipe: IO[bytes], timeout: float) -> str:
    line, until = b"", time.monotonic() + timeout
    while not line.endswith(b"\n"):
        if not select.select([pipe], [], [], max(0.0, until - time.monotonic()))[0]:
            break
        part = os.read(pipe.fileno(), 1024)
        if not part:
            break
        line += part
    return line.decode()


def _settings(options: argparse.Namespace) -> Settings:
    settings: dict[str, Any] = {"faults": {}}
    if options.settings:
        settings |= json.load(sys.stdin) if options.settings == "-" else json.loads(Path(options.settings).read_text())
    for name in ("latency", "seed", "retry_after", "slow_seconds", "key", "context_tokens"):
        if getattr(options, name) is not None:
            settings[name] = getattr(options, name)
    for pair in options.fault:
        kind, _, rate = pair.partition("=")
        settings["faults"][kind] = float(rate or 1)
    if options.model:
        settings["models"] = options.model
    if options.script:
        settings["script"] = json.loads(Path(options.script).read_text(encoding="utf-8"))
    return Settings().changed(settings)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripted_endpoint", description="A stand-in for a paid model endpoint.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--log", help="file the calls are written to, one JSON object a line")
    parser.add_argument("--latency", type=float, help="seconds an answer takes")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=RATE", help=", ".join(sorted(FAULTS)))
    parser.add_argument("--script", help="JSON file with the list of rules")
    parser.add_argument("--key", help="the only key that is let in; default: any")
    parser.add_argument("--model", action="append", default=[], help="a model it knows; default: any")
    parser.add_argument("--context-tokens", type=int, help="longer prompts are refused")
    parser.add_argument("--retry-after", type=float, help="seconds a 429 or 503 asks to wait")
    parser.add_argument("--slow-seconds", type=float, help="seconds an answer takes under the fault 'slow'")
    parser.add_argument("--settings", help="JSON file with all of the above, '-' for standard input")
    parser.add_argument("--parent", type=int, help="the process to end with; default: the one that started it")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _arguments()
    options = parser.parse_args(arguments)
    try:
        settings = _settings(options)
    except (ValueError, TypeError, OSError) as error:
        parser.error(str(error))

    def ready(url: str) -> None:
        sys.stdout.write(f"READY {url}\n")
        sys.stdout.flush()

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(settings, options.log, options.port, ready, options.parent or os.getppid()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

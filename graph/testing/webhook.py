"""Stand-ins for the receiver of finished runs: one in process, one a real HTTP server on loopback.

Both keep a log of every request, which is the witness, and take each key once; both fail where they are told to.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from graph.adapters.webhook import DeliveryAttempt, RetryingWebhook

FAULTS = ("hang", "reset", "reset_before", "lost", "400", "409", "429", "500", "503")
"""hang: no answer; reset_before: cut off before it is taken; reset and lost: taken, but the answer never comes or is a
500; the numbers: that status, and it is not taken."""


class Receiver:
    """The receiver behind both stand-ins: log, keys, and faults that are played first, one a request."""

    def __init__(self, faults: Iterable[str] = ()) -> None:
        self._lock = threading.Lock()
        self._faults: list[str] = []
        self.play(faults)
        self.log: list[dict[str, Any]] = []
        """Every request: key, event, fault, whether it was taken, and whether its key was news."""

    def play(self, faults: Iterable[str]) -> None:
        """Replace the rest of the present faults by others."""
        faults = list(faults)
        if unknown := [fault for fault in faults if fault not in FAULTS]:
            raise ValueError(f"no such fault: {unknown[0]} (known: {', '.join(FAULTS)})")
        self._faults = faults

    def receive(self, key: str, event: Mapping[str, Any]) -> str:
        """Log a request; return the fault that it meets, or ""."""
        with self._lock:
            fault = self._faults.pop(0) if self._faults else ""
            accepted = fault in ("", "reset", "lost")
            first_time = accepted and not any(logged["key"] == key and logged["taken"] for logged in self.log)
            self.log.append({"key": key, "event": dict(event), "fault": fault, "taken": accepted, "news": first_time})
            return fault

    @property
    def requests(self) -> Counter[str]:
        """Requests counted by key."""
        return Counter(logged["key"] for logged in self.log)

    @property
    def taken(self) -> list[Mapping[str, Any]]:
        """The events that were taken, each once, in order."""
        return [logged["event"] for logged in self.log if logged["news"]]


class MemoryWebhook(RetryingWebhook):
    """Satisfies nodes.ports.Webhook without a network; `receiver` is the other side."""

    def __init__(self, receiver: Receiver | None = None, *, attempts: int = 4) -> None:
        super().__init__("memory", attempts, first_pause=0.0)
        self.receiver = receiver or Receiver()

    async def _post(self, key: str, event: Mapping[str, Any]) -> DeliveryAttempt:
        fault = self.receiver.receive(key, json.loads(json.dumps(event)))
        if fault in ("hang", "reset", "reset_before"):
            return DeliveryAttempt(0, "no answer within 0 s" if fault == "hang" else "the connection broke off")
        if fault == "lost":
            return DeliveryAttempt(500)
        return DeliveryAttempt(int(fault or 200), wait=0.0 if fault in ("429", "503") else None)


class ScriptedWebhook:
    """A receiver behind a real HTTP server in a thread, for as long as the ``with`` block lasts."""

    def __init__(self, faults: Iterable[str] = (), *, retry_after: str = "0") -> None:
        self.receiver = Receiver(faults)
        self._stopping = threading.Event()
        receiver, stopping = self.receiver, self._stopping

        class Handler(BaseHTTPRequestHandler):
            timeout = 30

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                fault = receiver.receive(self.headers.get("Idempotency-Key") or "", json.loads(body))
                if fault == "hang":
                    stopping.wait()
                    return
                if fault in ("reset", "reset_before"):
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.close_connection = True
                    return
                status = 500 if fault == "lost" else int(fault or 200)
                self.send_response(status)
                if status in (429, 503):
                    self.send_header("Retry-After", retry_after)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                return None

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/finished?token=secret"

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

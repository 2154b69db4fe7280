"""The scripted endpoint's HTTP/1.1 server: the chat-completions protocol, the faults, and the controls for tests.

Answers are never streamed. The log of calls is the witness of tests. Each call leaves two lines: ``received`` before
anything else is done with it, and then ``answered`` or, when the client went away first or was cut off unserved,
``disconnected``. A line ``reset`` parts what was counted before it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import socket
import struct
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from graph.testing.answers import ChatRequest, answer, read_request, tokens
from graph.testing.faults import Plan, Settings, plan
from graph.testing.replies import Reply, completion, error_body, shape

MAX_BODY = 64 * 1024 * 1024

_DOCUMENT = re.compile(
    r'<document\s[^>\n]*?\bid="([^"\n]+)"|<passage\s[^>\n]*?\bdocument="([^"\n]+)"|^document(?:_id)?\s*[=:]\s*(\S+)',
    re.I | re.M,
)


@dataclass(slots=True, eq=False)
class Call:
    """One chat-completions request on its way."""

    id: str
    request: ChatRequest
    plan: Plan
    timer: asyncio.TimerHandle | None = None


class EndpointState:
    """State that all connections share: the settings, the counters and the log."""

    def __init__(self, settings: Settings, log: str | None) -> None:
        self.first = self.settings = settings
        self.rules = settings.rules()
        self.number = 0
        self.boot = f"{time.time_ns() // 1_000_000:x}"
        self.file = open(log, "ab+", buffering=0) if log else tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self.log = self.file.fileno()
        self.in_flight = 0
        self.waiting: dict[Call, Callable[[], None]] = {}
        self.clear()

    def clear(self) -> None:
        self.passes: Counter[str] = Counter()
        self.tally: Counter[str] = Counter()
        self.by_status: Counter[str] = Counter()
        self.by_fault: Counter[str] = Counter()
        self.max_in_flight = self.in_flight

    def reset(self) -> None:
        self.write(event="reset", t=time.time())
        self.use(self.first)
        self.clear()

    def use(self, settings: Settings) -> None:
        self.settings, self.rules = settings, settings.rules()

    def release(self, match: str) -> None:
        """Answer at once the waiting calls that have these words in their prompt."""
        for call, send_answer in list(self.waiting.items()):
            if match in call.request.text:
                if call.timer:
                    call.timer.cancel()
                send_answer()

    def write(self, **record: Any) -> None:
        os.write(self.log, json.dumps(record, separators=(",", ":")).encode() + b"\n")

    def receive(self, body: dict[str, Any], headers: dict[str, str]) -> Call:
        request = read_request(body)
        canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        self.number += 1
        number = f"chatcmpl-scripted-{self.boot}-{self.number}"
        marked = _DOCUMENT.search(request.text)
        self.write(
            event="received",
            id=number,
            t=time.time(),
            model=request.model,
            sha256=digest,
            document=marked[marked.lastindex or 0] if marked else None,
            prompt_chars=len(request.text),
            max_tokens=request.max_tokens,
            idempotency_key=headers.get("idempotency-key"),
        )
        self.passes[digest] += 1
        self.tally["received"] += 1
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        key = self.settings.key
        authorized = key is None or headers.get("authorization") == f"Bearer {key}"
        return Call(number, request, plan(request, authorized, digest, self.passes[digest], self.settings, self.rules))

    def finish(self, call: Call, event: str, status: int, reply: Reply | None = None) -> None:
        self.waiting.pop(call, None)
        used = (tokens(call.request.text), reply.completion_tokens) if reply else (0, 0)
        fault = call.plan.fault
        self.write(
            event=event,
            id=call.id,
            t=time.time(),
            status=status,
            fault=fault,
            prompt_tokens=used[0],
            completion_tokens=used[1],
        )
        self.in_flight -= 1
        self.tally[event] += 1
        self.tally["prompt_tokens"] += used[0]
        self.tally["completion_tokens"] += used[1]
        if event == "answered":
            self.by_status[str(status)] += 1
        if fault:
            self.by_fault[fault] += 1

    def counts(self) -> dict[str, Any]:
        return {
            **{name: self.tally[name] for name in ("received", "answered", "disconnected")},
            "in_flight": self.in_flight,
            "max_in_flight": self.max_in_flight,
            "by_status": dict(self.by_status),
            "by_fault": dict(self.by_fault),
            "tokens": {"prompt": self.tally["prompt_tokens"], "completion": self.tally["completion_tokens"]},
        }


class Connection(asyncio.Protocol):
    """One client's connection: requests one after another, kept alive."""

    def __init__(self, endpoint: EndpointState) -> None:
        self.endpoint = endpoint
        self.transport: asyncio.Transport
        self.unread = bytearray()
        self.head: tuple[str, str, dict[str, str], int] | None = None
        self.call: Call | None = None
        self.last = False  # the client asked to close after this answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if call := self.call:
            self.call = None
            if call.timer:
                call.timer.cancel()
            self.endpoint.finish(call, "disconnected", 0)

    def data_received(self, data: bytes) -> None:
        self.unread += data
        while self.call is None and not self.transport.is_closing() and self._take_request():
            pass

    def _take_request(self) -> bool:
        if self.head is None:
            end = self.unread.find(b"\r\n\r\n")
            if end < 0:
                return False
            try:
                lines = self.unread[:end].decode("latin-1").split("\r\n")
                method, path, _ = lines[0].split(" ")
                headers = {n.strip().lower(): v.strip() for n, _, v in (line.partition(":") for line in lines[1:])}
                length = int(headers.get("content-length", "0"))
                if "transfer-encoding" in headers or not 0 <= length <= MAX_BODY:
                    raise ValueError("a request needs a content-length, and not too large a one")
            except ValueError as error:
                self.last = True
                self._send_json(400, _invalid(str(error)))
                return False
            del self.unread[: end + 4]
            self.head = method, path, headers, length
            if headers.get("expect", "").lower() == "100-continue":
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        method, path, headers, length = self.head
        self.last = headers.get("connection", "").lower() == "close"
        if len(self.unread) < length:
            return False
        body = bytes(self.unread[:length])
        del self.unread[:length]
        self.head = None
        self._route(method, path.partition("?")[0], headers, body)
        return True

    def _route(self, method: str, path: str, headers: dict[str, str], raw: bytes) -> None:
        endpoint = self.endpoint
        if (method, path) == ("POST", "/v1/chat/completions"):
            try:
                body = json.loads(raw)
                if not isinstance(body, dict):
                    raise ValueError("the body is no JSON object")
                if body.get("stream"):
                    raise ValueError("the scripted endpoint streams no answers")
                self.call = call = endpoint.receive(body, headers)
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                return self._send_json(400, _invalid(f"We could not parse the request: {error}"))
            self._begin(call)
        elif (method, path) == ("GET", "/_counts"):
            self._send_json(200, endpoint.counts())
        elif (method, path) == ("POST", "/_reset"):
            endpoint.reset()
            self._send_json(200, {"reset": True})
        elif (method, path) == ("POST", "/_release"):
            endpoint.release(str(json.loads(raw)))
            self._send_json(200, {"released": True})
        elif (method, path) == ("POST", "/_script"):
            try:
                endpoint.use(endpoint.settings.changed(json.loads(raw)))
            except (ValueError, TypeError, AttributeError) as error:
                return self._send_json(400, _invalid(str(error)))
            self._send_json(200, {"in_use": True})
        else:
            self._send_json(404, _invalid(f"Unknown request URL: {method} {path}"))

    def _begin(self, call: Call) -> None:
        if call.plan.fault == "hang":
            return
        if call.plan.delay > 0:
            call.timer = asyncio.get_running_loop().call_later(call.plan.delay, self._answer_and_go_on, call)
            self.endpoint.waiting[call] = partial(self._answer_and_go_on, call)
        else:
            self._answer(call)

    def _answer_and_go_on(self, call: Call) -> None:
        self._answer(call)
        self.data_received(b"")

    def _answer(self, call: Call) -> None:
        self.call = None
        endpoint, fault, status = self.endpoint, call.plan.fault, call.plan.status
        if fault == "reset_before":
            endpoint.finish(call, "disconnected", 0)
            return self._cut()
        if status >= 400:
            endpoint.finish(call, "answered", status)
            wait = call.plan.retry_after
            extra = () if wait is None else (f"Retry-After: {wait}",)
            return self._send_json(status, error_body(status, fault, call.request, endpoint.settings), call.id, extra)
        value = call.plan.scripted if call.plan.has_script else answer(call.request)
        reply = shape(value, fault, call.request)
        endpoint.finish(call, "answered", status, reply)
        if fault == "reset":
            self._cut()
        else:
            body = json.dumps(completion(call.id, call.request, reply)).encode()
            self._send(200, body, "application/json", call.id, missing=64 if fault == "truncated_stream" else 0)

    def _cut(self) -> None:
        """Close the connection with a reset, as a crashed peer would."""
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _send_json(self, status: int, value: Any, number: str = "", extra: tuple[str, ...] = ()) -> None:
        self._send(status, json.dumps(value).encode(), "application/json", number, extra)

    def _send(
        self, status: int, body: bytes, kind: str, number: str = "", extra: tuple[str, ...] = (), missing: int = 0
    ) -> None:
        lines = [f"HTTP/1.1 {status} {_PHRASES.get(status, '')}", f"Content-Type: {kind}", *extra]
        if number:
            lines.append(f"x-request-id: {number}")
        if self.last:
            lines.append("Connection: close")
        lines.append(f"Content-Length: {len(body) + missing}\r\n\r\n")
        self.transport.write("\r\n".join(lines).encode() + body)
        if missing or self.last:
            self.transport.close()


_PHRASES = {int(status): status.phrase for status in HTTPStatus}


def _invalid(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


async def serve(settings: Settings, log: str | None, port: int, ready: Callable[[str], None], parent: int) -> None:
    """Serve on loopback until the process that started it is gone.

    The parent is watched by its id: a death signal from the kernel would already come when the thread that started
    this process ends, and an open pipe is kept open by any other child the parent has forked.
    """
    endpoint = EndpointState(settings, log)
    loop = asyncio.get_running_loop()
    orphaned = asyncio.Event()

    def watch() -> None:
        if os.getppid() != parent:
            orphaned.set()
        else:
            loop.call_later(0.1, watch)

    server = await loop.create_server(lambda: Connection(endpoint), "127.0.0.1", port, backlog=2048)
    watch()
    ready(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    await orphaned.wait()
    server.close()

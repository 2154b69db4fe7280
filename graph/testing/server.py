"""The scripted endpoint's HTTP/1.1 server: the chat-completions protocol, the faults, and the controls for tests."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from graph.testing.answers import answer
from graph.testing.call_log import Call, Endpoint
from graph.testing.faults import Settings
from graph.testing.replies import Reply, chunks, completion, error_body, shape

MAX_BODY = 64 * 1024 * 1024


class Connection(asyncio.Protocol):
    """One client's connection: requests one after another, kept alive."""

    def __init__(self, endpoint: Endpoint) -> None:
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
                self.call = call = endpoint.receive(body, headers)
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                return self._send_json(400, _invalid(f"We could not parse the request: {error}"))
            self._begin(call)
        elif (method, path) == ("GET", "/v1/models"):
            names = endpoint.settings.models or ("scripted-1",)
            listed = [{"id": n, "object": "model", "created": 0, "owned_by": "scripted"} for n in names]
            self._send_json(200, {"object": "list", "data": listed})
        elif (method, path) == ("GET", "/healthz"):
            self._send_json(200, {"status": "ok"})
        elif (method, path) == ("GET", "/_counts"):
            self._send_json(200, endpoint.counts())
        elif (method, path) == ("GET", "/_log"):
            self._send(200, endpoint.records(), "application/x-ndjson")
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
            return self._send_json(status, error_body(status, fault, call.asked, endpoint.settings), call.id, extra)
        value = call.plan.scripted if call.plan.has_script else answer(call.asked)
        reply = shape(value, fault, call.asked)
        endpoint.finish(call, "answered", status, reply)
        if fault == "reset":
            self._cut()
        elif call.asked.stream:
            self._send_stream(call, reply, cut=fault == "truncated_stream")
        else:
            body = json.dumps(completion(call.id, call.asked, reply)).encode()
            self._send(200, body, "application/json", call.id, missing=64 if fault == "truncated_stream" else 0)

    def _cut(self) -> None:
        """Closes the connection with a reset, as a crashed peer would."""
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

    def _send_stream(self, call: Call, reply: Reply, cut: bool) -> None:
        events = [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks(call.id, call.asked, reply)]
        if cut:
            del events[max(1, len(events) // 2) :]
        else:
            events.append(b"data: [DONE]\n\n")
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nx-request-id: {call.id}\r\n"
        parts = b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in events)
        self.transport.write(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + parts + b"0\r\n\r\n")
        if self.last:
            self.transport.close()


_PHRASES = {int(status): status.phrase for status in HTTPStatus}


def _invalid(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


async def serve(settings: Settings, log: str | None, port: int, ready: Callable[[str], None], parent: int) -> None:
    """Serves on loopback until the process that started it is gone.

    The parent is watched by its id: a death signal from the kernel would already come when the thread that started
    this process ends, and an open pipe is kept open by any other child the parent has forked.
    """
    endpoint = Endpoint(settings, log)
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

"""An endpoint that answers exactly what a test tells it to, for what the scripted endpoint is too well-behaved for."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

Body = dict[str, Any]
Reply = tuple[int, Any] | tuple[int, Any, dict[str, str]]


class OddEndpoint:
    """Answers with `reply(request body)`: status, JSON (or bytes as they are) and headers."""

    def __init__(self, reply: Callable[[Body], Reply]) -> None:
        self.reply = reply
        self.bodies: list[Body] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:] if line)
            length = int({name.lower(): value for name, value in fields.items()}.get("content-length", "0"))
            self.bodies.append(json.loads(await reader.readexactly(length)))
            status, body, *headers = self.reply(self.bodies[-1])
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            extra = "".join(f"{name}: {value}\r\n" for name, value in (headers[0] if headers else {}).items())
            kind = "" if "content-type" in extra.lower() else "Content-Type: application/json\r\n"
            writer.write(
                f"HTTP/1.1 {status} X\r\n{kind}{extra}Connection: close\r\nContent-Length: {len(raw)}\r\n\r\n".encode()
                + raw
            )
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def odd_endpoint(reply: Callable[[Body], Reply]) -> AsyncIterator[OddEndpoint]:
    endpoint = OddEndpoint(reply)
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    endpoint.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield endpoint
    finally:
        server.close()


def completion(content: str | None = '{"clauses": [], "supplier": null}', **changes: Any) -> Body:
    """A chat completion; `finish_reason`, `usage` and `tool_calls` may be changed."""
    message: Body = {"role": "assistant", "content": content}
    if "tool_calls" in changes:
        message["tool_calls"] = changes["tool_calls"]
    choice = {"index": 0, "message": message, "finish_reason": changes.get("finish_reason", "stop")}
    usage = changes.get("usage", {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110})
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def refusal(message: str, code: str | None = None) -> Body:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}

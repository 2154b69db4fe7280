"""The book the scripted endpoint keeps of its calls: the log, which is the witness, and the counters.

Each call leaves two lines: ``received`` before anything else is done with it, and then ``answered`` or, when the
client went away first or was cut off unserved, ``disconnected``. A line ``reset`` parts what was counted before it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graph.testing.answers import Asked, read_request, tokens
from graph.testing.faults import Plan, Settings, plan
from graph.testing.replies import Reply

_DOCUMENT = re.compile(
    r'<document\s[^>\n]*?\bid="([^"\n]+)"|<passage\s[^>\n]*?\bdocument="([^"\n]+)"|^document(?:_id)?\s*[=:]\s*(\S+)',
    re.I | re.M,
)


@dataclass(slots=True, eq=False)
class Call:
    """One chat-completions request on its way."""

    id: str
    asked: Asked
    plan: Plan
    timer: asyncio.TimerHandle | None = None


class Endpoint:
    """What all connections share: the settings, the counters and the log."""

    def __init__(self, settings: Settings, log: str | None) -> None:
        self.first = self.settings = settings
        self.rules = settings.rules()
        self.number = 0
        self.boot = f"{time.time_ns() // 1_000_000:x}"
        self.file = open(log, "ab+", buffering=0) if log else tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self.log = self.file.fileno()
        self.log_from = os.fstat(self.log).st_size
        self.in_flight = 0
        self.waiting: dict[Call, Callable[[], None]] = {}
        self.clear()

    def clear(self) -> None:
        self.seen: Counter[str] = Counter()
        self.tally: Counter[str] = Counter()
        self.by_status: Counter[str] = Counter()
        self.by_fault: Counter[str] = Counter()
        self.max_in_flight = self.in_flight

    def reset(self) -> None:
        self.write(event="reset", t=time.time())
        self.log_from = os.fstat(self.log).st_size
        self.use(self.first)
        self.clear()

    def use(self, settings: Settings) -> None:
        self.settings, self.rules = settings, settings.rules()

    def release(self, match: str) -> None:
        """Answer now whatever waits for its time and has these words in its prompt."""
        for call, answer in list(self.waiting.items()):
            if match in call.asked.text:
                if call.timer:
                    call.timer.cancel()
                answer()

    def write(self, **record: Any) -> None:
        os.write(self.log, json.dumps(record, separators=(",", ":")).encode() + b"\n")

    def receive(self, body: dict[str, Any], headers: dict[str, str]) -> Call:
        asked = read_request(body)
        canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        self.number += 1
        number = f"chatcmpl-scripted-{self.boot}-{self.number}"
        marked = _DOCUMENT.search(asked.text)
        self.write(
            event="received",
            id=number,
            t=time.time(),
            model=asked.model,
            sha256=digest,
            document=marked[marked.lastindex or 0] if marked else None,
            prompt_chars=len(asked.text),
            max_tokens=asked.max_tokens,
            stream=asked.stream,
            idempotency_key=headers.get("idempotency-key"),
        )
        self.seen[digest] += 1
        self.tally["received"] += 1
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        key = self.settings.key
        authorized = key is None or headers.get("authorization") == f"Bearer {key}"
        return Call(number, asked, plan(asked, authorized, digest, self.seen[digest], self.settings, self.rules))

    def finish(self, call: Call, event: str, status: int, reply: Reply | None = None) -> None:
        self.waiting.pop(call, None)
        used = (tokens(call.asked.text), reply.completion_tokens) if reply else (0, 0)
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

    def records(self) -> bytes:
        return os.pread(self.log, os.fstat(self.log).st_size - self.log_from, self.log_from)

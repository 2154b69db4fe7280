"""Delivers an event to another system by HTTP POST, as JSON, under an idempotency key."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from graph.adapters.retry_after import retry_after
from nodes.domain.shared.errors import Undelivered

TIMEOUT_SECONDS = 10.0
"""Longest wait for one answer."""

MAX_ATTEMPTS = 4
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds between attempts: doubled each time, jittered, unless the receiver names a time."""

RETRYABLE_STATUSES = (408, 409, 425, 429)
"""Beside 5xx: a receiver that is still at work on the same key may say 409."""


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """Outcome of one attempt to deliver an event."""

    status: int
    """Of the answer; 0 when none came."""
    trouble: str = ""
    """Why none came."""
    wait: float | None = None
    """Seconds that the receiver asks to wait."""

    @property
    def delivered(self) -> bool:
        return 200 <= self.status < 300

    @property
    def retryable(self) -> bool:
        return self.status == 0 or self.status >= 500 or self.status in RETRYABLE_STATUSES

    def __str__(self) -> str:
        return self.trouble or f"it answered {self.status}"


class RetryingWebhook:
    """Base of webhooks: repeats `_post`, which makes one attempt."""

    def __init__(self, host: str, attempts: int = MAX_ATTEMPTS, first_pause: float = FIRST_PAUSE) -> None:
        self.where = host
        self._attempts = attempts
        self._first_pause = first_pause

    async def _post(self, key: str, event: Mapping[str, Any]) -> DeliveryAttempt:
        raise NotImplementedError

    async def send(self, key: str, event: Mapping[str, Any], stop: Callable[[], bool]) -> Mapping[str, Any]:
        """See nodes.ports.Webhook."""
        for number in range(1, self._attempts + 1):
            attempt = await self._post(key, event)
            if attempt.delivered:
                return {"status": attempt.status, "attempts": number}
            if not attempt.retryable or number == self._attempts or stop():
                break
            await asyncio.sleep(self._pause(attempt, number))
        times = "once" if number == 1 else f"{number} times"
        raise Undelivered(f"The webhook at {self.where} did not take the news of this run ({attempt}; asked {times}).")

    def _pause(self, attempt: DeliveryAttempt, number: int) -> float:
        if attempt.wait is not None:
            return min(LONGEST_PAUSE, attempt.wait)
        return min(LONGEST_PAUSE, self._first_pause * 2.0 ** (number - 1)) * random.uniform(0.5, 1.0)


class HttpWebhook(RetryingWebhook):
    """Satisfies nodes.ports.Webhook. `url` may hold a secret: only its host is ever shown or stored."""

    def __init__(
        self,
        url: str,
        *,
        seconds: float = TIMEOUT_SECONDS,
        attempts: int = MAX_ATTEMPTS,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        address = urlsplit(url)
        super().__init__(f"{address.hostname}{f':{address.port}' if address.port else ''}", attempts, first_pause)
        self._url = url
        self._seconds = seconds

    async def _post(self, key: str, event: Mapping[str, Any]) -> DeliveryAttempt:
        try:
            # The client's own limit is one of silence: a receiver that trickles bytes would pass it for ever.
            async with asyncio.timeout(self._seconds), httpx.AsyncClient(timeout=self._seconds) as client:
                answer = await client.post(self._url, json=dict(event), headers={"Idempotency-Key": key})
        except (TimeoutError, httpx.TimeoutException):
            return DeliveryAttempt(0, f"no answer within {self._seconds:g} s")
        except httpx.ConnectError:
            return DeliveryAttempt(0, "nobody answers there")
        except httpx.HTTPError:
            return DeliveryAttempt(0, "the connection broke off")
        return DeliveryAttempt(answer.status_code, wait=retry_after(answer.headers))

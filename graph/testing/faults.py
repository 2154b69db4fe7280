"""Faults of the scripted endpoint: what goes wrong on purpose, and for which request.

A fault falls on a request by its content: the draw is a hash of the seed, the request body and how often that body
came before. So the same run meets the same faults whatever the order its calls arrive in, and a retry draws anew.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import Any

from graph.testing.answers import ChatRequest, tokens

ERROR_STATUS = {"400": 400, "401": 401, "404": 404, "429": 429, "quota": 429, "500": 500, "503": 503}
CONTENT_FAULTS = (
    "bad_json",
    "cut_json",
    "early_close",
    "empty",
    "null",
    "nul",
    "surrogate",
    "wrong_schema",
    "fabricated",
    "refusal",
    "no_tool_call",
)
FAULTS = frozenset([*ERROR_STATUS, *CONTENT_FAULTS, "reset", "reset_before", "hang", "slow", "truncated_stream"])
_ABSENT = object()


@dataclass(slots=True)
class Rule:
    """One line of a script: which prompts it is for, how many times, and what then happens."""

    match: str | None = None
    times: int | None = None
    respond: Any = _ABSENT
    fault: str | None = None
    status: int | None = None
    delay: float | None = None
    retry_after: float | str | None = None

    def __post_init__(self) -> None:
        for name, kind in (("match", str), ("times", int), ("status", int), ("delay", (int, float))):
            argument = getattr(self, name)
            if argument is not None and not isinstance(argument, kind):
                raise ValueError(f"a rule's {name} is not what it should be: {argument!r}")
        if self.fault is not None:
            self.fault = _checked_fault(self.fault)

    def takes(self, text: str) -> bool:
        if self.times is not None and self.times <= 0:
            return False
        if self.match is not None and self.match not in text:
            try:
                if not re.search(self.match, text):
                    return False
            except re.error:
                return False
        if self.times is not None:
            self.times -= 1
        return True


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the scripted endpoint."""

    faults: dict[str, float] = field(default_factory=dict)
    script: tuple[dict[str, Any], ...] = ()
    latency: float = 0.0
    seed: int = 0
    retry_after: float | str | None = 1
    slow_seconds: float = 5.0
    key: str | None = None
    models: tuple[str, ...] = ()
    context_tokens: int | None = None

    def __post_init__(self) -> None:
        for kind, rate in self.faults.items():
            if not 0 <= rate <= 1:
                raise ValueError(f"the rate of {kind} isn't between 0 and 1: {rate}")
        if sum(self.faults.values()) > 1 + 1e-9:
            raise ValueError("the rates of the faults add up to more than 1")
        self.rules()

    def rules(self) -> list[Rule]:
        return [Rule(**rule) for rule in self.script]

    def changed(self, changes: Any) -> Settings:
        """These settings with the given ones in their place; a bare list is a script."""
        if isinstance(changes, list):
            changes = {"script": changes}
        if not isinstance(changes, dict):
            raise ValueError("settings are a JSON object, or a list of rules")
        changes = {name: tuple(part) if name in ("script", "models") else part for name, part in changes.items()}
        if "faults" in changes:
            changes["faults"] = {_checked_fault(str(kind)): float(rate) for kind, rate in changes["faults"].items()}
        return replace(self, **changes)


def _checked_fault(kind: str) -> str:
    if kind not in FAULTS:
        raise ValueError(f"no such fault: {kind} (known: {', '.join(sorted(FAULTS))})")
    return kind


@dataclass(frozen=True, slots=True)
class Plan:
    """Treatment of one request: its fault, status, delay and answer."""

    fault: str | None
    status: int
    delay: float
    scripted: Any = _ABSENT
    retry_after: float | str | None = None

    @property
    def has_script(self) -> bool:
        return self.scripted is not _ABSENT


def plan(
    request: ChatRequest, authorized: bool, digest: str, attempt_number: int, settings: Settings, rules: list[Rule]
) -> Plan:
    rule = next((r for r in rules if r.takes(request.text)), None) or Rule()
    scripted = rule.fault or rule.status or rule.respond is not _ABSENT
    draw = hashlib.sha256(f"{settings.seed}:{digest}:{attempt_number}".encode()).digest()
    fault = rule.fault if scripted else _draw_fault(settings.faults, int.from_bytes(draw[:8], "big") / 2**64)
    if not authorized:
        fault = "401"
    elif settings.models and request.model not in settings.models:
        fault = "404"
    elif settings.context_tokens is not None and tokens(request.text) > settings.context_tokens:
        fault = "400"
    status = rule.status or ERROR_STATUS.get(fault or "", 200)
    delay = settings.latency
    if fault == "slow":
        delay = settings.slow_seconds
    elif status >= 400 or fault == "reset_before":
        delay = 0.0
    wait = rule.retry_after if rule.retry_after is not None else settings.retry_after
    return Plan(
        fault=fault,
        status=status,
        delay=rule.delay if rule.delay is not None else delay,
        scripted=rule.respond,
        retry_after=_whole_number(wait) if wait != "" and status in (429, 503) and fault != "quota" else None,
    )


def _draw_fault(rates: dict[str, float], point: float) -> str | None:
    for kind, rate in rates.items():
        point -= rate
        if point < 0:
            return kind
    return None


def _whole_number(wait: float | str | None) -> float | str | None:
    return int(wait) if isinstance(wait, float) and wait.is_integer() else wait

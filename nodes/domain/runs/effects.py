"""Kinds of effects outside the program, each with the way to resolve an outcome that a crash left unknown.

replay: it is done again; its target is named by content, or the other side knows its key.
confirm: the target is asked by key whether it is done; only what is not there is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Resolution = Literal["replay", "confirm"]


@dataclass(frozen=True, slots=True)
class Effect:
    """One kind of effect outside the program."""

    kind: str
    """Name in the ledger: the tool of a call, or the kind of an effect."""
    resolution: Resolution
    meaning: str
    """Why this resolution is enough, in a line."""


EFFECTS: Mapping[str, Effect] = MappingProxyType(
    {
        effect.kind: effect
        for effect in (
            Effect("reader", "replay", "Reads bytes named by sha256 and changes nothing outside."),
            Effect("clause_rules", "replay", "Computes from a text named by sha256 and changes nothing outside."),
            Effect("model", "replay", "Asked again under its Idempotency-Key; the first call shows as lost_answer."),
            Effect("artifact", "replay", "The same bytes have the same name: put again, nothing changes."),
            Effect("release", "confirm", "The folder is asked for the file by content before it is written whole."),
            Effect("webhook", "replay", "Sent again under its Idempotency-Key, by which the receiver knows it."),
        )
    }
)
"""Every effect by kind; one that is missing here cannot be done. A test looks up every tool."""

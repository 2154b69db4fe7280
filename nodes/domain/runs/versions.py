"""Compares the versions of a run with those of this program: changes, rework, consent, migration of states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from nodes.domain.runs.settings import WORKFLOW_VERSION
from nodes.domain.shared.errors import VersionNewer
from nodes.domain.shared.formats import count, duration, money
from nodes.domain.shared.shell_quote import shell_word

PROMPT = "prompt "
"""Prefix of the name of a version that is the sha256 of a prompt."""

Migration = Callable[[Mapping[str, Any]], Mapping[str, Any]]

MIGRATIONS: Mapping[int, Migration] = {}
"""By version of a state: the function to the next version, pure, which keeps fields that it does not know."""

_AFFECTED_TOOLS = {"reader": ("reader", "clause_rules", "model"), "rules": ("clause_rules", "model")}
"""By changed version: the tools whose answers about open documents are asked for again."""


@dataclass(frozen=True, slots=True)
class Change:
    """One version that differs from that of the run."""

    name: str
    """workflow_version, reader, rules, facts, or prompt and its name."""
    before: str
    current: str

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools whose answers it touches."""
        return _AFFECTED_TOOLS.get(self.name, ("model",) if self.name.startswith(PROMPT) else ("clause_rules", "model"))

    def words(self) -> str:
        """Name the change within a sentence: the prompt write_note, the reader (2 pdfium 5.0 → 3 pdfium 5.0)."""
        if self.name.startswith(PROMPT):
            return f"the prompt {self.name.removeprefix(PROMPT)}"
        if self.name == "rules":
            return "the rules or the model of the local engine"
        part = {"reader": "the reader", "workflow_version": "the workflow version"}.get(self.name, f"the {self.name}")
        return f"{part} ({_short(self.before)} → {_short(self.current)})"


@dataclass(frozen=True, slots=True)
class ReworkEstimate:
    """The rework that going on under other versions would mean."""

    documents: int = 0
    """Number of documents that are not done yet; those that are done stay as they are."""
    usd: Decimal | None = None
    """Estimated cost of these documents; None: unknown."""
    seconds: float | None = None
    answers: int = 0
    """Stored answers of this run that would be asked for once more."""
    answers_usd: Decimal = Decimal(0)
    """Price paid for these answers."""


def compare(
    frozen: Mapping[str, str], current: Mapping[str, str], workflow_version: int, *, models_asked: bool
) -> list[Change]:
    """List the versions that differ; one that the run did not record when it began counts as equal.

    `models_asked`: the run asks models, else its prompts mean nothing.
    """
    changes = [
        Change(name, before, current.get(name, "none"))
        for name, before in sorted(frozen.items())
        if before != current.get(name, "none") and (models_asked or not name.startswith(PROMPT))
    ]
    if workflow_version < WORKFLOW_VERSION:
        changes.insert(0, Change("workflow_version", str(workflow_version), str(WORKFLOW_VERSION)))
    return changes


def needs_consent(changes: Sequence[Change], redo: ReworkEstimate) -> bool:
    """Must a person agree first? Only when something would be done differently from the rest, or twice."""
    return bool(changes) and (redo.documents > 0 or redo.answers > 0)


def describe_changes(changes: Sequence[Change]) -> str:
    """List the changes within a sentence: the reader (2 → 3) and the prompt write_note."""
    words = [change.words() for change in changes]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def describe_rework(redo: ReworkEstimate) -> str:
    """Describe the rework within a sentence: 22 documents are still to do, about $0.41 and 4m00s; 3 stored answers …"""
    if not redo.documents and not redo.answers:
        return "nothing is done again"
    estimates = [part for part in (_usd(redo.usd), _time(redo.seconds, "" if redo.usd else "about ")) if part]
    parts = []
    if redo.documents:
        remaining = f"{count(redo.documents, 'document')} {'is' if redo.documents == 1 else 'are'} still to do"
        parts.append(f"{remaining}{', ' + ' and '.join(estimates) if estimates else ''}")
    if redo.answers:
        price = f" ({money(redo.answers_usd)})" if redo.answers_usd else ""
        parts.append(f"{count(redo.answers, 'stored answer')}{price} would be asked for once more")
    return "; ".join(parts)


def refusal(thread: str, changes: Sequence[Change], redo: ReworkEstimate) -> str:
    """Refuse a resume to which nobody has agreed, in one sentence."""
    return (
        f"Since run {thread} began, {describe_changes(changes)} changed: {describe_rework(redo)}, and what is done "
        f"stays as it is; agree with python run.py resume {shell_word(thread)} --accept-version, or go on with the "
        "program that began it."
    )


def migrate_state(state: Mapping[str, Any], migrations: Mapping[int, Migration] = MIGRATIONS) -> Mapping[str, Any]:
    """Migrate a state to this version; one of this version is returned as the same object.

    Raises VersionNewer for a state that a newer program wrote.
    """
    version = state.get("workflow_version") or 1
    if not isinstance(version, int) or isinstance(version, bool):
        return state  # `validated_state` names it
    if version > WORKFLOW_VERSION:
        raise newer_program("This thread", version)
    while version < WORKFLOW_VERSION:
        state = migrations.get(version, dict)(state)
        version += 1
    return {**state, "workflow_version": version} if version != (state.get("workflow_version") or 1) else state


def newer_program(thread: str, version: int) -> VersionNewer:
    """Build the error for a thread that a newer program wrote."""
    return VersionNewer(
        f"{thread} was written by workflow version {version}, and this program knows {WORKFLOW_VERSION}: "
        "resume it with the newer program; nothing was changed here."
    )


def _short(version: str) -> str:
    return version[:12] if len(version) == 64 else version


def _usd(usd: Decimal | None) -> str:
    return money(usd, basis="estimated") if usd else ""


def _time(seconds: float | None, about: str) -> str:
    return f"{about}{duration(seconds)}" if seconds else ""

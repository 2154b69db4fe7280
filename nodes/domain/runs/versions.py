"""What a run was made with against what this program would use: what changed, what it costs, whether to ask first."""

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
"""Begins the name of a version that is the sha256 of a prompt."""

Migration = Callable[[Mapping[str, Any]], Mapping[str, Any]]

MIGRATIONS: Mapping[int, Migration] = {}
"""By the version of a state: what makes one of the next version of it. Each is pure and keeps what it does not know."""

_TOUCHES = {"reader": ("reader", "clause_rules", "model"), "rules": ("clause_rules", "model")}
"""By what changed: the tools whose answers about open documents are asked for anew."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is not what it was."""

    name: str
    """workflow_version, reader, rules, facts, or prompt and its name."""
    before: str
    now: str

    @property
    def tools(self) -> tuple[str, ...]:
        """Whose answers it touches."""
        return _TOUCHES.get(self.name, ("model",) if self.name.startswith(PROMPT) else ("clause_rules", "model"))

    def words(self) -> str:
        """For a sentence: the prompt write_note, the reader (2 pdfium 5.0 → 3 pdfium 5.0)."""
        if self.name.startswith(PROMPT):
            return f"the prompt {self.name.removeprefix(PROMPT)}"
        if self.name == "rules":
            return "the rules or the model of the local engine"
        part = {"reader": "the reader", "workflow_version": "the workflow version"}.get(self.name, f"the {self.name}")
        return f"{part} ({_short(self.before)} → {_short(self.now)})"


@dataclass(frozen=True, slots=True)
class ReworkEstimate:
    """What going on under other versions would mean."""

    documents: int = 0
    """That are not done yet; those that are done stay as they are."""
    usd: Decimal | None = None
    """What these may cost; None: not known."""
    seconds: float | None = None
    answers: int = 0
    """Answers to questions of this run that are stored and would be asked for once more."""
    answers_usd: Decimal = Decimal(0)
    """What these have cost."""


def compare(
    frozen: Mapping[str, str], current: Mapping[str, str], workflow_version: int, *, models_asked: bool
) -> list[Change]:
    """What differs; a thing that the run did not write down when it began counts as equal.

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
    """Whether a person has to agree first: only when something would be done in another way than the rest, or twice."""
    return bool(changes) and (redo.documents > 0 or redo.answers > 0)


def describe_changes(changes: Sequence[Change]) -> str:
    """For a sentence: the reader (2 → 3) and the prompt write_note."""
    words = [change.words() for change in changes]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def describe_rework(redo: ReworkEstimate) -> str:
    """For a sentence: 22 documents are still to do, about $0.41 and 4min; 3 answers ($0.01) would be asked for anew."""
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
    """The one sentence for whoever resumes without having agreed."""
    return (
        f"Since run {thread} began, {describe_changes(changes)} changed: {describe_rework(redo)}, and what is done stays as it "
        f"is; agree with python run.py resume {shell_word(thread)} --accept-version, or go on with the program "
        "that began it."
    )


def migrate_state(state: Mapping[str, Any], migrations: Mapping[int, Migration] = MIGRATIONS) -> Mapping[str, Any]:
    """The state as this version has it; the same object when it is one already.

    Raises VersionNewer for a state that a newer program wrote.
    """
    version = state.get("workflow_version") or 1
    if not isinstance(version, int) or isinstance(version, bool):
        return state  # `entered` names it
    if version > WORKFLOW_VERSION:
        raise newer_program("This thread", version)
    while version < WORKFLOW_VERSION:
        state = migrations.get(version, dict)(state)
        version += 1
    return {**state, "workflow_version": version} if version != (state.get("workflow_version") or 1) else state


def newer_program(thread: str, version: int) -> VersionNewer:
    """For a thread of a program that is not this one."""
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

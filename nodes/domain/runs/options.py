"""The options of a run: what a caller may give, with its type and its limits, in one place for all surfaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, TypedDict

from nodes.domain.runs.settings import Settings, chain
from nodes.domain.shared.errors import UserError

ENGINES = ("local", "openai")
REVIEWS = ("auto", "always", "never")
LANGUAGES = ("", "en", "fr")
MAX_BATCH_SIZE = 1000
MAX_CONCURRENCY = 256
MAX_USD = 1_000_000_000
"""Highest budget in US dollars; a higher one is a typing error, and could not be printed as a number."""


class OptionError(UserError):
    """An option with a value that it cannot have."""


class RunOptions(TypedDict, total=False):
    """Options as a caller gives them: the fields of Settings by name; None leaves one as it is.

    Every edge parses its own form into these (the command line its words, Studio its context, a script nothing), and
    `apply` alone turns them into Settings.
    """

    models: Mapping[str, str] | None
    batch_size: int | None
    concurrency: int | None
    budget_usd: Decimal | float | str | None
    deadline_seconds: float | None
    document_seconds: float | None
    batch_wait_seconds: float | None
    review: Literal["auto", "always", "never"] | None
    fresh: bool | None
    language: Literal["", "en", "fr"] | None
    model_writes_note: bool | None


def apply(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Return the settings with these changes; None means unchanged, models are merged by step.

    Raises OptionError, which names the option and what it takes.
    """
    overrides = {name: value for name, value in changes.items() if value is not None}
    unknown = sorted(set(overrides) - set(Settings.__slots__))
    if unknown:
        raise OptionError(f"There is no option {unknown[0]}: the options are {', '.join(Settings.__slots__)}.")
    checked = {name: _check(name, value) for name, value in overrides.items()}
    if "models" in checked:
        checked["models"] = {**settings.models, **checked["models"]}
    return replace(settings, **checked)


def _check(name: str, value: Any) -> Any:
    match name:
        case "batch_size":
            return _whole_number(name, value, 1, MAX_BATCH_SIZE)
        case "concurrency":
            return _whole_number(name, value, 1, MAX_CONCURRENCY)
        case "budget_usd":
            return parse_budget(value)
        case "deadline_seconds" | "document_seconds" | "batch_wait_seconds":
            if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1e9:
                option = "The deadline" if name == "deadline_seconds" else f"Option {name}"
                raise OptionError(f"{option} must be a number of seconds above 0, not {value!r}.")
            return float(value)
        case "review":
            return _one_of(name, value, REVIEWS)
        case "language":
            return _one_of(name, value, LANGUAGES)
        case "fresh" | "model_writes_note":
            if not isinstance(value, bool):
                raise OptionError(f"Option {name} is true or false, not {value!r}.")
            return value
        case _:
            if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in [*value, *value.values()]):
                raise OptionError("Option models names a model for each step, for example extract=gpt-4.1-mini.")
            empty = [step for step in value if not chain(value, step)]
            if empty:
                raise OptionError(f"Option models names no model for {empty[0]}: write {empty[0]}=gpt-4.1-mini.")
            return {step: ",".join(chain(value, step)) for step in value}


def _whole_number(name: str, value: Any, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise OptionError(f"Option {name} must be a whole number from {low} to {high}, not {value!r}.")
    return value


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise OptionError(f"Option {name} must be one of {', '.join(filter(None, allowed))}, not {value!r}.")
    return str(value)


def parse_budget(value: Any) -> Decimal:
    """Parse a budget in US dollars. Raises OptionError."""
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        amount = Decimal("NaN")
    if isinstance(value, bool) or not amount.is_finite() or not 0 <= amount <= MAX_USD:
        raise OptionError(f"The budget must be a number of US dollars, from 0 to {MAX_USD:,}, not {str(value)!r}.")
    return amount

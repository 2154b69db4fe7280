"""The options of a run are one model: callers, Studio and the record of a run name the same, within the same limits."""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from nodes.domain.runs.options import MAX_BATCH_SIZE, MAX_CONCURRENCY, OptionError, RunOptions, apply
from nodes.domain.runs.settings import Settings
from state import RunContext


def test_callers_and_the_record_of_a_run_name_the_same_options_and_studio_no_other() -> None:
    names = [field.name for field in fields(Settings)]
    assert list(RunOptions.__annotations__) == names
    assert set(RunContext.model_fields) <= set(names)


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [
        ("batch_size", (1, MAX_BATCH_SIZE), (0, MAX_BATCH_SIZE + 1)),
        ("concurrency", (1, MAX_CONCURRENCY), (0, MAX_CONCURRENCY + 1)),
        ("budget_usd", (0, 2.5), (-0.01, float("nan"))),
        ("deadline_seconds", (0.5, 3600), (0, -1)),
        ("review", ("auto", "always", "never"), ("sometimes",)),
        ("language", ("en", "fr"), ("de",)),
        ("fresh", (True, False), ("perhaps",)),
        ("models", ({"extract": "gpt-4.1-mini"},), ({"extract": 1},)),
    ],
)
def test_an_option_has_the_same_limits_in_studio_as_everywhere(
    name: str, valid: tuple[Any, ...], invalid: tuple[Any, ...]
) -> None:
    for setting in valid:
        context = RunContext.model_validate({name: setting}).model_dump(exclude_none=True)
        assert getattr(apply(Settings(), context), name) == getattr(apply(Settings(), {name: setting}), name)
    for setting in invalid:
        with pytest.raises(OptionError):
            apply(Settings(), {name: setting})
        with pytest.raises((ValidationError, OptionError)):
            apply(Settings(), RunContext.model_validate({name: setting}).model_dump(exclude_none=True))


@pytest.mark.parametrize("budget", ["2.50", 2.5, Decimal("2.5")])
def test_a_budget_is_an_amount_in_dollars_whatever_type_it_came_in(budget: Any) -> None:
    settings = apply(Settings(), {"budget_usd": budget})
    assert isinstance(settings.budget_usd, Decimal) and settings.budget_usd == Decimal("2.5")
    assert Settings.from_json(settings.to_json()) == settings

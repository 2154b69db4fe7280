"""The price of a call: from the operator's own list, else from the published prices that ship with `genai-prices`.

A price that is not known is None and never 0: a budget that cannot be checked must not seem to be kept.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from genai_prices import Usage as Counts
from genai_prices import calc_price

from nodes.domain.shared.errors import OperatorError
from nodes.ports import Usage

Basis = Literal["reported", "estimated", "unknown"]

MILLION = Decimal(1_000_000)

_PREFIXES = {"models": "google", "vertex_ai": "google", "gemini": "google", "bedrock": "aws", "mistralai": "mistral"}
"""Names that gateways put before a model, where the published list calls the provider otherwise."""


@dataclass(frozen=True, slots=True)
class Rate:
    """US dollars per million tokens."""

    input: Decimal
    cached: Decimal
    output: Decimal

    def price(self, usage: Usage) -> Decimal:
        cached = min(usage.tokens_cached, usage.tokens_in)
        fresh = usage.tokens_in - cached
        return (fresh * self.input + cached * self.cached + usage.tokens_out * self.output) / MILLION


class Prices:
    """Prices by model.

    `overrides` is a mapping {model: {"input": …, "cached": …, "output": …}} in US dollars per million tokens, or the
    path of a TOML file with the same under `[models."name"]`. A model may end in `*`. `cached` may be left out and
    is then `input`. Zero is allowed: a model of one's own machine costs nothing a token.
    """

    def __init__(self, overrides: Mapping[str, Any] | str | Path | None = None) -> None:
        models = overrides if isinstance(overrides, Mapping) else _read(Path(overrides)) if overrides else {}
        self._rates = {name.casefold(): _rate(name, fields) for name, fields in models.items()}

    def price(self, model: str, usage: Usage) -> tuple[Decimal | None, Basis]:
        """Price a usage in US dollars, with the basis: counts of the endpoint, our estimate, or no known price."""
        rate = self._override(model)
        amount = rate.price(usage) if rate else _published(model, usage)
        if amount is None:
            return None, "unknown"
        return amount, "reported" if usage.reported else "estimated"

    def knows(self, model: str) -> bool:
        """Whether calls of this model have a price, so that a budget can bind them."""
        return self.price(model, Usage(1000, 0, 1000))[0] is not None

    def _override(self, model: str) -> Rate | None:
        name = model.casefold()
        if name in self._rates:
            return self._rates[name]
        matching = [pattern for pattern in self._rates if pattern.endswith("*") and fnmatchcase(name, pattern)]
        return self._rates[max(matching, key=len)] if matching else None


def _published(model: str, usage: Usage) -> Decimal | None:
    rate = _flat(model)
    return rate.price(usage) if rate else _calculated(model, usage)


@lru_cache(maxsize=256)
def _flat(model: str) -> Rate | None:
    """The published price as a rate; None where it depends on how long a prompt is, or is not known.

    Cached, since the look-up takes longer than all else about the price of a call.
    """

    def calculated(usage: Usage) -> Decimal | None:
        return _calculated(model, usage)

    per_million = [calculated(Usage(10**6, 0, 0)), calculated(Usage(10**6, 10**6, 0)), calculated(Usage(0, 0, 10**6))]
    per_thousand = [calculated(Usage(10**3, 0, 0)), calculated(Usage(10**3, 10**3, 0)), calculated(Usage(0, 0, 10**3))]
    if any(
        million_price is None or thousand_price is None or million_price != 1000 * thousand_price
        for million_price, thousand_price in zip(per_million, per_thousand, strict=True)
    ):
        return None
    fresh, cached, out = (Decimal(amount or 0) for amount in per_million)
    return Rate(fresh, cached, out)


def _calculated(model: str, usage: Usage) -> Decimal | None:
    counts = Counts(
        input_tokens=usage.tokens_in,
        cache_read_tokens=min(usage.tokens_cached, usage.tokens_in),
        output_tokens=usage.tokens_out,
    )
    published = _published_name(model)
    if published is None:
        return None
    provider, name = published
    try:
        return calc_price(counts, name, provider_id=provider).total_price
    except (LookupError, ValueError):
        return None


@lru_cache(maxsize=256)
def _published_name(model: str) -> tuple[str | None, str] | None:
    """(provider, name) under which the published list has a price above 0 for this model."""
    for provider, name in _spellings(model.strip()):
        try:
            amount = calc_price(Counts(input_tokens=1000, output_tokens=1000), name, provider_id=provider).total_price
        except (LookupError, ValueError):
            continue
        if amount > 0:  # an entry without prices gives 0: that is no price
            return provider, name
    return None


def _spellings(model: str) -> Iterator[tuple[str | None, str]]:
    """Spellings (provider, name) of a model: "openai/gpt-4.1" is a gateway's, a bare name may be anybody's."""
    prefix, slash, name = model.partition("/")
    if not slash:
        yield None, model
        return
    yield "openrouter", model
    yield _PREFIXES.get(prefix.casefold(), prefix), name
    if "/" in name:
        yield from _spellings(name)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        price_list = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError as error:
        raise OperatorError(f"The price list {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise OperatorError(f"The price list {path} is not valid TOML: {error}.") from error
    models = price_list.get("models")
    if not isinstance(models, dict) or not models:
        raise OperatorError(f'The price list {path} names no model: write a table [models."NAME"] for each.')
    return models


def _rate(name: str, fields: Any) -> Rate:
    if not isinstance(fields, Mapping):
        raise OperatorError(f"The price of {name}: write input, cached and output in US dollars per million tokens.")
    unknown = sorted(set(fields) - {"input", "cached", "output"})
    if unknown:
        raise OperatorError(f"The price of {name}: {', '.join(unknown)} is not one of input, cached and output.")
    amounts = {part: _amount(name, part, fields.get(part)) for part in ("input", "output")}
    cached = _amount(name, "cached", fields["cached"]) if "cached" in fields else amounts["input"]
    return Rate(amounts["input"], cached, amounts["output"])


def _amount(name: str, part: str, price: Any) -> Decimal:
    if isinstance(price, bool) or not isinstance(price, int | float | Decimal):
        raise OperatorError(f"The price of {name}: {part} must be a number of US dollars per million tokens.")
    amount = Decimal(str(price))
    if not amount.is_finite() or amount < 0:
        raise OperatorError(f"The price of {name}: {part} must be 0 or more.")
    return amount

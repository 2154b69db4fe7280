"""A playbook: what to look for, how it counts, who must decide. Data, not code."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from nodes.domain.errors import PlaybookError


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]
Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Points = Annotated[int, Field(ge=-100, le=100)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Modifier(_Part):
    """Adds points when the quote of a clause says something particular."""

    pattern: Pattern = Field(description="Regular expression, searched in the quote, case ignored, white space folded.")
    points: Points = Field(description="Added to the clause's points when it matches; may be negative.")
    reason: str = Field(description="Shown in the chain of reasons.")


class Clause(_Part):
    """One clause type."""

    type: Slug = Field(description="Slug of the field's own name, for example cap_on_liability.")
    title: dict[Literal["en", "fr"], str] = Field(description="Name shown to people, by language.")
    question: str = Field(description="What a model is asked to look for.")
    points: Points = Field(default=0, description="Risk points when the clause is there.")
    reason: str = Field(default="", description="Why its presence counts.")
    points_if_missing: Points = Field(default=0, description="Risk points of the document when it is absent.")
    missing_reason: str = Field(default="", description="Why its absence counts.")
    required: bool = Field(default=False, description="An agreement without it is worth a line in the note.")
    modifiers: tuple[Modifier, ...] = ()


class Thresholds(_Part):
    """Points from which a risk is called medium, high, critical."""

    medium: int = Field(default=20, ge=1, le=100)
    high: int = Field(default=45, ge=1, le=100)
    critical: int = Field(default=75, ge=1, le=100)

    @model_validator(mode="after")
    def _rising(self) -> Thresholds:
        if not self.medium < self.high < self.critical:
            raise ValueError("thresholds must rise: medium < high < critical")
        return self


class Review(_Part):
    """Who must look at what."""

    from_risk: Literal["low", "medium", "high", "critical", "none"] = Field(
        default="high", description="Findings of this risk or more need a person."
    )
    below_confidence: float = Field(default=0.5, ge=0, le=1, description="Findings less sure than this need a person.")
    alignments: tuple[Literal["normalized", "fuzzy", "not_found"], ...] = Field(
        default=("fuzzy", "not_found"), description="Quotes placed only like this need a person."
    )
    one_person_may_accept: tuple[Literal["low", "medium", "high", "critical"], ...] = Field(
        default=("low", "medium", "high", "critical"), description="Risks that --accept-all covers."
    )


class Playbook(_Part):
    """A job, as data."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    version: int = Field(ge=1)
    title: str
    clauses: tuple[Clause, ...] = Field(min_length=1)
    thresholds: Thresholds = Thresholds()
    review: Review = Review()

    @model_validator(mode="after")
    def _unique(self) -> Playbook:
        types = [clause.type for clause in self.clauses]
        twice = sorted({name for name in types if types.count(name) > 1})
        if twice:
            raise ValueError(f"clause types named twice: {', '.join(twice)}")
        return self

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(clause.type for clause in self.clauses)

    def clause(self, clause_type: str) -> Clause | None:
        return next((clause for clause in self.clauses if clause.type == clause_type), None)

    @property
    def sha256(self) -> str:
        """Of the playbook's content: comments and order of keys do not count."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def parse_playbook(text: str, name: str) -> Playbook:
    """Read a playbook from TOML.

    Raises PlaybookError, which names the file and the first key that is wrong.
    """
    try:
        return Playbook.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise PlaybookError(f"Playbook {name} is not valid TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "playbook"
        raise PlaybookError(f"Playbook {name}: {where}: {first['msg']}.") from error

"""A playbook: what to look for, how it counts, who must decide. Data, not code."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Annotated, Any, Literal

import regex
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from nodes.domain.clauses.rules import Rule


def _compiled(pattern: str) -> str:
    try:
        re.compile(pattern)
        regex.compile(pattern)  # by which the quotes are searched; see nodes.domain.scoring.points
    except (re.error, regex.error) as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


def compiles(pattern: str) -> bool:
    """Whether it is a regular expression."""
    try:
        _compiled(pattern)
    except ValueError:
        return False
    return True


Pattern = Annotated[str, AfterValidator(_compiled)]
Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Points = Annotated[int, Field(ge=-100, le=100)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Modifier(_Part):
    """Adds points when the quote of a clause says something particular."""

    pattern: Pattern = Field(description="Regular expression, searched in the quote, case ignored, white space folded.")
    points: Points = Field(description="Added to the clause's points when it matches; may be negative.")
    reason: str = Field(description="Shown in the chain of reasons.")
    unless_negated: bool = Field(
        default=False, description="Counts only where no negation governs its words; where one does, a person looks."
    )


class Clause(_Part):
    """One clause type."""

    type: Slug = Field(description="Slug of the field's own name, for example cap_on_liability.")
    title: dict[Literal["en", "fr"], str] = Field(description="Name shown to people, by language.")
    question: str = Field(description="What a model is asked to look for.")
    points: Points = Field(default=0, description="Risk points when the clause is there.")
    reason: str = Field(default="", description="Why its presence counts.")
    points_if_missing: Points = Field(default=0, description="Risk points of the document when it is absent.")
    missing_reason: str = Field(default="", description="Why its absence counts.")
    required: bool = Field(default=False, description="An agreement without it is a finding of its own.")
    modifiers: tuple[Modifier, ...] = ()


class Across(Clause):
    """What no engine looks for, since it follows from all documents of a run together."""

    type: Literal["missing_annex", "missing_master"]


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


RiskName = Literal["low", "medium", "high", "critical"]


class Reviewers(_Part):
    """Who may decide on which findings. Of several that fit a finding, the first holds."""

    names: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] = Field(
        min_length=1, description="Names or roles, as reviewers give theirs; case does not count."
    )
    risks: tuple[RiskName, ...] = Field(default=(), description="Findings of these risks; empty: of any.")
    types: tuple[Slug, ...] = Field(default=(), description="Findings of these clause types; empty: of any.")


class Review(_Part):
    """Who must look at what."""

    from_risk: Literal[RiskName, "none"] = Field(
        default="high", description="Findings of this risk or more need a person; none: whatever the risk, nobody."
    )
    below_confidence: float = Field(default=0.5, ge=0, le=1, description="Findings less sure than this need a person.")
    alignments: tuple[Literal["normalized", "fuzzy", "not_found", "absent"], ...] = Field(
        default=("fuzzy", "not_found"), description="Quotes placed so need a person; absent: missing clauses do."
    )
    one_person_may_accept: tuple[RiskName, ...] = Field(
        default=("low", "medium", "high", "critical"), description="Risks that --accept-all covers."
    )
    four_eyes: tuple[RiskName, ...] = Field(
        default=(), description="Findings of these risks need two people who decide the same."
    )
    reviewers: tuple[Reviewers, ...] = Field(default=(), description="Who alone may decide on some findings.")


class OwnRule(Rule):
    """How the local engine recognises a clause type, in one language; beside the rules that ship."""

    language: Literal["en", "fr"]


class Playbook(_Part):
    """A job, as data."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    version: int = Field(ge=1)
    title: str
    kind: Literal["contracts", "decisions"] = Field(
        default="contracts", description="What the documents are: contracts, or court decisions."
    )
    clauses: tuple[Clause, ...] = Field(min_length=1)
    across: tuple[Across, ...] = Field(
        default=(), description="How annexes and agreements count that are named and are not among the documents."
    )
    thresholds: Thresholds = Thresholds()
    review: Review = Review()
    rules: tuple[OwnRule, ...] = Field(default=(), description="How the local engine recognises the clauses.")

    @model_validator(mode="after")
    def _unique(self) -> Playbook:
        types = [clause.type for clause in self.clauses]
        twice = sorted({name for name in types if types.count(name) > 1})
        if twice:
            raise ValueError(f"clause types named twice: {', '.join(twice)}")
        strange = sorted({rule.type for rule in self.rules} - set(types))
        if strange:
            raise ValueError(f"rules for what is no clause type of this playbook: {', '.join(strange)}")
        return self

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(clause.type for clause in self.clauses)

    def clause(self, clause_type: str) -> Clause | None:
        """Of `clauses` or `across`."""
        return next((clause for clause in (*self.clauses, *self.across) if clause.type == clause_type), None)

    @property
    def own_rules(self) -> dict[str, Any]:
        """Its rules as a question carries them: source and rules, JSON-plain; {} where it has none."""
        if not self.rules:
            return {}
        source = f"local:{self.name}@{self.version}"
        return {"source": source, "rules": [rule.model_dump(mode="json", exclude_defaults=True) for rule in self.rules]}

    @property
    def sha256(self) -> str:
        """Of the playbook's content: comments and order of keys do not count."""
        plain = self.model_dump(mode="json")
        _without_news(plain)
        text = json.dumps(plain, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _without_news(plain: dict[str, Any]) -> None:
    """Keys that came later count only where they are used, so that a playbook keeps its hash over program versions."""
    if plain["kind"] == "contracts":
        del plain["kind"]
    for clause in (*plain["clauses"], *plain["across"]):
        for modifier in clause["modifiers"]:
            if not modifier["unless_negated"]:
                del modifier["unless_negated"]
    for rule in plain["rules"]:
        if not rule["opposite"]:
            del rule["opposite"]
    review = plain["review"]
    for part, key in ((plain, "rules"), (plain, "across"), (review, "four_eyes"), (review, "reviewers")):
        if not part[key]:
            del part[key]

"""The schemas of a model's answers, and the reader of an answer: strict in form, tolerant in values."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from nodes.domain.answers.passages import Passage
from nodes.domain.answers.summary_answer import DecisionSummary
from nodes.domain.evidence.findings import Candidate
from nodes.domain.shared.messages import english

MOST_CLAUSES = 200
"""An answer with more is a loop of the model's: the rest is left out and counted."""

MOST_QUOTE_CHARS = 6_000
"""A quote longer than this is no operative sentence."""

DEFAULT_CONFIDENCE = 0.5
"""Confidence of a clause whose stated confidence is missing or cannot be read."""

_CONFIDENCE_WORDS = {
    DEFAULT_CONFIDENCE: ("medium", "moderate", "moyen", "moyenne", "modéré"),
    0.9: ("high", "very high", "certain", "sure", "élevé", "élevée", "haute", "haut", "forte", "fort"),
    0.3: ("low", "very low", "unsure", "faible", "bas", "basse"),
}
_CONFIDENCE_BY_WORD = {word: value for value, words in _CONFIDENCE_WORDS.items() for word in words}
_EMPTY_WORDS = {"", "n/a", "na", "none", "null", "nil", "not found", "not specified", "not mentioned", "no clause", "…"}
_EMPTY_WORDS |= {"...", "aucun", "aucune", "néant", "non trouvé", "non précisé", "non spécifié", "sans objet"}


# Weak models take the first party that they see for the supplier; the document's own label knows better.
_CUSTOMER = re.compile(
    r"""[\"“«(]\s*(?: the\  | le\  | la\  | l['’] )?    # (the "Customer")
    (?: customer | client | buyer | purchaser | acheteur | licensee )s?\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SELLER = re.compile(
    r"""\b(?:    # (the "Supplier")
        supplier | vendor | seller | contractor | consultant | provider | licensor | fournisseur | prestataire | vendeur
    )""",
    re.IGNORECASE | re.VERBOSE,
)


# A role is no name: taken as one, all contracts of a data room would be with the same "Provider".
_ROLE = re.compile(
    r"""(?: (?: the | le | la | l['’] )\ ? )?    # the Service Provider, la société
    (?:
        supplier | vendor | seller | (?: service\  )?provider | contractor | consultant | licensor | licensee | customer
        | client | buyer | purchaser | company | party | fournisseur | prestataire | vendeur | titulaire | bailleur
        | preneur | acheteur | acquéreur | société | unknown | inconnu
    )s?""",
    re.IGNORECASE | re.VERBOSE,
)


def _parse_confidence(value: object) -> float:
    """Read a confidence from 0 to 1 from what models write: 0.9, "0,9", 9, 90, "90 %", "high", "élevée", null."""
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in _CONFIDENCE_BY_WORD:
            return _CONFIDENCE_BY_WORD[word]
        match = re.search(r"-?\d+(?:[.,]\d+)?", word)
        value = float(match[0].replace(",", ".")) / (100 if "%" in word else 1) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return DEFAULT_CONFIDENCE
    return min(max(value / (1 if value <= 1 else 10 if value <= 10 else 100), 0.0), 1.0)


def _parse_passage_number(value: object) -> int | None:
    """Read the number of a passage from 3, 3.0, "3" or "passage 3"."""
    if isinstance(value, str):
        match = re.search(r"\d{1,9}", value)
        return int(match[0]) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value)


def _null_as_empty(value: object) -> object:
    """Turn null into an empty text; leave anything else to the validation."""
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_null_as_empty)]
Confidence = Annotated[float, BeforeValidator(_parse_confidence), WithJsonSchema({"type": "number"})]
PassageNumber = Annotated[int | None, BeforeValidator(_parse_passage_number), WithJsonSchema({"type": "integer"})]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ClauseAnswer(_Answer):
    """One clause that the model reports."""

    clause_type: Text = Field(description="One of the wanted slugs.")
    passage_id: PassageNumber = Field(default=None, description="Number of the passage that holds the quote.")
    quote: Text = Field(description="The operative sentence, verbatim.")
    confidence: Confidence = Field(default=DEFAULT_CONFIDENCE, description="0 to 1.")


class SupplierAnswer(_Answer):
    """The party that sells or performs."""

    name: Text = Field(description="As the contract names it.")
    quote: Text = Field(default="", description="The words that name it, verbatim.")


class ClauseAnswers(_Answer):
    """The clauses of the passages that were shown."""

    clauses: list[ClauseAnswer] = Field(description="Empty when nothing was found.")
    supplier: SupplierAnswer | None = Field(default=None, description="Null when the passages do not say.")


class SentenceAnswer(_Answer):
    """One sentence of the note."""

    text: Text = Field(description="The sentence.")
    cites: list[str] = Field(description="Ids of the findings that it rests on.")


class NoteAnswer(_Answer):
    """The sentences of the note."""

    sentences: list[SentenceAnswer] = Field(description="Empty when there is nothing to say.")


SCHEMAS: Mapping[str, type[BaseModel]] = {
    "ClauseAnswers": ClauseAnswers,
    "NoteAnswer": NoteAnswer,
    "DecisionSummary": DecisionSummary,
}
"""By the name under which a question asks for them."""


def json_schema(name: str, types: Sequence[str] = ()) -> dict[str, Any]:
    """Build the JSON schema of an answer, in the form that strict structured output takes.

    Every property is required, nothing else is allowed, no defaults, no titles but the top one. With `types`, a
    clause type can be no other than these.
    """
    schema: dict[str, Any] = json.loads(_schema_text(name, tuple(types)))
    return schema


@lru_cache(maxsize=64)
def _schema_text(name: str, types: tuple[str, ...]) -> str:
    """Build and cache the schema: it takes longer than everything else about a question."""
    plain: dict[str, Any] = _strict(copy.deepcopy(SCHEMAS[name].model_json_schema()))
    if types and "ClauseAnswer" in plain.get("$defs", {}):
        plain["$defs"]["ClauseAnswer"]["properties"]["clause_type"]["enum"] = list(types)
    return json.dumps({"title": name, **plain})


def schema_sha256(name: str, types: Sequence[str] = ()) -> str:
    return _schema_sha256(name, tuple(types))


@lru_cache(maxsize=64)
def _schema_sha256(name: str, types: tuple[str, ...]) -> str:
    return hashlib.sha256(json.dumps(json_schema(name, types), sort_keys=True).encode()).hexdigest()


def complaint(name: str, value: object) -> str:
    """Describe for the model what is wrong with the form of an answer; "" when nothing is."""
    try:
        SCHEMAS[name].model_validate(value)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, e['loc'])) or 'answer'}: {e['msg']}" for e in error.errors(include_url=False)]
        suffix = f"; and {len(lines) - 5} more" if len(lines) > 5 else ""
        return "; ".join(lines[:5]) + suffix
    return ""


@dataclass(frozen=True, slots=True)
class Supplier:
    """The supplier as an engine names it; its quote is located like any other."""

    name: str
    quote: str


def read_answer(
    raw: Mapping[str, Any], passages: Sequence[Passage], types: Sequence[str], source: str
) -> tuple[list[Candidate], Supplier | None, list[str]]:
    """Read candidates, supplier and notes from an answer about these passages; total: any mapping gives a result.

    Clauses of unknown types, without a quote or reported twice are left out and counted in the notes.
    """
    clauses, dropped = _clauses(raw)
    types_by_slug = {_slug(name): name for name in types}
    candidates: list[Candidate] = []
    reported: set[tuple[str, str, int | None]] = set()
    for clause in clauses:
        clause_type = types_by_slug.get(_slug(clause.clause_type))
        quote, place = clause.quote.strip(), _middle(clause.passage_id, passages)
        # The same words in another passage are another place, or the same one when they are located.
        key = (clause_type or "", " ".join(quote.split()).casefold(), place)
        if clause_type is None:
            dropped["unknown_type"] += 1
        elif key[1].strip("\"'.«» ") in _EMPTY_WORDS:
            dropped["no_quote"] += 1
        elif len(quote) > MOST_QUOTE_CHARS:
            dropped["long_quote"] += 1
        elif key in reported:
            dropped["reported_twice"] += 1
        elif len(candidates) == MOST_CLAUSES:
            dropped["too_many"] += 1
        else:
            reported.add(key)
            candidates.append(Candidate(clause_type, quote, clause.confidence, source, place))
    return candidates, _supplier(raw), _notes(dropped)


def _notes(dropped: Counter[str]) -> list[str]:
    return [english(code, count=count, limit=MOST_CLAUSES) for code, count in dropped.items()]


def _clauses(raw: Mapping[str, Any]) -> tuple[list[ClauseAnswer], Counter[str]]:
    clauses: list[ClauseAnswer] = []
    dropped: Counter[str] = Counter()
    rows = raw.get("clauses")
    for row in rows if isinstance(rows, list | tuple) else ():
        try:
            clauses.append(ClauseAnswer.model_validate(row))
        except ValidationError:
            dropped["no_form"] += 1
    return clauses, dropped


def _supplier(raw: Mapping[str, Any]) -> Supplier | None:
    try:
        answer = SupplierAnswer.model_validate(raw.get("supplier"))
    except ValidationError:
        return None
    name = " ".join(answer.name.split())
    if name.casefold().strip(".") in _EMPTY_WORDS or _ROLE.fullmatch(name.strip(" .\"'“”«»")):
        return None
    if _CUSTOMER.search(answer.quote) and not _SELLER.search(answer.quote):
        return None
    return Supplier(name[:200], answer.quote.strip()[:MOST_QUOTE_CHARS])


def _slug(name: str) -> str:
    """Normalise a clause type: "Cap on Liability" and "cap-on-liability" become cap_on_liability."""
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")


def _middle(number: int | None, passages: Sequence[Passage]) -> int | None:
    """Return the middle of a passage: a quote in it is nearer to there than the same words elsewhere."""
    if number is None or not 1 <= number <= len(passages):
        return None
    return (passages[number - 1].start + passages[number - 1].end) // 2


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: _strict(value) for key, value in schema.items() if key not in ("default", "title")}
    if "properties" in strict:
        strict["properties"] = {name: _strict(value) for name, value in schema["properties"].items()}
        strict |= {"additionalProperties": False, "required": list(strict["properties"])}
    return strict

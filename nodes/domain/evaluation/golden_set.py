"""Golden sets: clauses that a person marked in a document, and traps that must not be found. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from nodes.domain.shared.errors import UserError


class GoldError(UserError):
    """The golden set cannot be read."""


@dataclass(frozen=True, slots=True)
class Gold:
    """One line of a golden set."""

    document: str
    """Path below the source, file name or its stem."""
    clause_type: str
    """Slug; "Cap On Liability" is cap_on_liability."""
    text: str
    """The words of the clause; "" only for a trap that means the whole document."""
    page: int | None = None
    """1-based page on which it starts; None where the set does not say."""
    must_not_find: bool = False
    """A trap: no finding of the type may stand here."""
    uncertain: bool = False
    """People disagree: to find it is neither right nor wrong."""
    where: str = field(default="", compare=False)
    """File and line, for messages."""


def slug(name: str) -> str:
    """Normalise a clause type as people write it to its slug."""
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")


def read_gold(lines: Iterable[str], name: str) -> list[Gold]:
    """Read lines of JSON: document (or doc), clause_type, text (or quote), page, must_not_find, uncertain.

    Other keys are left alone. Raises GoldError with the first line that cannot be one.
    """
    gold_lines = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise GoldError(f"{name}, line {number} is no JSON ({error}): write one object a line.") from None
        gold_lines.append(_gold(row, f"{name}, line {number}"))
    if not gold_lines:
        raise GoldError(f"{name} has no line: write one JSON object a line with document, clause_type and text.")
    return gold_lines


def _gold(row: Any, place: str) -> Gold:
    if not isinstance(row, dict):
        raise GoldError(f"{place} is no JSON object: write document, clause_type and text.")
    document, kind = row.get("document") or row.get("doc"), row.get("clause_type")
    text, trap = row.get("text") or row.get("quote") or "", bool(row.get("must_not_find"))
    page = row.get("page")
    if not all(isinstance(value, str) and value.strip() for value in (document, kind)):
        raise GoldError(f"{place} lacks document or clause_type: name both.")
    if not isinstance(text, str) or (not text.strip() and not trap):
        raise GoldError(f"{place} lacks text: quote the clause, or say must_not_find for the whole document.")
    if page is not None and (not isinstance(page, int) or isinstance(page, bool) or page < 1):
        raise GoldError(f"{place} has the page {page!r}: pages count from 1.")
    return Gold(str(document), slug(str(kind)), text, page, trap, bool(row.get("uncertain")), place)


def matches(gold: str, document: str) -> bool:
    """Tell whether a golden set names this document: by path, file name or stem."""
    name = document.rpartition("/")[2]
    return gold in (document, name, name.rpartition(".")[0] or name)

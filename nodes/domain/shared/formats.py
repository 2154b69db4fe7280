"""Formats money, time, counts, risk and hostile text for people, the same on every surface."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

Basis = Literal["reported", "estimated", "unknown"]

NAME_LIMIT = 300
"""Characters of a document's or supplier's name in a note: what tells two paths of a data room apart is their end."""

_CENT = Decimal("0.01")
_MAX_AMOUNT = Decimal(10) ** 15
_THIN_SPACE = "\u202f"

_RISK_LABELS: dict[str, dict[str, str]] = {
    "en": {"low": "low", "medium": "medium", "high": "high", "critical": "critical"},
    "fr": {"low": "faible", "medium": "moyen", "high": "élevé", "critical": "critique"},
}
_ALIGNMENT_LABELS: dict[str, dict[str, str]] = {
    "en": {
        "exact": "quote found word for word",
        "normalized": "quote found, spacing or spelling marks differ",
        "fuzzy": "quote found only approximately",
        "not_found": "quote not found in the document",
        "absent": "no such clause was found in what was read",
    },
    "fr": {
        "exact": "citation retrouvée mot pour mot",
        "normalized": "citation retrouvée, espaces ou signes différents",
        "fuzzy": "citation retrouvée de façon approchée",
        "not_found": "citation introuvable dans le document",
        "absent": "aucune clause de ce type n’a été trouvée dans ce qui a été lu",
    },
}

_SOURCE_LABELS: dict[str, dict[str, str]] = {
    "en": {
        "local:model": "the local engine, trained model {version}",
        "local:rules": "the local engine, rules {version}",
        "playbook": "the playbook {part}, version {version}",
        "openai": "the model {name}",
    },
    "fr": {
        "local:model": "le moteur local, modèle entraîné {version}",
        "local:rules": "le moteur local, règles {version}",
        "playbook": "le guide {part}, version {version}",
        "openai": "le modèle {name}",
    },
}
_STATUS_LABELS = {
    "needs_review": "waits for a review",
    "paused": "paused, its limit is reached",
    "completed_with_failures": "completed, with failures",
    "interrupted": "interrupted, nobody drives it",
}

# Example: \x1b[31m, which turns a terminal red
_ESCAPE_SEQUENCE = re.compile(
    r"""
    (?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~] | (?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)
    """,
    re.VERBOSE,
)
_LINE_END = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Controls, lone surrogates, and everything that is invisible, reorders text or can carry hidden data.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_MARKDOWN = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_LIST_MARK = re.compile(r"^(\d*)([#+\-=.)])")
_HTML = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("://", "&#58;//"), ("@", "&#64;"))


def money(usd: Decimal, *, basis: Basis = "reported", unpriced: int = 0, language: str = "en") -> str:
    """Format US dollars, rounded half up to cents: "$1.84", "about $0.41", "at least $1.84 (3 calls unpriced)".

    A sum above nothing and below half a cent is "under $0.01", never "$0.00". An amount that is no number, or of
    unknown basis with no count of unpriced calls, is "unknown".
    """
    french = language == "fr"
    if not usd.is_finite() or abs(usd) >= _MAX_AMOUNT or (basis == "unknown" and not unpriced):
        return "inconnu" if french else "unknown"
    rounded = usd.quantize(_CENT, ROUND_HALF_UP)
    if unpriced:
        calls = count(unpriced, "appel sans prix" if french else "call unpriced", _unpriced(french), language)
        return f"{'au moins' if french else 'at least'} {_dollars(rounded, french)} ({calls})"
    if usd > 0 and rounded == 0:
        return f"{'moins de' if french else 'under'} {_dollars(_CENT, french)}"
    if basis == "estimated":
        return f"{'environ' if french else 'about'} {_dollars(rounded, french)}"
    return _dollars(rounded, french)


def _unpriced(french: bool) -> str:
    return "appels sans prix" if french else "calls unpriced"


def _dollars(usd: Decimal, french: bool) -> str:
    sign, digits = ("-" if usd < 0 else ""), f"{abs(usd):,f}"
    if french:
        return f"{sign}{digits.replace(',', _THIN_SPACE).replace('.', ',')}{_THIN_SPACE}$"
    return f"{sign}${digits}"


def number(value: int, language: str = "en") -> str:
    """Format a whole number with separated thousands: "12,345", in French by a thin space."""
    text = f"{value:,}"
    return text.replace(",", _THIN_SPACE) if language == "fr" else text


def count(value: int, noun: str, plural: str | None = None, language: str = "en") -> str:
    """Format a number with its noun: "1 document", "3 documents"; in French zero is singular."""
    singular = abs(value) <= 1 if language == "fr" else abs(value) == 1
    return f"{number(value, language)} {noun if singular else plural or noun + 's'}"


def unit_of(units: Iterable[str]) -> str:
    """Name the unit that places are counted in: their common unit, or "place" for pages and sections mixed."""
    distinct = set(units) or {"page"}
    return distinct.pop() if len(distinct) == 1 else "place"


def place_in(number: int | None, unit: str, column: str = "") -> str:
    """Format a place in words, "page 3", or under the head `column` of its own unit as a bare number; "" for none."""
    if number is None:
        return ""
    return str(number) if unit == column else f"{unit} {number}"


def duration(seconds: float) -> str:
    """Format a length of time in seconds: "0.4s", "12s", "6m02s", "3h05m", "2d04h"; "unknown" unless finite."""
    if not math.isfinite(seconds):
        return "unknown"
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if 0 < seconds < 0.95:
        return f"{max(seconds, 0.1):.1f}s"
    rounded = math.floor(seconds + 0.5)
    if rounded < 60:
        return f"{rounded}s"
    if rounded < 3600:
        return f"{rounded // 60}m{rounded % 60:02}s"
    minutes = rounded // 60
    if minutes < 24 * 60:
        return f"{minutes // 60}h{minutes % 60:02}m"
    return f"{minutes // 1440}d{minutes // 60 % 24:02}h"


def when(at: datetime) -> str:
    """Format a moment to the minute, in UTC: "2026-11-29 03:12 UTC".

    Raises ValueError for a time without a zone: whose clock it was cannot be told.
    """
    if at.tzinfo is None:
        raise ValueError("a time without a zone cannot be shown")
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def size(count_of_bytes: int) -> str:
    """Format a number of bytes in steps of 1,000: "812 B", "1.4 kB", "3.2 MB"."""
    value = float(count_of_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if abs(value) < (999.95 if unit != "B" else 1000):
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"


def status_label(status: str) -> str:
    """Name the status of a run for people; a status without a label is a word already."""
    return _STATUS_LABELS.get(status, status)


def risk_label(risk: str, language: str = "en") -> str:
    """Name a risk in a language; an unknown risk is shown as it is."""
    return _RISK_LABELS.get(language, _RISK_LABELS["en"]).get(risk, risk)


def alignment_label(alignment: str, language: str = "en") -> str:
    """Say how well a quote was found."""
    return _ALIGNMENT_LABELS.get(language, _ALIGNMENT_LABELS["en"]).get(alignment, alignment)


def source_label(source: str, language: str = "en") -> str:
    """Name the source of a finding: "the local engine, trained model 3" of local:model@3; an unknown one as it is."""
    engine, _, name = source.partition(":")
    labels = _SOURCE_LABELS.get(language, _SOURCE_LABELS["en"])
    part, _, version = name.partition("@")
    label = labels.get(f"{engine}:{part}") or labels.get(engine, "")
    return label.format(name=name, part=part, version=version) if name and label else source


def clean(text: str) -> str:
    """Strip everything unseen from a document's or a reply's text: fit for a terminal, a page, a database.

    Removes terminal escape sequences, control characters, lone surrogates, and characters that are invisible or turn
    the direction of reading. Every line end becomes a newline; tabs stay.
    """
    return _INVISIBLE.sub("", _LINE_END.sub("\n", _ESCAPE_SEQUENCE.sub("", text)))


def one_line(text: str, limit: int = 120) -> str:
    """Put clean text on one line of at most `limit` characters, cut at a word where one is near, with an ellipsis.

    Of a very long text only the beginning is looked at.
    """
    if limit <= 0:
        return ""
    line = " ".join(clean(text[: 10_000 + 4 * limit]).split())
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    space = head.rfind(" ")
    return (head[:space] if space > limit * 0.8 else head).rstrip() + "…"


def markdown(text: str) -> str:
    """Put clean text on one line in which neither Markdown nor HTML has a meaning, addresses included."""
    line = " ".join(clean(text).split())
    for mark, entity in _HTML:
        line = line.replace(mark, entity)
    line = re.sub(r"(?i)\bwww\.", lambda match: match.group()[:-1] + "&#46;", line)
    return _LIST_MARK.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\g<0>", line))


def describe_value(value: object) -> str:
    """Name a value that was not expected without quoting more than a few words of it: "a number", "a list"."""
    if value is None:
        return "nothing"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text “{one_line(value, 40)}”" if value else "an empty text"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, dict):
        keys = ", ".join(one_line(key, 20) for key in list(value)[:5] if isinstance(key, str))
        return f"an object with the keys {keys}" if keys else "an object without keys"
    if isinstance(value, (list, tuple)):
        return "a list"
    return "something that is not JSON"

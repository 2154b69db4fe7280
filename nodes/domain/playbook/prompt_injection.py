"""Detects hostile text: instructions to a machine reader, and text that a person does not see on the page."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from importlib import resources

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nodes.domain.evidence.findings import Candidate, Finding, Location, finding_id
from nodes.domain.playbook.model import Clause
from nodes.domain.shared.errors import MissingPart
from nodes.domain.text.documents import DocumentText, SourceDocument
from nodes.domain.text.normalise import Span, simplify
from nodes.domain.text.sentences import sentences

INSTRUCTION, HIDDEN = "instruction_to_model", "hidden_text"
CONFIDENCE = 0.9
MIN_HIDDEN_LETTERS = 12
"""Least letters and digits of hidden text that counts; a page number or a stray mark does not."""
MAX_QUOTE = 400
_UNSEEN = re.compile(
    "\u00ad(?!\\s*\n)|[\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Characters of no width, which would hide words from patterns; a soft hyphen at a line end stays."""
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0458\u04bb\u0501\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u03bf\u03b1\u0399\u039f\u0391\u0395",
    "aeopcyxisjhdABEKMHOPCTXIoaIOAE",
)
"""Cyrillic and Greek letters that look like Latin ones; here only, since elsewhere a letter is what it is."""
NO_ATTEMPT = frozenset(("comment", "struck out"))
"""Reasons for which text is kept apart though nobody tried to hide it; a warning reports it."""


class Sign(BaseModel):
    """A sign that a sentence addresses a machine."""

    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))
    keywords: tuple[str, ...] = Field(min_length=1, description="One of them must be there; saves time.")
    pattern: str

    @cached_property
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern)


class HostileFile(BaseModel):
    """The rules file `hostile`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    version: int = Field(ge=1)
    clause: tuple[Clause, ...]
    sign: tuple[Sign, ...]


@lru_cache(maxsize=1)
def load_hostile_rules() -> HostileFile:
    """Load the rules. Raises MissingPart when the file is absent or invalid."""
    try:
        text = resources.files("nodes.playbooks.rules").joinpath("hostile.toml").read_text("utf-8")
        return HostileFile.model_validate(tomllib.loads(text))
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise MissingPart(f"The rules hostile.toml cannot be read: {error}.") from error


def hostile_clause(clause_type: str) -> Clause | None:
    """The clause of a type of hostile text, which counts under every playbook; None for any other type."""
    if clause_type not in (INSTRUCTION, HIDDEN):
        return None
    return next((clause for clause in load_hostile_rules().clause if clause.type == clause_type), None)


def addresses_machine(text: str) -> bool:
    """Does this sentence address a machine reader, disguised letters included?"""
    plain = simplify(text if text.isascii() else _UNSEEN.sub("", text).translate(_LOOKALIKES))
    return any(
        sign.regex.search(plain)
        for sign in load_hostile_rules().sign
        if any(keyword in plain for keyword in sign.keywords)
    )


def instruction_spans(text: DocumentText) -> list[Span]:
    """Spans of the sentences that address a machine reader, in order."""
    return [
        (sentence.start, sentence.end)
        for sentence in sentences(text)
        if addresses_machine(text.text[sentence.start : sentence.end])
    ]


def instruction_candidates(text: DocumentText) -> list[Candidate]:
    """Candidates of the sentences that address a machine reader: findings under every playbook."""
    source = f"local:hostile@{load_hostile_rules().version}"
    return [Candidate(INSTRUCTION, text.text[start:end], CONFIDENCE, source, start) for start, end in text.instructions]


def hidden_findings(text: DocumentText, source: SourceDocument, supplier: str) -> list[Finding]:
    """Findings of text that the page does not show: it has no span, a person has to look for it."""
    findings: dict[str, Finding] = {}
    for number, reason, hidden in text.hidden:
        for clause_type in _types_of(reason, hidden):
            quote = " ".join(hidden.split())[:MAX_QUOTE]
            key = finding_id(source.sha256, clause_type, Location("not_found"), f"{number} {quote}")
            findings[key] = Finding(
                finding_id=key,
                document=source.document,
                document_sha256=source.sha256,
                supplier=supplier,
                clause_type=clause_type,
                quote=quote,
                page=number,
                page_end=number,
                boxes=(),
                spans=(),
                alignment="not_found",
                confidence=CONFIDENCE,
                source=f"local:hostile@{load_hostile_rules().version}",
                unit=text.unit,
            )
    return list(findings.values())


def _types_of(reason: str, hidden: str) -> Iterator[str]:
    if sum(char.isalnum() for char in hidden) < MIN_HIDDEN_LETTERS:
        return
    if reason not in NO_ATTEMPT:
        yield HIDDEN
    if addresses_machine(hidden):
        yield INSTRUCTION


def mask_instructions(text: str, start: int, spans: Sequence[Span]) -> str:
    """Replace instructions to a machine reader by "[…]", in a slice that begins at `start` of its document."""
    for first, last in sorted(spans, reverse=True):
        low, high = max(first - start, 0), min(last - start, len(text))
        if low < high:
            text = f"{text[:low]}[…]{text[high:]}"
    return text

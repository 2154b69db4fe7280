"""Finds clauses by rules, which are data in nodes/playbooks/rules."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from nodes.domain.clauses.engine_files import LANGUAGES as LANGUAGES
from nodes.domain.clauses.engine_files import rule_bytes
from nodes.domain.clauses.engine_files import rules_sha256 as rules_sha256
from nodes.domain.evidence.findings import Candidate
from nodes.domain.shared.errors import MissingPart
from nodes.domain.text.documents import DocumentText
from nodes.domain.text.normalise import simplify
from nodes.domain.text.sentences import Sentence, sentences

FLOOR = 0.25
"""Least confidence of a candidate that is proposed."""
SHORTEST = 25
"""Least characters of a sentence that can state a clause; a shorter one is a title."""

OPPOSITES = {"cap_on_liability": "uncapped_liability"}
"""By clause type: the type of a sentence that says only that there is no such clause."""
OPPOSITE_CONFIDENCE = 0.85

# Example: in no event
_NEGATION = re.compile(
    r"""
    \b(?:in\ no\ (?:event|case)|under\ no\ circumstances?|neither|nor|no\ party|nothing)\b
    """,
    re.VERBOSE,
)
# Example: except as provided
_QUALIFICATION = re.compile(
    r"""
    \b(?:
      if | unless | except\w* | save\ (?:for|as|that) | other\ than | but | rather | instead | until | before
      | prior\ to | during | provided | however | to\ the\ extent | where | when | sauf | mais | hormis
      | excepte | a\ moins | avant | pendant | durant | lorsque | si | en\ cas | dans\ le\ cas | plus\ d[e']
    )\b
    | \bqu(?:e\b|')
    """,
    re.VERBOSE,
)
"""Conditions and exceptions, with which a sentence says more than the opposite of a clause."""


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    if pattern != pattern.lower() and not re.search(r"\\[A-Z]", pattern):
        raise ValueError("patterns are matched against lower-case text")
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))


class Sign(_Part):
    """A pattern and how sure it makes us."""

    pattern: Pattern
    confidence: float = Field(ge=0, le=1, description="Share of such sentences that are this clause.")
    titled: float | None = Field(default=None, ge=0, le=1, description="The same under a heading of this type.")

    @cached_property
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern)


class Rule(_Part):
    """What one clause type is recognised by, in one language.

    Patterns are searched in a sentence without accents, in lower case, with plain quotation marks and single spaces.
    """

    type: str
    keywords: tuple[str, ...] = Field(min_length=1, description="One of them must be there; saves time.")
    strong: tuple[Sign, ...] = Field(default=(), description="Enough by itself.")
    weak: tuple[Sign, ...] = Field(
        default=(), description="Enough under a heading of this type or beside a strong one."
    )
    negative: tuple[Pattern, ...] = Field(default=(), description="Whatever else is there, it is not this clause.")
    opposite: tuple[Pattern, ...] = Field(
        default=(), description="Says that there is none; it is one if a strong sign is left without these words."
    )
    headings: tuple[Pattern, ...] = Field(default=(), description="Headings under which a weak sign is enough.")
    continues: tuple[Pattern, ...] = Field(default=(), description="Beginnings of a sentence that goes on with it.")
    limit: int = Field(default=6, ge=1, description="At most so many candidates a document, the surest.")

    @cached_property
    def exclusion(self) -> re.Pattern[str] | None:
        return _any(self.negative)

    @cached_property
    def denial(self) -> re.Pattern[str] | None:
        return _any(self.opposite)

    @cached_property
    def title(self) -> re.Pattern[str] | None:
        return _any(self.headings)

    @cached_property
    def continuation(self) -> re.Pattern[str] | None:
        return _any(self.continues)


class RuleFile(_Part):
    """The rules of one language."""

    version: int = Field(ge=1)
    language: str
    rule: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class _SimplifiedSentence:
    """A sentence with its simplified text and heading."""

    sentence: Sentence
    plain: str
    heading: str


@dataclass(frozen=True, slots=True)
class _Hit:
    index: int
    confidence: float


def _any(patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None


@lru_cache(maxsize=1)
def load_rules() -> dict[str, RuleFile]:
    """Load the rule files by language.

    Raises MissingPart when a file is absent or says something that a rule file cannot say.
    """
    files = {}
    for language in LANGUAGES:
        try:
            files[language] = RuleFile.model_validate(tomllib.loads(rule_bytes(language).decode()))
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            raise MissingPart(f"The clause rules {language}.toml cannot be read: {error}.") from error
    return files


def find_by_rules(text: DocumentText, types: Sequence[str]) -> list[Candidate]:
    """Find clauses of these types, quotes verbatim, in the order of the document.

    Where the language cannot be told, the rules of all languages are tried.
    """
    files = load_rules()
    chosen = [files[text.language]] if text.language in files else [files[language] for language in LANGUAGES]
    return _applied(text, [(rule, f"local:rules@{file.version}") for file in chosen for rule in file.rule], types)


def find_by_own_rules(text: DocumentText, rules: Sequence[Rule], types: Sequence[str], source: str) -> list[Candidate]:
    """Find clauses by rules of a user, for the language of this text; `source` becomes that of the candidates."""
    return _applied(text, [(rule, source) for rule in rules], types)


def find_opposites(text: DocumentText, types: Sequence[str]) -> list[Candidate]:
    """Find clauses that deny one of another type, for example that liability is limited.

    In English alone; French rules have signs of their own for it.
    """
    file = load_rules()["en"]
    candidates = []
    for rule in (rule for rule in file.rule if OPPOSITES.get(rule.type) in types):
        for sentence in sentences(text):
            words = text.text[sentence.start : sentence.end]
            lowered = words.lower()
            if len(words) < SHORTEST or not any(keyword in lowered for keyword in rule.keywords):
                continue
            plain = simplify(words)
            if is_denial(rule, plain) and not _is_denied(rule, plain):
                source = f"local:rules@{file.version}"
                candidates.append(Candidate(OPPOSITES[rule.type], words, OPPOSITE_CONFIDENCE, source, sentence.start))
    return candidates


def _is_denied(rule: Rule, plain: str) -> bool:
    """ "In no event shall the liability of a party be unlimited": the opposite itself is denied."""
    match = rule.denial.search(plain) if rule.denial else None
    return match is not None and _NEGATION.search(plain, 0, match.end()) is not None


def _applied(text: DocumentText, rules: Sequence[tuple[Rule, str]], types: Sequence[str]) -> list[Candidate]:
    simplified = [
        _SimplifiedSentence(
            sentence,
            simplify(text.text[sentence.start : sentence.end]),
            simplify(f"{sentence.article} / {sentence.heading}"),
        )
        for sentence in sentences(text)
    ]
    chosen = set(types)
    candidates: dict[tuple[str, int], Candidate] = {}
    for rule, source in rules:
        if rule.type in chosen:
            for candidate in _apply(rule, simplified, text, source):
                candidates.setdefault((rule.type, candidate.start or 0), candidate)
    return sorted(candidates.values(), key=lambda c: (c.start or 0, c.clause_type))


def _apply(rule: Rule, simplified: list[_SimplifiedSentence], text: DocumentText, source: str) -> list[Candidate]:
    hits = sorted(_hits(rule, simplified), key=lambda hit: (-hit.confidence, hit.index))[: rule.limit]
    candidates = []
    used: set[int] = set()
    for hit in sorted(hits, key=lambda hit: hit.index):
        if hit.index in used:
            continue
        last = _last(rule, simplified, hit.index)
        used.update(range(hit.index, last + 1))
        start, end = simplified[hit.index].sentence.start, simplified[last].sentence.end
        candidates.append(Candidate(rule.type, text.text[start:end], hit.confidence, source, start))
    return candidates


def _last(rule: Rule, simplified: list[_SimplifiedSentence], index: int) -> int:
    """Index of the last sentence of a clause: one more than the first, if that continues it."""
    follows = index + 1
    if rule.continuation is None or follows >= len(simplified):
        return index
    same = simplified[follows].sentence.block == simplified[index].sentence.block
    return follows if same and rule.continuation.match(simplified[follows].plain) else index


def _hits(rule: Rule, simplified: list[_SimplifiedSentence]) -> Iterator[_Hit]:
    strong: dict[int, float] = {}
    weak: dict[int, float] = defaultdict(float)
    for index, sentence in enumerate(simplified):
        if not any(keyword in sentence.plain for keyword in rule.keywords) or not _can_state_clause(sentence.plain):
            continue
        titled = bool(rule.title and rule.title.search(sentence.heading))
        strong_confidence = _best(rule.strong, sentence.plain, titled)
        weak_confidence = _best(rule.weak, sentence.plain, titled) if not strong_confidence else 0.0
        if (
            not (strong_confidence or weak_confidence)
            or (rule.exclusion and rule.exclusion.search(sentence.plain))
            or is_denial(rule, sentence.plain)
        ):
            continue
        if strong_confidence:
            strong[index] = strong_confidence
        elif titled:
            weak[index] = weak_confidence
        else:
            weak[index] = -weak_confidence
    for index, confidence in strong.items():
        yield _Hit(index, round(confidence, 2))
    for index, confidence in weak.items():
        near = any(neighbour in strong for neighbour in (index - 1, index + 1))
        if confidence > 0 or near:
            yield _Hit(index, round(abs(confidence), 2))


def is_denial(rule: Rule, plain: str) -> bool:
    """Does a simplified sentence say only the opposite: that there is no such clause?"""
    if rule.denial is None or not rule.denial.search(plain) or _QUALIFICATION.search(plain):
        return False
    return not _best(rule.strong, rule.denial.sub(" ", plain), titled=False)


def sign_confidences(rule: Rule, plain: str, titled: bool) -> tuple[float, float, float, float]:
    """Confidences of a rule in a simplified sentence: strong sign, weak sign, exclusion, a heading of its type."""
    strong = weak = 0.0
    if any(keyword in plain for keyword in rule.keywords) and _can_state_clause(plain):
        strong, weak = _best(rule.strong, plain, titled), _best(rule.weak, plain, titled)
    against = bool((strong or weak) and rule.exclusion and rule.exclusion.search(plain))
    return strong, weak, float(against), float(titled)


def _can_state_clause(plain: str) -> bool:
    """Is a sentence long enough to state a clause, and no line of a table of contents?"""
    return len(plain) >= SHORTEST and "....." not in plain and ". . . ." not in plain


def _best(alternatives: Iterable[Sign], plain: str, titled: bool) -> float:
    """Confidence of the best sign in a sentence; 0 for one below FLOOR."""
    best = 0.0
    for sign in alternatives:
        confidence = sign.confidence if not titled else _under_title(sign)
        if confidence > best and confidence >= FLOOR and sign.regex.search(plain):
            best = confidence
    return best


def _under_title(sign: Sign) -> float:
    return sign.titled if sign.titled is not None else min(1.0, sign.confidence + 0.05)

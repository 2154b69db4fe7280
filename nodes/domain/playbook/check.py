"""Warns of faults in a valid playbook: what can never match, never be found or never be decided."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodes.domain.case_law import reader as decisions
from nodes.domain.clauses.engine_files import LANGUAGES
from nodes.domain.clauses.rules import FLOOR
from nodes.domain.evidence.findings import RISKS
from nodes.domain.playbook.consistency import SECTIONS, entries
from nodes.domain.playbook.model import OwnRule, Playbook, compiles
from nodes.domain.playbook.reading import Remark, key_of
from nodes.domain.playbook.searched_types import local_types
from nodes.domain.playbook.toml_positions import Path, line_of
from nodes.domain.text.normalise import simplify

_LETTERS = re.compile(r"\\.|[^\W\d_]", re.UNICODE)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One regular expression of a playbook."""

    path: Path
    text: str
    own: bool
    """True for a rule's, searched in simplified sentences; False for a modifier's, searched in quotes in any case."""


def patterns_in(plain: Any) -> list[Pattern]:
    """List every regular expression of a playbook file with its place, whatever else is wrong with the file."""
    places: list[tuple[Path, Any, bool]] = []
    for section in SECTIONS:
        for i, clause in entries(plain, section):
            for j, modifier in entries(clause, "modifiers"):
                places.append(((section, i, "modifiers", j, "pattern"), modifier.get("pattern"), False))
    for i, rule in entries(plain, "rules"):
        for name in ("strong", "weak"):
            places += [(("rules", i, name, j, "pattern"), sign.get("pattern"), True) for j, sign in entries(rule, name)]
        for name in ("negative", "opposite", "headings", "continues"):
            texts = rule.get(name)
            listed = texts if isinstance(texts, list) else []
            places += [(("rules", i, name, j), text, True) for j, text in enumerate(listed)]
    return [Pattern(path, text, own) for path, text, own in places if isinstance(text, str) and compiles(text)]


def warnings_about(playbook: Playbook, lines: Mapping[Path, int]) -> list[Remark]:
    """List the warnings for the writer of a playbook, in the order of the file."""
    problems = [*_unknown_types(playbook), *_dead_rules(playbook), *_dead_patterns(playbook), *_review(playbook)]
    remarks = [Remark(line_of(lines, path) if lines else 0, key_of(path), text) for path, text in problems]
    return sorted(remarks, key=lambda remark: remark.line)


def _unknown_types(playbook: Playbook) -> Iterator[tuple[Path, str]]:
    if playbook.kind == "decisions":
        for place, clause in enumerate(playbook.clauses):
            if clause.type not in decisions.TYPES:
                known_types = ", ".join(sorted(decisions.TYPES))
                text = f"{clause.type} is nothing that is read from decisions: use one of {known_types}."
                yield ("clauses", place, "type"), text
        return
    for place, clause in enumerate(playbook.clauses):
        own = {rule.language for rule in playbook.rules if rule.type == clause.type}
        missing = [
            language for language in LANGUAGES if language not in own and clause.type not in local_types(language)
        ]
        if not missing:
            continue
        restriction = "" if len(missing) == len(LANGUAGES) else f" in {' and '.join(missing)}"
        text = (
            f"{clause.type} is unknown to the local engine{restriction}: "
            "only a model will find it, unless you add rules"
        )
        unreported = " (and the local engine will not report it missing)" if clause.required else ""
        yield ("clauses", place, "type"), f"{text}{unreported}."


def _dead_rules(playbook: Playbook) -> Iterator[tuple[Path, str]]:
    for place, rule in enumerate(playbook.rules):
        path: Path = ("rules", place)
        if not rule.strong and not (rule.weak and rule.headings):
            yield (
                path,
                "it can never match: give it a strong sign, or a weak one and the headings under which it counts.",
            )
        for name in ("strong", "weak"):
            for number, sign in enumerate(getattr(rule, name)):
                if max(sign.confidence, sign.titled or min(1.0, sign.confidence + 0.05)) < FLOOR:
                    place_path = (*path, name, number, "confidence")
                    yield place_path, f"below {FLOOR:g} a sign is never proposed: raise it or take it out."
        yield from _dead_keywords(path, rule)


def _dead_keywords(path: Path, rule: OwnRule) -> Iterator[tuple[Path, str]]:
    for number, keyword in enumerate(rule.keywords):
        plain = simplify(keyword)
        if keyword != plain and keyword.strip() != plain:
            yield (
                (*path, "keywords", number),
                (f"{keyword!r} can never match, since sentences have no accents and no capitals: write {plain!r}."),
            )


def _dead_patterns(playbook: Playbook) -> Iterator[tuple[Path, str]]:
    for pattern in patterns_in(playbook.model_dump(mode="json")):
        letters = "".join(match for match in _LETTERS.findall(pattern.text) if not match.startswith("\\"))
        if pattern.own and letters != simplify(letters):
            strange = next(char for char in letters if simplify(char) != char)
            yield pattern.path, f"{strange!r} can never match, since sentences have no accents: write the plain letter."
        if "’" in pattern.text and "'" not in pattern.text:
            yield pattern.path, "’ can never match, since quotes have plain apostrophes: write ' or a dot."
        if "\n" in pattern.text or r"\n" in pattern.text or "  " in pattern.text:
            yield (
                pattern.path,
                "line ends and double spaces can never match, since white space is folded: write one space.",
            )


def _review(playbook: Playbook) -> Iterator[tuple[Path, str]]:
    review = playbook.review
    for place, entry in enumerate(review.reviewers):
        path: Path = ("review", "reviewers", place)
        strange = sorted(set(entry.types) - set(playbook.types) - {"missing_clause", "missing_annex"})
        if strange:
            yield (*path, "types"), f"{', '.join(strange)} is no clause type of this playbook: nothing fits this entry."
        risks = set(entry.risks or RISKS)
        if len({" ".join(name.casefold().split()) for name in entry.names}) < 2 and risks & set(review.four_eyes):
            yield (
                (*path, "names"),
                "four_eyes needs two people, and only one is named here: such findings wait for ever.",
            )
        if any(_covers(earlier, entry) for earlier in review.reviewers[:place]):
            yield path, "an entry before it fits whatever this one fits: this one never holds."
    both = sorted(set(review.four_eyes) & set(review.one_person_may_accept), key=RISKS.index)
    if both and "one_person_may_accept" in review.model_fields_set:
        yield ("review", "one_person_may_accept"), f"{', '.join(both)} needs two people, so --accept-all leaves it out."


def _covers(earlier: object, later: object) -> bool:
    def within(name: str) -> bool:
        wide, narrow = getattr(earlier, name), getattr(later, name)
        return not wide or bool(narrow and set(narrow) <= set(wide))

    return within("risks") and within("types")

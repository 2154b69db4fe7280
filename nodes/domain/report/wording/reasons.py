"""Reasons of scores and ratings in the language of the note: shipped texts become French, those of others stay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_model import Note, SupplierRating, words_of
from nodes.domain.playbook.model import Playbook
from nodes.domain.report.wording.french_reasons import PLAYBOOKS
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.scoring.risk import factor_reason
from nodes.domain.shared.formats import NAME_LIMIT, alignment_label, one_line

_PLACED = re.compile(r"(?P<place>(?:, (?:page|section) \d+)?): (?P<said>.+)", re.DOTALL)
_UNITS = r"pages?|sections?"
_FRENCH: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"overridden by (?P<by>.+)", "remplacé par {by}"),
        (r"may be overridden by (?P<by>.+)", "peut-être remplacé par {by}"),
        (r"rejected by a reviewer: does not count", "rejeté à la relecture : ne compte pas"),
        (r"what it changes is not among the documents", "ce qu’il modifie n’est pas parmi les documents"),
        (r"(?P<what>.+) is said to be attached and is not there", "{what} est dite jointe et n’y est pas"),
        (r"(?P<what>.+) is named and is not there", "{what} est nommée et n’y est pas"),
        (
            r"contradicts itself: (?P<one>.+) against (?P<other>.+)",
            "se contredit : {one} et {other}",
        ),
        (
            r"contradicts (?P<place>(?:page|section) \d+): (?P<one>.+) against (?P<other>.+)",
            "contredit {place} : {one} et {other}",
        ),
        (
            r"“(?P<reason>.+)” is not counted: the quote says (?P<words>.+)",
            "« {reason} » n’est pas compté : la citation dit {words}",
        ),
        (
            rf"no clause of type “(?P<title>.+)” was found in the (?P<read>\d+) (?P<units>{_UNITS})"
            r" that (?:was|were) read",
            "aucune clause « {title} » n’a été trouvée dans ce qui a été lu : {read} {units}",
        ),
        (
            rf"no clause of type “(?P<title>.+)” was found in the (?P<read>\d+) of (?P<all>\d+) (?P<units>{_UNITS})"
            r" that (?:was|were) read",
            "aucune clause « {title} » n’a été trouvée dans ce qui a été lu : {read} {units} sur {all}",
        ),
        (
            r"not every (?P<unit>page|section) of the document was read",
            "toutes les {unit}s du document n’ont pas été lues",
        ),
        (r"a clause is missing", "une clause est absente"),
        (r"confidence (?P<one>[\d.]+) is below (?P<other>[\d.]+)", "confiance de {one}, inférieure à {other}"),
        (r"risk is low", "le risque est faible"),
        (r"risk is medium", "le risque est moyen"),
        (r"risk is high", "le risque est élevé"),
        (r"risk is critical", "le risque est critique"),
        (
            r"the engines differ: (?P<who>.+) found it, (?P<other>.+) did not",
            "les moteurs divergent : trouvé par {who}, non par {other}",
        ),
        (
            r"the engines differ: (?P<who>.+) found it, (?P<other>.+) quoted words that are not in the document",
            "les moteurs divergent : trouvé par {who}, mais {other} cite des mots absents du document",
        ),
        (
            r"the engines differ: (?P<who>.+) found it, (?P<other>.+) quoted only a heading or a word",
            "les moteurs divergent : trouvé par {who}, mais {other} ne cite qu’un titre ou un mot",
        ),
        (r"a box in it is not ticked", "une case n’y est pas cochée"),
        (r"(?P<people>\d+) reviewers must decide the same", "{people} relecteurs doivent décider de même"),
        (r"present", "présente"),
        (r"missing", "absente"),
    )
)
_QUOTE = re.compile(r"quote (?P<how>exact|normalized|fuzzy|not found) in the document")
_POINTS = re.compile(r"(?P<points>[+-]\d+) (?P<said>.+)", re.DOTALL)
_PRESENT = re.compile(r"[a-z][a-z0-9_]* is present")
_FEES = re.compile(r"(?:(?P<share>[\d.]+) % of the )?fees(?: of (?P<months>[\d.]+) months)?")
_DECIMAL = re.compile(r"\d+\.\d+")
_AGENTS = {"the local engine": "le moteur local", "the model": "le modèle", "unlimited": "illimitée"}


def reasons_in(language: str, text: str, about: str = "") -> str:
    """Translate reasons separated by semicolons. `about`: the note's name of the clause that is missing."""
    return " ; ".join(_french(reason, about) for reason in text.split("; ")) if language == "fr" else text


def rating_reason_in(language: str, text: str, names: Mapping[str, str]) -> str:
    """Translate a reason of a supplier's risk, "40 Cap on liability, page 3: +20 …", with the note's clause name.

    `names`: what the scores call a clause type → what the note calls it.
    """
    score, _, tail = text.partition(" ")
    fitting = (name for name in names if tail.startswith((f"{name}: ", f"{name}, ")))
    name = max(fitting, key=len, default="")
    match = _PLACED.fullmatch(tail, len(name))
    if language != "fr" or not name or match is None:
        return text
    return f"{score} {names[name]}{match['place']} : {reasons_in(language, match['said'], names[name])}"


def reasons_of(note: Note, finding: Finding) -> tuple[str, ...]:
    """Return the reasons of a finding as the note shows them."""
    about = (note.titles or {}).get(finding.about) or words_of(finding.about)
    return tuple(reasons_in(note.language, reason, about) for reason in finding.reasons)


def _french(reason: str, about: str) -> str:
    if match := _POINTS.fullmatch(reason):
        translation = "présence de la clause" if _PRESENT.fullmatch(match["said"]) else PLAYBOOKS.get(match["said"])
        return f"{match['points']} {translation}" if translation else reason
    if reason in PLAYBOOKS:
        return PLAYBOOKS[reason]
    if match := _QUOTE.fullmatch(reason):
        return alignment_label(match["how"].replace(" ", "_"), "fr")
    for pattern, text in _FRENCH:
        if match := pattern.fullmatch(reason):
            groups = {key: PLAYBOOKS.get(value) or _french_value(value) for key, value in match.groupdict().items()}
            if "units" in groups and int(groups["read"]) < 2:
                groups["units"] = groups["units"].rstrip("s")
            return text.format(**({**groups, "title": about or groups["title"]} if "title" in groups else groups))
    return reason


def _french_value(value: str) -> str:
    """Translate a value inside a reason into French, unless it is the document's own."""
    if not (fees := _FEES.fullmatch(value)):
        return _AGENTS.get(value, value.replace(".", ",") if _DECIMAL.fullmatch(value) else value)
    months = f" de {fees['months']} mois" if fees["months"] else ""
    return f"{fees['share']} % des redevances{months}" if fees["share"] else f"redevances{months}"


def grounds_of(
    rating: SupplierRating, findings: Sequence[Finding], documents: Sequence[DocumentResult], playbook: Playbook
) -> tuple[Finding | None, ...]:
    """Return for each reason of a rating, as scored, the finding that gives it: the first one, as in the score.

    `findings` are those of this supplier, `documents` those of the run.
    """
    order = {row.document: row.ordinal for row in documents}
    first: dict[str, Finding] = {}
    for finding in sorted(
        findings, key=lambda finding: (order.get(finding.document, len(order)), finding.document, finding.spans[:1])
    ):
        first.setdefault(f"{finding.score} {factor_reason(finding, playbook)}", finding)
    return tuple(first.get(reason) for reason in rating.reasons)


def rating_as_shown(
    rating: SupplierRating,
    grounds: Sequence[Finding | None],
    language: str,
    names: Mapping[str, str],
    documents: Sequence[str],
) -> SupplierRating:
    """Return a rating as the note shows it; where a supplier has several `documents`, each page names its document.

    `names`: what the scores call a clause type → what the note calls it.
    """
    file_names = Counter(name.rpartition("/")[2] for name in documents)
    reasons = []
    for reason, ground in zip(rating.reasons, grounds, strict=True):
        text = rating_reason_in(language, reason, names)
        if len(documents) > 1 and ground is not None and ground.page is not None:
            page, file_name = f", {ground.unit} {ground.page}", ground.document.rpartition("/")[2]
            document = file_name if file_names[file_name] == 1 else ground.document
            text = text.replace(page, f", {one_line(document, NAME_LIMIT)}{page}", 1)
        reasons.append(text)
    marks = tuple(ground.finding_id if ground else "" for ground in grounds)
    return replace(rating, reasons=tuple(reasons), grounds=marks)

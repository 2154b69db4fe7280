"""Renderer of the note as Markdown: text of documents is escaped, every mark links to the evidence at the end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_model import Note, Section, Sentence, has_risk, status_of
from nodes.domain.report.wording.reasons import reasons_of
from nodes.domain.report.wording.texts import columns, texts
from nodes.domain.report.wording.verdicts import decision_words
from nodes.domain.report.writers.note_writer import place
from nodes.domain.shared.formats import alignment_label, markdown, risk_label


def anchor(finding_id: str) -> str:
    """Return the anchor id of a finding's evidence, in Markdown and HTML alike."""
    return "f-" + re.sub(r"[^0-9A-Za-z-]", "", finding_id)


def mark(finding_id: str) -> str:
    """Return the mark of a finding behind a sentence: F:ab12cd34ef56."""
    return "F:" + re.sub(r"[^0-9A-Za-z-]", "", finding_id)


def decision_text(finding: Finding, language: str) -> str:
    """Describe a finding's status with reviewer, time and reason, as part of a sentence."""
    table = texts(language)
    status = status_of(finding)
    text = table[f"status_{status}"]
    if not finding.decision:
        return text
    reviewer, at, reason = decision_words(finding, language)
    if status == "unlocated":
        text += f"; {table['status_accepted']}"
    text = table["by"].format(status=text, reviewer=reviewer, at=at)
    return table["because"].format(decision=text, reason=reason) if reason else text


def to_markdown(note: Note) -> str:
    """Render the note; the evidence at the end has every finding with quote, place, alignment and decision."""
    lines = [f"# {markdown(note.title)}", ""]
    rulings = 0
    for section in note.sections:
        if not section.sentences:
            continue
        rulings += section.kind == "decision"
        target = f'<a id="d-{rulings}"></a>' if section.kind == "decision" else ""
        if section.kind == "index":
            lines_of_section = _table(section, columns(note.language))
        else:
            lines_of_section = (_sentence_line(sentence, note.language) for sentence in section.sentences)
        lines += [f"## {target}{markdown(section.title)}", "", *lines_of_section, ""]
    if note.findings:
        lines += [f"## {texts(note.language)['evidence']}", ""]
        lines += [line for finding in note.findings for line in _evidence(note, finding)]
    return "\n".join(lines).rstrip() + "\n"


def _table(section: Section, heads: Sequence[str]) -> Iterable[str]:
    """Yield the table of court decisions: each number links to its section, in the same order."""
    # The last cell is the document, whose name may hold anything.
    rows = [sentence.text.split(" · ", len(heads) - 2) for sentence in section.sentences]
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for number, (sentence, cells) in enumerate(zip(section.sentences, rows, strict=True), 1):
        blank = [""] * (len(heads) - 1 - len(cells))
        row = [markdown(cell) for cell in (sentence.lead, *cells[:-1], *blank, *cells[-1:])]
        row[0] = f"[{row[0]}](#d-{number})"
        yield "| " + " | ".join(row) + " |"


def _sentence_line(sentence: Sentence, language: str) -> str:
    lead = f"**{markdown(sentence.lead)}**{texts(language)['colon']}" if sentence.lead else ""
    marks = "".join(f" [{mark(finding_id)}](#{anchor(finding_id)})" for finding_id in sentence.finding_ids)
    return f"- {lead}{markdown(sentence.text)}{marks}"


def _evidence(note: Note, finding: Finding) -> Iterable[str]:
    table = texts(note.language)
    head = [f"**{markdown(note.clause_title(finding))}**", markdown(place(finding, note.language))]
    if has_risk(note):
        risk = risk_label(finding.risk, note.language)
        head.append(table["standing"].format(risk=risk, score=finding.score).rstrip("."))
    yield f'### <a id="{anchor(finding.finding_id)}"></a>{mark(finding.finding_id)}'
    yield ""
    yield " · ".join(head)
    yield ""
    if not finding.about:
        yield f"> {markdown(finding.quote) or '…'}"
        yield ""
    yield f"- {alignment_label(finding.alignment, note.language)}"
    yield f"- {table['decision']}{table['colon']}{markdown(decision_text(finding, note.language))}"
    for reason in reasons_of(note, finding):
        yield f"- {markdown(reason)}"
    yield ""

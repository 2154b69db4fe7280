"""The screen of one finding under review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.rule import Rule
from rich.text import Text

from graph.surfaces.terminal.output import console
from graph.surfaces.terminal.run import RISK_STYLES
from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_model import title_of
from nodes.domain.shared.formats import alignment_label, clean, one_line, place_in

KEYS = "a accept · x reject · l later · u undo · q leave · ? keys"
KEY_HELP = (
    ("a", "accept: the finding may be stated in the note"),
    ("x", "reject: asks for the reason; the finding counts no more"),
    ("l", "later: leave it waiting and go to the next"),
    ("u", "undo: back to the one before, to decide it anew; the last decision holds"),
    ("q", "leave: what is decided is stored, the rest keeps waiting"),
)
QUOTE_LIMIT = 1_200


def show_finding(
    finding: Mapping[str, Any],
    titles: Mapping[str, str],
    around: tuple[str, str],
    place: str,
    message: str = "",
    opinions: Sequence[str] = (),
) -> None:
    """Print a finding, evidence first: its place and quote, then the rule, then the verdict of the machine.

    `around` is the text before and after the quote, `place` the number of the finding, `message` what the last key did,
    `opinions` what other reviewers have decided.
    """
    out = console()
    out.clear()
    title = title_of(Finding.from_json(finding), titles)
    out.print(Rule(Text(f"{one_line(title, 60)} · {place}", style="bold"), align="left", characters="─"))
    unit = finding.get("unit", "page")
    page = place_in(finding["page"], unit) or f"no {unit}"
    location = Text.assemble((one_line(finding["document"], 200), "bold"), ", ", (page, "bold"))
    if finding["supplier"]:
        location.append(f"  {one_line(finding['supplier'], 60)}", style="dim")
    out.print(location)
    out.print()
    out.print(_evidence(finding, around))
    out.print()
    alignment = finding["alignment"]
    style = {"exact": "green", "not_found": "bold red"}.get(alignment, "yellow")
    for sentence in opinions:
        out.print(Text(one_line(sentence, 200), style="yellow"))
    out.print(Text(alignment_label(alignment), style=style))
    for reason in finding["reasons"]:
        out.print(Text(f"  {one_line(reason, 300)}"))
    out.print(_verdict(finding))
    out.print()
    if message:
        out.print(Text(message, style="yellow"))
    out.print(Text(KEYS, style="reverse"))


def _evidence(finding: Mapping[str, Any], around: tuple[str, str]) -> Text:
    before, after = (" ".join(clean(part).split()) for part in around)
    quote = " ".join(clean(finding["quote"][:QUOTE_LIMIT]).split())
    text = Text()
    if before:
        text.append(f"…{before} ", style="dim")
    text.append(quote + ("…" if len(finding["quote"]) > QUOTE_LIMIT else ""), style="bold")
    if after:
        text.append(f" {after}…", style="dim")
    return text


def _verdict(finding: Mapping[str, Any]) -> Text:
    line = Text("risk ")
    line.append(finding["risk"], style=RISK_STYLES.get(finding["risk"], ""))
    line.append(f", score {finding['score']} of 100 · confidence {finding['confidence']:.0%} by {finding['source']}")
    if finding["review_reason"]:
        line.append(f" · to review: {one_line(finding['review_reason'], 200)}", style="dim")
    return line


def show_keys() -> None:
    out = console()
    out.clear()
    for key, meaning in KEY_HELP:
        out.print(Text.assemble((f"  {key}  ", "bold"), meaning))
    out.print()
    out.print(Text("any key goes back", style="dim"))

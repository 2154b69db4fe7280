"""How a playbook looks on a terminal."""

from __future__ import annotations

from rich.text import Text

from graph.surfaces.terminal.output import console
from graph.surfaces.terminal.tables import cut, plain_table
from nodes.domain.case_law import reader as case_law_reader
from nodes.domain.clauses.engine_files import LANGUAGES
from nodes.domain.playbook.model import Playbook, Reviewers
from nodes.domain.playbook.searched_types import local_types
from nodes.domain.shared.formats import count, one_line


def show_playbook(playbook: Playbook) -> None:
    """Print title and thresholds, the clauses with their points, and who must review what."""
    out = console()
    out.print(Text(f"{playbook.name} {playbook.version}: {one_line(playbook.title, 200)}", style="bold"))
    steps = playbook.thresholds
    out.print(f"medium from {steps.medium}, high from {steps.high}, critical from {steps.critical} of 100 points")
    out.print()
    columns = ("clause", "points", "missing", "required", "found by", "question")
    table = plain_table(*columns, right=("points", "missing"), gives_way=("question",))
    for clause in playbook.clauses:
        changes = f" ±{len(clause.modifiers)}" if clause.modifiers else ""
        table.add_row(
            Text(clause.type),
            Text(f"{clause.points}{changes}"),
            Text(str(clause.points_if_missing or "")),
            Text("yes" if clause.required else ""),
            Text(_found_by(playbook, clause.type)),
            cut(clause.question),
        )
    out.print(table)
    out.print()
    for line in _review(playbook):
        out.print(line, soft_wrap=True)


def _found_by(playbook: Playbook, clause_type: str) -> str:
    if playbook.kind == "decisions":
        return "local fr" if clause_type in case_law_reader.TYPES else "nobody"
    own = {rule.language for rule in playbook.rules if rule.type == clause_type}
    languages = [language for language in LANGUAGES if language in own or clause_type in local_types(language)]
    return f"local {' '.join(languages)}{' (own rules)' if own else ''}" if languages else "a model only"


def _review(playbook: Playbook) -> list[str]:
    review = playbook.review
    risk = "whatever the risk, nobody" if review.from_risk == "none" else f"from {review.from_risk} risk"
    lines = [
        f"a person decides: {risk}; below {review.below_confidence:.0%} confidence; "
        f"quotes {', '.join(review.alignments) or 'of no kind'}"
    ]
    if review.four_eyes:
        lines.append(f"two people must decide the same: {', '.join(review.four_eyes)}")
    lines += [f"only {', '.join(reviewers.names)}: {_scope(reviewers)}" for reviewers in review.reviewers]
    if playbook.rules:
        lines.append(f"own rules: {count(len(playbook.rules), 'rule')}")
    return lines


def _scope(reviewers: Reviewers) -> str:
    return "; ".join(filter(None, (", ".join(reviewers.risks), ", ".join(reviewers.types)))) or "all findings"

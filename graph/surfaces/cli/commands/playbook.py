"""Commands for playbooks: check, show."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph.surfaces.cli import arguments as args
from graph.surfaces.cli.exit_codes import OK, USAGE
from graph.surfaces.terminal.output import emit, say
from nodes.domain.shared.errors import UserError

if TYPE_CHECKING:
    from nodes.domain.playbook.reading import Remark

PlaybookName = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A playbook that ships, or a TOML or YAML file.")
]


def check(playbook: PlaybookName, as_json: args.Json = False) -> int:
    """Say all that is wrong with a playbook, each with its line, its key and what to do; exit 2 if anything is."""
    from graph.usecases.playbooks import check_playbook

    report = asyncio.run(check_playbook(playbook))
    file, problems, warnings = report.file, report.problems, report.warnings
    if as_json:
        emit({"file": file, "ok": not problems, "problems": _to_json(problems), "warnings": _to_json(warnings)})
    else:
        _show_remarks(file, problems, warnings)
    return USAGE if problems else OK


def _to_json(remarks: list[Remark]) -> list[dict[str, Any]]:
    return [{"line": remark.line or None, "key": remark.key, "text": remark.text} for remark in remarks]


def _show_remarks(file: str, problems: list[Remark], warnings: list[Remark]) -> None:
    for problem in problems:
        say(f"error: {file}: {problem}")
    for warning in warnings:
        say(f"warning: {file}: {warning}")
    if not problems:
        sys.stdout.write(f"{file} is a playbook that can be used.\n")


def show(
    playbook: Annotated[str, typer.Argument(metavar="NAME|FILE", help="A playbook that ships, or a file.")] = "",
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of playbooks, for editors.")] = False,
    as_json: args.Json = False,
) -> int:
    """Show what a playbook looks for, how it counts and who decides."""
    from nodes.domain.playbook.reading import json_schema

    if schema:
        if as_json:
            emit(json.loads(json_schema()))
        else:
            sys.stdout.write(json_schema())
        return OK
    from graph.usecases.playbooks import load_playbook, shipped_playbooks

    if not playbook:
        raise UserError(f"Name a playbook, one of {', '.join(shipped_playbooks())} or a file, or give --schema.")
    definition = load_playbook(playbook)
    if as_json:
        emit({**definition.model_dump(mode="json"), "sha256": definition.sha256})
    else:
        from graph.surfaces.terminal.playbook import show_playbook

        show_playbook(definition)
    return OK

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
    from nodes.domain.playbook.reading import Reading, Remark

PlaybookName = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A playbook that ships, or a TOML or YAML file.")
]


def check(playbook: PlaybookName, as_json: args.Json = False) -> int:
    """Say all that is wrong with a playbook, each with its line, its key and what to do; exit 2 if anything is."""
    from graph.adapters.storage.playbook_files import playbook_bytes
    from nodes.domain.playbook.check import warnings_about
    from nodes.domain.playbook.reading import read_playbook

    data, file = playbook_bytes(playbook)
    reading = read_playbook(data, file)
    problems = sorted([*reading.problems, *_slow_pattern_remarks(reading)], key=lambda problem: problem.line)
    warnings = warnings_about(reading.playbook, reading.lines) if reading.playbook is not None else []
    if as_json:
        emit({"file": file, "ok": not problems, "problems": _to_json(problems), "warnings": _to_json(warnings)})
    else:
        _show_remarks(file, problems, warnings)
    return USAGE if problems else OK


def _slow_pattern_remarks(reading: Reading) -> list[Remark]:
    """Patterns that take too long, also of a playbook that has other problems."""
    from graph.adapters.processes.slow_patterns import ONE_SECONDS, slow_ones
    from nodes.domain.playbook.check import patterns_in
    from nodes.domain.playbook.reading import Remark, key_of
    from nodes.domain.playbook.toml_positions import line_of

    patterns = patterns_in(reading.plain)
    slow_patterns = [patterns[place] for place in asyncio.run(slow_ones([pattern.text for pattern in patterns]))]
    return [
        Remark(
            line_of(reading.lines, pattern.path),
            key_of(pattern.path),
            f"this pattern takes more than {ONE_SECONDS:g} s on a text of a few pages: bound its repeats, as in "
            ".{0,80} for .*, and repeat nothing that is repeated within.",
        )
        for pattern in slow_patterns
    ]


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
    from graph.adapters.storage.playbook_files import playbook_bytes, shipped
    from nodes.domain.playbook.reading import read_playbook, required

    if not playbook:
        raise UserError(f"Name a playbook, one of {', '.join(shipped())} or a file, or give --schema.")
    data, file = playbook_bytes(playbook)
    definition = required(read_playbook(data, file), playbook)
    if as_json:
        emit({**definition.model_dump(mode="json"), "sha256": definition.sha256})
    else:
        from graph.surfaces.terminal.playbook import show_playbook

        show_playbook(definition)
    return OK

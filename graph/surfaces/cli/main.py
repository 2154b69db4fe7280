"""The command line: its commands, and `main`, which exits with the code of the command."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from graph.surfaces.cli.commands import drill as drill_commands
from graph.surfaces.cli.commands import evaluation as evaluation_commands
from graph.surfaces.cli.commands import facts as facts_commands
from graph.surfaces.cli.commands import fork as fork_commands
from graph.surfaces.cli.commands import inspection as inspection_commands
from graph.surfaces.cli.commands import machine as machine_commands
from graph.surfaces.cli.commands import playbook as playbook_commands
from graph.surfaces.cli.commands import retention as retention_commands
from graph.surfaces.cli.commands import run as run_commands
from graph.surfaces.cli.commands import search as search_commands
from graph.surfaces.cli.exit_codes import BY_SIGNAL, USAGE, report_error
from graph.surfaces.cli.signals import Terminated, terminate_cleanly
from graph.surfaces.terminal.output import say, tolerate_any_output

PROGRAM = "python run.py"

# typer ships its own copy of click and names no base class of its usage errors; this is the one that has a message.
UsageProblem: type[Exception] = next(
    base for base in reversed(typer.BadParameter.__mro__) if hasattr(base, "format_message")
)

app = typer.Typer(
    name="reprise",
    help="Read a folder of contracts, find clauses with their place, score the risk, wait for a person, write a note. "
    "A run that was killed, paused or left for a week goes on where it stopped.",
    epilog="Exit codes: 0 completed or waiting for review, 1 failed, 2 usage, 4 budget or deadline reached, "
    "5 another process drives the run, 130 and 143 stopped by a signal.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
database = typer.Typer(name="db", help="The embedded database.")
playbooks = typer.Typer(name="playbook", help="Playbooks: what is looked for, how it counts, who decides.")

PANELS: dict[str, Sequence[Callable[..., int]]] = {
    "Drive a run": (
        run_commands.start,
        run_commands.resume,
        run_commands.review,
        fork_commands.fork,
        run_commands.cancel,
    ),
    "Look at runs": (
        inspection_commands.status,
        inspection_commands.show,
        inspection_commands.findings,
        facts_commands.facts,
        search_commands.search,
        inspection_commands.report,
        inspection_commands.runs,
        inspection_commands.decisions,
        inspection_commands.coverage,
        inspection_commands.cost,
        inspection_commands.journal,
        inspection_commands.history,
        inspection_commands.resumes,
        fork_commands.compare,
    ),
    "Look after the machine": (
        machine_commands.doctor,
        machine_commands.migrate,
        retention_commands.prune,
        retention_commands.purge,
        machine_commands.diagram,
        drill_commands.drill,
        evaluation_commands.evaluate,
    ),
}
for _panel, _commands in PANELS.items():
    for _command in _commands:
        # A word behind a minus is a part of the question.
        context_settings = {"ignore_unknown_options": True} if _command is search_commands.search else {}
        app.command(rich_help_panel=_panel, context_settings=context_settings)(_command)
playbooks.command("check")(playbook_commands.check)
playbooks.command("show")(playbook_commands.show)
app.add_typer(playbooks, rich_help_panel="Look after the machine")
database.command("stop")(machine_commands.stop)
app.add_typer(database, rich_help_panel="Look after the machine")


def _version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        sys.stdout.write(f"reprise {version('reprise')}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    return None


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code; nothing but SystemExit leaves here."""
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    terminate_cleanly()
    tolerate_any_output()
    try:
        code = _call(arguments or ["--help"])
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Who read the output has gone; a later flush must not say so a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BY_SIGNAL + signal.SIGPIPE
    except (KeyboardInterrupt, EOFError, typer.Abort):
        say("Stopped.")
        return BY_SIGNAL + signal.SIGINT
    except Terminated:
        say("Stopped.")
        return BY_SIGNAL + signal.SIGTERM
    except UsageProblem as problem:
        return _usage(problem)
    except Exception as error:  # noqa: BLE001 - the edge of the program: whatever it is becomes one sentence
        return report_error(error)


def _call(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        # Not by its own `main`: that ends with 1, as a failed run, where only the reader of the output has gone.
        with command.make_context(PROGRAM, arguments) as context:
            return int(command.invoke(context) or 0)
    except typer.Exit as stop:
        return stop.exit_code


def _usage(problem: Any) -> int:
    context = getattr(problem, "ctx", None)
    path = context.command_path if context is not None else PROGRAM
    message = " ".join(str(problem.format_message()).split()).rstrip(".").replace(": Value error, ", ": ")
    say(f"error: {message}; see {path} --help.")
    return USAGE

"""Commands for the machine: doctor, migrate, diagram, db stop."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, cast

from graph.surfaces.cli import arguments as args
from graph.surfaces.terminal.output import emit, say

if TYPE_CHECKING:
    from nodes.ports import Services


def doctor(as_json: args.Json = False) -> int:
    """Check database, tables, key, readers, playbooks and disk; say for each what to do."""
    from graph.surfaces.doctor import check_all, show_checks

    checks = asyncio.run(check_all())
    ok = all(check.state != "FAIL" for check in checks)
    if as_json:
        emit({"ok": ok, "checks": [check.to_json() for check in checks]})
    else:
        show_checks(checks)
    return 0 if ok else 1


def migrate(as_json: args.Json = False) -> int:
    """Bring the tables of the database up to date."""
    from graph.app import operator_settings
    from graph.usecases.maintenance import migrate as apply_migrations

    applied = asyncio.run(apply_migrations(operator_settings()))
    if as_json:
        emit({"applied": applied})
    else:
        lines = [f"applied {step}" for step in applied] or ["The tables are up to date."]
        sys.stdout.write("\n".join(lines) + "\n")
    return 0


def stop(as_json: args.Json = False) -> int:
    """Stop the embedded database server; the next command starts it again."""
    from graph.app import operator_settings
    from graph.usecases.maintenance import stop_server

    settings = operator_settings()
    if not settings.own_server:
        say("REPRISE_DATABASE_URL is set: that server is yours to stop; looking for the embedded one.")
    stopped = asyncio.run(stop_server(settings))
    if as_json:
        emit({"stopped": stopped})
    else:
        sys.stdout.write("The embedded database is stopped.\n" if stopped else "The embedded database did not run.\n")
    return 0


def diagram(as_json: args.Json = False) -> int:
    """Print the graph as Mermaid text; it is drawn without any service."""
    from graph.builder import build_graph

    # Nothing is run, so the nodes need no services: the picture comes from the builder alone.
    text = build_graph(cast("Services", None)).compile().get_graph().draw_mermaid()
    if as_json:
        emit({"mermaid": text})
    else:
        sys.stdout.write(text.rstrip() + "\n")
    return 0

"""The checks of `doctor`: what this machine has and lacks, each with what to do. They change nothing."""

from __future__ import annotations

import asyncio
import platform
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nodes.domain.shared.errors import RepriseError
from nodes.domain.shared.formats import one_line, size

if TYPE_CHECKING:
    from graph.settings import Settings

CheckState = Literal["ok", "warn", "FAIL"]
STATE_STYLES = {"ok": "green", "warn": "yellow", "FAIL": "bold red"}

LOW_SPACE_BYTES = 1_000_000_000
NO_SPACE_BYTES = 100_000_000
"""Free bytes: below the first a large data room may not fit, below the second the database stops."""
OLDEST_SERVER_VERSION = 140_000
"""The server_version_num of PostgreSQL 14, for which the queries were written."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check and its outcome."""

    name: str
    state: CheckState
    found: str
    advice: str = ""
    """What to do; "" when nothing is to be done."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


async def check_all() -> list[Check]:
    """Run all checks in order; a check that breaks is a FAIL and stops no other."""
    try:
        from graph.app import operator_settings

        settings = operator_settings()
    except RepriseError as error:
        return [_python(), Check("settings", "FAIL", one_line(str(error), 300), "correct or unset that variable")]
    checks = [_python(), await asyncio.to_thread(_home, settings)]
    for check in (_database, _readers, _playbooks):
        checks += await _guarded(check, settings)
    return [*checks, _key(settings)]


async def _guarded(check: Callable[[Settings], Awaitable[list[Check]]], settings: Settings) -> list[Check]:
    try:
        return await check(settings)
    except Exception as error:  # noqa: BLE001 - the doctor has to name every illness, also one it does not know
        advice = "see the message" if isinstance(error, RepriseError) else "report this as a fault in Reprise"
        return [Check(check.__name__.strip("_"), "FAIL", one_line(f"{error}" or type(error).__name__, 400), advice)]


def _python() -> Check:
    version = platform.python_version()
    supported = (3, 11) <= sys.version_info[:2] <= (3, 13)
    return Check("Python", "ok" if supported else "warn", version, "" if supported else "use Python 3.11, 3.12 or 3.13")


def _home(settings: Settings) -> Check:
    """Check space and rights where data is kept; the folder itself is not made."""
    folder = settings.home
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    description = f"{settings.home}, {size(free)} free"
    if not _writable(folder):
        return Check("home", "FAIL", description, f"make {folder} writable, or set REPRISE_HOME to another folder")
    if free < LOW_SPACE_BYTES:
        return Check(
            "home", "FAIL" if free < NO_SPACE_BYTES else "warn", description, "free some space, or move REPRISE_HOME"
        )
    return Check("home", "ok", description)


def _writable(folder: Path) -> bool:
    import os

    return os.access(folder, os.W_OK | os.X_OK)


async def _database(settings: Settings) -> list[Check]:
    from graph.usecases.maintenance import inspect_database

    kind = "embedded" if settings.own_server else "REPRISE_DATABASE_URL"
    database = await inspect_database(settings)
    if database.unreachable is not None:
        advice = "start it, check the address, or unset REPRISE_DATABASE_URL to use the embedded one"
        return [Check("database", "FAIL", f"{kind}: {one_line(database.unreachable, 200)}", advice)]
    number = database.server_version
    description = f"PostgreSQL {number // 10_000}.{number % 10_000}, {kind}"
    outdated = number < OLDEST_SERVER_VERSION
    server = Check(
        "database", "FAIL" if outdated else "ok", description, "use PostgreSQL 14 or newer" if outdated else ""
    )
    if database.newer_schema is not None:
        return [server, Check("schema", "FAIL", one_line(database.newer_schema, 300), "update this program")]
    if database.refused is not None:
        advice = "name in REPRISE_DATABASE_URL a user who owns the tables of Reprise, or may create them"
        return [server, Check("schema", "FAIL", one_line(database.refused, 300), advice)]
    if not database.missing_steps:
        return [server, Check("schema", "ok", "current")]
    # The embedded server is migrated by whatever opens it; one of somebody else's only when they say so.
    state: CheckState = "warn" if settings.own_server else "FAIL"
    missing = ", ".join(database.missing_steps)
    return [server, Check("schema", state, f"lacks {missing}", "run: python run.py migrate")]


async def _readers(settings: Settings) -> list[Check]:
    from graph.usecases.maintenance import inspect_readers

    readers = await inspect_readers()
    checks = []
    for part in readers.parts:
        needed = part.name == "pypdfium2"
        state: CheckState = "ok" if part.version else "FAIL" if needed else "warn"
        advice = "" if part.version else "pip install -e ." if needed else f"pip install {part.name}"
        checks.append(Check(part.purpose, state, f"{part.name} {part.version or 'is missing'}", advice))
    if not settings.ocr:
        return [*checks, Check("OCR", "warn", "turned off", "scanned pages will count as failed; unset REPRISE_OCR")]
    description = ", ".join(f"{part.name} {part.version or 'is missing'}" for part in readers.ocr_parts)
    advice = f"scanned pages cannot be read; {readers.install_ocr}" if readers.ocr_missing else ""
    return [*checks, Check("OCR", "FAIL" if readers.ocr_missing else "ok", description, advice)]


async def _playbooks(settings: Settings) -> list[Check]:
    from graph.usecases.playbooks import load_playbook, shipped_playbooks

    names = await asyncio.to_thread(shipped_playbooks)
    playbooks = [await asyncio.to_thread(load_playbook, name) for name in names]
    if not playbooks:
        return [Check("playbooks", "FAIL", "none", "install Reprise again")]
    return [Check("playbooks", "ok", ", ".join(f"{playbook.name} {playbook.version}" for playbook in playbooks))]


def _key(settings: Settings) -> Check:
    """Check whether there is a key, never which. The local engine needs none."""
    if problem := settings.endpoint_problem:
        return Check("key", "warn", problem, "set it right to use --engine openai; --engine local needs none")
    endpoint = "OPENAI_BASE_URL is set" if settings.openai_base_url else "OpenAI's own endpoint"
    if settings.openai_api_key.get_secret_value():
        return Check("key", "ok", f"OPENAI_API_KEY is set, {endpoint}; used with --engine openai only")
    if settings.openai_base_url:
        return Check("key", "ok", f"OPENAI_API_KEY is not set, {endpoint}; right for an endpoint that asks for none")
    advice = "set OPENAI_API_KEY to use --engine openai; --engine local needs none"
    return Check("key", "warn", "OPENAI_API_KEY is not set", advice)


def show_checks(checks: list[Check]) -> None:
    """Print a line for each check, and under it what to do."""
    from rich.table import Table
    from rich.text import Text

    from graph.surfaces.terminal.output import console

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(max_width=max(console().width // 3, 12))
    table.add_column(overflow="fold")
    for check in checks:
        table.add_row(Text(check.state, style=STATE_STYLES[check.state]), Text(check.name), Text(check.found))
        if check.advice:
            table.add_row("", "", Text(f"→ {check.advice}", style="dim"))
    console().print(table)

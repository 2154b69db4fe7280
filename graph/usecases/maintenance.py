"""Maintenance of an installation: its tables, its server, its readers. Nothing here needs an open Reprise."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import psycopg

from graph.adapters.documents import reader
from graph.adapters.embedded_postgres import stop
from graph.composition import database_url
from graph.runtime.postgres import migrations
from graph.runtime.postgres.database import translated
from graph.runtime.postgres.database_address import problem_with
from graph.settings import Settings
from nodes.domain.shared.errors import RepriseError

CONNECT_SECONDS = 5


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """How a database was found; None stands for no such problem."""

    unreachable: str | None = None
    """Why no connection was made; all else is then unknown."""
    server_version: int = 0
    """As server_version_num has it: 140005 for 14.5."""
    newer_schema: str | None = None
    """What is said of tables that a newer version of Reprise made."""
    refused: str | None = None
    """What the server says where its user may not read the tables."""
    missing_steps: tuple[str, ...] = ()
    """Migrations that were not applied yet."""


@dataclass(frozen=True, slots=True)
class ReaderPart:
    """A library that reads documents; `version` is "" where it is not installed."""

    name: str
    purpose: str
    version: str


@dataclass(frozen=True, slots=True)
class ReaderState:
    """The libraries that read documents, and what OCR lacks."""

    parts: tuple[ReaderPart, ...]
    ocr_parts: tuple[ReaderPart, ...]
    ocr_missing: tuple[str, ...]
    """Parts without which no scanned page can be read; empty when one can."""
    install_ocr: str
    """The command that installs them."""


async def migrate(settings: Settings) -> list[str]:
    """Bring the tables up to date; returns the migrations that were applied. Starts the embedded server if need be."""
    return await migrations.migrate(await database_url(settings))


async def stop_server(settings: Settings) -> bool:
    """Stop the embedded server; False when it did not run."""
    return await stop(settings.home)


async def inspect_database(settings: Settings) -> DatabaseState:
    """Connect once and compare the tables with this version; changes nothing. Starts the embedded server if need be."""
    url = await database_url(settings)
    try:
        connection = await psycopg.AsyncConnection.connect(
            url, autocommit=True, row_factory=psycopg.rows.dict_row, connect_timeout=CONNECT_SECONDS
        )
    except (psycopg.Error, ValueError) as error:
        return DatabaseState(unreachable=problem_with(url, error))
    async with connection:
        version = connection.info.server_version
        try:
            steps = await migrations.missing_steps(connection)
        except RepriseError as error:
            return DatabaseState(server_version=version, newer_schema=str(error))
        except psycopg.Error as error:
            return DatabaseState(server_version=version, refused=str(error))
    return DatabaseState(server_version=version, missing_steps=tuple(steps))


async def inspect_readers() -> ReaderState:
    """Look up the versions of the libraries that read documents."""
    return await asyncio.to_thread(_inspect_readers)


def _inspect_readers() -> ReaderState:
    versions = reader.describe()
    ocr_purposes = {**reader.OCR_PARTS, reader.TESSERACT: "OCR"}
    return ReaderState(
        parts=tuple(ReaderPart(name, purpose, versions[name]) for name, purpose in reader.PARTS.items()),
        ocr_parts=tuple(ReaderPart(name, purpose, versions[name]) for name, purpose in ocr_purposes.items()),
        ocr_missing=tuple(reader.lacking_for_ocr()),
        install_ocr=reader.INSTALL_OCR,
    )


def database_problem(error: BaseException) -> BaseException:
    """The exception of Reprise that stands for an error of the database driver; any other error as it is."""
    return translated(error) if isinstance(error, psycopg.Error) else error

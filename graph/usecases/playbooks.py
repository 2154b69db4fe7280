"""Load a playbook by name or file, and check one; needs no database and no run."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from graph.adapters.processes.slow_patterns import SECONDS_A_PATTERN, find_slow_patterns
from graph.adapters.storage.playbook_files import playbook_bytes, shipped
from nodes.domain.playbook.check import patterns_in, warnings_about
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.reading import Reading, Remark, key_of, read_playbook, require_playbook
from nodes.domain.playbook.toml_positions import line_of


@dataclass(frozen=True, slots=True)
class PlaybookReport:
    """What a check of a playbook found: it can be used when there are no problems."""

    file: str
    problems: list[Remark]
    warnings: list[Remark]


def shipped_playbooks() -> list[str]:
    """Names of the playbooks that ship with Reprise."""
    return shipped()


def load_playbook(name: str) -> Playbook:
    """The playbook of this name or file. Raises PlaybookError."""
    data, file = playbook_bytes(name)
    return require_playbook(read_playbook(data, file), name)


def require_playbook_file(name: str) -> None:
    """Raise PlaybookError when no playbook has this name, or its file cannot be read; what it says is not looked at."""
    playbook_bytes(name)


async def check_playbook(name: str) -> PlaybookReport:
    """All that is wrong or doubtful, by line; patterns are tried out in a child process. Raises PlaybookError."""
    data, file = await asyncio.to_thread(playbook_bytes, name)
    reading = read_playbook(data, file)
    problems = sorted([*reading.problems, *await _slow_pattern_remarks(reading)], key=lambda remark: remark.line)
    warnings = warnings_about(reading.playbook, reading.lines) if reading.playbook is not None else []
    return PlaybookReport(file, problems, warnings)


async def _slow_pattern_remarks(reading: Reading) -> list[Remark]:
    """Patterns that take too long, also of a playbook that has other problems."""
    patterns = patterns_in(reading.plain)
    slow_patterns = [patterns[place] for place in await find_slow_patterns([pattern.text for pattern in patterns])]
    return [
        Remark(
            line_of(reading.lines, pattern.path),
            key_of(pattern.path),
            f"this pattern takes more than {SECONDS_A_PATTERN:g} s on a text of a few pages: bound its repeats, as in "
            ".{0,80} for .*, and repeat nothing that is repeated within.",
        )
        for pattern in slow_patterns
    ]

"""The sample units can be read by systemd, and call a command that there is."""

from __future__ import annotations

import configparser
import os
import pwd
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

from graph.settings import Settings
from graph.surfaces.cli.commands import run as cli_run

UNITS = ROOT / "docs" / "systemd"


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=True, interpolation=None)
    parser.optionxform = str  # type: ignore[method-assign, assignment]
    parser.read_string((UNITS / name).read_text("utf-8"))
    return parser


def test_the_service_calls_a_command_with_an_option_that_there_is() -> None:
    service = unit("reprise-resume.service")["Service"]
    program, *arguments = shlex.split(service["ExecStart"])
    assert program.endswith("/python") and arguments == ["run.py", "resume", "--all"]
    assert "all_runs" in cli_run.resume.__annotations__
    assert service["Type"] == "oneshot" and service["TimeoutStartSec"] == "infinity"
    assert int(service["TimeoutStopSec"]) > Settings.model_fields["grace_seconds"].default
    variables = [line.partition("=")[0] for line in service["Environment"].split()]
    assert {name.removeprefix("REPRISE_").lower() for name in variables} <= set(Settings.model_fields)


def test_the_timer_starts_it_again_after_it_has_ended() -> None:
    timer = unit("reprise-resume.timer")
    assert set(timer["Timer"]) >= {"OnBootSec", "OnUnitInactiveSec"}
    assert timer["Install"]["WantedBy"] == "timers.target"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    here = {
        "/opt/reprise/.venv/bin/python": sys.executable,
        "/opt/reprise": str(ROOT),
        "/var/lib/reprise": str(tmp_path),
    }
    for file in UNITS.iterdir():
        text = file.read_text("utf-8").replace("User=reprise", f"User={pwd.getpwuid(os.getuid()).pw_name}")
        for there, place in here.items():
            text = text.replace(there, place)
        (tmp_path / file.name).write_text(text, "utf-8")
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", *map(str, sorted(tmp_path.glob("reprise-*")))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (verified.returncode, verified.stderr) == (0, "")

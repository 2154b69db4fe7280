"""The database restarts every 5 to 40 seconds under a job of 200 documents: it goes on each time, and ends right.

python tests/benchmarks/restarts.py [--small]

A restart is `pg_ctl restart -m immediate`, which cuts every session off, as a crash does. The witness of what was asked
is the scripted endpoint's own log. The twin is the same job on the same server with nothing restarted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from stage import verdict  # isort: skip  # it makes the other ones importable
from processes import run
from sample_contracts import contracts

from graph.testing.endpoint import ScriptedEndpoint

DOCUMENTS = 200


def job(server: Any, room: Path, home: Path, latency: float, between: tuple[float, float] | None) -> dict[str, Any]:
    """The job once; its end, its findings, what the endpoint was asked, and how often the server restarted."""
    from outage_server import asked, begun, half_done, restarted

    url = server.fresh()
    with ScriptedEndpoint(latency=latency) as endpoint:
        began = time.monotonic()
        process, env = begun(url, home, endpoint, room)
        half_done(url, 1)
        restarts = restarted(server, process, *between) if between else 0
        out, err = process.communicate(timeout=1200)
        seconds = time.monotonic() - began
        if process.returncode != 0:
            raise SystemExit(err)
        lines = run(["findings", "t", "--json"], env).stdout.splitlines()
        findings = sorted(json.dumps({**json.loads(line), "boxes": None}, sort_keys=True) for line in lines)
        often = list(asked(endpoint).values())
        waits = sum("answers again" in line for line in err.splitlines())
    return {**json.loads(out), "findings": findings, "asked": often, "n": restarts, "s": seconds, "waits": waits}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of the time: restarts every 1 to 4 seconds")
    small = parser.parse_args().small
    latency, between = (1.0, (1.0, 4.0)) if small else (5.0, (5.0, 40.0))
    from outage_server import Server

    server = Server()
    try:
        with tempfile.TemporaryDirectory(prefix="reprise-restarts-") as place:
            room = contracts(Path(place) / "room", DOCUMENTS)
            calm = job(server, room, Path(place) / "calm", 0.0, None)
            shaken = job(server, room, Path(place) / "shaken", latency, between)
    finally:
        server.close()
    print(
        f"{DOCUMENTS} documents in {shaken['s']:.0f} s, {shaken['n']} restarts ({shaken['waits']} of them waited for "
        f"more than a second); {sum(shaken['asked'])} questions asked"
    )
    facts = [
        (f"{shaken['n']} restarts", shaken["n"] >= 3),
        (f"{shaken['documents']['done']} done", shaken["documents"] == calm["documents"]),
        ("every question asked once", set(shaken["asked"]) == {1} and len(shaken["asked"]) == len(calm["asked"])),
        (f"{shaken['cost']['calls_lost']} lost answers", shaken["cost"]["calls_lost"] == 0),
        ("the same findings", shaken["findings"] == calm["findings"]),
        ("no resume", shaken["resumes"] == 0),
    ]
    return verdict(Path(__file__).stem, *facts)


if __name__ == "__main__":
    sys.exit(main())

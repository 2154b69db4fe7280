"""The clause model in another process: the same probabilities to the last digit."""

from __future__ import annotations

import json
import subprocess
import sys

from paths import ROOT
from sample_agreement import AGREEMENT, TYPES

from graph.training.corpus import plain_text
from nodes.domain.clauses.local_engine import find_clauses


def test_another_process_gives_the_same_chances_to_the_last_digit() -> None:
    code = (
        "import json, sys; from graph.training.corpus import plain_text;"
        "from nodes.domain.clauses.local_engine import find_clauses;"
        "print(json.dumps([[c.clause_type, c.start, c.confidence] for c in find_clauses(plain_text(sys.stdin.read()),"
        f"{TYPES!r}).passages]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=AGREEMENT, capture_output=True, text=True, cwd=ROOT, check=True
    )
    here = [[c.clause_type, c.start, c.confidence] for c in find_clauses(plain_text(AGREEMENT), TYPES).passages]
    assert json.loads(done.stdout) == here

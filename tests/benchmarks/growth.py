"""Whether hostile and large input costs in proportion: `python tests/benchmarks/growth.py [--small]`.

For each kind of text, the processor time of a text twice as long over that of the text itself, for splitting into
sentences, the rules, the local engine, the facts and the search index; and the same for writing and checking a note
with twice the findings. Two is linear, four is quadratic; more than three fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from sample_notes import make_document, make_finding, make_note

from graph.training.corpus import plain_text
from nodes.domain.case_law import reader as decisions
from nodes.domain.clauses.local_engine import find_clauses
from nodes.domain.clauses.rules import find_by_rules
from nodes.domain.contracts.reader import read
from nodes.domain.evidence.note_check import drop_unsupported
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.report.render.markdown import to_markdown
from nodes.domain.text.search_entries import entries_of
from nodes.domain.text.sentences import sentences

ROOT = Path(__file__).parents[2]
MOST = 3.0
"""Between linear and quadratic, with room for what a clock and a cache do."""
TEXTS = {
    "words of clauses": " liability not shall terminate insurance exclusive assign consent garantie ne peut ",
    "one clause again and again": "liability not exceed ",
    "one letter": "a",
    "points": "A. ",
    "numbers": "1.1 ",
    "amounts": "EUR 1,000,000 and ",
    "dates": "on 3 March 2021 ",
    "brackets": "(",
    "quotation marks": '"',
    "line ends": "\n",
    "spaces": " ",
    "lines of spaces": "      \n",
    "tabs": "\t",
    "words in capitals": "SOCIETE ANONYME ",
    "numbers in words": "trois cent quarante-deux mille ",
    "annexes": "Annex 1, Schedule 2, ",
    "annexes with names": "set out in the Data Processing Annex and the “Price Schedule”, ",
    "signatures": "Signed for and on behalf of Acme Tools Ltd\nBy: ____\n",
    "laws": "This Agreement is governed by the laws of France. This Agreement is governed by the laws of Peru. ",
    "fees": "The Supplier's liability shall not exceed the fees paid in the twelve (12) months. ",
    "labels of dates": "Start Date 3 March 2021 End Date 4 May 2022\n",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="shorter texts, measured once")
    chosen = parser.parse_args()
    size, times = (40_000, 1) if chosen.small else (150_000, 3)
    worst = 0.0
    for name, work in _cases(size):
        once, twice = (min(_seconds(work, count) for _ in range(times)) for count in (1, 2))
        # What takes no time at all grows by the grain of the clock.
        ratio = (twice + 0.02) / (once + 0.02)
        worst = max(worst, ratio)
        print(f"{name:45} {once:7.2f} s, twice as much {twice:7.2f} s: {ratio:4.1f}", flush=True)
    print(f"most {worst:.1f} of at most {MOST:g}: {'holds' if worst <= MOST else 'DOES NOT HOLD'}")
    return 0 if worst <= MOST else 1


def _seconds(work: Callable[[int], object], count: int) -> float:
    began = time.process_time()
    work(count)
    return time.process_time() - began


def _cases(size: int) -> Iterator[tuple[str, Callable[[int], object]]]:
    name = "due-diligence"
    types = parse_playbook((ROOT / "nodes" / "playbooks" / f"{name}.toml").read_text(encoding="utf-8"), name).types
    for title, piece in TEXTS.items():
        text = {count: plain_text(piece * (count * size // len(piece))) for count in (1, 2)}
        french = {count: plain_text(piece * (count * size // len(piece)), "fr") for count in (1, 2)}
        yield f"sentences of {title}", lambda count, text=text: sentences(text[count])
        yield f"rules on {title}", lambda count, text=text: find_by_rules(text[count], types)
        yield f"French rules on {title}", lambda count, text=french: find_by_rules(text[count], types)
        yield f"local engine on {title}", lambda count, text=text: find_clauses(text[count], types)
        yield f"facts of {title}", lambda count, text=text: read(text[count], [])
        yield f"search entries of {title}", lambda count, text=text: entries_of(text[count])
        yield f"facts of a decision of {title}", lambda count, text=french: decisions.read(text[count])
    yield "a note", lambda count: _note(count * size // 100)


def _note(count: int) -> None:
    findings = [
        make_finding(f"{n:x}", f"The cap is EUR {n}.", document=f"d{n % 120}.pdf", supplier=f"Supplier {n % 120}")
        for n in range(count)
    ]
    documents = [make_document(n, f"d{n}.pdf", f"Supplier {n}") for n in range(120)]
    note, _ = drop_unsupported(make_note(findings=findings, documents=documents, ratings=()))
    to_markdown(note)


if __name__ == "__main__":
    sys.exit(main())

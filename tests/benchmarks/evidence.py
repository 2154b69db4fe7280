"""How long it takes to find a hundred quotes in a contract of 150 pages: `python tests/benchmarks/evidence.py`.

A quarter each stands there word by word, in other print, with a slip of the pen, and with an invented end. Prints the
seconds of this process (the goal is under 2), the ratio to reading the text once, and how the quotes were told apart.
`--small` takes 15 pages.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter

from nodes.domain.evidence.quote_locator import Locator
from nodes.domain.text.documents import PAGE_BREAK, DocumentText, Page
from nodes.domain.text.normalise import fold

WORDS = """the party supplier customer agreement shall may services products delivery payment notice term breach damages
written prior reasonable applicable information provided under this such any all other than within including obligations
rights terms conditions respective hereunder thereof liability insurance warranty schedule""".split()  # noqa: SIM905
LINES, PER_LINE = 45, 11


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="15 pages instead of 150")
    pages = 15 if parser.parse_args().small else 150
    dice = random.Random(7)
    text, sentences = _contract(pages, dice)
    quotes = _quotes(dice.sample(sentences, 100))
    fold(text.text[:1000])
    began = time.process_time()
    fold(text.text)
    once = time.process_time() - began
    began = time.process_time()
    locator = Locator(text)
    found = Counter((kind, locator.locate(quote).alignment) for kind, quote in quotes)
    took = time.process_time() - began
    print(f"{len(quotes)} quotes in {pages} pages, {len(text.text):,} characters")
    print(f"{took:.2f} s, {took / once:.1f} times the folding of the text ({once:.2f} s); goal under 2 s")
    for (kind, alignment), number in sorted(found.items()):
        print(f"  {kind:<14}{alignment:<12}{number}")
    return 0


def _contract(pages: int, dice: random.Random) -> tuple[DocumentText, list[str]]:
    made: list[Page] = []
    sentences: list[str] = []
    parts: list[str] = []
    at = 0
    for number in range(1, pages + 1):
        lines = []
        for line in range(LINES):
            said = " ".join(dice.choices(WORDS, k=PER_LINE))
            sentence = f"{number}.{line} {said.capitalize()} {dice.randint(2, 900)} days."
            sentences.append(sentence)
            lines.append(sentence)
        body = "\n".join(lines)
        made.append(Page(number, "read", "", at, at + len(body), 595, 842))
        parts.append(body)
        at += len(body) + 1
    return DocumentText("0" * 64, PAGE_BREAK.join(parts), tuple(made), "en"), sentences


def _quotes(sentences: list[str]) -> list[tuple[str, str]]:
    quarter = len(sentences) // 4
    kinds = ("word by word", "other print", "a slip", "invented end")
    found = []
    for index, sentence in enumerate(sentences):
        kind = kinds[min(index // quarter, 3)]
        middle = len(sentence) // 2
        quote = {
            "word by word": sentence,
            "other print": sentence.upper().replace(" ", "\n", 3),
            "a slip": sentence[:middle] + sentence[middle + 1 :],
            "invented end": sentence[:-1] + " and waives whatever else was promised before",
        }[kind]
        found.append((kind, quote))
    return found


if __name__ == "__main__":
    sys.exit(main())

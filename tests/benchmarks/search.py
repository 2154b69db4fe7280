"""What the search index costs and what it saves: `python tests/benchmarks/search.py [--small]`.

Documents of the length of French judgments, their words drawn from the samples and the shared decisions where these are
at hand. Printed: the bytes of the index over those of the texts; the time to store documents with entries and
without; the time of a search over that of one that makes the stems of all texts anew.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
import sys
import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from stage import place, reprise_at, verdict  # isort: skip  # it makes the other ones importable
from databases import number

from graph import Reprise
from graph.training.corpus import plain_text
from nodes.domain.runs.settings import DocumentResult, Run, Settings
from nodes.domain.text.documents import DocumentText, SourceDocument
from nodes.domain.text.search_entries import Entry, entries_of

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = ROOT.parent / "shared" / "data" / "decisions_fr" / "txt"
CHARS, PAGE_CHARS, PARAGRAPH_CHARS = 30_000, 3_000, 500
QUESTIONS = (
    "licenciement",
    "cause réelle et sérieuse",
    '"cour d\'appel" cassation',
    "employeur salarié -transaction",
    "responsabilite or indemnite",
    "22-18.031",
    "contrat de travail rupture",
    "article 1221",
)
MOST_INDEX, MOST_SEARCH = 5.0, 0.1


def corpus() -> str:
    """Real sentences, one after another."""
    files = sorted(DECISIONS.glob("*.txt")) or sorted((ROOT / "samples").rglob("*.md"))
    return " ".join(file.read_text("utf-8", errors="replace") for file in files)


def drawn(sentences: Sequence[str], seed: int) -> DocumentText:
    """A document of CHARS characters in paragraphs and pages; the same for the same seed."""
    random_ = random.Random(seed)
    pages = []
    for _ in range(CHARS // PAGE_CHARS):
        page: list[str] = []
        while sum(map(len, page)) < PAGE_CHARS:
            paragraph = ""
            while len(paragraph) < PARAGRAPH_CHARS:
                paragraph += random_.choice(sentences) + " "
            page.append(paragraph)
        pages.append("\n\n".join(page))
    return plain_text("\f".join(pages), "fr")


async def stored(reprise: Reprise, texts: Sequence[DocumentText], matter: str, *, indexed: bool) -> None:
    """A run that has read these. Printed beside: the time a document."""
    ids = [str(uuid.uuid4()) for _ in range(2)]
    sources = [SourceDocument(f"{n}.txt", f"{matter}{n}", 1, 1, f"/{n}.txt") for n in range(len(texts))]
    settings = Settings(models={}, budget_usd=Decimal(1))
    of_run = ("", "case-law", "x", "local", 1, settings, {}, len(texts), "src", datetime.now(UTC))
    run = await reprise.container.ledger.open_run(Run(*ids, "", matter, *of_run), sources)
    refs = [await reprise.container.services.artifacts.put(json.dumps(one.to_json()).encode()) for one in texts]
    begun = time.monotonic()
    for n, (text, ref) in enumerate(zip(texts, refs, strict=True)):
        row = DocumentResult(n, f"{n}.txt", f"{matter}{n}", "done", language="fr", text_ref=ref)
        entries: Sequence[Entry] = entries_of(text) if indexed else ()
        await reprise.container.ledger.finish_document(run.run_id, row, entries)
    seconds = (time.monotonic() - begun) / len(texts)
    print(f"stored {'with' if indexed else 'without'} entries: {1000 * seconds:.1f} ms a document", flush=True)


def stemmed_anew(database: str, texts: Sequence[DocumentText], question: str) -> int:
    """The same search without an index: the stems of every text are made for it."""
    words = [entry.words for text in texts for entry in entries_of(text)]
    query = "SELECT count(*) FROM unnest(%s::text[]) t WHERE to_tsvector('french', t) @@ plainto_tsquery('french', %s)"
    return number(database, query, words, question)


async def measured(count: int, *, judged: bool) -> int:
    sentences = [one for one in re.split(r"(?<=[.;:])\s+", corpus()) if 40 < len(one) < 400]
    texts = [drawn(sentences, seed) for seed in range(count)]
    async with place() as folder, reprise_at(folder) as reprise:
        await stored(reprise, texts, "bare", indexed=False)
        await stored(reprise, texts, "full", indexed=True)
        size = number(reprise.container.url, "SELECT pg_total_relation_size('reprise.entries')")
        rows = number(reprise.container.url, "SELECT count(*) FROM reprise.entries")
        chars = sum(len(text.text.encode()) for text in texts)
        print(f"{count} documents, {chars / 1e6:.1f} MB of text, {rows} entries, {size / 1e6:.1f} MB of index")
        begun = time.monotonic()
        assert await asyncio.to_thread(stemmed_anew, reprise.container.url, texts, "licenciement")
        plain = time.monotonic() - begun
        took, hits = [], 0
        for question in QUESTIONS:
            begun = time.monotonic()
            hits += (await reprise.search(question, matter="full")).total
            took.append(time.monotonic() - begun)
        ratio = statistics.median(took) / plain
        print(f"without an index {plain:.2f} s, a search {statistics.median(took):.3f} s, most {max(took):.3f} s")
    return verdict(
        "search",
        (f"every question but one has passages, {hits} in all", hits > count),
        (f"the index is {size / chars:.1f} times the text, at most {MOST_INDEX}", size / chars <= MOST_INDEX),
        (
            f"a search takes {ratio:.3f} of one without an index, at most {MOST_SEARCH}",
            ratio <= MOST_SEARCH or not judged,
        ),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--small", action="store_true", help="80 documents in place of 400, and no judgement of the time"
    )
    small = parser.parse_args().small
    return asyncio.run(measured(80 if small else 400, judged=not small))


if __name__ == "__main__":
    sys.exit(main())

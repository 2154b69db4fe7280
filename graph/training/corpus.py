"""The labelled contracts as they are trained on: a folder with txt/, gold.jsonl and manifest.csv."""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nodes.domain.text.documents import PAGE_BREAK, DocumentText, Page
from nodes.domain.text.normalise import Span, simplify
from nodes.domain.text.sentences import Sentence, sentences


@dataclass(frozen=True, slots=True)
class Contract:
    """One labelled contract."""

    name: str
    split: str
    text: DocumentText
    sentences: list[Sentence]
    plain: list[str]
    headings: list[str]
    gold: Mapping[str, Sequence[Span]]
    """Spans by clause type."""

    @property
    def blocks(self) -> list[int]:
        return [sentence.block for sentence in self.sentences]

    def labels(self, clause_type: str) -> npt.NDArray[np.bool_]:
        """Which sentences state such a clause."""
        labels = np.zeros(len(self.sentences), dtype=bool)
        for span in self.gold.get(clause_type, ()):
            for index, sentence in enumerate(self.sentences):
                labels[index] |= hits(span, (sentence.start, sentence.end))
        return labels


def hits(gold: Span, quote: Span) -> bool:
    """Whether a quote hits a gold span: over half of the shorter one is shared, and the quote is no whole page."""
    shared = min(gold[1], quote[1]) - max(gold[0], quote[0])
    gold_chars, quote_chars = gold[1] - gold[0], quote[1] - quote[0]
    return shared > 0.5 * min(gold_chars, quote_chars) and quote_chars <= max(4 * gold_chars, 800)


def slug(name: str) -> str:
    """Make a slug of a name: cap_on_liability from "Cap On Liability"."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def plain_text(text: str, language: str = "en") -> DocumentText:
    """A text without layout, its pages parted by page breaks."""
    pages, at = [], 0
    for number, page in enumerate(text.split(PAGE_BREAK), 1):
        pages.append(Page(number, "read", "", at, at + len(page), 595, 842))
        at += len(page) + 1
    return DocumentText("0" * 64, text, tuple(pages), language)


def read_contracts(folder: Path, split: str = "") -> list[Contract]:
    """The contracts of a split, or of all, in order of their names."""
    gold: dict[str, dict[str, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for line in (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines():
        span = json.loads(line)
        gold[span["doc"]][slug(span["clause_type"])].append((span["start"], span["end"]))
    with open(folder / "manifest.csv", newline="", encoding="utf-8") as rows:
        splits = {row["doc"]: row["split"] for row in csv.DictReader(rows)}
    return [
        _contract(name, splits[name], (folder / "txt" / f"{name}.txt").read_text(encoding="utf-8"), gold[name])
        for name in sorted(splits)
        if split in ("", splits[name])
    ]


def _contract(name: str, split: str, raw: str, gold: Mapping[str, Sequence[Span]]) -> Contract:
    text = plain_text(raw)
    split_sentences = sentences(text)
    plain = [simplify(raw[sentence.start : sentence.end]) for sentence in split_sentences]
    headings = [simplify(f"{sentence.article} / {sentence.heading}") for sentence in split_sentences]
    return Contract(name, split, text, split_sentences, plain, headings, gold)

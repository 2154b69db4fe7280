"""Reads the plain text sources in samples/texts: a few `key: value` lines, `---`, then light markup.

Markup, one block a line (blank lines are free):
    # title         ## heading        - indented item       | cell | cell |  table row (first row is the head)
    %sign A | B     %pagebreak        %space 12             %center text            %cover text
A passage between `[slug]` and `[/]` (or the end of its paragraph) is a clause for the gold file; `**x**` is bold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

SLUGS = frozenset(
    {
        "anti_assignment",
        "audit_rights",
        "cap_on_liability",
        "change_of_control",
        "confidentiality",
        "exclusivity",
        "force_majeure",
        "governing_law",
        "indemnification",
        "insurance",
        "liquidated_damages",
        "non_compete",
        "payment_terms",
        "personal_data",
        "renewal_term",
        "termination_for_convenience",
        "uncapped_liability",
        "warranty_duration",
    }
)
NBSP = "\u00a0"
_SPAN = re.compile(r"\[([a-z_]+)\](.*?)(?:\[/\]|$)")
_PREFIXES = {"# ": "title", "## ": "heading", "- ": "item"}


@dataclass(frozen=True)
class Block:
    kind: str
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Gold:
    clause_type: str
    text: str


@dataclass(frozen=True)
class Source:
    stem: str
    meta: dict[str, str]
    blocks: list[Block] = field(default_factory=list)
    gold: list[Gold] = field(default_factory=list)

    @property
    def file(self) -> str:
        return self.meta["file"]

    @property
    def lang(self) -> str:
        return self.meta["lang"]


def french_spaces(text: str) -> str:
    """Put the no-break spaces of French typography where the sources have plain ones."""
    text = re.sub(r" ([:;!?»€%])", NBSP + r"\1", text)
    text = text.replace("« ", "«" + NBSP).replace("n° ", "n°" + NBSP)
    return re.sub(r"(?<=\d) (?=\d{3}\b)|(?<=–) (?=\d)", NBSP, text)


def curly(text: str) -> str:
    """Typographic quotation marks and apostrophes, for the sources that ask for them (`quotes: curly`)."""
    text = re.sub(r'(^|[\s(\[*\]])"', r"\1“", text, flags=re.MULTILINE)
    return text.replace('"', "”").replace("'", "’")


def squeeze(text: str) -> str:
    """One plain space for each run of white space (no-break spaces too)."""
    return " ".join(text.split())


def plain(text: str) -> str:
    return squeeze(text.replace("**", ""))


def unmarked(text: str) -> str:
    return re.sub(r"\[/?[a-z_]*\]", "", text).strip()


def find_gold(text: str) -> list[Gold]:
    found = [Gold(slug, plain(passage)) for slug, passage in _SPAN.findall(text)]
    unknown = {gold.clause_type for gold in found} - SLUGS
    if unknown:
        raise ValueError(f"unknown clause types: {sorted(unknown)}")
    return found


def parse_block(line: str) -> Block:
    if line.startswith("%"):
        kind, _, rest = line[1:].partition(" ")
        return Block(kind, rest.strip())
    for prefix, kind in _PREFIXES.items():
        if line.startswith(prefix):
            return Block(kind, line[len(prefix) :].strip())
    return Block("para", line)


def parse_body(lines: list[str]) -> tuple[list[Block], list[Gold]]:
    blocks: list[Block] = []
    gold: list[Gold] = []
    rows: list[tuple[str, ...]] = []
    for line in [*(line.strip() for line in lines), ""]:
        if line.startswith("|"):
            gold += find_gold(line.strip("|"))
            rows.append(tuple(unmarked(cell) for cell in line.strip("|").split("|")))
            continue
        if rows:
            blocks.append(Block("table", rows=tuple(rows)))
            rows = []
        if line:
            gold += find_gold(line)
            blocks.append(parse_block(unmarked(line)))
    return blocks, gold


def load(path: Path) -> Source:
    head, _, body = path.read_text(encoding="utf-8").partition("\n---\n")
    meta = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in head.splitlines())}
    if meta.get("quotes") == "curly":
        body = curly(body)
    blocks, gold = parse_body(body.splitlines())
    return Source(path.stem, meta, blocks, gold)


def load_all(folder: Path) -> dict[str, Source]:
    return {path.stem: load(path) for path in sorted(folder.glob("*.txt"))}

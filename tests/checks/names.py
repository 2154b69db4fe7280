"""Names that say nothing, counted: `python tests/checks/names.py [--where NAME]`.

Every name that a function, loop, comprehension or assignment binds in `graph` and `nodes` is looked at. The share of
fillers may not pass the ceiling in pyproject.toml ([tool.reprise.names]), and the ceiling may only fall: where the
share is well below it, the check says so and by how much. It also prints the 30 most frequent names, since a vague
noun (item, value, data) is no better than a filler.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("graph", "nodes")
FILLER_WORDS = """
one ones other others another each every it this that these those such mine theirs ours thing things
said say says told tell asked called named known seen shown found left kept held made given taken wanted
what who where which when how now then here there whatever something anything nothing
more most less much many few rest whole sure good bad stands goes comes
"""
"""Pronouns, participles and adverbs: they say how a value came to be there, not what it is."""
FILLERS = frozenset(FILLER_WORDS.split())
SLACK = 0.25
"""Percent by which the share may lie below the ceiling before the ceiling is to be lowered."""


class Binding(NamedTuple):
    """A name where it is bound."""

    name: str
    file: Path
    line: int

    @property
    def filler(self) -> bool:
        return self.name.strip("_").lower() in FILLERS


def bindings(room: Path) -> Iterator[Binding]:
    """Every variable and parameter that the modules of a folder bind."""
    for file in sorted(room.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) if name not in ("self", "cls"):
                    yield Binding(name, file, node.lineno)


def main() -> int:
    """Print the share and the most frequent names; 1 where the share passes the ceiling."""
    parser = argparse.ArgumentParser(description="Count names that say nothing.")
    parser.add_argument("--where", metavar="NAME", help="print each place where this name is bound")
    parser.add_argument("--fillers", action="store_true", help="print each place where a filler is bound")
    arguments = parser.parse_args()
    names = [binding for room in ROOMS for binding in bindings(ROOT / room)]
    for binding in names:
        if binding.name == arguments.where or (arguments.fillers and binding.filler):
            print(f"{binding.file.relative_to(ROOT)}:{binding.line}: {binding.name}")
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    ceiling = float(config["tool"]["reprise"]["names"]["ceiling"])
    fillers = sum(binding.filler for binding in names)
    share = 100 * fillers / len(names)
    frequent = Counter(binding.name for binding in names).most_common(30)
    print("most frequent:", ", ".join(f"{name} {count}" for name, count in frequent))
    print(f"{fillers} of {len(names)} names are fillers: {share:.2f} %, the ceiling is {ceiling:g} %")
    if share > ceiling:
        print("Too many. Give each a noun of what it holds; find them with: python tests/checks/names.py --fillers")
        return 1
    if share < ceiling - SLACK:
        print(f"The ceiling may fall to {share + 0.05:.1f}: set it in pyproject.toml, [tool.reprise.names].")
    return 0


if __name__ == "__main__":
    sys.exit(main())

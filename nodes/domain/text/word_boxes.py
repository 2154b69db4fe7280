"""Word boxes of a page in packed form: a page has hundreds of them, and most are never read."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

WordPlace = tuple[int, int, int, int, int, int]
"""(start, end, x0, y0, x1, y1): offsets in the document's text, box in BOX_UNIT of the page as shown."""

_RECORD = struct.Struct("<IIHHHH")


class Words(Sequence[WordPlace]):
    """Word places of one page, unpacked at first use; equal to a tuple of the same places.

    `coded` is what a JSON document holds. It counts offsets from the page's own beginning, so that a page can be read
    without knowing what precedes it. Raises ValueError at first use when it cannot be unpacked.
    """

    __slots__ = ("_places", "base", "coded")

    def __init__(self, coded: str, base: int) -> None:
        self.coded = coded
        self.base = base
        self._places: tuple[WordPlace, ...] | None = None

    def _unpacked(self) -> tuple[WordPlace, ...]:
        if self._places is None:
            base, packed = self.base, base64.b64decode(self.coded, validate=True)
            if len(packed) % _RECORD.size:
                raise ValueError("packed words of a broken length")
            self._places = tuple(
                (base + start, base + end, x0, y0, x1, y1) for start, end, x0, y0, x1, y1 in _RECORD.iter_unpack(packed)
            )
        return self._places

    def __len__(self) -> int:
        return len(self._unpacked())

    @overload
    def __getitem__(self, index: int) -> WordPlace: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[WordPlace, ...]: ...
    def __getitem__(self, index: int | slice) -> WordPlace | tuple[WordPlace, ...]:
        return self._unpacked()[index]

    def __iter__(self) -> Iterator[WordPlace]:
        return iter(self._unpacked())

    def __eq__(self, places: object) -> bool:
        return self._unpacked() == tuple(places) if isinstance(places, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._unpacked())

    def __repr__(self) -> str:
        return f"Words({len(self)} from {self.base})"


def pack(places: Iterable[Sequence[int]], base: int) -> bytes:
    """Pack places, with offsets that count from `base` of the text."""
    return b"".join(_RECORD.pack(start - base, end - base, *box) for start, end, *box in places)


def to_text(words: Sequence[WordPlace], base: int) -> str:
    """Encode word places as a JSON document holds them."""
    if isinstance(words, Words) and words.base == base:
        return words.coded
    return base64.b64encode(pack(words, base)).decode()


def from_json(words: str | Sequence[Sequence[int]], base: int) -> Sequence[WordPlace]:
    """Decode what `to_text` gives; the plain lists of earlier texts are read too."""
    if isinstance(words, str):
        return Words(words, base)
    return tuple((start, end, x0, y0, x1, y1) for start, end, x0, y0, x1, y1 in words)

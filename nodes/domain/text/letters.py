"""Where words stand in a text, whatever its line breaks, hyphens, accents and quotation marks. Pure."""

from __future__ import annotations

import unicodedata

Span = tuple[int, int]


class Letters:
    """A text by its letters and digits alone, so that line breaks, hyphens and quotation marks do not matter."""

    def __init__(self, text: str) -> None:
        self._letters, self._where = _folded(text)

    def all(self, quote: str) -> list[Span]:
        """Where these words stand; [] when nowhere, or when they are too few to tell."""
        needle, _ = _folded(quote)
        spans: list[Span] = []
        at = self._letters.find(needle) if len(needle) >= 4 else -1
        while at >= 0:
            spans.append((self._where[at], self._where[at + len(needle) - 1] + 1))
            at = self._letters.find(needle, at + 1)
        return spans


def _folded(text: str) -> tuple[str, list[int]]:
    letters: list[str] = []
    offsets: list[int] = []
    for offset, char in enumerate(text):
        for part in unicodedata.normalize("NFKD", char).casefold():
            if part.isalnum():
                letters.append(part)
                offsets.append(offset)
    return "".join(letters), offsets

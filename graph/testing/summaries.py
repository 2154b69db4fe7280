"""How the scripted endpoint summarises a decision: one sentence of a passage, as it stands, for each part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

PARTS = ("facts", "procedure", "question", "answer", "scope")
SHORTEST, LONGEST = 30, 400


def summary_answer(
    passages: Sequence[tuple[int, str]], sentences: Callable[[str], Sequence[str]]
) -> dict[str, list[dict[str, Any]]]:
    """Passages at even distances, the last one among them; the first sentence of a fit length in each."""
    fit = [
        (number, said)
        for number, text in passages
        for said in [next((one for one in sentences(text) if SHORTEST <= len(one) <= LONGEST), "")]
        if said
    ]
    step = max(len(fit) - 1, 1) / (len(PARTS) - 1)
    chosen = {part: fit[min(round(place * step), len(fit) - 1)] for place, part in enumerate(PARTS) if fit}
    return {
        "sentences": [
            {"part": part, "text": " ".join(said.split()), "passages": [number]}
            for part, (number, said) in chosen.items()
        ]
    }

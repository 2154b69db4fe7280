"""Where a drill kills: every boundary once, then at random moments of every phase."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

COMMANDS = ("start", "resume")
"""Of the job, in their order: up to the gate, and from it to the end."""

LONGEST_DELAY = 0.5
"""Seconds after a passing within which a kill at a random moment falls."""


@dataclass(frozen=True, slots=True)
class Kill:
    """One death."""

    command: str
    """Which command of the job dies."""
    place: str
    """Boundary, side, how often it had been passed, and how much later: see graph.runtime.fault_points.dying_at."""

    @property
    def later(self) -> bool:
        """It comes some time after its passing."""
        return "+" in self.place

    def at_once(self) -> Kill:
        """The same at the passing itself."""
        return Kill(self.command, self.place.partition("+")[0])

    def __str__(self) -> str:
        return f"{self.command} {self.place}"


Passed = Mapping[str, Sequence[str]]
"""Each command with all that it passes undisturbed, in its order."""


def plan(passed: Passed, randomly: int, seed: int = 0, boundaries: int | None = None) -> list[Kill]:
    """Each place once, in the middle of its passings, then `randomly` others.

    `boundaries` limits the places to so many, drawn by the seed.
    """
    chance = random.Random(seed)
    counts = {command: Counter(passed[command]) for command in COMMANDS}
    every = dict.fromkeys(place for command in COMMANDS for place in counts[command])
    middles = [_middle(counts, place) for place in every]
    if boundaries is not None and boundaries < len(middles):
        middles = chance.sample(middles, boundaries)
    return middles + [_drawn(passed, counts, chance, number) for number in range(randomly)]


def _middle(counts: Mapping[str, Counter[str]], place: str) -> Kill:
    """In the command that passes it most often."""
    command = max(COMMANDS, key=lambda one: counts[one][place])
    return Kill(command, f"{place}:{counts[command][place] // 2 + 1}")


def _drawn(passed: Passed, counts: Mapping[str, Counter[str]], chance: random.Random, number: int) -> Kill:
    """Both commands in turn, so that gate, note and release get their share.

    By turns, too, one passing of all and one place of all: steps that are passed seldom die as often as the common
    ones. Half of the deaths come some time later, between two boundaries.
    """
    command = COMMANDS[number % 2]
    if number // 2 % 2:
        place = chance.choice(list(counts[command]))
        nth = chance.randint(1, counts[command][place])
    else:
        at = chance.randrange(len(passed[command]))
        place = passed[command][at]
        nth = passed[command][: at + 1].count(place)
    later = f"+{chance.uniform(0, LONGEST_DELAY):.3f}" if number // 4 % 2 else ""
    return Kill(command, f"{place}:{nth}{later}")

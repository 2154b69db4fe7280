"""The kills of a drill: every fault point once, then at random moments of every phase."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

COMMANDS = ("start", "resume")
"""Commands of the job, in their order: up to the gate, and from it to the end."""

LONGEST_DELAY = 0.5
"""Seconds after a passing within which a kill at a random moment falls."""


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill of a command of the job."""

    command: str
    """Which command of the job dies."""
    place: str
    """Fault point, side, times passed before, and the delay after it: see graph.runtime.fault_points.dying_at."""

    @property
    def delayed(self) -> bool:
        """Whether the kill comes some time after the passing."""
        return "+" in self.place

    def at_once(self) -> Kill:
        """The same kill at the passing itself."""
        return Kill(self.command, self.place.partition("+")[0])

    def __str__(self) -> str:
        return f"{self.command} {self.place}"


Passed = Mapping[str, Sequence[str]]
"""Each command with all that it passes undisturbed, in its order."""


def plan(passed: Passed, randomly: int, seed: int = 0, fault_points: int | None = None) -> list[Kill]:
    """Each place once, in the middle of its passings, then `randomly` others.

    `fault_points` limits the places to so many, drawn by the seed.
    """
    rng = random.Random(seed)
    counts = {command: Counter(passed[command]) for command in COMMANDS}
    places = dict.fromkeys(place for command in COMMANDS for place in counts[command])
    middles = [_middle_kill(counts, place) for place in places]
    if fault_points is not None and fault_points < len(middles):
        middles = rng.sample(middles, fault_points)
    return middles + [_random_kill(passed, counts, rng, number) for number in range(randomly)]


def _middle_kill(counts: Mapping[str, Counter[str]], place: str) -> Kill:
    """A kill at the middle passing of a place, in the command that passes it most often."""
    command = max(COMMANDS, key=lambda name: counts[name][place])
    return Kill(command, f"{place}:{counts[command][place] // 2 + 1}")


def _random_kill(passed: Passed, counts: Mapping[str, Counter[str]], rng: random.Random, number: int) -> Kill:
    """A kill at random, in both commands by turns so that gate, note and release get their share.

    By turns, too, one passing of all and one place of all: steps that are passed seldom die as often as the common
    ones. Half of the kills come some time later, between two fault points.
    """
    command = COMMANDS[number % 2]
    if number // 2 % 2:
        place = rng.choice(list(counts[command]))
        nth = rng.randint(1, counts[command][place])
    else:
        index = rng.randrange(len(passed[command]))
        place = passed[command][index]
        nth = passed[command][: index + 1].count(place)
    delay = f"+{rng.uniform(0, LONGEST_DELAY):.3f}" if number // 4 % 2 else ""
    return Kill(command, f"{place}:{nth}{delay}")

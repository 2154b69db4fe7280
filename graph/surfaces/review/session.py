"""`review` on a terminal: one finding a screen, the evidence first; every decision is stored at once."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graph.surfaces.cli.session import drive, show_end
from graph.surfaces.review.keyboard import Keyboard, ask_line
from graph.surfaces.review.screen import KEYS, show_finding, show_keys
from graph.surfaces.terminal.output import say
from nodes.domain.review.review import undecided
from nodes.domain.review.review_request import EXAMPLE
from nodes.domain.shared.errors import ReplyError, UserError
from nodes.domain.shared.formats import count, one_line
from nodes.domain.shared.shell_quote import as_typed

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.surfaces.terminal.progress import Progress
    from graph.views.run_view import RunView

REACH = 400
"""Characters of the document shown before and after a quote."""


def refuse_without_terminal(thread: str, as_json: bool) -> None:
    """Raise UserError where there is nobody to press a key."""
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError(
            f"A review needs a terminal; without one give --decisions FILE or --accept-all, and see what waits with: "
            f"python run.py findings {as_typed(thread)} --to-review --json"
        )


async def review_on_terminal(reprise: Reprise, thread: str, reviewer: str, detailed: bool) -> int:
    """Walk through what waits; goes on with the run when nothing waits any more and the person agrees."""
    thread_id = await reprise.find(thread)
    packet = await reprise.support.packet(thread_id)
    open_ones = set(undecided(packet, await reprise.decisions(thread_id)))
    titles = await reprise.support.titles(thread_id)
    waiting = [one for one in packet["findings"] if one["finding_id"] in open_ones]
    name = reviewer or _who_signs()
    with Keyboard() as keyboard:
        walk = ReviewSession(reprise, keyboard, thread_id, waiting, titles, name, packet.get("said", {}))
        await walk.go()
    view = await reprise.status(thread_id)
    say(f"{count(walk.stored, 'decision')} stored; {count((view.review or {}).get('waiting', 0), 'finding')} left.")
    if view.review and view.review["waiting"] == 0 and _go_on():

        async def begin(progress: Progress) -> RunView:
            return await reprise.resume(thread_id, surface="cli", on_event=progress)

        return await drive(reprise, view.name or thread_id, begin, as_json=False, detailed=detailed)
    await show_end(reprise, view)
    return 0


class ReviewSession:
    """One person's way through the findings of a packet."""

    def __init__(
        self,
        reprise: Reprise,
        keyboard: Keyboard,
        thread_id: str,
        findings: Sequence[Mapping[str, Any]],
        titles: Mapping[str, str],
        reviewer: str,
        opinions: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.stored = 0
        self._opinions = opinions
        self._reprise = reprise
        self._keyboard = keyboard
        self._thread_id = thread_id
        self._findings = findings
        self._titles = titles
        self._reviewer = reviewer
        self._verdicts: dict[str, str] = {}
        self._trail: list[int] = []
        self._said = ""

    async def go(self) -> None:
        """Until the last finding or the key q; what is stored stays."""
        at = 0
        while at < len(self._findings):
            await self._show(at)
            key = self._keyboard.key()
            if key == "q":
                return
            at = await self._press(key, at)

    async def _press(self, key: str, at: int) -> int:
        """Do what a key says; returns the finding that is shown next."""
        self._said = ""
        match key:
            case "a":
                return await self._decide(at, "accept", "")
            case "x":
                reason = self._keyboard.line("Why is it wrong? (empty: do not reject)")
                return await self._decide(at, "reject", reason) if reason else at
            case "l":
                self._trail.append(at)
                return at + 1
            case "u":
                return self._back(at)
            case "?":
                show_keys()
                self._keyboard.key()
            case _:
                self._said = f"No such key: {KEYS}"
        return at

    def _back(self, at: int) -> int:
        if not self._trail:
            self._said = "Nothing to undo."
            return at
        before = self._trail.pop()
        verdict = self._verdicts.get(self._findings[before]["finding_id"])
        self._said = f"You said {verdict}; decide anew, the last decision holds." if verdict else ""
        return before

    async def _decide(self, at: int, verdict: str, reason: str) -> int:
        finding_id = self._findings[at]["finding_id"]
        decision = {"finding_id": finding_id, "verdict": verdict, "reason": reason}
        try:
            await self._reprise.decide(self._thread_id, [decision], reviewer=self._reviewer, surface="cli")
        except ReplyError as refused:
            self._said = str(refused).split(EXAMPLE)[0]
            return at
        self.stored += 1
        self._verdicts[finding_id] = verdict
        self._trail.append(at)
        return at + 1

    async def _show(self, at: int) -> None:
        finding = self._findings[at]
        around = await self._reprise.support.around(self._thread_id, finding["document"], finding["spans"], REACH)
        self._keyboard.forget()
        place = f"{at + 1} of {len(self._findings)}"
        words = self._opinions.get(finding["finding_id"], {})
        before = [f"{name} has said {verdict}; another person must decide." for name, verdict in words.items()]
        show_finding(finding, self._titles, around, place, self._said, before)


def _who_signs() -> str:
    user = getpass.getuser()
    return one_line(ask_line(f"Who signs these decisions? (Enter: {user})"), 200) or user


def _go_on() -> bool:
    return ask_line("All are decided. Go on with the run now? (Enter: yes, n: no)").casefold() not in ("n", "no")

"""Review on a terminal: one finding a screen, the evidence first; every decision is stored at once."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graph.surfaces.review.keyboard import Keyboard, ask_line
from graph.surfaces.review.screen import KEYS, show_finding, show_keys
from graph.surfaces.terminal.output import say
from nodes.domain.review.review import undecided
from nodes.domain.review.review_request import EXAMPLE
from nodes.domain.shared.errors import ReplyError, UserError
from nodes.domain.shared.formats import count, one_line
from nodes.domain.shared.shell_quote import shell_word

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.views.run_view import RunView

CONTEXT_CHARACTERS = 400
"""Characters of the document shown before and after a quote."""


def refuse_without_terminal(thread: str, as_json: bool) -> None:
    """Raise UserError where no terminal is attached or JSON is wanted: nobody could press a key."""
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError(
            f"A review needs a terminal; without one give --decisions FILE or --accept-all, and see what waits with: "
            f"python run.py findings {shell_word(thread)} --to-review --json"
        )


async def review_on_terminal(reprise: Reprise, thread: str, reviewer: str) -> tuple[RunView, bool]:
    """Show each waiting finding and store what the reviewer decides.

    Returns the run as it then is, and whether to resume it: nothing waits any more and the reviewer agreed.
    """
    thread_id = await reprise.find(thread)
    packet = await reprise.packet(thread_id)
    undecided_ids = set(undecided(packet, await reprise.decisions(thread_id)))
    titles = await reprise.titles(thread_id)
    waiting = [finding for finding in packet["findings"] if finding["finding_id"] in undecided_ids]
    name = reviewer or _ask_reviewer()
    with Keyboard() as keyboard:
        session = ReviewSession(reprise, keyboard, thread_id, waiting, titles, name, packet.get("said", {}))
        await session.run()
    view = await reprise.status(thread_id)
    undecided_count = view.review["waiting"] if view.review else 0
    say(f"{count(session.stored, 'decision')} stored; {count(undecided_count, 'finding')} left.")
    return view, bool(view.review and view.review["waiting"] == 0 and _ask_to_resume())


class ReviewSession:
    """One reviewer's session over the findings of a packet; `stored` counts the decisions."""

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
        self._visited: list[int] = []
        self._message = ""

    async def run(self) -> None:
        """Take keys until the last finding or the key q; each decision is stored at once."""
        index = 0
        while index < len(self._findings):
            await self._show(index)
            key = self._keyboard.key()
            if key == "q":
                return
            index = await self._press(key, index)

    async def _press(self, key: str, index: int) -> int:
        """Act on a key; returns the index of the finding to show next."""
        self._message = ""
        match key:
            case "a":
                return await self._decide(index, "accept", "")
            case "x":
                reason = self._keyboard.line("Why is it wrong? (empty: do not reject)")
                return await self._decide(index, "reject", reason) if reason else index
            case "l":
                self._visited.append(index)
                return index + 1
            case "u":
                return self._back(index)
            case "?":
                show_keys()
                self._keyboard.key()
            case _:
                self._message = f"No such key: {KEYS}"
        return index

    def _back(self, index: int) -> int:
        if not self._visited:
            self._message = "Nothing to undo."
            return index
        previous = self._visited.pop()
        verdict = self._verdicts.get(self._findings[previous]["finding_id"])
        self._message = f"You said {verdict}; decide anew, the last decision holds." if verdict else ""
        return previous

    async def _decide(self, index: int, verdict: str, reason: str) -> int:
        finding_id = self._findings[index]["finding_id"]
        decision = {"finding_id": finding_id, "verdict": verdict, "reason": reason}
        try:
            await self._reprise.decide(self._thread_id, [decision], reviewer=self._reviewer, surface="cli")
        except ReplyError as refused:
            self._message = str(refused).split(EXAMPLE)[0]
            return index
        self.stored += 1
        self._verdicts[finding_id] = verdict
        self._visited.append(index)
        return index + 1

    async def _show(self, index: int) -> None:
        finding = self._findings[index]
        around = await self._reprise.context(self._thread_id, finding["document"], finding["spans"], CONTEXT_CHARACTERS)
        self._keyboard.forget()
        place = f"{index + 1} of {len(self._findings)}"
        verdicts = self._opinions.get(finding["finding_id"], {})
        opinions = [f"{name} has said {verdict}; another person must decide." for name, verdict in verdicts.items()]
        show_finding(finding, self._titles, around, place, self._message, opinions)


def _ask_reviewer() -> str:
    user = getpass.getuser()
    return one_line(ask_line(f"Who signs these decisions? (Enter: {user})"), 200) or user


def _ask_to_resume() -> bool:
    return ask_line("All are decided. Go on with the run now? (Enter: yes, n: no)").casefold() not in ("n", "no")

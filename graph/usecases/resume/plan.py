"""What comes before a resume goes on: is the thread of this program, would it go on as it began, is all still there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from decimal import Decimal
from typing import Any

from langgraph.types import StateSnapshot
from psycopg.types.json import Jsonb

from graph.composition import Container
from graph.driver import Driver, OnEvent
from graph.inspection.inspection import Support
from graph.usecases.resume.preflight import PreflightReport, keep_stale, survey
from graph.usecases.resume.repair import Repair
from graph.usecases.resume.versions import VersionCheck, VersionDiff
from graph.views.resumes import resumed
from graph.views.run_view import Views
from graph.views.stranded import Stranded, ended_nowhere
from nodes.domain.runs.settings import WORKFLOW_VERSION, Run
from nodes.domain.runs.state_validation import readable
from nodes.domain.runs.versions import newer, refusal
from nodes.domain.shared.errors import StepUnknown, VersionChanged
from nodes.domain.shared.formats import count, money, one_line, when


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a resume knows before it begins."""

    thread: str
    run: Run | None = None
    compared: VersionDiff = field(default_factory=VersionDiff)
    looked: PreflightReport | None = None
    adrift: Stranded | None = None
    lost: str = ""
    """packet, findings or note, when the next step needs it and it is gone."""
    made: Sequence[str] = ()
    """Frozen inputs that were lost and made again."""

    def lines(self) -> list[str]:
        """What is said on stderr, one line each."""
        said = [*self.compared.sentences()]
        if self.looked:
            said.append(f"checked: {self.looked.words()}")
        said += [f"the frozen {name} was lost and is made again" for name in self.made]
        if self.lost:
            said.append(f"the {self.lost} that the next step needs was lost or changed: it is made again")
        return said


class Resuming:
    """Reads until `begin`, which needs the lease."""

    def __init__(self, parts: Container, views: Views, support: Support) -> None:
        self._parts, self._views, self._support = parts, views, support
        self._database = parts.outside.database
        self._as_begun = VersionCheck(parts)
        self._mending = Repair(parts)

    async def prepare(
        self,
        head: StateSnapshot,
        passwords: Mapping[str, str] | None = None,
        *,
        accept_version: bool = False,
        retry_failed: bool = False,
    ) -> Prepared:
        """Look and refuse; nothing is written but frozen inputs that were lost.

        Raises VersionNewer, VersionChanged and StepUnknown (these two unless `accept_version`), SourceError, and
        ArtifactMissing when frozen inputs are lost for good.
        """
        thread_id = str(head.config["configurable"]["thread_id"])
        run = await self._views.run_of(thread_id)
        if run is None:
            return Prepared(thread_id)
        thread = run.name or thread_id
        _refuse_newer(head, run, thread)
        lost = await self._views.adrift(head)
        if lost and not accept_version:
            raise StepUnknown(lost.sentence(thread))
        named = str(readable(head.values).get("playbook") or "due-diligence")
        made = await self._mending.frozen(run, named, passwords or {})
        compared = await self._as_begun.compare(run, head, self._support.left, retry_failed=retry_failed)
        if compared.asks and not accept_version:
            raise VersionChanged(refusal(thread, compared.changes, compared.redo))
        looked = await survey(self._parts, run)
        return Prepared(thread, run, compared, looked, lost, await self._mending.lost(head, run), made)

    async def note_lost(self, head: StateSnapshot) -> bool:
        """A finished run of which a file of the note is gone or differs."""
        run = await self._views.run_of(str(head.config["configurable"]["thread_id"]))
        return run is not None and await self._mending.lost(head, run) == "note"

    async def begin(
        self, driver: Driver, prepared: Prepared, models: Mapping[str, str] | None, on_event: OnEvent | None
    ) -> None:
        """Write down and say what was agreed and seen, and find a thread that stands nowhere its way again."""
        run, compared = prepared.run, prepared.compared
        if run is None:
            return
        changes: dict[str, Any] = {"models": dict(models)} if models else {}
        if compared.changes and compared.now is not None:
            changes["versions"] = [[one.name, one.before, one.now] for one in compared.changes]
            await self._parts.ledger.change_versions(run.run_id, WORKFLOW_VERSION, compared.now)
        if prepared.looked is not None:
            changes["checked"] = prepared.looked.to_json()
            await keep_stale(self._parts, run, prepared.looked)
        # Another process may have gone on since the look: then there is nothing to find or to make again.
        if prepared.adrift and ended_nowhere(await driver.head()):
            changes["adrift"] = prepared.adrift.wanted or prepared.adrift.after
            found = prepared.adrift
            await driver.graph.aupdate_state(driver.config, dict(found.result), as_node=found.after)
        if prepared.lost and (lost := await self._mending.lost(head := await driver.head(), run)):
            changes["made_again"] = lost
            await self._mending.go_back(driver, head, lost)
        await self._database.execute("note_resume", resume_id=driver.resume_id, changes=Jsonb(changes))
        if on_event is not None:
            rows = await resumed(self._database, resume_id=driver.resume_id)
            lines = [resumed_line(row, prepared.thread) for row in rows]
            on_event({"event": "resume", "lines": [*lines, *prepared.lines()]})


def _refuse_newer(head: StateSnapshot, run: Run, thread: str) -> None:
    written = head.values.get("workflow_version")
    version = max(run.workflow_version, written if isinstance(written, int) else 1)
    if version > WORKFLOW_VERSION:
        raise newer(f"Run {thread}", version)


def resumed_line(row: Mapping[str, Any], thread: str) -> str:
    """The one line of a resume: at which step, what it keeps, what stood still."""
    kept = f"{count(int(row['documents_kept']), 'document')} kept"
    paid = f", {money(Decimal(row['kept_usd']))} not paid again" if row["kept_usd"] else ""
    since = f", stopped since {when(row['stopped_at'].astimezone(UTC))}" if row["stopped_at"] else ""
    return f"{one_line(thread, 60)}: resumed at {row['from_step'] or 'its end'}, {kept}{paid}{since}"

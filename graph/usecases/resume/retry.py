"""What a resume takes up again in a run that has passed it: documents that failed, and a webhook that was not taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.types import StateSnapshot

from graph.composition import Container
from graph.driver import Driver
from graph.views.outbox import undelivered
from nodes.domain.runs.state_validation import readable
from nodes.domain.shared.formats import count


class Again:
    """The ledger is written first and the checkpoint follows it, so that a death in between loses no wish."""

    def __init__(self, parts: Container) -> None:
        self._ledger = parts.ledger
        self._database = parts.outside.database

    async def wanted(self, head: StateSnapshot, retry_failed: bool) -> bool:
        """Whether there is anything to take up, at whatever step the run is."""
        run_id = str(readable(head.values).get("run_id") or "")
        if not run_id:
            return False
        documents = (await self._ledger.tally(run_id)).documents
        if documents["deferred"] or (retry_failed and documents["failed"]):
            return True
        return not head.next and bool(await undelivered(self._database, run_id))

    async def take_up(self, driver: Driver, retry_failed: bool) -> StateSnapshot:
        """Put the thread back to the step that does them; returns its head. Needs the lease."""
        head = await driver.head()
        state = readable(head.values)
        run_id = str(state.get("run_id") or "")
        if not run_id:
            return head
        if retry_failed:
            await self._ledger.retry_failed(run_id)
        if changes := await self._slow_lane(run_id, state):
            await driver.graph.aupdate_state(driver.config, changes, as_node="extract")
        elif not head.next and state.get("published") and await undelivered(self._database, run_id):
            changes = {"published": False, "headline": "publish: the webhook is sent again"}
            await driver.graph.aupdate_state(driver.config, changes, as_node="summarize")
        else:
            return head
        return await driver.head()

    async def _slow_lane(self, run_id: str, state: Mapping[str, Any]) -> dict[str, Any]:
        """The state before the slow lane, when a document waits for it that the thread has passed; else nothing.

        While batches are open there is nothing to change: the last one counts who belongs to the slow lane.
        """
        if (state.get("batch_index") or 0) < (state.get("batch_total") or 0):
            return {}
        slow = await self._ledger.slow_documents(run_id)
        waiting = await self._waiting(run_id, slow)
        closed = (state.get("slow_index") or 0) * (state.get("batch_size") or 1)
        if not waiting or (len(slow) == (state.get("slow_total") or 0) and slow.index(waiting[0]) >= closed):
            return {}
        return {
            "slow_total": len(slow),
            "slow_index": 0,
            "hold": "",
            "hold_error": "",
            "reply": None,
            "reply_error": "",
            "gate": False,
            "rescore": False,
            "published": False,
            "headline": f"extract: {count(len(waiting), 'document')} to be tried once more",
        }

    async def _waiting(self, run_id: str, slow: Sequence[int]) -> list[int]:
        if not slow:
            return []
        rows = await self._ledger.documents(run_id, slow[0], slow[-1] + 1)
        return [row.ordinal for row in rows if row.slow and row.state == "deferred"]

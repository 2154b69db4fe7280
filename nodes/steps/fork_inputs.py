"""Inputs of a fork: those of another run of the same matter, from the ledger; nothing is read, no model called."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nodes.domain.playbook.model import Playbook
from nodes.domain.review.decision_carryover import carried_over, count_unfinished, fork_of
from nodes.domain.runs.options import apply
from nodes.domain.runs.settings import WORKFLOW_VERSION, Run
from nodes.domain.shared.errors import ArtifactMissing, NotForkable
from nodes.domain.shared.formats import count
from nodes.domain.shared.shell_quote import shell_word
from nodes.ports import Services


async def freeze_fork(
    parent_run_id: str, playbook_name: str, options: Mapping[str, Any], thread_id: str, services: Services
) -> Run:
    """Freeze a run over the documents of another, with the decisions that still hold; doing it again changes nothing.

    `options`: name, job, and settings that differ from the parent's. Raises UnknownThread, PlaybookError, NotForkable.
    """
    parent = await services.ledger.run(parent_run_id)
    open_count = count_unfinished(await services.ledger.documents(parent.run_id, 0, parent.documents_total))
    parent_name = parent.name or parent.thread_id
    if open_count:
        raise NotForkable(
            f"{count(open_count, 'document')} of {parent_name} are still to be read: "
            f"python run.py resume {shell_word(parent_name)}, then fork it."
        )
    playbook = await services.playbooks.load(playbook_name)
    await require_kind(parent, playbook, services)
    settings = dict(options)
    name, job = settings.pop("name", None) or "", settings.pop("job", None) or parent.job_id
    fork = fork_of(
        parent,
        playbook,
        {"playbook": await services.artifacts.put(playbook.model_dump_json().encode())},
        run_id=str(uuid.uuid4()),
        thread_id=thread_id,
        name=str(name),
        job_id=str(job),
        workflow_version=WORKFLOW_VERSION,
        settings=apply(replace(parent.settings, budget_usd=None, deadline_seconds=None), settings),
        started_at=services.clock.now(),
    )
    run = await services.ledger.fork_run(fork, parent.run_id)
    if run is None:
        raise NotForkable(f"Documents of {parent_name} are being read again: wait until that has ended, then fork it.")
    if not await services.ledger.decisions(run.run_id):
        packets = await _packets(parent, services)
        await services.ledger.decide(
            run.run_id, carried_over(await services.ledger.decisions(parent.run_id), packets, playbook)
        )
    return run


async def require_kind(parent: Run, playbook: Playbook, services: Services) -> None:
    """Refuse a playbook of another kind of documents than the parent's. Raises NotForkable."""
    parent_playbook = Playbook.model_validate_json(await services.artifacts.get(parent.artifacts["playbook"]))
    if parent_playbook.kind != playbook.kind:
        raise NotForkable(
            f"{parent.name or parent.thread_id} read {parent_playbook.kind}, and playbook {playbook.name} is for "
            f"{playbook.kind}: fork it by a playbook for {parent_playbook.kind}, or start a new run."
        )


async def _packets(parent: Run, services: Services) -> list[dict[str, Any]]:
    """Load the parent's review packets, oldest first; a packet that is lost carries no decision over."""
    packets = []
    for ref in await services.ledger.artifacts(parent.run_id):
        if ref.name.startswith("review_packet"):
            try:
                packets.append(json.loads(await services.artifacts.get(ref.sha256)))
            except ArtifactMissing:
                continue
    return packets

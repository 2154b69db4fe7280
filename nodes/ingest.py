"""Node ingest: freezes documents with their hashes, playbook, engine and settings."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

from langgraph.runtime import Runtime

from nodes.domain.runs.batching import batch_total
from nodes.domain.runs.options import ENGINES, OptionError, apply
from nodes.domain.runs.settings import WORKFLOW_VERSION, ArtifactRef, Run, Settings
from nodes.domain.runs.state_validation import INPUT, validated_state
from nodes.domain.shared.errors import KnownThread
from nodes.domain.shared.formats import count
from nodes.ports import Services
from nodes.prompts.versions import versions_now
from nodes.steps.fork_inputs import freeze_fork
from state import RunContext, RunState


async def ingest(state: RunState, runtime: Runtime[RunContext], *, services: Services) -> dict[str, Any]:
    """Scan the source once; a resume never looks at the folder's list or at today's defaults again.

    Raises SourceError, PlaybookError, OptionError, and KnownThread when the thread holds a run of another source.
    """
    run_input = validated_state(state, INPUT)
    options = dict(run_input.options)
    thread_id = runtime.execution_info.thread_id if runtime.execution_info else None
    if parent := str(options.pop("fork", None) or ""):
        return await _first_state(
            await freeze_fork(
                parent, run_input.playbook or "due-diligence", options, thread_id or str(uuid.uuid4()), services
            ),
            services,
        )
    name, job = str(options.pop("name", None) or ""), str(options.pop("job", None) or "")
    context = runtime.context.model_dump(exclude_none=True) if runtime.context else {}
    engine = run_input.engine or "local"
    defaults = {"models": services.models} if engine == "openai" else {}
    settings = apply(apply(apply(Settings(), defaults), options), context)
    if engine not in ENGINES:
        raise OptionError(f"There is no engine {engine}: use {' or '.join(ENGINES)}.")
    source = run_input.source
    documents = await services.sources.scan(source, services.passwords)
    playbook = await services.playbooks.load(run_input.playbook or "due-diligence")
    playbook_bytes = playbook.model_dump_json().encode()
    inputs_bytes = json.dumps([document.to_json() for document in documents], ensure_ascii=True).encode()
    refs = {
        "playbook": await services.artifacts.put(playbook_bytes),
        "inputs": await services.artifacts.put(inputs_bytes),
    }
    new_run = Run(
        run_id=str(uuid.uuid4()),
        thread_id=thread_id or str(uuid.uuid4()),
        name=name,
        matter=run_input.matter or "default",
        job_id=job,
        playbook=playbook.name,
        playbook_sha256=playbook.sha256,
        engine=engine,
        workflow_version=WORKFLOW_VERSION,
        settings=settings,
        artifacts=refs,
        versions=await asyncio.to_thread(versions_now, services, playbook),
        documents_total=len(documents),
        source=source,
        started_at=services.clock.now(),
    )
    run = await services.ledger.open_run(new_run, documents)
    if run.run_id != new_run.run_id and (run.source, run.artifacts) != (new_run.source, new_run.artifacts):
        raise KnownThread(f"Thread {run.thread_id} holds a run of {run.source} already: start another thread.")
    return await _first_state(run, services)


async def _first_state(run: Run, services: Services) -> dict[str, Any]:
    """Record the frozen inputs as artifacts; returns the state before the first batch."""
    for label, sha256 in run.artifacts.items():
        size = await services.artifacts.size(sha256)
        ref = ArtifactRef(label, sha256, size or 0, services.artifacts.uri(sha256))
        await services.ledger.keep_artifact(run.run_id, ref)
    total = batch_total(run.documents_total, run.settings.batch_size)
    return {
        "run_id": run.run_id,
        "workflow_version": WORKFLOW_VERSION,
        "documents_total": run.documents_total,
        "batch_size": run.settings.batch_size,
        "batch_index": 0,
        "batch_total": total,
        "review_round": 0,
        "hold": "",
        "headline": f"ingest: {count(run.documents_total, 'document')} in {count(total, 'batch', 'batches')}",
    }

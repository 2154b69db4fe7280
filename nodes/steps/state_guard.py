"""Guard of every node after ingest: checks the incoming state, and reads the run that it names."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any

from langgraph.runtime import Runtime

from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.searched_types import SearchScope
from nodes.domain.runs.settings import Run
from nodes.domain.runs.state_validation import (
    ValidState,
    check_against_run,
    check_packet,
    check_scored_findings,
    missing_artifact,
    unknown_run,
    validated_state,
)
from nodes.domain.runs.versions import migrate_state
from nodes.domain.shared.errors import ArtifactMissing, UnknownThread
from nodes.ports import Services

Node = Callable[..., Awaitable[dict[str, Any]]]


def with_migrated_state(node: Node) -> Node:
    """Wrap a node so that it gets the state of an older program migrated to this version; changes are stored.

    Raises VersionNewer for a thread of a newer program.
    """

    @wraps(node)
    async def migrating_node(state: Mapping[str, Any], runtime: Runtime[Any], *, services: Services) -> dict[str, Any]:
        migrated_state = migrate_state(state)
        changes = await node(migrated_state, runtime, services=services)
        if migrated_state is state:
            return changes
        return {name: value for name, value in migrated_state.items() if state.get(name) != value} | changes

    return migrating_node


async def enter(state: Mapping[str, Any], runtime: Runtime[Any], services: Services) -> tuple[ValidState, Run]:
    """Return the checked state and its run; one query. Raises StateEdited."""
    run_state = validated_state(state)
    try:
        run = await services.ledger.run(run_state.run_id)
    except UnknownThread:
        raise unknown_run(run_state) from None
    check_against_run(run_state, run, runtime.execution_info.thread_id if runtime.execution_info else None)
    return run_state, run


async def review_packet(run_state: ValidState, run: Run, services: Services) -> dict[str, Any]:
    """Load the packet that the state names. Raises StateEdited when it is none of this run's."""
    packet = await _stored("packet", run_state.packet, run, services)
    frozen = [ref.sha256 for ref in await services.ledger.artifacts(run.run_id) if ref.name.startswith("review_packet")]
    check_packet(run_state, packet, run, frozen[-1] if frozen else "")
    return packet  # type: ignore[no-any-return]


async def scored_findings(run_state: ValidState, run: Run, services: Services) -> dict[str, Any]:
    """Load the scored findings that the state names. Raises StateEdited when they are none."""
    scored = await _stored("findings", run_state.findings, run, services)
    check_scored_findings(run_state, scored)
    return scored  # type: ignore[no-any-return]


async def load_search_scope(services: Services, run: Run, playbook: Playbook) -> SearchScope:
    """Return the clause types searched by the run's playbook, or for a fork by that of the run it scores anew."""
    sha256 = run.artifacts.get("looked_for")
    return SearchScope(Playbook.model_validate_json(await services.artifacts.get(sha256)) if sha256 else playbook)


async def _stored(name: str, sha256: str, run: Run, services: Services) -> Any:
    """Load stored JSON; None when it is something else. Raises ArtifactMissing for bytes that this run lost."""
    try:
        return json.loads(await services.artifacts.get(sha256))
    except ValueError:
        return None
    except ArtifactMissing:
        if any(ref.sha256 == sha256 for ref in await services.ledger.artifacts(run.run_id)):
            raise
        raise missing_artifact(name, sha256) from None

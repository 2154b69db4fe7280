"""A second opinion: score the documents of a run anew by another playbook, as a run of its own."""

from __future__ import annotations

import asyncio

from graph.composition import Container
from graph.driver import OnEvent, announce_run, steps_for
from graph.runtime.postgres.threads import checked_name
from graph.usecases.request_args import absolute, plain
from graph.usecases.start import new_thread_id
from graph.views.run_view import RunView, read_run_view
from graph.views.threads import find_run, refuse_begun
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.searched_types import SearchScope, own_rules_differ
from nodes.domain.review.decision_carryover import count_unfinished
from nodes.domain.runs.options import RunOptions, apply
from nodes.domain.runs.settings import Run
from nodes.domain.shared.errors import NotForkable
from nodes.domain.shared.formats import count
from nodes.domain.shared.shell_quote import shell_word
from nodes.steps.fork_inputs import require_kind
from state import RunInput


async def fork(
    container: Container,
    thread: str,
    *,
    playbook: str,
    name: str | None,
    on_event: OnEvent | None,
    options: RunOptions,
) -> RunView:
    """Score a run by another playbook, as a new thread of the same matter, and drive it; see `Reprise.fork`."""
    parent = await find_run(container, thread)
    fork_name = checked_name(name) if name is not None else ""
    thread_id = new_thread_id(fork_name)
    _, playbook = await asyncio.to_thread(absolute, (), playbook)
    apply(parent.settings, options)
    await require_kind(parent, await container.services.playbooks.load(playbook), container.services)
    await refuse_begun(container, thread_id, fork_name)
    await _refuse_unfinished(container, parent)
    run_input: RunInput = {
        "source": parent.source,
        "playbook": playbook,
        "engine": parent.engine,
        "matter": parent.matter,
        "options": {**plain(options), "name": "" if fork_name == thread_id else fork_name, "fork": parent.run_id},
    }
    async with container.drive(thread_id, "start", "ingest") as driver:
        announce_run(on_event, thread_id, fork_name, parent.documents_total, parent.documents_total)
        await driver.run(run_input, on_event, steps=steps_for(parent.documents_total))
    return await read_run_view(container, thread_id)


async def _refuse_unfinished(container: Container, parent: Run) -> None:
    """Raise NotForkable while documents of the run are still to be read."""
    unfinished = count_unfinished(await container.ledger.documents(parent.run_id, 0, parent.documents_total))
    if unfinished:
        name = parent.name or parent.thread_id
        raise NotForkable(
            f"{count(unfinished, 'document')} of {name} are still to be read: python run.py resume {shell_word(name)}, "
            "then fork it."
        )


async def describe_unsearched(container: Container, thread: str) -> list[str]:
    """Say, a sentence each, what the playbook of a run asks for and its documents were not read for; [] for most."""
    run = await find_run(container, thread)
    playbook = await _playbook(container, run.artifacts["playbook"])
    forked = "looked_for" in run.artifacts
    read_by = await _playbook(container, run.artifacts["looked_for"]) if forked else playbook
    scope = SearchScope(read_by)
    sentences = []
    documents = await container.ledger.documents(run.run_id, 0, run.documents_total)
    searched = [scope.types(document) for document in documents if document.state == "done"]
    for clause_type in dict.fromkeys(playbook.types):
        unsearched = sum(clause_type not in types for types in searched)
        if unsearched:
            advice = "start a new run to look for it" if forked else "only a model will find it"
            sentences.append(f"{clause_type} was not looked for in {count(unsearched, 'document')}: {advice}.")
    if own_rules_differ(playbook, read_by):
        sentences.append("The rules of this playbook were not applied: start a new run to look with them.")
    return sentences


async def _playbook(container: Container, sha256: str) -> Playbook:
    return Playbook.model_validate_json(await container.artifacts.get(sha256))

"""Start a run: check what it is given, freeze it under a new thread, and drive it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence

from graph.composition import Container
from graph.driver import OnEvent, announce_run, steps_for
from graph.runtime.postgres.threads import checked_name, thread_id_of
from graph.usecases.request_args import absolute, check_engine, plain
from graph.views.run_view import RunView, read_run_view
from graph.views.stranded import require_a_place
from graph.views.threads import refuse_begun
from nodes.domain.runs.options import RunOptions, apply
from nodes.domain.runs.settings import Settings
from state import RunInput


async def start(
    container: Container,
    sources: Sequence[str | os.PathLike[str]],
    *,
    thread: str | None,
    job: str,
    matter: str,
    playbook: str,
    engine: str,
    passwords: Mapping[str, str] | None,
    on_event: OnEvent | None,
    options: RunOptions,
) -> RunView:
    """Begin a run and drive it until it ends or waits; see `Reprise.start`."""
    name = checked_name(thread) if thread is not None else ""
    thread_id = new_thread_id(name)
    source, playbook = await asyncio.to_thread(absolute, sources, playbook)
    settings = apply(Settings(), options)
    documents = await container.services.sources.check(source)
    await container.services.playbooks.load(playbook)
    check_engine(container, engine, settings)
    await refuse_begun(container, thread_id, name)
    run_input: RunInput = {
        "source": source,
        "playbook": playbook,
        "engine": engine,
        "matter": matter,
        "options": {**plain(options), "name": "" if name == thread_id else name, "job": job},
    }
    async with container.drive(thread_id, "start", "ingest", passwords) as driver:
        announce_run(on_event, thread_id, name, documents, 0)
        require_a_place(await driver.run(run_input, on_event, steps=steps_for(documents)), name or thread_id)
    return await read_run_view(container, thread_id)


def new_thread_id(name: str) -> str:
    """The thread id of a name; another one each time for a run without a name."""
    return thread_id_of(name or os.urandom(16).hex())

"""Cancel a run: ask who drives it to stop for good."""

from __future__ import annotations

from graph.composition import Container
from graph.views.run_view import RunView, read_run_view
from graph.views.threads import find


async def cancel(container: Container, thread: str) -> RunView:
    """Ask a run to stop for good; who drives it drains within seconds. Nothing that is done is lost."""
    thread_id = await find(container, thread)
    await container.database.execute("cancel", thread_id=thread_id)
    return await read_run_view(container, thread_id)

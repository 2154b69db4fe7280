"""How a run is driven. The public names, imported when they are first used.

Child processes import single modules of this package, and the command line answers `--help`, without all the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.builder import build_graph
    from graph.composition import memory_services, postgres_services
    from graph.driver import drive
    from graph.views.run_view import RunView
    from nodes.domain.shared.errors import RepriseError, StateEdited
    from nodes.ports import Services
    from state import RunContext, RunInput, RunOutput, RunState

_HOMES = {
    "Reprise": "graph.app",
    "RepriseError": "nodes.domain.shared.errors",
    "RunContext": "state",
    "RunInput": "state",
    "RunOutput": "state",
    "RunState": "state",
    "RunView": "graph.views.run_view",
    "Services": "nodes.ports",
    "StateEdited": "nodes.domain.shared.errors",
    "build_graph": "graph.builder",
    "drive": "graph.driver",
    "memory_services": "graph.composition",
    "postgres_services": "graph.composition",
}

__all__ = [
    "Reprise",
    "RepriseError",
    "RunContext",
    "RunInput",
    "RunOutput",
    "RunState",
    "RunView",
    "Services",
    "StateEdited",
    "build_graph",
    "drive",
    "memory_services",
    "postgres_services",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)

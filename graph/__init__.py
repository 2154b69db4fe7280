"""How a run is driven. The public names."""

from graph.app import Reprise
from graph.builder import build_graph
from graph.driver import drive
from graph.views import RunView
from nodes.domain.errors import RepriseError
from nodes.ports import Services
from state import RunContext, RunInput, RunOutput, RunState

__all__ = [
    "Reprise",
    "RepriseError",
    "RunContext",
    "RunInput",
    "RunOutput",
    "RunState",
    "RunView",
    "Services",
    "build_graph",
    "drive",
]

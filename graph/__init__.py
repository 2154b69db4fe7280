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
    from graph.inspection.inspection import Coverage, RunCost, RunInspection
    from graph.inspection.search import Hit, SearchView
    from graph.runtime.execution.progress import Progress
    from graph.usecases.estimate import Estimate
    from graph.usecases.evaluate import GoldenSet, Measurement, Side
    from graph.usecases.purge import PurgeableThread, Tombstone
    from graph.usecases.retention import Pruned
    from graph.usecases.sweep import ResumeAllReport, ResumedRun
    from graph.views.comparison import Comparison
    from graph.views.facts import DocumentFact, FactsView
    from graph.views.frames import Diagram, FindingsView, JournalView
    from graph.views.resumes import ResumeRow
    from graph.views.run_view import RunView
    from graph.views.threads import CheckpointRow
    from nodes.domain.evaluation.golden_set import GoldError
    from nodes.domain.evidence.findings import Finding
    from nodes.domain.review.review import Decision
    from nodes.domain.runs.options import OptionError, RunOptions
    from nodes.domain.shared.errors import (
        AnswerInvalid,
        ArtifactMissing,
        DatabaseUnreachable,
        DocumentError,
        EndpointRefused,
        KnownThread,
        LeaseLost,
        LimitReached,
        MissingPart,
        NotForkable,
        OperatorError,
        PlaybookError,
        PurgedThread,
        ReplyError,
        RepriseError,
        SchemaOutdated,
        SourceError,
        StateEdited,
        StepUnknown,
        StoreUnwritable,
        ThreadBusy,
        Transient,
        Unaccounted,
        Undelivered,
        UnknownThread,
        Unreadable,
        UserError,
        VersionChanged,
        VersionNewer,
    )
    from nodes.ports import Services
    from state import RunContext, RunInput, RunOutput, RunState

_HOMES = {
    "AnswerInvalid": "nodes.domain.shared.errors",
    "ArtifactMissing": "nodes.domain.shared.errors",
    "CheckpointRow": "graph.views.threads",
    "Comparison": "graph.views.comparison",
    "Coverage": "graph.inspection.inspection",
    "DatabaseUnreachable": "nodes.domain.shared.errors",
    "Decision": "nodes.domain.review.review",
    "Diagram": "graph.views.frames",
    "DocumentError": "nodes.domain.shared.errors",
    "DocumentFact": "graph.views.facts",
    "EndpointRefused": "nodes.domain.shared.errors",
    "Estimate": "graph.usecases.estimate",
    "FactsView": "graph.views.facts",
    "Finding": "nodes.domain.evidence.findings",
    "FindingsView": "graph.views.frames",
    "GoldError": "nodes.domain.evaluation.golden_set",
    "GoldenSet": "graph.usecases.evaluate",
    "Hit": "graph.inspection.search",
    "JournalView": "graph.views.frames",
    "KnownThread": "nodes.domain.shared.errors",
    "LeaseLost": "nodes.domain.shared.errors",
    "LimitReached": "nodes.domain.shared.errors",
    "Measurement": "graph.usecases.evaluate",
    "MissingPart": "nodes.domain.shared.errors",
    "NotForkable": "nodes.domain.shared.errors",
    "OperatorError": "nodes.domain.shared.errors",
    "OptionError": "nodes.domain.runs.options",
    "Progress": "graph.runtime.execution.progress",
    "ResumeRow": "graph.views.resumes",
    "RunOptions": "nodes.domain.runs.options",
    "PlaybookError": "nodes.domain.shared.errors",
    "Pruned": "graph.usecases.retention",
    "PurgeableThread": "graph.usecases.purge",
    "PurgedThread": "nodes.domain.shared.errors",
    "ReplyError": "nodes.domain.shared.errors",
    "Reprise": "graph.app",
    "RepriseError": "nodes.domain.shared.errors",
    "ResumeAllReport": "graph.usecases.sweep",
    "ResumedRun": "graph.usecases.sweep",
    "RunContext": "state",
    "RunCost": "graph.inspection.inspection",
    "RunInput": "state",
    "RunInspection": "graph.inspection.inspection",
    "RunOutput": "state",
    "RunState": "state",
    "RunView": "graph.views.run_view",
    "SchemaOutdated": "nodes.domain.shared.errors",
    "SearchView": "graph.inspection.search",
    "Services": "nodes.ports",
    "Side": "graph.usecases.evaluate",
    "SourceError": "nodes.domain.shared.errors",
    "StateEdited": "nodes.domain.shared.errors",
    "StepUnknown": "nodes.domain.shared.errors",
    "StoreUnwritable": "nodes.domain.shared.errors",
    "ThreadBusy": "nodes.domain.shared.errors",
    "Tombstone": "graph.usecases.purge",
    "Transient": "nodes.domain.shared.errors",
    "Unaccounted": "nodes.domain.shared.errors",
    "Undelivered": "nodes.domain.shared.errors",
    "UnknownThread": "nodes.domain.shared.errors",
    "Unreadable": "nodes.domain.shared.errors",
    "UserError": "nodes.domain.shared.errors",
    "VersionChanged": "nodes.domain.shared.errors",
    "VersionNewer": "nodes.domain.shared.errors",
    "build_graph": "graph.builder",
    "drive": "graph.driver",
    "memory_services": "graph.composition",
    "postgres_services": "graph.composition",
}

__all__ = [
    "AnswerInvalid",
    "ArtifactMissing",
    "CheckpointRow",
    "Comparison",
    "Coverage",
    "DatabaseUnreachable",
    "Decision",
    "Diagram",
    "DocumentError",
    "DocumentFact",
    "EndpointRefused",
    "Estimate",
    "FactsView",
    "Finding",
    "FindingsView",
    "GoldError",
    "GoldenSet",
    "Hit",
    "JournalView",
    "KnownThread",
    "LeaseLost",
    "LimitReached",
    "Measurement",
    "MissingPart",
    "NotForkable",
    "OperatorError",
    "OptionError",
    "PlaybookError",
    "Progress",
    "Pruned",
    "PurgeableThread",
    "PurgedThread",
    "ReplyError",
    "Reprise",
    "RepriseError",
    "ResumeAllReport",
    "ResumeRow",
    "ResumedRun",
    "RunContext",
    "RunCost",
    "RunInput",
    "RunInspection",
    "RunOptions",
    "RunOutput",
    "RunState",
    "RunView",
    "SchemaOutdated",
    "SearchView",
    "Services",
    "Side",
    "SourceError",
    "StateEdited",
    "StepUnknown",
    "StoreUnwritable",
    "ThreadBusy",
    "Tombstone",
    "Transient",
    "Unaccounted",
    "Undelivered",
    "UnknownThread",
    "Unreadable",
    "UserError",
    "VersionChanged",
    "VersionNewer",
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

"""Build the graph: its nodes and their order; graph.routing chooses where an edge has a choice."""

from __future__ import annotations

from functools import partial

from langgraph.graph import END, START, StateGraph

from graph.routing import after_extract, after_hold, after_record_review, after_score, after_summarize
from nodes.extract import extract
from nodes.hold import hold
from nodes.ingest import ingest
from nodes.needs_review import needs_review
from nodes.ports import Services
from nodes.publish import publish
from nodes.record_review import record_review
from nodes.score import score
from nodes.steps.state_guard import with_migrated_state
from nodes.summarize import summarize
from state import RunContext, RunInput, RunOutput, RunState

Builder = StateGraph[RunState, RunContext, RunInput, RunOutput]


def build_graph(services: Services) -> Builder:
    """Build the state graph over these services; compile it with any saver.

    Retries are inside the paid calls, since LangGraph would repeat a whole node.
    """
    builder: Builder = StateGraph(RunState, context_schema=RunContext, input_schema=RunInput, output_schema=RunOutput)
    for name, node in (
        ("ingest", ingest),
        ("extract", extract),
        ("score", score),
        ("needs_review", needs_review),
        ("record_review", record_review),
        ("summarize", summarize),
        ("publish", publish),
        ("hold", hold),
    ):
        # An input has no version yet: it is not a state that an older program wrote.
        guarded = node if node is ingest else with_migrated_state(node)
        builder.add_node(name, partial(guarded, services=services))
    builder.add_edge(START, "ingest")
    builder.add_edge("ingest", "extract")
    builder.add_conditional_edges("extract", after_extract)
    builder.add_conditional_edges("hold", after_hold)
    builder.add_conditional_edges("score", after_score)
    builder.add_edge("needs_review", "record_review")
    builder.add_conditional_edges("record_review", after_record_review)
    builder.add_conditional_edges("summarize", after_summarize)
    builder.add_edge("publish", END)
    return builder

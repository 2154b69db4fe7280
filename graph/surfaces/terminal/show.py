"""`show`: where a run stopped, what is still valid, what a resume would do, in lines that support can quote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from rich.text import Text

from graph.surfaces.terminal.lists import show_failures
from graph.surfaces.terminal.output import console
from graph.surfaces.terminal.run import STATUS_STYLES, label, show_next
from nodes.domain.evidence.coverage import ranges
from nodes.domain.runs.versions import Change, ReworkEstimate, what_changed, what_redone
from nodes.domain.shared.formats import count, duration, money, one_line, when


def show_support(shown: Mapping[str, Any]) -> None:
    """The whole of it."""
    run = shown["run"]
    out = console()
    status = Text.assemble("status ", (run["status"], STATUS_STYLES.get(run["status"], "")))
    head = Text(label(run), style="bold")
    for part in (f"thread {run['thread_id']}", f"workflow_version {run['workflow_version']}", f"step {run['step']}"):
        head.append(f" · {part}", style="not bold")
    out.print(Text.assemble(head, " · ", status, f" ({driver_line(shown['driver'])})"))
    for name, value in (*why_lines(shown), *_lines(shown), *now_lines(shown)):
        out.print(Text.assemble((f"{name} ", "dim"), value))
    show_failures(shown["failures"])
    if run["error"]:
        out.print(Text.assemble(("error ", "red"), one_line(run["error"], 600)))
    show_next(run["next_action"])


def why_lines(shown: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if shown["stopped"] and not shown["run"]["error"]:
        yield "stopped", one_line(shown["stopped"], 600)


def now_lines(shown: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """What is not as it was when the run began: its documents, and what would do the rest."""
    if inputs := shown["inputs"]:
        yield "inputs", inputs_line(inputs)
    for one in shown["stale"]:
        yield "changed", f"{one_line(one['document'], 200)}: {one_line(one['stale'], 200)}"
    if versions := shown["versions"]:
        yield "versions", versions_line(versions, shown["run"])
        if versions["playbook"]:
            yield "playbook", one_line(versions["playbook"], 300)


def inputs_line(inputs: Mapping[str, Any]) -> str:
    if "error" in inputs:
        return one_line(inputs["error"], 400)
    parts = [f"{inputs['as_frozen']} of {count(inputs['documents'], 'document')} as frozen"]
    for name, what in (
        ("open_changed", "changed or gone, to fail by name"),
        ("done_changed", "changed after they were read"),
        ("done_gone", "done and not there any more"),
    ):
        if inputs[name]:
            parts.append(f"{what}: {one_line(', '.join(inputs[name]), 300)}")
    if inputs["open_touched"]:
        parts.append(f"{inputs['open_touched']} with another date, compared before they are read")
    if inputs["done_touched"]:
        parts.append(f"{inputs['done_touched']} done with another date, not compared")
    return " · ".join(parts)


def versions_line(versions: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """What would do the rest otherwise than it was begun, and what that means."""
    if not versions["changes"]:
        return "as it began"
    changes = [Change(one["name"], one["before"], one["now"]) for one in versions["changes"]]
    usd = None if versions["usd"] is None else Decimal(str(versions["usd"]))
    redo = ReworkEstimate(versions["documents"], usd, None, versions["answers"], Decimal(str(versions["answers_usd"])))
    ask = "; a resume needs --accept-version" if versions["asks"] else ""
    return f"{what_changed(changes)} changed since it began: {what_redone(redo)}{ask}"


def driver_line(driver: Mapping[str, Any]) -> str:
    since = when(datetime.fromisoformat(driver["since"])) if driver["since"] else None
    if driver["live"]:
        return f"driven by {driver['pid']}@{one_line(driver['host'], 60)} since {since}"
    how = {"killed": ", its process was killed", "failed": ", it failed"}.get(driver.get("outcome") or "", "")
    return f"nobody drives it{f' since {since}' if since else ''}{how}"


def _lines(shown: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    run, checkpoint = shown["run"], shown["checkpoint"]
    if "batch_index" not in checkpoint:
        yield "checkpoint", "its inputs are not frozen yet: ingest is next"
        return
    documents = run["documents"]
    skipped = f", {documents['skipped']} skipped" if documents["skipped"] else ""
    yield (
        "batch_index",
        f"{checkpoint['batch_index']} of {checkpoint['batch_total']} · documents {documents['total']}: "
        f"{documents['done']} done, {documents['failed']} failed{skipped}",
    )
    yield "checkpoint", checkpoint_line(checkpoint, shown["resume"]["documents"] or 0)
    yield "artifacts", artifacts_line(shown["artifacts"])
    yield "calls", calls_line(shown["calls"], live=shown["driver"]["live"])
    if shown["effects"]:
        yield "effects", effects_line(shown["effects"])
    yield "resume", resume_line(shown["resume"], run)


def checkpoint_line(checkpoint: Mapping[str, Any], left: int = 0) -> str:
    """Where the thread stands and what is next; `left` documents are still to do."""
    if checkpoint["next"] is None:
        return f"at {checkpoint['documents_closed']}: nothing is next, the run is at its end"
    if checkpoint["next"] != "extract":
        return f"at {checkpoint['documents_closed']}: {checkpoint['next']} is next"
    if not checkpoint["next_batch_size"]:
        again = f"{count(left, 'document')} put off and to be tried again, then score" if left else "score is next"
        return f"at the last batch: {again}"
    beyond = f", and {checkpoint['beyond_in_ledger']} beyond it" if checkpoint["beyond_in_ledger"] else ""
    return (
        f"at {checkpoint['documents_closed']}: process_batch_{checkpoint['batch_index'] + 1} is next, "
        f"{checkpoint['next_batch_in_ledger']} of its {count(checkpoint['next_batch_size'], 'document')} "
        f"are already in the ledger{beyond}"
    )


def artifacts_line(artifacts: Mapping[str, Any]) -> str:
    verified, missing = list(artifacts["verified"]), artifacts["missing"]
    batches = sorted(int(name.rpartition("_")[2]) for name in verified if name.startswith("findings_batch_"))
    others = [name for name in verified if not name.startswith("findings_batch_")]
    names = [f"findings_batch_{ranges(batches)}"] if batches else []
    line = f"{', '.join(names + others)} present and verified" if names + others else "none yet"
    return line + (f" · MISSING or changed: {', '.join(missing)}" if missing else "")


def effects_line(effects: Iterable[Mapping[str, Any]]) -> str:
    """How many of each kind are done; one that is not is named, with how its unknown outcome is resolved."""
    effects = list(effects)
    done = Counter(one["kind"] for one in effects if one["state"] == "done")
    open_ones = [
        f"{one['kind']} to {one_line(one['where'], 80)} NOT DONE ({one['resolution']})"
        for one in effects
        if one["state"] != "done"
    ]
    return " · ".join([*(f"{kind} {number} done" for kind, number in done.items()), *open_ones])


def calls_line(rows: Iterable[Mapping[str, Any]], *, live: bool) -> str:
    """Calls by tool; `live`: somebody drives the thread."""
    return " · ".join(_tool(row, live) for row in rows) or "none"


def _tool(row: Mapping[str, Any], live: bool) -> str:
    open_ones = "running" if live else "not answered when it ended"
    parts = [(row["reused"], "reused"), (row["failed"], "failed"), (row["running"], open_ones)]
    said = [f"{value} {word}" for value, word in parts if value]
    said += [count(row["lost"], "lost answer")] if row["lost"] else []
    return f"{row['tool']} {row['calls']}" + (f" ({', '.join(said)})" if said else "")


def resume_line(resume: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    left = resume["documents"]
    if run["status"] in ("completed", "completed_with_failures"):
        if run["error"]:
            return "the webhook is sent again, nothing else"
        failed = run["documents"]["failed"]
        again = f"; --retry-failed does {count(failed, 'failed document')} once more" if failed else ""
        return f"nothing is left to do{again}"
    parts = [f"{count(left, 'document')} to do"]
    if left and resume["usd"]:
        parts.append(money(Decimal(str(resume["usd"])), basis="estimated"))
    if left and resume["seconds"] is not None:
        parts.append(f"about {duration(resume['seconds'])}")
    if not left and run["findings"]["to_review"]:
        parts.append(f"{count(run['findings']['to_review'], 'finding')} to review")
    return f"{', '.join(parts)}; nothing that is done is paid again"

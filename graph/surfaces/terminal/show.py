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
from graph.surfaces.terminal.run import STATUS_STYLES, run_label, show_next
from nodes.domain.evidence.coverage import ranges
from nodes.domain.runs.versions import Change, ReworkEstimate, describe_changes, describe_rework
from nodes.domain.shared.formats import count, duration, money, one_line, when


def show_details(details: Mapping[str, Any]) -> None:
    """Print everything that `show` says about a run."""
    run = details["run"]
    out = console()
    status = Text.assemble("status ", (run["status"], STATUS_STYLES.get(run["status"], "")))
    head = Text(run_label(run), style="bold")
    for part in (f"thread {run['thread_id']}", f"workflow_version {run['workflow_version']}", f"step {run['step']}"):
        head.append(f" · {part}", style="not bold")
    out.print(Text.assemble(head, " · ", status, f" ({driver_line(details['driver'])})"))
    for name, value in (*stop_lines(details), *_lines(details), *change_lines(details)):
        out.print(Text.assemble((f"{name} ", "dim"), value))
    show_failures(details["failures"])
    if run["error"]:
        out.print(Text.assemble(("error ", "red"), one_line(run["error"], 600)))
    show_next(run["next_action"])


def stop_lines(details: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if details["stopped"] and not details["run"]["error"]:
        yield "stopped", one_line(details["stopped"], 600)


def change_lines(details: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """What has changed since the run began: its documents, and the versions that would do the rest."""
    if inputs := details["inputs"]:
        yield "inputs", inputs_line(inputs)
    for document in details["stale"]:
        yield "changed", f"{one_line(document['document'], 200)}: {one_line(document['stale'], 200)}"
    if versions := details["versions"]:
        yield "versions", versions_line(versions, details["run"])
        if versions["playbook"]:
            yield "playbook", one_line(versions["playbook"], 300)


def inputs_line(inputs: Mapping[str, Any]) -> str:
    if "error" in inputs:
        return one_line(inputs["error"], 400)
    parts = [f"{inputs['as_frozen']} of {count(inputs['documents'], 'document')} as frozen"]
    for name, description in (
        ("open_changed", "changed or gone, to fail by name"),
        ("done_changed", "changed after they were read"),
        ("done_gone", "done and not there any more"),
    ):
        if inputs[name]:
            parts.append(f"{description}: {one_line(', '.join(inputs[name]), 300)}")
    if inputs["open_touched"]:
        parts.append(f"{inputs['open_touched']} with another date, compared before they are read")
    if inputs["done_touched"]:
        parts.append(f"{inputs['done_touched']} done with another date, not compared")
    return " · ".join(parts)


def versions_line(versions: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """Versions that have changed since the run began, and what work that would repeat."""
    if not versions["changes"]:
        return "as it began"
    changes = [Change(change["name"], change["before"], change["now"]) for change in versions["changes"]]
    usd = None if versions["usd"] is None else Decimal(str(versions["usd"]))
    rework = ReworkEstimate(
        versions["documents"], usd, None, versions["answers"], Decimal(str(versions["answers_usd"]))
    )
    consent = "; a resume needs --accept-version" if versions["asks"] else ""
    return f"{describe_changes(changes)} changed since it began: {describe_rework(rework)}{consent}"


def driver_line(driver: Mapping[str, Any]) -> str:
    since = when(datetime.fromisoformat(driver["since"])) if driver["since"] else None
    if driver["live"]:
        return f"driven by {driver['pid']}@{one_line(driver['host'], 60)} since {since}"
    ending = {"killed": ", its process was killed", "failed": ", it failed"}.get(driver.get("outcome") or "", "")
    return f"nobody drives it{f' since {since}' if since else ''}{ending}"


def _lines(details: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    run, checkpoint = details["run"], details["checkpoint"]
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
    yield "checkpoint", checkpoint_line(checkpoint, details["resume"]["documents"] or 0)
    yield "artifacts", artifacts_line(details["artifacts"])
    yield "calls", calls_line(details["calls"], live=details["driver"]["live"])
    if details["effects"]:
        yield "effects", effects_line(details["effects"])
    yield "resume", resume_line(details["resume"], run)


def checkpoint_line(checkpoint: Mapping[str, Any], documents_left: int = 0) -> str:
    """Where the thread stands and what is next; `documents_left` are still to do."""
    if checkpoint["next"] is None:
        return f"at {checkpoint['documents_closed']}: nothing is next, the run is at its end"
    if checkpoint["next"] != "extract":
        return f"at {checkpoint['documents_closed']}: {checkpoint['next']} is next"
    if not checkpoint["next_batch_size"]:
        next_work = (
            f"{count(documents_left, 'document')} put off and to be tried again, then score"
            if documents_left
            else "score is next"
        )
        return f"at the last batch: {next_work}"
    ahead = f", and {checkpoint['beyond_in_ledger']} beyond it" if checkpoint["beyond_in_ledger"] else ""
    return (
        f"at {checkpoint['documents_closed']}: process_batch_{checkpoint['batch_index'] + 1} is next, "
        f"{checkpoint['next_batch_in_ledger']} of its {count(checkpoint['next_batch_size'], 'document')} "
        f"are already in the ledger{ahead}"
    )


def artifacts_line(artifacts: Mapping[str, Any]) -> str:
    verified, missing = list(artifacts["verified"]), artifacts["missing"]
    batches = sorted(int(name.rpartition("_")[2]) for name in verified if name.startswith("findings_batch_"))
    other_names = [name for name in verified if not name.startswith("findings_batch_")]
    names = [f"findings_batch_{ranges(batches)}"] if batches else []
    line = f"{', '.join(names + other_names)} present and verified" if names + other_names else "none yet"
    return line + (f" · MISSING or changed: {', '.join(missing)}" if missing else "")


def effects_line(effects: Iterable[Mapping[str, Any]]) -> str:
    """Effects that are done, counted by kind; each open one by name, with how its unknown outcome is resolved."""
    effects = list(effects)
    done = Counter(effect["kind"] for effect in effects if effect["state"] == "done")
    open_effects = [
        f"{effect['kind']} to {one_line(effect['where'], 80)} NOT DONE ({effect['resolution']})"
        for effect in effects
        if effect["state"] != "done"
    ]
    return " · ".join([*(f"{kind} {number} done" for kind, number in done.items()), *open_effects])


def calls_line(rows: Iterable[Mapping[str, Any]], *, live: bool) -> str:
    """Calls by tool; `live` when a process drives the thread, so that open calls are running ones."""
    return " · ".join(_tool_calls(row, live) for row in rows) or "none"


def _tool_calls(row: Mapping[str, Any], live: bool) -> str:
    unanswered = "running" if live else "not answered when it ended"
    counts = [(row["reused"], "reused"), (row["failed"], "failed"), (row["running"], unanswered)]
    parts = [f"{number} {word}" for number, word in counts if number]
    parts += [count(row["lost"], "lost answer")] if row["lost"] else []
    return f"{row['tool']} {row['calls']}" + (f" ({', '.join(parts)})" if parts else "")


def resume_line(resume: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    documents_left = resume["documents"]
    if run["status"] in ("completed", "completed_with_failures"):
        if run["error"]:
            return "the webhook is sent again, nothing else"
        failed = run["documents"]["failed"]
        retry = f"; --retry-failed does {count(failed, 'failed document')} once more" if failed else ""
        return f"nothing is left to do{retry}"
    parts = [f"{count(documents_left, 'document')} to do"]
    if documents_left and resume["usd"]:
        parts.append(money(Decimal(str(resume["usd"])), basis="estimated"))
    if documents_left and resume["seconds"] is not None:
        parts.append(f"about {duration(resume['seconds'])}")
    if not documents_left and run["findings"]["to_review"]:
        parts.append(f"{count(run['findings']['to_review'], 'finding')} to review")
    return f"{', '.join(parts)}; nothing that is done is paid again"

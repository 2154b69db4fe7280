"""Payload of the review gate: a review packet in at most 8 kB, with an example of a reply."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from nodes.domain.evidence.findings import RISKS
from nodes.domain.playbook.titles import clause_name
from nodes.domain.shared.formats import alignment_label, count, markdown, one_line

PAYLOAD_BYTES = 8_000
"""The most that a gate's payload takes as JSON text in ASCII, its longest form."""

EXAMPLE = " A good reply: "
"""Separates the problem of a reply from the example of a good one."""

TOP_FINDINGS = 10
_QUOTE_LIMITS = (120, 80, 48, 24, 12, 0)


class ActionRequest(TypedDict):
    action: str
    """Always review_findings."""
    args: dict[str, str | int]
    """Flat: run_id, playbook, packet, round, to_review, critical, high, medium, low, one_person_may_accept,
    second_wanted, decisions_json ("", to be filled in by an `edit` reply: a list of decisions as JSON text)."""


class GateConfig(TypedDict):
    allow_accept: bool
    allow_edit: bool
    allow_respond: bool
    allow_ignore: bool


class TopFinding(TypedDict):
    """One of the most serious findings, in a line."""

    finding_id: str
    risk: str
    clause_type: str
    document: str
    page: int | None
    alignment: str
    quote: str
    """Shortened, clean, for display only: the packet has the whole one."""
    unit: NotRequired[str]
    """What `page` counts, where that is not pages: section."""
    about: NotRequired[str]
    """The clause type that is missing."""


class GatePayload(TypedDict):
    """The value of the interrupt: the keys of one HumanInterrupt, then our own."""

    action_request: ActionRequest
    config: GateConfig
    description: str
    """Markdown."""
    run_id: str
    packet: str
    """sha256 of the packet; the artifact of this name holds every finding with its whole quote."""
    round: int
    to_review: int
    by_risk: dict[str, int]
    one_person_may_accept: int
    """How many findings {"accept_all": true} would accept."""
    second_wanted: int
    """Findings on which somebody has decided and one more person must."""
    top: list[TopFinding]
    example_reply: dict[str, Any]
    reply_error: str
    """What was wrong with the last reply, "" when nothing was."""


def gate_payload(packet: Mapping[str, Any], packet_sha256: str, reply_error: str = "") -> GatePayload:
    """Show a packet to whoever answers the gate; at most PAYLOAD_BYTES as JSON, whatever the documents say.

    Long quotes, names and errors are shortened until it fits; counts and ids never are.
    """
    for quote_limit in _QUOTE_LIMITS:
        payload = _payload(packet, packet_sha256, reply_error, quote_limit)
        if len(json.dumps(payload)) <= PAYLOAD_BYTES:
            return payload
    payload["top"], payload["reply_error"] = [], one_line(reply_error, 100)
    payload["description"] = _description(packet, [], "", example_reply(packet), 0)
    return payload


def example_reply(packet: Mapping[str, Any]) -> dict[str, Any]:
    """Build a reply that can be pasted once the name is filled in, with ids of this packet."""
    ids = [one_line(finding["finding_id"], 40) for finding in packet["findings"][:2]]
    if not ids:
        return {"reviewer": "your name", "accept_all": True}
    decisions: list[dict[str, str]] = [{"finding_id": ids[0], "verdict": "accept"}]
    if len(ids) > 1:
        decisions.append({"finding_id": ids[1], "verdict": "reject", "reason": "why it is wrong"})
    return {"reviewer": "your name", "decisions": decisions}


def _payload(packet: Mapping[str, Any], sha256: str, reply_error: str, quote_limit: int) -> GatePayload:
    counts = packet["counts"]
    by_risk: dict[str, int] = {risk: counts["by_risk"][risk] for risk in RISKS}
    top = [_top(finding, quote_limit) for finding in packet["findings"][:TOP_FINDINGS]]
    error = one_line(reply_error, 60 + 4 * quote_limit)
    example = example_reply(packet)
    run_id = one_line(packet["run_id"], 64)
    bulk = len(packet["one_person"]["finding_ids"])
    half = len(packet.get("said", {}))
    return {
        "action_request": {
            "action": "review_findings",
            "args": {
                "run_id": run_id,
                "playbook": one_line(packet["playbook"]["name"], 64),
                "packet": sha256,
                "round": packet["round"],
                "to_review": counts["to_review"],
                **by_risk,
                "one_person_may_accept": bulk,
                "second_wanted": half,
                "decisions_json": "",
            },
        },
        "config": {"allow_accept": True, "allow_edit": True, "allow_respond": True, "allow_ignore": False},
        "description": _description(packet, top, error, example, quote_limit),
        "run_id": run_id,
        "packet": sha256,
        "round": packet["round"],
        "to_review": counts["to_review"],
        "by_risk": by_risk,
        "one_person_may_accept": bulk,
        "second_wanted": half,
        "top": top,
        "example_reply": example,
        "reply_error": error,
    }


def _top(finding: Mapping[str, Any], quote_limit: int) -> TopFinding:
    top: TopFinding = {
        "finding_id": one_line(finding["finding_id"], 40),
        "risk": one_line(finding["risk"], 12),
        "clause_type": one_line(finding["clause_type"], 48),
        "document": one_line(finding["document"], max(quote_limit // 2, 12)),
        "page": finding["page"],
        "alignment": finding["alignment"],
        "quote": one_line(finding["quote"], quote_limit),
    }
    if finding.get("unit", "page") != "page":
        top["unit"] = one_line(finding["unit"], 12)
    if finding.get("about"):
        top["about"] = one_line(finding["about"], 48)
    return top


def _description(
    packet: Mapping[str, Any], top: Sequence[TopFinding], error: str, example: Mapping[str, Any], limit: int
) -> str:
    counts = packet["counts"]
    risks = ", ".join(f"{counts['by_risk'][risk]} {risk}" for risk in reversed(RISKS) if counts["by_risk"][risk])
    lines = [f"**The last reply was not used:** {markdown(error.split(EXAMPLE)[0])}", ""] if error else []
    lines += [f"**{count(counts['to_review'], 'finding')} to review**{f' ({risks})' if risks else ''}.", ""]
    reasons = (one_line(finding.get("review_reason", ""), limit) for finding in packet["findings"])
    lines += [
        _line(number, finding, reason) for number, (finding, reason) in enumerate(zip(top, reasons, strict=False), 1)
    ]
    further = counts["to_review"] - len(top)
    if further > 0:
        lines += ["", f"{count(further, 'further finding')} in the review packet." if top else ""]
    lines += _reviewer_rules(packet)
    bulk = len(packet["one_person"]["finding_ids"])
    lines += ["", "Reply, for some or all of them:", "", "```json", json.dumps(example, indent=1), "```", ""]
    lines += [
        f'or `{{"reviewer": "your name", "accept_all": true}}`, which accepts {bulk} of {counts["to_review"]}.',
        "A rejection needs a reason. What is not decided keeps waiting.",
    ]
    return "\n".join(lines)


def _reviewer_rules(packet: Mapping[str, Any]) -> list[str]:
    """Describe the playbook's rules on reviewers: two people alike, or named people only."""
    waiting = {finding["finding_id"] for finding in packet["findings"]}
    several, restricted = waiting & set(packet.get("several", {})), waiting & set(packet.get("reviewers", {}))
    verdicts = packet.get("said", {})
    lines = []
    if several:
        lines += ["", f"{count(len(several), 'finding')} must be decided by two people alike, by the finding's id."]
    if verdicts:
        people = sorted({one_line(name, 40) for by_person in verdicts.values() for name in by_person})
        names = ", ".join(map(markdown, people[:3])) + (" and others" if len(people) > 3 else "")
        lines += [
            f"{count(len(verdicts), 'finding')} decided by {names} still wait for another person who decides alike."
        ]
    if restricted:
        lines += ["", f"{count(len(restricted), 'finding')} may be decided by some only: see reviewers in the packet."]
    return lines


def _line(number: int, finding: TopFinding, reason: str) -> str:
    page = f", {finding.get('unit', 'page')} {finding['page']}" if finding["page"] is not None else ""
    clause = one_line(clause_name(finding["clause_type"], finding.get("about", "")), 100)
    doubt = "" if finding["alignment"] == "exact" else f" ({alignment_label(finding['alignment'])})"
    quote = f": “{markdown(finding['quote'])}”" if finding["quote"] else ""
    return (
        f"{number}. {finding['risk']} · {markdown(clause)} · {markdown(finding['document'])}{page}"
        f" · {markdown(finding['finding_id'])}{quote}{doubt}{f' · to review: {markdown(reason)}' if reason else ''}"
    )

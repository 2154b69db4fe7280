"""Reader of any answer to the review gate: the decisions in it, or one sentence on what is wrong with it.

Code after an interrupt must not raise, since LangGraph would refuse every later reply; so this reader is total.

The forms it takes
- ours: {"reviewer", "decisions": [{"finding_id", "verdict": "accept"|"reject", "reason"?}]}, and
  {"reviewer", "accept_all": true, "reason"?}, which is about those that nobody has decided yet; both may stand
  together, then decisions named one by one win;
  "packet" may be added and must then be the sha256 of the packet that is waiting
- a reference: {"packet": sha256, "stored": true}, the decisions are in the ledger already
- Agent Inbox: [{"type": "accept"|"edit"|"response"|"ignore", "args"}], or its one entry without the list
- LangChain's middleware: {"decisions": [{"type": "approve"|"reject"|"edit"|"respond", "message"?}]}, one entry
- the JSON text of any of these
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from nodes.domain.review.permission import Permission
from nodes.domain.review.review import Decision, Verdict
from nodes.domain.review.review_request import EXAMPLE, example_reply
from nodes.domain.shared.formats import clean, count, describe_value, one_line

REVIEWER_LIMIT = 200
REASON_LIMIT = 4_000
_TEXT_LIMIT = 4_000_000
_VERDICTS: dict[str, Verdict] = {"accept": "accept", "reject": "reject"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One verdict, not yet stamped with a time."""

    finding_id: str
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply as it was read. Either `error` is set and nothing else counts, or it is good."""

    reviewer: str = ""
    choices: tuple[Choice, ...] = ()
    """One for each finding that it decides; others keep waiting."""
    stored: bool = False
    """The decisions are in the ledger already; `choices` is empty."""
    surface: str = "api"
    """api, agent-inbox or middleware."""
    error: str = ""
    """What is wrong and what a good reply looks like, in one line; "" when nothing is."""

    def decisions(self, packet_sha256: str, at: datetime) -> tuple[Decision, ...]:
        """Stamp the choices: one Decision each."""
        return tuple(
            Decision(choice.finding_id, choice.verdict, self.reviewer, choice.reason, packet_sha256, at, self.surface)
            for choice in self.choices
        )


class _ReplyError(Exception):
    """Error with the sentence that `read_reply` returns; never leaves this module."""


@dataclass(frozen=True, slots=True)
class _OpenGate:
    """The open gate: what a reply may decide."""

    sha256: str
    ids: frozenset[str]
    waiting: Sequence[str]
    bulk: Sequence[str]
    permission: Permission


def read_reply(
    value: object, packet: Mapping[str, Any], packet_sha256: str, decided: Collection[str] = frozenset()
) -> Reply:
    """Read what came back from the gate; never raises, whatever `value` is.

    `packet` and its sha256 are those that wait now. Decides only findings of the packet, or anew those listed in it
    as decided. `decided` are findings of the packet that somebody has decided since it was made: a verdict on all at
    once leaves them as they are, so that no rejection is undone by accident.
    """
    ids = frozenset([*(finding["finding_id"] for finding in packet["findings"]), *packet["decided"]])
    waiting = [finding["finding_id"] for finding in packet["findings"] if finding["finding_id"] not in decided]
    bulk = [finding_id for finding_id in packet["one_person"]["finding_ids"] if finding_id not in decided]
    gate = _OpenGate(packet_sha256, ids, waiting, bulk, Permission.of(packet))
    try:
        return _require_permission(_read(value, gate), gate)
    except _ReplyError as error:
        problem = str(error)
    except Exception:  # noqa: BLE001 - an object of any class may come in, and to raise here would end the thread
        problem = "The reply cannot be read."
    return Reply(error=f"{problem}{EXAMPLE}{json.dumps(example_reply(packet))}")


def _read(value: Any, gate: _OpenGate) -> Reply:
    if isinstance(value, str):
        value = _parse(value)
    if isinstance(value, (list, tuple)):
        return _agent_inbox_list(value, gate)
    if not isinstance(value, dict):
        raise _ReplyError(f"The reply is {describe_value(value)}, not an object with decisions.")
    if value.get("stored") is not None:
        return _reference(value, gate)
    if "type" in value and "decisions" not in value:
        return _agent_inbox(value, gate)
    entries = value.get("decisions")
    if isinstance(entries, (list, tuple)) and entries and all(_is_middleware(entry) for entry in entries):
        return _middleware(entries, gate)
    return _own_form(value, gate, _reviewer(value, ""))


def _own_form(value: dict[Any, Any], gate: _OpenGate, reviewer: str, surface: str = "api") -> Reply:
    _require_packet(value, gate)
    choices: dict[str, Choice] = {}
    accept_all = value.get("accept_all")
    if not (accept_all is None or isinstance(accept_all, bool)):
        raise _ReplyError(f"accept_all is {describe_value(accept_all)}; it must be true.")
    if accept_all is True:
        reason = _reason(value.get("reason"), "The reply")
        choices = {choice.finding_id: choice for choice in _accept_all(gate, reason, reviewer)}
    explicit = _choices(value.get("decisions"), gate)
    if not explicit and not accept_all and gate.waiting:
        raise _ReplyError(f"The reply holds no decision; {count(len(gate.waiting), 'finding')} of the packet wait.")
    choices.update(explicit)
    return Reply(reviewer, tuple(choices.values()), surface=surface)


def _choices(entries: object, gate: _OpenGate) -> dict[str, Choice]:
    if entries is None:
        return {}
    if not isinstance(entries, (list, tuple)):
        raise _ReplyError(f"decisions is {describe_value(entries)}, not a list.")
    choices: dict[str, Choice] = {}
    unknown: list[str] = []
    for number, entry in enumerate(entries, 1):
        choice = _choice(entry, number)
        earlier = choices.setdefault(choice.finding_id, choice)
        if earlier.verdict != choice.verdict:
            raise _ReplyError(f"Finding {one_line(choice.finding_id, 40)} is both accepted and rejected.")
        if choice.finding_id not in gate.ids:
            unknown.append(one_line(choice.finding_id, 40))
    if unknown:
        suffix = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        raise _ReplyError(f"Not in this review packet: {', '.join(unknown[:5])}{suffix}.")
    return choices


def _choice(entry: object, number: int) -> Choice:
    label = f"Decision {number}"
    if not isinstance(entry, dict):
        raise _ReplyError(f"{label} is {describe_value(entry)}, not an object with finding_id and verdict.")
    finding_id = _text(entry.get("finding_id"))
    if not finding_id:
        raise _ReplyError(f"{label} names no finding: finding_id is {describe_value(entry.get('finding_id'))}.")
    label = f"{label} (finding {one_line(finding_id, 40)})"
    verdict = _VERDICTS.get((_text(entry.get("verdict")) or "").casefold())
    if verdict is None:
        raise _ReplyError(
            f'{label}: verdict is {describe_value(entry.get("verdict"))}; it must be "accept" or "reject".'
        )
    reason = _reason(entry.get("reason"), label)
    if verdict == "reject" and not reason:
        raise _ReplyError(f"{label} rejects without a reason.")
    return Choice(finding_id, verdict, reason)


def _require_permission(reply: Reply, gate: _OpenGate) -> Reply:
    """Return the reply; refuse a reviewer who is not allowed, and one who repeats what needs a second person."""
    for choice in reply.choices:
        if objection := gate.permission.objection(reply.reviewer, choice.finding_id, choice.verdict):
            raise _ReplyError(objection)
    return reply


def _accept_all(gate: _OpenGate, reason: str, reviewer: str) -> tuple[Choice, ...]:
    bulk = [finding_id for finding_id in gate.bulk if gate.permission.may(reviewer, finding_id)]
    if gate.waiting and not bulk:
        raise _ReplyError(
            f"None of the {count(len(gate.waiting), 'finding')} may be accepted all at once under this playbook; "
            "decide on them by their ids."
        )
    return tuple(Choice(finding_id, "accept", reason) for finding_id in bulk)


def _reference(value: dict[Any, Any], gate: _OpenGate) -> Reply:
    if value.get("stored") is not True:
        raise _ReplyError(f"stored is {describe_value(value.get('stored'))}; it must be true.")
    if value.get("packet") is None:
        raise _ReplyError("The reply says that decisions are stored but not for which packet.")
    _require_packet(value, gate)
    return Reply(stored=True)


def _require_packet(value: dict[Any, Any], gate: _OpenGate) -> None:
    packet_name = value.get("packet")
    if packet_name is not None and _text(packet_name) != gate.sha256:
        label = one_line(packet_name, 12) if isinstance(packet_name, str) else describe_value(packet_name)
        raise _ReplyError(
            f"The reply is for review packet {label}, but {gate.sha256[:12]} is the one that waits now: "
            "look at it and decide again."
        )


def _agent_inbox_list(entries: Sequence[Any], gate: _OpenGate) -> Reply:
    if len(entries) != 1:
        raise _ReplyError(f"The reply is a list of {len(entries)}; a list must hold one Agent Inbox response.")
    entry = entries[0]
    if not isinstance(entry, dict) or "type" not in entry:
        raise _ReplyError("The reply is a list; its entry is no Agent Inbox response with type and args.")
    return _agent_inbox(entry, gate)


def _agent_inbox(entry: dict[Any, Any], gate: _OpenGate) -> Reply:
    kind, args = _text(entry.get("type")), entry.get("args")
    reply = Reply("agent-inbox", surface="agent-inbox")
    if kind == "accept":
        return replace(reply, choices=_accept_all(gate, "", reply.reviewer))
    if kind == "edit":
        return _edited(args, gate, reply)
    if kind == "response":
        return _nested(args, gate, reply)
    if kind == "ignore":
        raise _ReplyError("The review cannot be ignored; the findings wait until somebody decides.")
    raise _ReplyError(f"The reply's type is {describe_value(entry.get('type'))}; it must be accept, edit or response.")


def _is_middleware(entry: object) -> bool:
    return isinstance(entry, dict) and "type" in entry and "finding_id" not in entry and "verdict" not in entry


def _middleware(entries: Sequence[dict[Any, Any]], gate: _OpenGate) -> Reply:
    if len(entries) != 1:
        raise _ReplyError(f"The reply holds {len(entries)} middleware decisions; the gate asks for one action.")
    entry = entries[0]
    kind, message = _text(entry.get("type")), entry.get("message")
    reply = Reply("middleware", surface="middleware")
    if kind == "approve":
        return replace(reply, choices=_accept_all(gate, "", reply.reviewer))
    if kind == "reject":
        reason = _reason(message, "The reply")
        if not reason:
            raise _ReplyError("The reply rejects every finding of the packet without a message that says why.")
        return replace(reply, choices=tuple(Choice(finding_id, "reject", reason) for finding_id in gate.waiting))
    if kind == "edit":
        return _edited(entry.get("edited_action"), gate, reply)
    if kind == "respond":
        return _nested(message, gate, reply)
    raise _ReplyError(
        f"The decision's type is {describe_value(entry.get('type'))}; it must be approve, reject, edit or respond."
    )


def _edited(action: object, gate: _OpenGate, reply: Reply) -> Reply:
    """Read an edited action: its args hold decisions_json, or our own keys."""
    args = action.get("args") if isinstance(action, dict) else None
    args = args if isinstance(args, dict) else action
    if isinstance(args, dict) and _text(args.get("decisions_json")):
        reviewer = _reviewer(args, reply.reviewer)
        _require_packet(args, gate)
        return _nested(args.get("decisions_json"), gate, replace(reply, reviewer=reviewer))
    return _nested(args, gate, reply)


def _nested(value: object, gate: _OpenGate, reply: Reply) -> Reply:
    """Read our own form inside another one: an object, a list of decisions, or the JSON text of either."""
    if isinstance(value, str):
        value = _parse(value)
    if isinstance(value, (list, tuple)):
        value = {"decisions": value}
    if not isinstance(value, dict) or not ("decisions" in value or "accept_all" in value):
        raise _ReplyError(f"The response holds no decisions: it is {describe_value(value)}.")
    return _own_form(value, gate, _reviewer(value, reply.reviewer), reply.surface)


def _reviewer(value: dict[Any, Any], default: str) -> str:
    reviewer = value.get("reviewer")
    name = _text(reviewer)
    if reviewer is not None and name is None:
        raise _ReplyError(f"reviewer is {describe_value(reviewer)}, not a name.")
    name = one_line(name or "", REVIEWER_LIMIT + 1) or default
    if not name:
        raise _ReplyError("The reply does not say who decides: reviewer is missing.")
    if len(name) > REVIEWER_LIMIT:
        raise _ReplyError(f"reviewer is longer than {REVIEWER_LIMIT} characters.")
    return name


def _reason(raw_reason: object, label: str) -> str:
    reason = _text(raw_reason)
    if raw_reason is not None and reason is None:
        raise _ReplyError(f"{label}: reason is {describe_value(raw_reason)}, not a text.")
    if reason and len(reason) > REASON_LIMIT:
        raise _ReplyError(f"{label}: reason is longer than {REASON_LIMIT} characters.")
    return reason or ""


def _parse(text: str) -> object:
    if len(text) > _TEXT_LIMIT:
        raise _ReplyError(f"The reply is a text of {count(len(text), 'character')}, which is too long.")
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        raise _ReplyError(f"The reply is {describe_value(text)}, not an object with decisions.") from None
    if isinstance(parsed, str):
        raise _ReplyError(f"The reply is {describe_value(parsed)}, not an object with decisions.")
    return parsed


def _text(value: object) -> str | None:
    return clean(value).strip() if isinstance(value, str) else None

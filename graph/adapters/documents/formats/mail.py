"""E-mail: its header and body as one section; what is attached belongs to the documents. Runs in a child."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from email.message import EmailMessage
from typing import Any

from graph.adapters.documents.document_bytes import sections
from graph.adapters.documents.formats.html import html_parts
from graph.adapters.documents.layout.running_text import lay_out_plain

FIELDS = ("From", "To", "Cc", "Date", "Subject")


def read_mail(data: bytes, max_chars: int) -> list[dict[str, Any]]:
    message = _parsed(data)
    head = [f"{field}: {' '.join(str(message[field]).split())}" for field in FIELDS if message[field]]
    body = _body(message)
    if body is None:
        parts: list[tuple[str, list[list[str]]]] = [("", [])]
    elif body.get_content_type() == "text/html":
        parts = html_parts(_content(body).encode(), "utf-8")
    else:
        parts = [(_content(body), [])]
    first, hidden = parts[0]
    plain = [(lay_out_plain("\n".join([*head, "", first])), hidden)]
    return sections([*plain, *((lay_out_plain(text), found) for text, found in parts[1:])], max_chars)


def attached(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of everything that is not the body; messages that were forwarded are e-mails again."""
    from graph.adapters.documents.attachments import shown_name

    message = _parsed(data)
    body = _body(message)
    for number, part in enumerate(_leaves(message), 1):
        forwarded = part.get_content_type() == "message/rfc822"
        named = bool(part.get_filename()) or part.get_content_disposition() == "attachment"
        if part is body or not (forwarded or named):
            continue
        if forwarded:
            inner = part.get_payload()
            content = inner[0].as_bytes() if isinstance(inner, list) and inner else b""
            subject = str(inner[0]["Subject"] or "") if content else ""
            yield shown_name(part.get_filename() or f"{subject or f'message {number}'}.eml", number), content
        else:
            payload = part.get_payload(decode=True)
            yield shown_name(part.get_filename() or "", number), payload if isinstance(payload, bytes) else b""


def _parsed(data: bytes) -> EmailMessage:
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return message


def _leaves(part: Any) -> Iterator[Any]:
    """The parts of a message, without looking into messages within it."""
    if part.get_content_type() == "message/rfc822" or not part.is_multipart():
        yield part
        return
    for inner in part.iter_parts():
        yield from _leaves(inner)


def _body(message: EmailMessage) -> Any:
    try:
        body = message.get_body(("plain", "html"))
    except (KeyError, AttributeError, ValueError):
        return None
    return None if body is not None and body.get_content_maintype() != "text" else body


def _content(part: Any) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError, AttributeError):
        payload = part.get_payload(decode=True)
        return payload.decode("cp1252", "replace") if isinstance(payload, bytes) else ""

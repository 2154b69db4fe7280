"""E-mail: its header and body as one section; what is attached belongs to the documents. Runs in a worker process."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from email.message import EmailMessage
from typing import Any

from graph.adapters.documents.formats.html import html_parts
from graph.adapters.documents.layout.running_text import lay_out_plain
from graph.adapters.documents.pages import sections

FIELDS = ("From", "To", "Cc", "Date", "Subject")


def read_mail(data: bytes, max_chars: int) -> list[dict[str, Any]]:
    message = parsed(data)
    header_lines = [f"{field}: {' '.join(str(message[field]).split())}" for field in FIELDS if message[field]]
    body = body_of(message)
    if body is None:
        parts: list[tuple[str, list[list[str]]]] = [("", [])]
    elif body.get_content_type() == "text/html":
        parts = html_parts(_content(body).encode(), "utf-8")
    else:
        parts = [(_content(body), [])]
    first_text, hidden = parts[0]
    first_part = [(lay_out_plain("\n".join([*header_lines, "", first_text])), hidden)]
    return sections(
        [*first_part, *((lay_out_plain(text), hidden_texts) for text, hidden_texts in parts[1:])], max_chars
    )


def parsed(data: bytes) -> EmailMessage:
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return message


def leaves(part: Any) -> Iterator[Any]:
    """The parts of a message, without looking into messages within it."""
    if part.get_content_type() == "message/rfc822" or not part.is_multipart():
        yield part
        return
    for inner in part.iter_parts():
        yield from leaves(inner)


def body_of(message: EmailMessage) -> Any:
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

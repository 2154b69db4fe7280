"""Errors of the program, grouped by who can repair the cause.

RepriseError
├── UserError                exit 2: the person who typed can mend it
│   ├── SourceError          no such folder, empty folder, nothing readable in it
│   ├── UnknownThread        no run by that name, id or prefix
│   │   └── PurgedThread     there was one, and it was erased
│   ├── KnownThread          `start` for a thread that has begun
│   ├── PlaybookError        a playbook that cannot be read or contradicts itself
│   ├── NotForkable          a fork of a run whose documents are not all at their end, or are of another kind
│   ├── ReplyError           a review reply of the wrong shape
│   ├── StateEdited          a checkpoint that was changed into something that cannot be
│   ├── VersionChanged       a resume that would go on in another way than the run began
│   └── VersionNewer         a thread that a newer program wrote
├── OperatorError            exit 1: whoever runs the machine can mend it
│   ├── DatabaseUnreachable  no answer from Postgres, or an address that is none
│   ├── SchemaOutdated       tables older or newer than this program
│   ├── EndpointRefused      key, model or address refused; no document can be done
│   ├── MissingPart          a library or data file that this job needs
│   ├── ArtifactMissing      stored bytes that vanished or differ from their name
│   ├── StoreUnwritable      a folder for artifacts or notes that takes nothing: full, or not ours
│   ├── StepUnknown          a thread that stands at no step that this program has
│   ├── Unaccounted          a run of which documents or findings are nowhere to be found
│   └── Undelivered          a webhook that its receiver did not take
├── ThreadBusy               exit 5: another process drives this thread
├── LeaseLost                this process was overtaken and commits nothing more
├── LimitReached             budget or deadline: the run goes to `hold`, exit 4
├── DocumentError            this document cannot be done; the others go on
│   ├── Unreadable           its bytes give no text
│   └── AnswerInvalid        the tool answered, but not in a usable form
└── Transient                worth repeating: time-out, 429, 5xx, reset

A message says what happened, to what, and what to do next, in one sentence.
"""

from __future__ import annotations

from typing import Any


class RepriseError(RuntimeError):
    """The root; its text is shown to people as it is.

    A RuntimeError because Agent Server shows the text of built-in kinds of errors and hides that of any other.
    """


class UserError(RepriseError):
    """The person who typed can mend it."""


class SourceError(UserError):
    """The source names nothing that can be read."""


class UnknownThread(UserError):
    """No run goes by that name, id or prefix."""


class PurgedThread(UnknownThread):
    """The run was erased; `finished` is False while files of it are still to be removed."""

    def __init__(self, message: str, *, thread_id: str, finished: bool) -> None:
        super().__init__(message)
        self.thread_id = thread_id
        self.finished = finished


class KnownThread(UserError):
    """The thread has begun already; resume it."""


class PlaybookError(UserError):
    """The playbook cannot be read or contradicts itself."""


class NotForkable(UserError):
    """The documents of the run to be forked are not all at their end, or of another kind than the playbook is for."""


class ReplyError(UserError):
    """A review reply of the wrong shape; the run still waits."""


class StateEdited(UserError):
    """The state of a thread was changed by hand into something that cannot be; mended in the same way, it goes on.

    `field` is what has to be set right.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class VersionChanged(UserError):
    """Going on would do what is left in another way than the run began; a person has to agree."""


class VersionNewer(UserError):
    """A newer program wrote this thread."""


class OperatorError(RepriseError):
    """Whoever runs the machine can mend it."""


class DatabaseUnreachable(OperatorError):
    """Postgres does not answer."""


class SchemaOutdated(OperatorError):
    """The tables are not those that this program needs."""


class EndpointRefused(OperatorError):
    """The endpoint refuses key, model or address: no document can be done."""


class MissingPart(OperatorError):
    """A library or data file that this job needs is not there."""


class ArtifactMissing(OperatorError):
    """Stored bytes vanished or differ from their name."""


class Undelivered(OperatorError):
    """The receiver of a webhook did not take it; the run is none the worse, a resume sends it again."""


class StoreUnwritable(OperatorError):
    """A folder takes nothing: the disk is full, or its rights are wrong."""


class StepUnknown(OperatorError):
    """A thread stands at no step that this program has; LangGraph alone would end it without a word."""


class Unaccounted(OperatorError):
    """Documents or findings of a run are in no result: it must not end as if all had been read."""


class ThreadBusy(RepriseError):
    """Another process drives this thread."""


class LeaseLost(RepriseError):
    """Another process took this thread over; nothing more is committed here."""


class LimitReached(RepriseError):
    """Budget or deadline reached; `kind` says which."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class DocumentError(RepriseError):
    """This document cannot be done; the others go on."""


class Unreadable(DocumentError):
    """The bytes of the document give no text.

    `word`: what the ledger calls it; parsing_timeout when it was given up and more time might help.
    """

    def __init__(self, message: str, *, word: str = "unreadable") -> None:
        super().__init__(message)
        self.word = word


class AnswerInvalid(DocumentError):
    """A tool answered, but not in a usable form.

    `usage` is what the answer cost all the same; `cut` says that it was longer than allowed, so that asking
    about less may help where asking again cannot.
    """

    def __init__(self, message: str, *, usage: Any = None, cut: bool = False) -> None:
        super().__init__(message)
        self.usage = usage
        self.cut = cut


class Transient(RepriseError):
    """Worth repeating.

    `retry_after`: seconds, when the other side named a time. `word`: what the ledger calls it (request_timeout,
    document_timeout, run_deadline, rate_limited, server_error, connection). `unknown`: the other side may have done
    and charged the work.
    """

    def __init__(
        self, message: str, *, word: str, retry_after: float | None = None, unknown: bool = False, usage: Any = None
    ) -> None:
        super().__init__(message)
        self.word = word
        self.retry_after = retry_after
        self.unknown = unknown
        self.usage = usage

"""How a model wants to be asked: forms of structured output, names of parameters; learnt from its refusals."""

from __future__ import annotations

import re
from dataclasses import dataclass

import openai

from graph.adapters.openai.errors import TOO_LONG, Endpoint, message_of
from nodes.domain.shared.errors import EndpointRefused, RepriseError, Transient

_FORM_REFUSED = re.compile(
    r"""
    response.?format
    | json.?(?:schema|object|mode)
    | structured.?output
    | tool.?(?:choice|use|call) | \btools\b | function.?call
    | guided | grammar
    """,
    re.I | re.X,
)
"""Such as "'response_format' of type 'json_schema' is not supported with this model"."""


@dataclass(slots=True)
class Dialect:
    """How one model at one endpoint wants to be asked; learnt from its refusals, forgotten with the process."""

    methods: tuple[str, ...] = ("json_schema", "function_calling", "json_mode")
    """Forms of structured output that are still to be tried; the first is in use."""
    limit: str = "max_tokens"
    """Name of the parameter that bounds the answer."""
    temperature: bool = True

    @classmethod
    def of(cls, model: str, host: str) -> Dialect:
        """Start from what is known: OpenAI's own models want the newer name, its oldest have no JSON schema."""
        is_openai = re.search(r"(?:^|\.)(?:openai\.com|openai\.azure\.com)(?::|$)", host) is not None
        is_old = re.match(r"gpt-3|gpt-4(?:-|$)", model) is not None
        methods = ("function_calling", "json_mode") if is_old else ("json_schema", "function_calling", "json_mode")
        return cls(methods, "max_completion_tokens" if is_openai else "max_tokens")

    def learn(self, error: Exception, used: Dialect, at: Endpoint) -> RepriseError | None:
        """Take a refusal of a parameter as a lesson: what to raise for it, None when it is no such refusal.

        `used` is the dialect as it was when the question was put: others may have taken the same lesson meanwhile.
        """
        if not isinstance(error, openai.APIStatusError) or error.status_code not in (400, 404, 415, 422, 501):
            return None
        words = message_of(error).replace(at.model, "")
        if TOO_LONG.search(words):
            return None
        if used.temperature and "temperature" in words:
            self.temperature = False
            return _retry(f"{at.model} takes no temperature ({error.status_code}).", "parameter_unsupported")
        if re.search(r"max_(?:completion_)?tokens", words):
            if "max_completion_tokens" in words and used.limit == "max_tokens":
                self.limit = "max_completion_tokens"
            elif used.limit == "max_completion_tokens":
                self.limit = "max_tokens"
            else:
                return None
            return _retry(f"{at.model} takes no {used.limit} ({error.status_code}).", "parameter_unsupported")
        return self.drop(used.methods[0], at, f"({error.status_code})") if _FORM_REFUSED.search(words) else None

    def drop(self, method: str, at: Endpoint, reason: str) -> RepriseError:
        """Leave a form of structured output; another question may have done so meanwhile."""
        if self.methods == (method,):
            return EndpointRefused(
                f"The model {at.model!r} at {at.host} takes no form of structured output: name another with --model."
            )
        self.methods = tuple(name for name in self.methods if name != method)
        return _retry(f"{at.model} at {at.host} has no {method} {reason}.", "structured_output_unsupported")


def _retry(message: str, word: str) -> Transient:
    return Transient(message, word=word, retry_after=0.0)

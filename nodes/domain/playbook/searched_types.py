"""Which clause types were looked for in a document: only of these can one be missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from nodes.domain.clauses.engine_files import LANGUAGES
from nodes.domain.clauses.rules import load_rules
from nodes.domain.playbook.model import Playbook
from nodes.domain.runs.settings import DocumentResult


@lru_cache(maxsize=4)
def local_types(language: str) -> frozenset[str]:
    """Clause types that the local engine recognises in a language; in any, where it could not be told.

    What the classifier knows has rules too. Raises MissingPart.
    """
    files = load_rules()
    chosen = [language] if language in files else LANGUAGES
    return frozenset(rule.type for code in chosen for rule in files[code].rule)


@dataclass(frozen=True)
class SearchScope:
    """What a run looked for."""

    playbook: Playbook
    """By which the documents were read; of a fork, that of the run whose findings it scores anew."""

    def types(self, document: DocumentResult) -> frozenset[str]:
        """Clause types of the playbook that the engine of this document could have found in it.

        A model is asked for all of them; the local engine finds only those for which it has rules in the language.
        """
        return self._types(document.engine, document.language)

    def _types(self, engine: str, language: str) -> frozenset[str]:
        sought = frozenset(self.playbook.types)
        if self.playbook.kind == "decisions":
            from nodes.domain.case_law import reader as decisions  # only a run of this kind needs its rules

            # Read by the same rules whatever the engine.
            return sought & decisions.TYPES
        if engine != "local":
            return sought
        own = {rule.type for rule in self.playbook.rules if language in ("", rule.language)}
        return sought & (local_types(language) | own)


def own_rules_differ(playbook: Playbook, read_by: Playbook) -> bool:
    """Whether a playbook has rules of its own that those who read the documents did not have."""
    return bool(set(playbook.rules) - set(read_by.rules))

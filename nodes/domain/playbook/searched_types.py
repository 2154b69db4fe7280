"""Clause types that were searched in a document: only these can be missing from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from nodes.domain.clauses.engine_files import LANGUAGES
from nodes.domain.clauses.rules import load_rules
from nodes.domain.playbook.model import Playbook
from nodes.domain.runs.settings import DocumentResult


@lru_cache(maxsize=4)
def local_types(language: str) -> frozenset[str]:
    """Clause types that the local engine recognises in a language, or in any for an unknown one.

    What the classifier knows has rules too. Raises MissingPart.
    """
    files = load_rules()
    chosen = [language] if language in files else LANGUAGES
    return frozenset(rule.type for code in chosen for rule in files[code].rule)


@dataclass(frozen=True)
class SearchScope:
    """The scope of a run's search for clauses."""

    playbook: Playbook
    """Playbook that the documents were read by; of a fork, that of the run whose findings it scores again."""

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
    """Has a playbook own rules that the playbook which the documents were read by does not have?"""
    return bool(set(playbook.rules) - set(read_by.rules))

"""The words of a case-law note, in English and French; `str.format` fills them in."""

from __future__ import annotations

_WORDS: dict[str, dict[str, str]] = {
    "en": {
        "index": "Decisions", "document": "Document", "court": "Court", "number": "Number", "date": "Date",
        "solution": "Solution", "attacked": "Decision attacked", "parties": "Parties", "applied": "Texts applied",
        "cited": "Texts cited", "ordered": "Ordered", "attached": "Attached", "facts": "Facts",
        "procedure": "Procedure", "question": "Question", "answer": "Answer", "scope": "Scope",
        "page": "{unit} {page}", "pages": "{unit}s {page}",
        "doubt": "{value} (to be checked)", "more": "and {count} more", "none": "no decision was recognised",
        "quote": "“{quote}” ({page})", "said": "{text} ({page})", "n": "No", "semicolon": "; ",
        "again": "{document} (the same decision: {others})", "copies": "Once more",
        "alike": "{names} (same number and date)",
    },
    "fr": {
        "index": "Décisions", "document": "Document", "court": "Juridiction", "number": "Numéro", "date": "Date",
        "solution": "Solution", "attacked": "Décision attaquée", "parties": "Parties", "applied": "Textes appliqués",
        "cited": "Textes cités", "ordered": "Dispositif", "attached": "Pièces jointes", "facts": "Faits",
        "procedure": "Procédure", "question": "Question", "answer": "Réponse", "scope": "Portée",
        "page": "{unit} {page}", "pages": "{unit}s {page}",
        "doubt": "{value} (à vérifier)", "more": "et {count} de plus", "none": "aucune décision reconnue",
        "quote": "« {quote} » ({page})", "said": "{text} ({page})", "n": "n°", "semicolon": " ; ",
        "again": "{document} (la même décision : {others})", "copies": "Autre exemplaire",
        "alike": "{names} (mêmes numéro et date)",
    },
}  # fmt: skip


def ruling_texts(language: str) -> dict[str, str]:
    """French for "fr", else English."""
    return _WORDS["fr" if language == "fr" else "en"]


def columns(language: str) -> tuple[str, ...]:
    """Heads of the table of decisions."""
    words = ruling_texts(language)
    return tuple(words[name] for name in ("number", "date", "court", "solution", "document"))

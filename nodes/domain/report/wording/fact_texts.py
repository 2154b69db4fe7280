"""The words of the note about the terms of contracts, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ENGLISH: Mapping[str, Any] = {
    "terms": "Terms", "changes": "Changed by amendment", "page": "{unit} {page}", "said": "{document}: {statements}.",
    "effective_date": "in effect from {value}", "agreement_date": "dated {value}",
    "signature_date": "signed on {value}",
    "initial_term": "term {value}", "expiration_date": "ends on {value}", "renewal_term": "renewed for {value}",
    "effective_date_quoted": "beginning {value}", "expiration_date_quoted": "end {value}",
    "renewal_term_quoted": "renewal {value}",
    "notice_renewal": "notice against renewal {value}", "notice_termination": "notice to terminate {value}",
    "cap_amount": "cap {value}", "cap_per_claim": "cap {value} per claim", "cap_per_year": "cap {value} per year",
    "cap_base": "cap reckoned on {value}", "governing_law": "law “{value}”", "court": "disputes: {value}",
    "quoted": "“{quote}”", "overridden": "overridden by {by}, {unit} {page}",
    "may": "may be overridden by {by}, {unit} {page}", "with_override": "{text}: {said}.",
    "replace": "replaced", "delete": "deleted", "change": "changed", "add": "added", "of": "{article} {action}",
    "of_master": "{document} of {master}: {statements}.", "perhaps": "{document}, perhaps of {master}: {statements}.",
    "fees": "the fees", "fees_months": "the fees of {months} months", "order value": "the value of the order",
    "share": "{share} % of {of}", "semicolon": "; ",
    "day": ("day", "days"), "week": ("week", "weeks"), "month": ("month", "months"), "quarter": ("quarter", "quarters"),
    "year": ("year", "years"),
}  # fmt: skip
_FRENCH: Mapping[str, Any] = {
    "terms": "Stipulations", "changes": "Modifié par avenant", "page": "{unit} {page}",
    "said": "{document} : {statements}.",
    "effective_date": "en vigueur le {value}", "agreement_date": "daté du {value}",
    "signature_date": "signé le {value}",
    "initial_term": "durée {value}", "expiration_date": "prend fin le {value}",
    "renewal_term": "renouvelé pour {value}",
    "effective_date_quoted": "prise d’effet {value}", "expiration_date_quoted": "fin {value}",
    "renewal_term_quoted": "renouvellement {value}",
    "notice_renewal": "préavis de dénonciation {value}", "notice_termination": "préavis de résiliation {value}",
    "cap_amount": "plafond {value}", "cap_per_claim": "plafond {value} par sinistre",
    "cap_per_year": "plafond {value} par an", "cap_base": "assiette du plafond : {value}",
    "governing_law": "droit « {value} »", "court": "litiges : {value}", "quoted": "« {quote} »",
    "overridden": "remplacé par {by}, {unit} {page}", "may": "peut-être remplacé par {by}, {unit} {page}",
    "with_override": "{text} : {said}.",
    "replace": "remplacé", "delete": "supprimé", "change": "modifié", "add": "ajouté", "of": "{article} {action}",
    "of_master": "{document} au contrat {master} : {statements}.",
    "perhaps": "{document}, peut-être au contrat {master} : {statements}.",
    "semicolon": " ; ", "fees": "redevances", "fees_months": "redevances de {months} mois",
    "order value": "montant de la commande",
    "share": "{share} % des {of}",
    "day": ("jour", "jours"), "week": ("semaine", "semaines"), "month": ("mois", "mois"),
    "quarter": ("trimestre", "trimestres"), "year": ("an", "ans"),
}  # fmt: skip


def fact_texts(language: str) -> Mapping[str, Any]:
    """The table of a language; English for one that is not known. A unit has two forms, one and many."""
    return _FRENCH if language == "fr" else _ENGLISH

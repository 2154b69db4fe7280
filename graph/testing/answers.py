"""Answers of the scripted endpoint: a fixed rule in the place of a model.

The rule is plain on purpose. It reads the ``<passage id="N">`` blocks of a prompt, cuts them into sentences, and
names at most one clause a sentence by a table of keywords; the quote is the sentence as it stands. The same
request always gets the same answer, and an answer can be checked by eye.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

# The first clause type of which a keyword occurs in the sentence wins; "a & b" asks for both.
KEYWORDS: dict[str, tuple[str, ...]] = {
    "uncapped_liability": (
        "unlimited liability",
        "liability & unlimited",
        "liability & without limit",
        "responsabilité & illimitée",
        "responsabilité & sans limit",
    ),
    "liquidated_damages": ("liquidated damages", "service credit", "pénalité", "dommages-intérêts forfaitaires"),
    "cap_on_liability": (
        "aggregate liability",
        "total liability",
        "liability & shall not exceed",
        "liability & limited to",
        "responsabilité & plafon",
        "responsabilité & limitée",
        "responsabilité & excéder",
    ),
    "indemnification": ("indemnif", "hold harmless", "garantir & contre", "garantira", "indemnis"),
    "insurance": ("insurance", "assurance"),
    "governing_law": ("governed by", "governing law", "droit applicable", "régi par", "régie par", "soumis au droit"),
    "jurisdiction": ("exclusive jurisdiction", "courts of", "tribunaux", "tribunal de commerce", "arbitration"),
    "termination_for_convenience": (
        "for convenience",
        "terminate & without cause",
        "terminate & for any reason",
        "sans motif",
        "pour convenance",
        "à tout moment & résili",
    ),
    "change_of_control": ("change of control", "change in control", "changement de contrôle"),
    "ip_ownership_assignment": (
        "intellectual property & assign",
        "propriété intellectuelle & céd",
        "work made for hire",
    ),
    "anti_assignment": ("assign", "céder", "cession"),
    "audit_rights": ("audit", "inspect & records", "inspect & books"),
    "renewal_term": (
        "automatically renew",
        "auto-renew",
        "renewal term",
        "successive",
        "tacite reconduction",
        "renouvel",
    ),
    "notice_period_to_terminate_renewal": ("notice of non-renewal", "préavis & reconduction"),
    "most_favored_nation": ("most favored", "most favoured", "no less favorable", "client le plus favorisé"),
    "exclusivity": ("exclusiv",),
    "non_compete": ("not compete", "non-compet", "non-concurrence"),
    "no_solicit_of_employees": ("solicit & employee", "non-sollicitation", "débauch"),
    "no_solicit_of_customers": ("solicit & customer",),
    "non_disparagement": ("disparag", "dénigr"),
    "rofr_rofo_rofn": ("right of first", "droit de préemption", "droit de préférence"),
    "price_restrictions": ("price & increase", "prices & fixed", "révision des prix", "révision du prix", "indexation"),
    "minimum_commitment": ("minimum commitment", "minimum order", "minimum purchase", "engagement minimum"),
    "volume_restriction": ("maximum volume", "usage limit", "volume maxim"),
    "revenue_profit_sharing": ("revenue share", "revenue sharing", "profit sharing", "royalt", "redevance"),
    "joint_ip_ownership": ("jointly own", "copropriété"),
    "irrevocable_or_perpetual_license": ("perpetual", "irrevocabl", "perpétuel", "irrévocable"),
    "non_transferable_license": ("non-transferable", "nontransferable", "non transférable", "incessible"),
    "license_grant": ("grants & license", "grants & licence", "concède & licence"),
    "source_code_escrow": ("escrow", "séquestre"),
    "post_termination_services": ("transition assistance", "after termination", "réversibilité"),
    "warranty_duration": ("warrant & month", "warrant & year", "warrant & days", "garantie & mois", "garantie & an"),
    "covenant_not_to_sue": ("not to sue", "not contest", "renonce à tout recours"),
    "third_party_beneficiary": ("third party benef", "third-party benef", "stipulation pour autrui"),
    "data_protection": ("personal data", "data protection", "données à caractère personnel", "données personnelles"),
    "confidentiality": ("confidential",),
    "force_majeure": ("force majeure",),
    "payment_terms": ("invoice & days", "payment & days", "payable within", "facture & jours", "paiement & jours"),
    "effective_date": ("effective date", "date d'effet", "entre en vigueur"),
    "expiration_date": ("shall expire", "will expire", "expires on", "arrive à échéance"),
}
_KEYWORD_PARTS = {kind: tuple(tuple(word.split(" & ")) for word in words) for kind, words in KEYWORDS.items()}

SUMMARY_PARTS = ("facts", "procedure", "question", "answer", "scope")
SHORTEST, LONGEST = 30, 400
"""Characters of a sentence that a summary may take."""

_WORD = re.compile(r"[a-z_]+")
_PASSAGE = re.compile(r'^[ \t]*<passage\s+id="?(\d+)"?[^>\n]*>[ \t]*\n(.*?)^[ \t]*</passage>', re.M | re.S)
_BREAK = re.compile(
    r"(?P<end>(?<=[.;!?])[\"”»)]?\s+(?=[\"“«(\[]?\s?[A-ZÀ-ÝŒ0-9]))|\n[ \t]*\n\s*|\n(?=\s*[A-ZÀ-Ý0-9(\"“«])"
)
_HEADING = re.compile(
    r"(?:(?i:article|section|clause|§)\s*)?\d+(?:\.\d+)*[.)]?\s+[A-ZÀ-Ý][^\n.;,]{1,50}|[^a-zà-ý\n]{3,70}"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:\d+(?:\.\d+)*|[A-Za-z]|no|art|sec|inc|ltd|co|corp|cf|e\.g|i\.e|st|mr|mme?)\.$", re.I
)
_ROLE = r"(?:Supplier|Vendor|Contractor|Service Provider|Provider|Licensor|Seller|Fournisseur|Prestataire|Vendeur)"
_ROLE_IN_BRACKETS = re.compile(rf"\([^()]{{0,60}}[\"“«]\s*(?:the |le |la )?{_ROLE}\s*[\"”»]\s*\)", re.I)
_ROLE_LABEL = re.compile(rf"^[ \t]*{_ROLE}(?: name)?[ \t]*:[ \t]*(?P<name>\S[^\n]{{1,100}}?)[ \t]*$", re.I | re.M)
_OPENING = re.compile(r"^.*\b(?:between|entre|parties?\s*:)\s*:?\s+", re.I | re.S)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A chat-completions request, as far as the answer depends on it."""

    model: str
    text: str
    instructions: str
    passages: tuple[tuple[int, str], ...]
    schema: dict[str, Any] | None
    json_mode: bool
    tool: str | None
    tool_forced: bool
    max_tokens: int | None


def read_request(body: dict[str, Any]) -> ChatRequest:
    """Read the body of a chat-completions request."""
    messages = [m for m in body.get("messages") or [] if isinstance(m, dict)]
    text = "\n".join(_content_text(m.get("content")) for m in messages)
    prompt = "\n".join(_content_text(m.get("content")) for m in messages if m.get("role") != "assistant")
    passages = tuple((int(match[1]), match[2]) for match in _PASSAGE.finditer(prompt))
    response_format = body.get("response_format") or {}
    format_type = response_format.get("type")
    schema = (response_format.get("json_schema") or {}).get("schema") if format_type == "json_schema" else None
    tool, forced = None, False
    if format_type not in ("json_schema", "json_object"):
        tool, schema, forced = _tool_of(body, messages)
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    return ChatRequest(
        model=str(body.get("model", "")),
        text=text,
        instructions=_PASSAGE.sub("", prompt) if passages else prompt,
        passages=passages,
        schema=schema if isinstance(schema, dict) else None,
        json_mode=format_type in ("json_schema", "json_object"),
        tool=tool,
        tool_forced=forced,
        max_tokens=limit if isinstance(limit, int) else None,
    )


def _tool_of(body: dict[str, Any], messages: list[dict[str, Any]]) -> tuple[str | None, Any, bool]:
    tools = [t["function"] for t in body.get("tools") or [] if isinstance(t.get("function"), dict)]
    choice = body.get("tool_choice", "auto")
    answered = bool(messages) and messages[-1].get("role") == "tool"
    if not tools or choice == "none" or (choice == "auto" and answered):
        return None, None, False
    name = choice.get("function", {}).get("name") if isinstance(choice, dict) else None
    function = next((f for f in tools if f.get("name") == name), tools[0])
    return str(function.get("name", "")), function.get("parameters") or {}, name is not None


def _content_text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def answer(request: ChatRequest) -> Any:
    """Answer a request: with a JSON value where it asks for JSON, with a string where it asks for prose."""
    schema = request.schema
    if schema is None:
        if request.json_mode:
            return _clauses_answer(request, {}, {}) if request.passages else {}
        return f"Scripted answer to a prompt of {len(request.text)} characters."
    top = _resolve(schema, schema)
    if "clauses" in (top.get("properties") or {}):
        return _clauses_answer(request, top, schema)
    if request.passages and "sentences" in (top.get("properties") or {}):
        return _fit_schema(_summary_answer(request.passages), top, schema)
    return minimal(schema)


def _clauses_answer(request: ChatRequest, top: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = top.get("properties") or {}
    clause_schema = _resolve(_resolve(fields.get("clauses", {}), root).get("items", {}), root)
    allowed = _resolve((clause_schema.get("properties") or {}).get("clause_type", {}), root).get("enum")
    listed_types = _KEYWORD_PARTS.keys() & set(_WORD.findall(request.instructions))
    clause_types = tuple(
        k for k in _KEYWORD_PARTS if (not listed_types or k in listed_types) and (allowed is None or k in allowed)
    )
    clauses = [
        _fit_schema(
            {"clause_type": clause_type, "passage_id": number, "quote": quote, "confidence": confidence},
            clause_schema,
            root,
        )
        for number, text in request.passages
        for clause_type, quote, confidence in clauses_of(text, clause_types)
    ]
    supplier = next(filter(None, (supplier_of(text) for _, text in request.passages)), None)
    return _fit_schema({"clauses": clauses, "supplier": supplier}, top, root)


def _summary_answer(passages: Sequence[tuple[int, str]]) -> dict[str, list[dict[str, Any]]]:
    """Summarise a ruling: for each part one verbatim sentence of a passage.

    Takes passages at even distances, the last one among them, and of each the first sentence of a fitting length.
    """
    quotable = [
        (number, sentence)
        for number, text in passages
        for sentence in [next((part for part in sentences(text) if SHORTEST <= len(part) <= LONGEST), "")]
        if sentence
    ]
    step = max(len(quotable) - 1, 1) / (len(SUMMARY_PARTS) - 1)
    chosen = {
        part: quotable[min(round(place * step), len(quotable) - 1)]
        for place, part in enumerate(SUMMARY_PARTS)
        if quotable
    }
    return {
        "sentences": [
            {"part": part, "text": " ".join(sentence.split()), "passages": [number]}
            for part, (number, sentence) in chosen.items()
        ]
    }


def _fit_schema(answered: dict[str, Any], schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Leave out fields that the schema doesn't name and fill in the others that it requires."""
    fields = schema.get("properties")
    if not fields:
        return answered
    known_fields = {name: part for name, part in answered.items() if name in fields}
    missing = [name for name in schema.get("required", ()) if name not in known_fields]
    return known_fields | {name: minimal(fields.get(name, {}), root) for name in missing}


@lru_cache(maxsize=1024)
def clauses_of(text: str, clause_types: tuple[str, ...]) -> tuple[tuple[str, str, float], ...]:
    clauses = []
    for sentence in sentences(text):
        plain = " ".join(sentence.lower().replace("’", "'").split())
        if plain.count(" ") < 3:
            continue
        for clause_type in clause_types:
            rank = next(
                (
                    i
                    for i, keywords in enumerate(_KEYWORD_PARTS[clause_type])
                    if all(keyword in plain for keyword in keywords)
                ),
                None,
            )
            if rank is not None:
                clauses.append((clause_type, sentence, 0.95 if rank == 0 else 0.85))
                break
    return tuple(clauses)


@lru_cache(maxsize=1024)
def sentences(text: str) -> tuple[str, ...]:
    """Cut a text into sentences, each a verbatim part of it; a wrapped line is no end of a sentence."""
    cut_sentences: list[str] = []
    start = 0
    for gap in _BREAK.finditer(text):
        sentence = text[start : gap.start()].strip()
        if not sentence:
            continue
        if gap[0].count("\n") < 2:  # a blank line always ends a sentence
            wrapped = gap["end"] is None and not _HEADING.fullmatch(sentence)
            if wrapped or (gap["end"] and _ABBREVIATION.search(sentence)):
                continue
        cut_sentences.append(sentence if gap[0][:1].isspace() else sentence + gap[0][0])
        start = gap.end()
    last = text[start:].strip()
    return (*cut_sentences, last) if last else tuple(cut_sentences)


@lru_cache(maxsize=1024)
def supplier_of(text: str) -> dict[str, str] | None:
    for sentence in sentences(text):
        if role_match := _ROLE_IN_BRACKETS.search(sentence):
            before = sentence[: role_match.start()].rpartition(")")[2]
            name = re.sub(r"^(?:\s|,|and\b|et\b)+", "", _OPENING.sub("", before)).split(",")[0].strip()
            if name:
                return {"name": name, "quote": sentence}
    if label_match := _ROLE_LABEL.search(text):
        return {"name": label_match["name"], "quote": label_match[0].strip()}
    return None


def _resolve(schema: Any, root: dict[str, Any]) -> dict[str, Any]:
    """Resolve a schema: follow $ref and single allOf; of an anyOf, take the first branch that isn't null."""
    for _ in range(20):
        if not isinstance(schema, dict):
            return {}
        if isinstance(ref := schema.get("$ref"), str):
            target: Any = root
            for part in ref.removeprefix("#").strip("/").split("/"):
                target = target.get(part, {}) if part and isinstance(target, dict) else target
            schema = target
        elif branches := schema.get("allOf") or schema.get("anyOf") or schema.get("oneOf"):
            schema = next((b for b in branches if isinstance(b, dict) and b.get("type") != "null"), {})
        else:
            return schema
    return {}


def minimal(schema: Any, root: dict[str, Any] | None = None, depth: int = 0) -> Any:
    """The smallest value that satisfies a JSON schema of the kind structured output allows."""
    root = root if root is not None else schema
    if not isinstance(schema, dict) or depth > 12:
        return None
    kinds = schema.get("type")
    branches = schema.get("anyOf") or schema.get("oneOf") or ()
    if "null" in (kinds if isinstance(kinds, list) else [kinds]) or {"type": "null"} in branches:
        return None
    for exact in ("const", "default"):
        if exact in schema:
            return schema[exact]
    plain = _resolve(schema, root)
    if plain is not schema:
        return minimal(plain, root, depth + 1)
    if schema.get("enum"):
        return schema["enum"][0]
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if kind == "object" or "properties" in schema:
        fields = schema.get("properties") or {}
        return {name: minimal(fields.get(name, {}), root, depth + 1) for name in schema.get("required", ())}
    if kind == "array":
        return [minimal(schema.get("items", {}), root, depth + 1) for _ in range(schema.get("minItems", 0))]
    if kind in ("integer", "number"):
        low, high = schema.get("minimum"), schema.get("maximum")
        low = schema["exclusiveMinimum"] + 1 if low is None and "exclusiveMinimum" in schema else low
        return low if low is not None and low > 0 else min(0, high) if high is not None else 0
    return {"boolean": False, "null": None}.get(kind or "", "x" * schema.get("minLength", 0))


def to_text(value: Any, escaped: bool = False) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=escaped)


def tokens(text: str) -> int:
    return -(-len(text) // 4)

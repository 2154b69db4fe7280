"""The trained classifier: a file of plain arrays, the same answer every time, nothing said of what it does not know."""

from __future__ import annotations

import io
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import ROOT
from sample_agreement import AGREEMENT, TYPES
from shared_data import needs_shared

from graph.training.corpus import hits, plain_text, read_contracts
from nodes.domain.answers.passages import choose, likely_candidates
from nodes.domain.clauses import classifier, engine_files, rules
from nodes.domain.clauses.classifier import (
    FORMAT,
    clause_probabilities,
    load,
    load_model,
    load_notions,
    quantized,
    save,
    word_weights,
)
from nodes.domain.clauses.local_engine import (
    LONGEST,
    MAX_QUOTES,
    TRUSTED_RULE,
    classify,
    find_clauses,
    find_clauses_with,
    sentence_probabilities,
)
from nodes.domain.clauses.sentence_vectors import sentence_vectors, width
from nodes.domain.shared.errors import MissingPart
from nodes.domain.text.sentences import sentences

CONTRACTS = ROOT.parent / "shared" / "data" / "contracts"
SHIPPED = ROOT / "nodes" / "models" / "clauses.npz"


def test_the_model_is_small_and_holds_nothing_but_numbers_and_names_of_types() -> None:
    assert SHIPPED.stat().st_size < 5_000_000
    model = load(SHIPPED.read_bytes())
    assert set(map(str, model.types)) <= set(TYPES)
    assert model.weights.shape == (width(len(load_notions())), len(model.types))
    with zipfile.ZipFile(SHIPPED) as archive:
        kinds = {np.load(io.BytesIO(archive.read(name)), allow_pickle=False).dtype.kind for name in archive.namelist()}
    assert kinds <= {"i", "f", "U"}


class Bomb:
    """Unpickled, it would end the process."""

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return (sys.exit, (3,))


def test_a_model_file_cannot_bring_code_with_it() -> None:
    out = io.BytesIO()
    np.savez(out, format=np.array(Bomb(), dtype=object))
    with pytest.raises(MissingPart):
        load(out.getvalue())


@pytest.mark.parametrize("data", [b"", b"no archive", SHIPPED.read_bytes()[:100_000]])
def test_a_damaged_model_is_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(MissingPart, match=r"clauses\.npz cannot be read"):
        load(data)


def test_a_model_of_another_format_or_with_parts_that_do_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model()
    monkeypatch.setattr(classifier, "FORMAT", 99)
    with pytest.raises(MissingPart, match=f"format {FORMAT}, not 99"):
        load(SHIPPED.read_bytes())
    with pytest.raises(ValueError, match="do not fit"):
        classifier.Model(model.types[:2], *(getattr(model, name) for name in model.__slots__[1:]))


def test_saving_a_model_twice_gives_the_same_bytes_and_reading_it_the_same_model() -> None:
    model = load_model()
    assert save(model) == save(load(save(model)))


def test_steps_keep_a_weight_to_within_a_hundredth_of_the_largest() -> None:
    weights = np.random.default_rng(0).normal(size=(500, 3))
    stored, largest = quantized(weights)
    values = classifier._VALUES[stored.astype(int) + 128] * largest
    assert np.abs(values - weights).max() < 0.01 * np.abs(weights).max()


def test_the_shipped_model_finds_plain_clauses_word_for_word_and_calls_nothing_else() -> None:
    found = find_clauses(plain_text(AGREEMENT), TYPES).candidates
    by_model = [candidate for candidate in found if candidate.source.startswith("local:model")]
    assert {candidate.clause_type for candidate in by_model} == {
        "cap_on_liability",
        "insurance",
        "anti_assignment",
        "governing_law",
    }
    assert all(AGREEMENT[c.start :].startswith(c.quote) for c in found if c.start is not None)
    assert all(0 < candidate.confidence <= 1 for candidate in found)


def test_only_the_wanted_types_are_looked_for() -> None:
    assert {c.clause_type for c in find_clauses(plain_text(AGREEMENT), ["insurance"]).candidates} == {"insurance"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n \f \n",
        "The weather was fine, and everybody went to the beach. They ate ice cream and came home late.",
        "Der Lieferant haftet nicht für mittelbare Schäden. Es gilt das Recht der Bundesrepublik Deutschland.",
        "甲方应当在收到发票后三十日内付款。本合同适用中华人民共和国法律。",
        "1.1 " * 2_000,
    ],
)
def test_it_abstains_on_what_is_no_english_contract(text: str) -> None:
    for language in ("en", ""):
        assert not classify(load_model(), plain_text(text, language), TYPES)[0]


def test_french_is_left_to_the_rules() -> None:
    text = "Le présent contrat est soumis au droit français. Le Client peut résilier à tout moment, sans motif."
    found = find_clauses(plain_text(text, "fr"), TYPES).candidates
    assert found and all(candidate.source.startswith("local:rules") for candidate in found)


def test_a_rule_that_is_sure_is_believed_where_the_model_sees_nothing() -> None:
    text = "The Supplier shall pay a fixed sum as a penalty for every day of delay in the delivery of the goods."
    silent = replace(load_model(), present=np.full_like(load_model().present, 2))
    (found,) = find_clauses_with(silent, plain_text(text), ["liquidated_damages"]).candidates
    assert found.source.startswith("local:rules") and found.confidence >= TRUSTED_RULE


OPPOSITES = """SERVICES AGREEMENT

1. Term
1.1 This Agreement ends on 30 June 2024. It does not renew automatically and shall not be extended.

2. Termination
2.1 The Supplier may not terminate this Agreement for convenience.
2.2 Neither party may terminate this Agreement without cause.

3. Indemnity
3.1 The Customer shall not indemnify, defend or hold harmless the Supplier.

4. Audit
4.1 The Supplier may not audit the Customer's books and records.

5. Insurance
5.1 The Customer is not required to take out any insurance.

6. Penalties
6.1 No liquidated damages are payable by the Customer. The Customer shall not pay any penalty for late payment.

7. Change of control
7.1 A change of control of the Customer does not entitle the Supplier to terminate this Agreement.

8. Exclusivity
8.1 The Customer shall not be obliged to purchase exclusively from the Supplier. This Agreement is non-exclusive.
"""


def test_what_the_model_takes_for_a_clause_and_says_the_opposite_is_none() -> None:
    text = plain_text(OPPOSITES)
    split = sentences(text)
    model = load_model()
    chances = sentence_probabilities(model, text, split)
    taken_for_one = {str(name) for index, name in enumerate(model.types) if chances[:, index].max() > 0.5}
    assert {"termination_for_convenience", "audit_rights", "insurance", "liquidated_damages"} <= taken_for_one
    assert find_clauses(text, TYPES).candidates == []


def test_beside_its_opposite_a_clause_is_found_without_it() -> None:
    grants = "2.3 The Customer may terminate this Agreement without cause upon thirty days' written notice."
    text = OPPOSITES.replace("\n\n3. Indemnity", f"\n{grants}\n\n3. Indemnity")
    (found,) = find_clauses(plain_text(text), TYPES).candidates
    assert (found.clause_type, found.quote) == ("termination_for_convenience", grants)


def test_what_is_likely_is_read_when_the_budget_allows_and_the_surest_first() -> None:
    filler = "\n\n".join(
        f"{number}. Nothing of note is said in paragraph {number}, whatever it is." for number in range(200)
    )
    text = plain_text(f"{filler}\n\n{AGREEMENT}\n\n{filler}")
    likely = find_clauses(text, TYPES).passages
    assert [passage.confidence for passage in likely] == sorted(
        (passage.confidence for passage in likely), reverse=True
    )
    assert sum(len(passage.quote) for passage in likely) <= 0.4 * len(text.text)
    rows = [[passage.clause_type, passage.start, len(passage.quote), passage.confidence] for passage in likely]
    assert [one.quote for one in likely_candidates(text, rows)] == [passage.quote for passage in likely]
    passages = choose(text, (), 4_000, likely)
    shown = " ".join(text.text[passage.start : passage.end] for passage in passages)
    assert sum(passage.chars for passage in passages) <= 4_000
    assert all(likely[rank].quote in shown for rank in range(4))


def test_a_document_weighed_in_parts_weighs_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = [f"sentence {number} shall be governed by the laws of ruritania." for number in range(10)]
    headings, blocks = ["law"] * 10, list(range(10))
    whole = clause_probabilities(load_model(), plain, headings, blocks)
    parts = [
        sentence_vectors(plain[first : first + 5], headings[first : first + 5], load_notions(), first, 10)
        for first in (0, 5)
    ]
    weighed = np.concatenate([word_weights(load_model(), part) for part in parts])
    alone = word_weights(load_model(), sentence_vectors(plain, headings, load_notions()))
    # Only the two sentences at the seam lose a neighbour.
    assert np.allclose(weighed[[0, 1, 2, 3, 6, 7, 8, 9]], alone[[0, 1, 2, 3, 6, 7, 8, 9]], atol=1e-5)
    monkeypatch.setattr(classifier, "SENTENCES_AT_ONCE", 5)
    assert clause_probabilities(load_model(), plain, headings, blocks).shape == whole.shape


@given(st.text(alphabet="aA bB.;:\n\f1(é)« §$%shall not liable assign ", max_size=400))
@settings(max_examples=40)
def test_every_candidate_and_passage_is_a_slice_of_the_text(noise: str) -> None:
    text = f"{noise}\n\n{AGREEMENT}\n\n{noise}"
    seen = find_clauses(plain_text(text), TYPES)
    for candidate in (*seen.candidates, *seen.passages):
        assert candidate.start is not None
        assert text[candidate.start : candidate.start + len(candidate.quote)] == candidate.quote


def test_a_flood_of_the_same_clause_is_bounded_in_number_and_length() -> None:
    found = classify(load_model(), plain_text(AGREEMENT * 60), TYPES)[0]
    per_type = [sum(c.clause_type == name for c in found) for name in TYPES]
    assert 0 < max(per_type) <= MAX_QUOTES
    assert all(len(candidate.quote) <= LONGEST for candidate in found)


def test_hostile_text_comes_to_an_end_with_a_bounded_number_of_clauses() -> None:
    words = " liability not shall terminate insurance exclusive assign consent "
    for text in (words * 4_000, "a" * 400_000, "1.1 " * 100_000, "\n" * 400_000, "(" * 200_000):
        per_type = [candidate.clause_type for candidate in find_clauses(plain_text(text), TYPES).candidates]
        assert all(per_type.count(name) <= MAX_QUOTES for name in set(per_type)), text[:40]


def test_the_hash_that_answers_are_kept_under_changes_with_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    before = engine_files.local_sha256()
    assert len(bytes.fromhex(before)) == 32 and before != rules.rules_sha256()
    shipped = engine_files.model_bytes
    for cached in (engine_files.local_sha256, engine_files.model_sha256):
        cached.cache_clear()
    monkeypatch.setattr(engine_files, "model_bytes", lambda name: shipped(name) + b" ")
    try:
        assert engine_files.local_sha256() != before
    finally:
        for cached in (engine_files.local_sha256, engine_files.model_sha256):
            cached.cache_clear()


GOLDEN = ("cuad_007", "cuad_019", "cuad_027", "cuad_028", "cuad_034", "cuad_051", "cuad_070", "cuad_074")


@needs_shared(CONTRACTS)
def test_on_real_contracts_that_it_never_saw_it_is_as_good_as_it_was() -> None:
    wanted = reached = given = right = 0
    contracts = [contract for contract in read_contracts(CONTRACTS, "dev") if contract.name in GOLDEN]
    model = load_model()
    assert len(contracts) == len(GOLDEN)
    for contract in contracts:
        found = classify(model, contract.text, tuple(map(str, model.types)))[0]
        for name in map(str, model.types):
            gold = contract.gold.get(name, ())
            spans = [(c.start or 0, (c.start or 0) + len(c.quote)) for c in found if c.clause_type == name]
            wanted += len(gold)
            given += len(spans)
            reached += sum(any(hits(span, one) for one in spans) for span in gold)
            right += sum(any(hits(span, one) for span in gold) for one in spans)
    assert reached / wanted > 0.65, (reached, wanted)
    assert right / given > 0.7, (right, given)

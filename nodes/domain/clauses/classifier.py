"""The trained classifier: probabilities of clause types for each sentence, from a file of plain arrays."""

from __future__ import annotations

import io
import re
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from nodes.domain.clauses.context_features import FEATURE_COUNT, context_features, plausible_sentences
from nodes.domain.clauses.engine_files import MODEL, NOTIONS, model_bytes
from nodes.domain.clauses.rules import Rule, load_rules, sign_confidences
from nodes.domain.clauses.sentence_vectors import SparseVectors, sentence_vectors, width
from nodes.domain.clauses.trees import Trees, tree_probabilities
from nodes.domain.shared.errors import MissingPart

FORMAT = 2
LANGUAGE = "en"
"""Language of the contracts that it was trained on."""
SENTENCES_AT_ONCE = 4_000
"""Sentences of one pass, so that the largest document fits into memory."""
IMPLAUSIBLE_FACTOR = 1e-3
"""Factor on the first stage's probability of a sentence that the second stage does not score."""

Array = npt.NDArray[np.float32]
_STEPS = np.arange(-127, 128, dtype=np.float32) / 127
_VALUES = np.concatenate([[0.0], np.sign(_STEPS) * _STEPS**2]).astype(np.float32)
"""Value of each quantized weight, as a share of the largest; finer near zero."""


@dataclass(frozen=True, slots=True)
class Model:
    """Two stages: weights of a sentence's words, then trees over its context features."""

    types: npt.NDArray[np.str_]
    weights: npt.NDArray[np.int8]
    """(columns of features, types), in steps."""
    largest: Array
    """Weight of step 127 of each type."""
    bias: Array
    trees: Trees
    """The second stage, one for all types."""
    present: Array
    """By type: least probability of the best sentence of a document for the clause to be present."""
    seed: Array
    """By type: least probability of a sentence that begins a quote, once the clause is present."""

    def __post_init__(self) -> None:
        count = len(self.types)
        if self.weights.ndim != 2 or self.weights.shape[1] != count or self.weights.dtype != np.int8:
            raise ValueError("its weights do not fit its clause types")
        for name in ("largest", "bias", "present", "seed"):
            array = getattr(self, name)
            if array.dtype != np.float32 or array.shape != (count,):
                raise ValueError(f"its {name} do not fit its clause types")
        if self.trees.column.max(initial=0) >= FEATURE_COUNT:
            raise ValueError("its trees ask for facts that are not there")


_MODEL_ARRAYS = tuple(field.name for field in fields(Model) if field.name != "trees")
_TREE_PREFIX = "tree_"
"""Prefix of the arrays of trees in the file."""


def quantized(weights: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int8], Array]:
    """Quantize weights (columns, types) to steps, with the largest weight of each type."""
    largest = np.maximum(np.abs(weights).max(axis=0), 1e-9)
    stored = np.sign(weights) * np.rint(127 * np.sqrt(np.abs(weights) / largest))
    return stored.astype(np.int8), largest.astype(np.float32)


def save(model: Model) -> bytes:
    """Write the model as the bytes of a file; equal models give equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        arrays = {"format": np.array(FORMAT), **{name: getattr(model, name) for name in _MODEL_ARRAYS}}
        arrays |= {_TREE_PREFIX + field.name: getattr(model.trees, field.name) for field in fields(Trees)}
        for name, array in arrays.items():
            part = io.BytesIO()
            np.save(part, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, part.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=9)
    return out.getvalue()


def load(data: bytes) -> Model:
    """Read a model.

    Raises MissingPart when the bytes are no model of this version; nothing in them is ever run.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            if int(arrays["format"]) != FORMAT:
                raise ValueError(f"it has format {int(arrays['format'])}, not {FORMAT}")
            trees = Trees(**{field.name: arrays[_TREE_PREFIX + field.name] for field in fields(Trees)})
            return Model(trees=trees, **{name: arrays[name] for name in _MODEL_ARRAYS})
    except (ValueError, KeyError, OSError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise MissingPart(f"The clause model {MODEL} cannot be read: {error}.") from error


@lru_cache(maxsize=1)
def load_model() -> Model:
    """Load the model that ships with this program. Raises MissingPart."""
    model = load(model_bytes(MODEL))
    if model.weights.shape[0] != width(len(load_notions())):
        raise MissingPart(f"The clause model {MODEL} was not trained with the notions of {NOTIONS}: train it anew.")
    return model


@lru_cache(maxsize=1)
def load_notions() -> Mapping[str, re.Pattern[str]]:
    """Load the patterns of legal notions by name. Raises MissingPart."""
    try:
        table = tomllib.loads(model_bytes(NOTIONS).decode())["notions"]
        return {name: re.compile(pattern) for name, pattern in table.items()}
    except (tomllib.TOMLDecodeError, KeyError, re.error) as error:
        raise MissingPart(f"The notions of {NOTIONS} cannot be read: {error}.") from error


def clause_probabilities(model: Model, plain: Sequence[str], headings: Sequence[str], blocks: Sequence[int]) -> Array:
    """Probabilities (sentences, types) that a sentence of this document states a clause of the type.

    Sentences and headings are simplified; sentences of one paragraph share their block.
    """
    notions = load_notions()
    parts = []
    for first in range(0, len(plain), SENTENCES_AT_ONCE):
        part = slice(first, first + SENTENCES_AT_ONCE)
        parts.append(word_weights(model, sentence_vectors(plain[part], headings[part], notions, first, len(plain))))
    weight = np.concatenate(parts) if parts else np.zeros((0, len(model.types)), np.float32)
    return refined_probabilities(model, weight, plain, headings, blocks)


def refined_probabilities(
    model: Model, weight: Array, plain: Sequence[str], headings: Sequence[str], blocks: Sequence[int]
) -> Array:
    """Second stage: probabilities from the word weights of all sentences of a document."""
    probabilities = IMPLAUSIBLE_FACTOR / (1 + np.exp(-np.clip(weight, -50, 50)))
    selected: list[tuple[int, npt.NDArray[np.bool_], Array]] = []
    for index, name in enumerate(map(str, model.types)):
        rules = rule_features(name, plain, headings)
        plausible = plausible_sentences(weight[:, index], rules)
        selected.append((index, plausible, context_features(index, weight, rules, plain, headings, blocks)[plausible]))
    scored = tree_probabilities(model.trees, np.concatenate([rows for _, _, rows in selected]))
    start = 0
    for index, plausible, rows in selected:
        probabilities[plausible, index] = scored[start : start + len(rows)]
        start += len(rows)
    return np.asarray(probabilities, dtype=np.float32)


def word_weights(model: Model, vectors: SparseVectors) -> Array:
    """First stage: weights (sentences, types) of the words of each sentence."""
    if not vectors.count:
        return np.zeros((0, len(model.types)), np.float32)
    weighed = np.zeros((vectors.count, len(model.types)), np.float32)
    for index in range(len(model.types)):
        column = model.weights[:, index]
        weight = _VALUES[column[vectors.columns].astype(np.int64) + 128] * vectors.values
        weighed[:, index] = np.bincount(vectors.rows, weight, minlength=vectors.count)
    return weighed * model.largest + model.bias


def rule_features(clause_type: str, plain: Sequence[str], headings: Sequence[str]) -> Array:
    """Features (sentences, 4) from the rule of a type: strong sign, weak sign, exclusion, a heading of this type."""
    rule = _rules().get(clause_type)
    if rule is None or not plain:
        return np.zeros((len(plain), 4), np.float32)
    titled = {heading: bool(rule.title and rule.title.search(heading)) for heading in set(headings)}
    rows = [sign_confidences(rule, text, titled[heading]) for text, heading in zip(plain, headings, strict=True)]
    return np.array(rows, dtype=np.float32)


@lru_cache(maxsize=1)
def _rules() -> dict[str, Rule]:
    return {rule.type: rule for rule in load_rules()[LANGUAGE].rule}

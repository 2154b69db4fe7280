"""How sure the trained model is of each sentence, for each clause type; its file is read as plain arrays, never run."""

from __future__ import annotations

import hashlib
import io
import re
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from nodes.domain.errors import MissingPart
from nodes.domain.features import Features, features, width
from nodes.domain.rules import Rule, load_rules, signs

FORMAT = 1
MODEL, NOTIONS = "clauses.npz", "notions.toml"
LANGUAGE = "en"
"""Of the contracts that it was trained on."""
AT_ONCE = 4_000
"""Sentences weighed at a time, so that the largest document fits into memory."""
FAR = -8.0
"""What stands beside the first and the last sentence: no clause at all."""

Array = npt.NDArray[np.float32]
_STEPS = np.arange(-127, 128, dtype=np.float32) / 127
_VALUES = np.concatenate([[0.0], np.sign(_STEPS) * _STEPS**2]).astype(np.float32)
"""Value of each stored step, as a share of the largest; steps are finer near zero."""


@dataclass(frozen=True, slots=True)
class Model:
    """Two stages: weights of a sentence's words, then of what is known of it, its neighbours and its document."""

    types: npt.NDArray[np.str_]
    weights: npt.NDArray[np.int8]
    """(columns of features, types), in steps."""
    largest: Array
    """Weight of step 127, for each type."""
    bias: Array
    second: Array
    """(types, facts of a sentence + 1): weights of the second stage, the last one alone."""
    present: Array
    """For each type: what the surest sentence of a document must reach for the clause to be there."""
    seed: Array
    """For each type: what a sentence must reach to begin a quote, once the clause is there."""

    def __post_init__(self) -> None:
        count = len(self.types)
        shapes = {"largest": 1, "bias": 1, "present": 1, "seed": 1, "second": 2}
        if self.weights.ndim != 2 or self.weights.shape[1] != count or self.weights.dtype != np.int8:
            raise ValueError("its weights do not fit its clause types")
        for name, dimensions in shapes.items():
            array = getattr(self, name)
            if array.dtype != np.float32 or array.ndim != dimensions or len(array) != count:
                raise ValueError(f"its {name} do not fit its clause types")


def steps(weights: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int8], Array]:
    """Weights (columns, types) as steps, and the largest of each type."""
    largest = np.maximum(np.abs(weights).max(axis=0), 1e-9)
    stored = np.sign(weights) * np.rint(127 * np.sqrt(np.abs(weights) / largest))
    return stored.astype(np.int8), largest.astype(np.float32)


def save(model: Model) -> bytes:
    """The model as a file; the same model gives the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        arrays = {"format": np.array(FORMAT), **{field.name: getattr(model, field.name) for field in fields(Model)}}
        for name, array in arrays.items():
            part = io.BytesIO()
            np.save(part, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), part.getvalue(), compresslevel=9)
    return out.getvalue()


def load(data: bytes) -> Model:
    """Read a model.

    Raises MissingPart when the bytes are no model of this version; nothing in them is ever run.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            if int(arrays["format"]) != FORMAT:
                raise ValueError(f"it has format {int(arrays['format'])}, not {FORMAT}")
            return Model(**{field.name: arrays[field.name] for field in fields(Model)})
    except (ValueError, KeyError, OSError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise MissingPart(f"The clause model {MODEL} cannot be read: {error}.") from error


@lru_cache(maxsize=1)
def load_model() -> Model:
    """The model that ships with this program. Raises MissingPart."""
    model = load(_bytes(MODEL))
    if model.weights.shape[0] != width(len(load_notions())):
        raise MissingPart(f"The clause model {MODEL} was not trained with the notions of {NOTIONS}: train it anew.")
    return model


@lru_cache(maxsize=1)
def load_notions() -> Mapping[str, re.Pattern[str]]:
    """Notions by name. Raises MissingPart."""
    try:
        table = tomllib.loads(_bytes(NOTIONS).decode())["notions"]
        return {name: re.compile(pattern) for name, pattern in table.items()}
    except (tomllib.TOMLDecodeError, KeyError, re.error) as error:
        raise MissingPart(f"The notions of {NOTIONS} cannot be read: {error}.") from error


@lru_cache(maxsize=1)
def model_sha256() -> str:
    """Of the model, its notions and the code that applies them."""
    digest = hashlib.sha256(_bytes(MODEL) + _bytes(NOTIONS))
    for module in ("features", "classifier", "local_engine"):
        digest.update(resources.files("nodes.domain").joinpath(f"{module}.py").read_bytes())
    return digest.hexdigest()


def _bytes(name: str) -> bytes:
    try:
        return resources.files("nodes.models").joinpath(name).read_bytes()
    except OSError as error:
        raise MissingPart(f"{name} of the clause model is not installed: {error}.") from error


def sure(model: Model, plain: Sequence[str], headings: Sequence[str], blocks: Sequence[int]) -> Array:
    """Chances (sentences, types) that a sentence of this document states a clause of the type.

    Sentences and headings are simplified; sentences of one paragraph share their block.
    """
    notions = load_notions()
    parts = []
    for first in range(0, len(plain), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        parts.append(weigh(model, features(plain[part], headings[part], notions, first, len(plain))))
    weight = np.concatenate(parts) if parts else np.zeros((0, len(model.types)), np.float32)
    found = np.zeros_like(weight)
    for index, name in enumerate(model.types):
        known = facts(weight[:, index], rule_facts(str(name), plain, headings), plain, blocks)
        found[:, index] = 1 / (1 + np.exp(-(known @ model.second[index, :-1] + model.second[index, -1])))
    return found


def weigh(model: Model, seen: Features) -> Array:
    """The first stage: what the words of each sentence weigh for each type."""
    if not seen.count:
        return np.zeros((0, len(model.types)), np.float32)
    weighed = np.zeros((seen.count, len(model.types)), np.float32)
    for index in range(len(model.types)):
        column = model.weights[:, index]
        weight = _VALUES[column[seen.columns].astype(np.int64) + 128] * seen.values
        weighed[:, index] = np.bincount(seen.rows, weight, minlength=seen.count)
    return weighed * model.largest + model.bias


def rule_facts(clause_type: str, plain: Sequence[str], headings: Sequence[str]) -> Array:
    """(sentences, 4): strong and weak sign, something against it, a heading of this type."""
    rule = _rules().get(clause_type)
    if rule is None or not plain:
        return np.zeros((len(plain), 4), np.float32)
    titled = {heading: bool(rule.title and rule.title.search(heading)) for heading in set(headings)}
    rows = [signs(rule, text, titled[heading]) for text, heading in zip(plain, headings, strict=True)]
    return np.array(rows, dtype=np.float32)


@lru_cache(maxsize=1)
def _rules() -> dict[str, Rule]:
    return {rule.type: rule for rule in load_rules()[LANGUAGE].rule}


def facts(weight: Array, rules: Array, plain: Sequence[str], blocks: Sequence[int]) -> Array:
    """What the second stage knows of each sentence, for one type."""
    count = len(weight)
    if not count:
        return np.zeros((0, 24), np.float32)
    sizes = np.array([len(text) for text in plain], dtype=np.float64)
    _, block = np.unique(np.asarray(blocks), return_inverse=True)
    around = np.full(block.max() + 1, FAR)
    np.maximum.at(around, block, weight)
    strong, weak = rules[:, 0] * (1 - rules[:, 2]), rules[:, 1] * (1 - rules[:, 2])
    before, behind, top = _shifted(weight, 1), _shifted(weight, -1), weight.max()
    columns = (
        weight,
        np.maximum(weight, 0),
        np.maximum(weight + 2, 0),
        before,
        behind,
        np.maximum(before + 1, 0),
        np.maximum(behind + 1, 0),
        _shifted(weight, 2),
        _shifted(weight, -2),
        around[block],
        np.full(count, top),
        weight >= top,
        strong,
        weak,
        rules[:, 2],
        rules[:, 3],
        weight * rules[:, 3],
        strong * weight,
        strong * (weight > -2),
        _shifted(strong, 1, 0.0),
        _shifted(strong, -1, 0.0),
        np.log(sizes + 1),
        np.arange(count) / count,
        np.full(count, np.log(count)),
    )
    return np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=1)


def _shifted(values: Array, by: int, beyond: float = FAR) -> Array:
    out = np.full_like(values, beyond)
    if by > 0:
        out[by:] = values[:-by]
    else:
        out[:by] = values[-by:]
    return out

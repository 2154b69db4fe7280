"""The files that the local engine is made of, and their hash: to know it, none of them need be loaded."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib import resources

from nodes.domain.errors import MissingPart

LANGUAGES = ("en", "fr")
MODEL, NOTIONS = "clauses.npz", "notions.toml"
RULES_CODE = ("rules", "sentences", "folding", "entities", "hostile")
MODEL_CODE = ("features", "bearings", "trees", "classifier", "local_engine")


@lru_cache(maxsize=1)
def local_sha256() -> str:
    """Of rules, model and code: another hash, perhaps other answers. Raises MissingPart."""
    return hashlib.sha256(f"{rules_sha256()} {model_sha256()}".encode()).hexdigest()


@lru_cache(maxsize=1)
def rules_sha256() -> str:
    """Of all rule files and of the code that applies them: another hash, perhaps other answers."""
    digest = hashlib.sha256()
    for file in (*LANGUAGES, "hostile"):
        digest.update(rule_bytes(file))
    return _with_code(digest.digest(), RULES_CODE)


@lru_cache(maxsize=1)
def model_sha256() -> str:
    """Of the model, its notions and the code that applies them."""
    return _with_code(hashlib.sha256(model_bytes(MODEL) + model_bytes(NOTIONS)).digest(), MODEL_CODE)


def rule_bytes(name: str) -> bytes:
    """One file of rules, by language. Raises MissingPart."""
    try:
        return resources.files("nodes.playbooks.rules").joinpath(f"{name}.toml").read_bytes()
    except OSError as error:
        raise MissingPart(f"The clause rules {name}.toml are not installed: {error}.") from error


def model_bytes(name: str) -> bytes:
    """One file of the trained model. Raises MissingPart."""
    try:
        return resources.files("nodes.models").joinpath(name).read_bytes()
    except OSError as error:
        raise MissingPart(f"{name} of the clause model is not installed: {error}.") from error


def _with_code(begun: bytes, modules: tuple[str, ...]) -> str:
    digest = hashlib.sha256(begun)
    for module in modules:
        digest.update(resources.files("nodes.domain").joinpath(f"{module}.py").read_bytes())
    return digest.hexdigest()

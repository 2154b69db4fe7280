"""Files of the local engine and their hashes, which are known without loading rules or model."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib import resources

from nodes.domain.shared.errors import MissingPart

LANGUAGES = ("en", "fr")
MODEL, NOTIONS = "clauses.npz", "notions.toml"
RULES_CODE, MODEL_CODE = 1, 1
"""Versions of the code that applies the rules and the model: raised by hand when it gives other answers.

`test_engine_version.py` holds the answers of these versions.
"""

_EARLIER_HASHES = {
    "e4003be1c54f86d449ea39682ed66f122b41c8df7e204b31a2cf009d60f9dc90 1": (
        "ee737d3c41a176db9e1b7e2b59940eda2b21b5036567d3973efd7cee6b98a883"
    ),
    "e378d1328427046ff7476131cc8cc03862def2b5bc704eb8ec86d9fbcd800395 1": (
        "b14e3ddfdcdf73289182f5b4a5062c4d6e0b1b4514dd9bbf089ea778c29f53ef"
    ),
}
"""Hashes of programs that hashed the source text of their modules, by data and version 1 of the code: answers that
they stored are still reused."""


@lru_cache(maxsize=1)
def local_sha256() -> str:
    """Hash rules, model and code: another hash, perhaps other answers. Raises MissingPart."""
    return hashlib.sha256(f"{rules_sha256()} {model_sha256()}".encode()).hexdigest()


@lru_cache(maxsize=1)
def rules_sha256() -> str:
    """Hash all rule files and the version of the code that applies them."""
    digest = hashlib.sha256()
    for file in (*LANGUAGES, "hostile"):
        digest.update(rule_bytes(file))
    return _with_code(digest.digest(), RULES_CODE)


@lru_cache(maxsize=1)
def model_sha256() -> str:
    """Hash the model, its notions and the version of the code that applies them."""
    return _with_code(hashlib.sha256(model_bytes(MODEL) + model_bytes(NOTIONS)).digest(), MODEL_CODE)


def rule_bytes(name: str) -> bytes:
    """Read a file of rules. Raises MissingPart."""
    try:
        return resources.files("nodes.playbooks.rules").joinpath(f"{name}.toml").read_bytes()
    except OSError as error:
        raise MissingPart(f"The clause rules {name}.toml are not installed: {error}.") from error


def model_bytes(name: str) -> bytes:
    """Read a file of the trained model. Raises MissingPart."""
    try:
        return resources.files("nodes.models").joinpath(name).read_bytes()
    except OSError as error:
        raise MissingPart(f"{name} of the clause model is not installed: {error}.") from error


def _with_code(data: bytes, version: int) -> str:
    name = f"{data.hex()} {version}"
    return _EARLIER_HASHES.get(name) or hashlib.sha256(name.encode()).hexdigest()

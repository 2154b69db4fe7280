"""Tests that need the data shared beside the checkout: skipped where it is missing, and counted at the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from paths import DATA

MISSING = "shared data is missing"
"""How the reason of each such skip begins."""


def needs_shared(path: Path = DATA) -> pytest.MarkDecorator:
    """A mark that skips the test where this folder or file of the shared data is missing."""
    return pytest.mark.skipif(not path.exists(), reason=f"{MISSING}: {path.relative_to(DATA.parent.parent)}")

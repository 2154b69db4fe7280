"""Folders that tests read: the checkout, its samples and playbooks, and the data that is shared beside it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
SAMPLES = ROOT / "samples"
PLAYBOOKS = ROOT / "nodes" / "playbooks"

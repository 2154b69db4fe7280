"""A small data room in plain text: read in milliseconds, and with findings that a person has to decide on."""

from __future__ import annotations

from pathlib import Path

RISKY = (
    'This Agreement is made between {name} Ltd (the "Supplier") and Meridian Foods SA (the "Customer").',
    "1. Liability. The liability of the Customer under this Agreement shall be unlimited.",
    "2. Governing Law. This Agreement is governed by the laws of France.",
    "3. Termination. The Supplier may terminate this Agreement for convenience at any time without notice.",
    "4. Assignment. The Supplier may assign this Agreement without the consent of the Customer.",
)


def risky(folder: Path, count: int = 4) -> Path:
    """Contracts of `count` suppliers; of each, at least one finding waits for a person."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"contract_{number:03d}.txt").write_text("\n\n".join(RISKY).format(name=f"Firm {number}"))
    return folder

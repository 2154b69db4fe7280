"""Small PDF contracts, each with its own supplier and amount."""

from __future__ import annotations

from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

CLAUSES = (
    '1. This Agreement is made between {name} Ltd (the "Supplier") and Meridian Foods SA (the "Customer").',
    "2. Liability. The Supplier's aggregate liability under this Agreement shall not exceed EUR {amount}.",
    "3. Governing Law. This Agreement is governed by the laws of France.",
    "4. Termination. The Customer may terminate this Agreement for convenience on thirty days' written notice.",
    "5. Insurance. The Supplier shall maintain professional liability insurance of EUR 1,000,000.",
)


def contracts(folder: Path, count: int, *, prefix: str = "contract") -> Path:
    """A folder of small PDF contracts, each with its own supplier and amount."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        canvas = Canvas(str(folder / f"{prefix}_{number:04d}.pdf"), invariant=1)
        for line, clause in enumerate(CLAUSES):
            canvas.drawString(50, 780 - 30 * line, clause.format(name=f"Firm {number}", amount=f"{number + 1}0,000"))
        canvas.save()
    return folder

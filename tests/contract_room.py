"""Small contracts whose clauses a person must look at."""

from __future__ import annotations

from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

CLAUSES = (
    '1. This Agreement is made between Firm {number} Ltd (the "Supplier") and Meridian Foods SA (the "Customer").',
    "2. Term. This Agreement renews automatically for successive periods of thirty-six (36) months each, unless the",
    "Customer gives written notice of non-renewal one hundred and eighty (180) days before the end of the term.",
    "3. Damages. If the Customer breaches this Section, the Customer shall pay the Supplier, as liquidated damages",
    "and not as a penalty, an amount equal to three times the annual fees.",
    "4. Governing Law. This Agreement is governed by the laws of France.",
)


def room(folder: Path, count: int = 3) -> Path:
    """A folder of small contracts, each with two clauses that a person must look at."""
    folder.mkdir(parents=True)
    for number in range(count):
        canvas = Canvas(str(folder / f"contract {number}.pdf"), invariant=1)
        for line, clause in enumerate(CLAUSES):
            canvas.drawString(40, 780 - 30 * line, clause.format(number=number))
        canvas.save()
    return folder

"""A contract that states its parties, dates, terms, cap and law."""

from __future__ import annotations

from nodes.domain.text.documents import DocumentText, Page

ENGLISH = """MASTER SERVICES AGREEMENT
Reference: AC/2023-017

This Master Services Agreement is made on 1 March 2023 between Acme Hosting Ltd, a company incorporated in
England (the "Supplier"), and Meridian Foods SA, a société anonyme (the "Customer"). It replaces the letter of
intent dated 4 January 2022.

1. Term
1.1 This Agreement takes effect on 15 March 2023 and continues for an initial term of thirty-six (36) months.

1.2 At the end of the initial term this Agreement renews automatically for successive periods of twelve (12)
months, unless either party gives the other written notice of non-renewal at least ninety (90) days before the
end of the current period.

2. Liability
2.1 The total aggregate liability of the Supplier under this Agreement shall not exceed the greater of five
hundred thousand euros (EUR 500,000) and 150 % of the fees paid in the twelve (12) months before the claim.

3. Insurance
3.1 The Supplier shall maintain professional liability insurance of EUR 9,000,000 per claim.

4. Termination
4.1 The Customer may terminate this Agreement for convenience at any time on six (6) months' written notice.

5. Law
5.1 This Agreement is governed by the laws of England and Wales without regard to its conflict of laws rules.
The courts of London have exclusive jurisdiction.

The services are described in Annex 1, attached hereto, and in Annex 2, attached hereto.

Annex 1: Services
"""


def document(text: str, language: str = "en") -> DocumentText:
    return DocumentText("0" * 64, text, (Page(1, "read", "", 0, len(text), 595, 842),), language)

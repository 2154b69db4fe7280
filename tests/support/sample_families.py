"""Agreements with their amendments, and what is read of them."""

from __future__ import annotations

from nodes.domain.contracts.families.members import Member, member
from nodes.domain.contracts.reader import read
from nodes.domain.evidence.findings import Candidate, Finding
from nodes.domain.evidence.locate_findings import locate_candidates, locate_facts
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.text.documents import DocumentText, Page, SourceDocument

MASTER = """Master Services Agreement
Reference: AC/2023-017
This Master Services Agreement is made on 1 March 2023 between Acme Ltd (the "Supplier") and Meridian SA (the
"Customer").
1. Term
1.1 This Agreement continues for a term of three (3) years.
2. Liability
2.1 The liability of the Supplier shall not exceed EUR 500,000.
2.2 The Supplier shall be insured.
3. Payment
3.1 Invoices are payable within 45 days of receipt.
4. Exclusivity
4.1 The Customer shall buy hosting from the Supplier only.
"""


AMENDMENT = """Amendment No. 1
to the Master Services Agreement AC/2023-017 dated 1 March 2023
This Amendment No. 1 is made on 12 September 2024 between Acme Ltd (the "Supplier") and Meridian SA (the "Customer").
1. Clause 2.1 is deleted and replaced by the following:
"2.1 The liability of the Supplier shall not exceed EUR 150,000."
2. In clause 3.1 the words "45 days" are replaced by "30 days".
3. Clause 4.1 is deleted.
"""


FRENCH_MASTER = """Contrat-cadre d'approvisionnement
Entre la société Verdelis, SAS, ci-après « le Fournisseur », et la société Meridian, SA, ci-après « l'Acheteur ».
Article 1 – Durée
1.1 Le contrat est conclu pour une durée de trois ans.
Article 2 – Exclusivité
2.1 L'Acheteur s'engage à s'approvisionner exclusivement auprès du Fournisseur.
Fait à Nantes, le 12 juin 2023, en deux originaux.
"""


FRENCH_AMENDMENT = """Avenant n° 1
au contrat-cadre d'approvisionnement du 12 juin 2023
Entre la société Verdelis, SAS, ci-après « le Fournisseur », et la société Meridian, SA, ci-après « l'Acheteur ».
Article 1 – Exclusivité
L'article 2.1 est remplacé par les dispositions suivantes : « L'Acheteur achète librement. »
Fait à Lyon, le 3 avril 2025.
"""


def text_of(text: str, language: str = "en") -> DocumentText:
    return DocumentText("0" * 64, text, (Page(1, "read", "", 0, len(text), 595, 842),), language)


def member_of(name: str, text: str, *, ordinal: int = 0, supplier: str = "Acme Ltd", language: str = "en") -> Member:
    row = DocumentResult(
        ordinal, name, f"{ordinal:064x}", "done", supplier=supplier, language=language, pages=((1, "read", ""),)
    )
    document = text_of(text, language)
    return member(row, locate_facts(document, [fact.to_json() for fact in read(document, [])]))


def found_in(name: str, text: str, **quotes: str) -> list[Finding]:
    """Findings of a document by clause type and quote."""
    source = SourceDocument(name, f"{abs(hash(name)) % 10**9:064d}", 1, 1, f"/{name}")
    candidates = [Candidate(kind, quote, 0.9, "x", text.index(quote)) for kind, quote in quotes.items()]
    return locate_candidates(text_of(text), source, candidates, "Acme Ltd")


MASTER_CLAUSES = {
    "cap_on_liability": "2.1 The liability of the Supplier shall not exceed EUR 500,000.",
    "insurance": "2.2 The Supplier shall be insured.",
    "payment_terms": "3.1 Invoices are payable within 45 days of receipt.",
    "exclusivity": "4.1 The Customer shall buy hosting from the Supplier only.",
}


ATTACHED = MASTER + "\n5. Annexes\n5.1 The prices are in Annex 1, attached hereto. The tests are in Annex 2.\n"

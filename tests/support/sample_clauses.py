"""A plain clause of every type, and a document made of a text."""

from __future__ import annotations

from nodes.domain.text.documents import DocumentText, Page


def document(text: str, language: str = "en", furniture: tuple[tuple[int, int], ...] = ()) -> DocumentText:
    pages, at = [], 0
    for number, page in enumerate(text.split("\f"), 1):
        pages.append(Page(number, "read", "", at, at + len(page), 595, 842))
        at += len(page) + 1
    return DocumentText("0" * 64, text, tuple(pages), language, (), furniture)


ENGLISH = {
    "cap_on_liability": "In no event shall either party be liable for indirect or consequential damages.",
    "uncapped_liability": "The limitations of liability in this Section shall not apply to gross negligence.",
    "indemnification": "The Supplier shall indemnify and hold harmless the Customer from all claims of third parties.",
    "termination_for_convenience": "The Customer may terminate this Agreement without cause upon 30 days notice.",
    "governing_law": "This Agreement is governed by the laws of the State of New York.",
    "insurance": "The Supplier shall maintain general liability insurance of $1,000,000 for each occurrence.",
    "liquidated_damages": "The Supplier shall pay $500 a day as liquidated damages and not as a penalty.",
    "anti_assignment": "Neither party may assign this Agreement without the prior written consent of the other.",
    "audit_rights": "The Customer shall have the right to audit the books and records of the Supplier.",
    "change_of_control": "Upon a change of control of the Supplier the Customer may terminate this Agreement.",
    "warranty_duration": "The Supplier warrants the Products for a period of twelve (12) months after delivery.",
    "exclusivity": "The Customer hereby appoints the Supplier as its exclusive provider of cloud services.",
    "non_compete": "During the Term the Supplier shall not directly or indirectly compete with the Customer.",
    "renewal_term": "The Agreement shall automatically renew for successive one-year terms.",
    "confidentiality": "Each party shall keep the other's information confidential and shall not disclose it.",
    "personal_data": "The Supplier shall process personal data only on instruction and comply with the GDPR.",
    "force_majeure": "Neither party is liable for a delay caused by force majeure.",
    "payment_terms": "Invoices shall be paid within thirty (30) days of receipt.",
}

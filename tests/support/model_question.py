"""A small contract and the question about it, shared by the tests of models."""

from nodes.domain.answers.passages import choose
from nodes.domain.playbook.model import Clause
from nodes.domain.text.documents import DocumentText, Page
from nodes.ports import ToolRequest
from nodes.prompts.questions import model_question

CONTRACT = """This Agreement is made between Big Customer Inc. ("Customer") and Acme Tools Ltd (the "Supplier").

9. Liability. The Supplier's total liability under this Agreement shall not exceed EUR 50,000.

10. Law. This Agreement is governed by the laws of France.
"""

CAP = "The Supplier's total liability under this Agreement shall not exceed EUR 50,000."
LAW = "This Agreement is governed by the laws of France."

CLAUSES = (
    Clause(type="cap_on_liability", title={"en": "Cap"}, question="Is liability limited to an amount?"),
    Clause(type="governing_law", title={"en": "Law"}, question="Which law governs the agreement?"),
    Clause(type="exclusivity", title={"en": "Exclusivity"}, question="Is a party bound to buy from one other only?"),
)


def document(text: str = CONTRACT) -> DocumentText:
    """`text` as a document; a form feed ends a page."""
    pages, start = [], 0
    for number, part in enumerate(text.split("\f"), start=1):
        pages.append(Page(number, "read", "", start, start + len(part), 595, 842))
        start += len(part) + 1
    return DocumentText("d" * 64, text, tuple(pages), "en")


def question(text: str = CONTRACT, *, model: str = "scripted-1", max_tokens: int = 1000) -> ToolRequest:
    doc = document(text)
    return model_question(doc, choose(doc, (), 100_000), CLAUSES, model=model, max_tokens=max_tokens)

"""Web pages: what a browser shows, in sections by heading; what it hides kept apart. Runs in a worker process."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from graph.adapters.documents.layout.running_text import clean, lay_out_plain
from graph.adapters.documents.pages import Refused, sections

SILENT_TAGS = frozenset(("script", "style", "template", "noscript", "head", "svg", "math", "iframe", "object"))
PARAGRAPH_TAGS = frozenset(
    ("p", "h1", "h2", "h3", "h4", "h5", "h6", "table", "section", "article", "blockquote", "pre", "ul", "ol")
)
LINE_TAGS = (
    "div",
    "li",
    "dl",
    "dt",
    "dd",
    "tr",
    "header",
    "footer",
    "main",
    "nav",
    "aside",
    "form",
    "fieldset",
    "figure",
)
BLOCK_TAGS = PARAGRAPH_TAGS | {
    *LINE_TAGS,
    "figcaption",
    "address",
    "hr",
    "br",
    "body",
    "center",
    "option",
    "blockquote",
}
SECTION_TAGS = ("h1", "h2")
HIDING_STYLE = re.compile(
    r"""
    display\s*:\s*none
    | visibility\s*:\s*hidden
    | opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)
    | font-size\s*:\s*[01](?:\.\d+)?(?:px|pt|em)?\s*(?:;|$)
    | text-indent\s*:\s*-\d{3,}
    | left\s*:\s*-\d{4,}
    """,
    re.I | re.X,
)
"""Such as "display: none" or "text-indent: -9999px"."""
CSS_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
CSS_NAME = re.compile(r"[.#][\w-]+")
HIDDEN_CHARS = 2_000
Part = tuple[str, list[list[str]]]


def read_html(data: bytes, max_chars: int) -> list[dict[str, Any]]:
    return sections([(lay_out_plain(text), hidden) for text, hidden in html_parts(data, None)], max_chars)


def html_parts(data: bytes, encoding: str | None) -> list[Part]:
    """Read the page's text in parts, each with [reason, text] of what a person does not see in it."""
    import lxml.etree
    import lxml.html

    try:
        parser = lxml.html.HTMLParser(encoding=encoding or _encoding(data), huge_tree=False, remove_pis=True)
        root = lxml.html.document_fromstring(data, parser=parser)
    except (lxml.etree.LxmlError, ValueError, AssertionError) as error:
        raise Refused("corrupt", str(error)) from None
    reader = _Reader(_hidden_selectors(root))
    reader.walk(root)
    return reader.parts()


def _encoding(data: bytes) -> str | None:
    """Encoding of a page that declares none: UTF-8 where it fits, else cp1252; None leaves it to the declaration."""
    if re.search(rb"charset\s*=", data[:4096], re.I) or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _hidden_selectors(root: Any) -> frozenset[str]:
    """Classes and ids that the page's own style sheet hides."""
    names: set[str] = set()
    for sheet in root.iter("style"):
        for selectors, body in CSS_RULE.findall(sheet.text or ""):
            if HIDING_STYLE.search(body):
                names.update(
                    name for selector in selectors.split(",") for name in CSS_NAME.findall(selector.strip())[-1:]
                )
    return frozenset(names)


class _Reader:
    """Walks the tree without recursion: a page may be nested as deep as it likes."""

    def __init__(self, hidden_selectors: frozenset[str]) -> None:
        self.hidden_selectors = hidden_selectors
        self.sections: list[tuple[list[str], list[str]]] = [([], [])]

    def walk(self, root: Any) -> None:
        stack: list[tuple[Any, bool, bool]] = [(root, False, False)]
        while stack:
            node, hidden, is_end = stack.pop()
            if is_end:
                self._add_gap(node.tag, hidden)
            elif isinstance(node.tag, str) and node.tag not in SILENT_TAGS:
                hidden = hidden or self._hides(node)
                if node.tag in SECTION_TAGS and not hidden:
                    self.sections.append(([], []))
                self._add_gap(node.tag, hidden)
                self._add_text(node.text, hidden)
                stack.append((node, hidden, True))
                for child in reversed(node):
                    stack.append((_Tail(child.tail), hidden, False))
                    stack.append((child, hidden, False))
            elif isinstance(node, _Tail):
                self._add_text(node.text, hidden)

    def parts(self) -> list[Part]:
        parts: list[Part] = []
        for shown_texts, hidden_texts in self.sections:
            text = re.sub(r"[ \t]*\n[ \t]*", "\n", re.sub(r"[ \t\xa0]+", " ", "".join(shown_texts)))
            hidden_text = clean(" ".join("".join(hidden_texts).split()))[:HIDDEN_CHARS]
            if text.strip() or hidden_text or not parts:
                parts.append((text, [["hidden", hidden_text]] if hidden_text else []))
        if len(parts) > 1 and not parts[0][0].strip() and not parts[0][1]:
            del parts[0]
        return parts

    def _hides(self, node: Any) -> bool:
        names = {f".{name}" for name in (node.get("class") or "").split()} | {f"#{node.get('id')}"}
        return (
            "hidden" in node.attrib
            or bool(HIDING_STYLE.search(node.get("style") or ""))
            or bool(names & self.hidden_selectors)
            or (node.tag == "input" and node.get("type") == "hidden")
        )

    def _add_text(self, text: str | None, hidden: bool) -> None:
        if text:
            self.sections[-1][hidden].append(re.sub(r"\s+", " ", text))

    def _add_gap(self, tag: str, hidden: bool) -> None:
        if tag in BLOCK_TAGS:
            self.sections[-1][hidden].append("\n\n" if tag in PARAGRAPH_TAGS else "\n")
        elif tag in ("td", "th"):
            self.sections[-1][hidden].append(" ")


class _Tail:
    """The text behind an element, as a node of its own."""

    tag = None

    def __init__(self, text: str | None) -> None:
        self.text = text


__all__: Sequence[str] = ("html_parts", "read_html")

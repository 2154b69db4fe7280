"""Word documents: paragraphs, tables and notes in sections by heading, with the numbers that Word counts itself."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from graph.adapters.documents.formats.docx_numbering import Numbering
from graph.adapters.documents.layout.running_text import clean, lay_out_plain
from graph.adapters.documents.pages import Refused, sections

MAX_UNPACKED = 256 << 20
"""A document that claims to be larger when unpacked is an attack."""
SECTION_LEVELS = 2
"""Headings up to this level begin a section."""
HIDDEN_CHARS = 2_000
NOTE_PARTS = ("footnotes", "endnotes", "header", "footer")
Part = tuple[str, list[list[str]]]


def read_docx(data: bytes, max_chars: int) -> list[dict[str, Any]]:
    parts = [(lay_out_plain(text), hidden) for text, hidden in docx_parts(data)]
    return sections(parts, max_chars)


def docx_parts(data: bytes) -> list[Part]:
    """Sections of the body in order, then one with its notes, headers and footers."""
    import docx
    import lxml.etree
    from docx.opc.exceptions import OpcError

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED:
                raise Refused("corrupt", "it unpacks to more than a document can be")
        document = docx.Document(io.BytesIO(data))
        reader = _Reader(document)
        reader.read(document.element.body)
        reader.read_notes(document.part)
    except (zipfile.BadZipFile, OpcError, KeyError, ValueError, OSError, lxml.etree.LxmlError, AttributeError) as error:
        raise Refused("corrupt", " ".join(str(error).split())[:200]) from None
    return reader.parts()


def local_name(node: Any) -> str:
    """The name of an element without its name space, which differs between the two standards."""
    return node.tag.rsplit("}", 1)[-1] if isinstance(node.tag, str) else ""


def val_of(node: Any, *path: str) -> str | None:
    """The `val` of the element at this path below a node; "" for one without, None for none."""
    for name in path:
        node = next((child for child in node if local_name(child) == name), None)
        if node is None:
            return None
    return next((text for key, text in node.attrib.items() if key.endswith("}val")), "")


def paragraphs(node: Any) -> Iterator[tuple[Any, bool]]:
    """Paragraphs in reading order, and whether each ends a cell of a table row that goes on."""
    stack = [(node, False)]
    while stack:
        element, in_cell = stack.pop()
        name = local_name(element)
        if name == "p":
            yield element, in_cell
        elif name == "tr":
            cells = [child for child in element if local_name(child) in ("tc", "sdt")]
            stack += [(cell, cell is not cells[-1]) for cell in reversed(cells)]
        elif name not in ("del", "moveFrom", "Fallback", "sectPr"):
            inner = list(element)
            last = next((child for child in reversed(inner) if local_name(child) in ("p", "tbl")), None)
            stack += [(child, in_cell and child is last) for child in reversed(inner)]


class _Reader:
    def __init__(self, document: Any) -> None:
        self.styles = {style.style_id: style for style in document.styles}
        self.numbering = Numbering(document)
        self.sections: list[tuple[list[str], dict[str, list[str]]]] = [([], {})]

    def read(self, node: Any) -> None:
        for paragraph, in_cell in paragraphs(node):
            style = val_of(paragraph, "pPr", "pStyle")
            level = self._level(paragraph, style)
            text = "".join(self._runs(paragraph))
            if level and level <= SECTION_LEVELS and text.strip():
                self.sections.append(([], {}))
            label = self.numbering.label(paragraph, style) if text.strip() else ""
            ends = " " if in_cell else "\n\n" if level or not self._in_table(paragraph) else "\n"
            self.sections[-1][0].append(f"{label} {text}{ends}" if label else text + ends)

    def read_notes(self, part: Any) -> None:
        self.sections.append(([], {}))
        for relation in part.rels.values():
            kind = relation.reltype.rsplit("/", 1)[-1]
            if relation.is_external or kind not in (*NOTE_PARTS, "comments"):
                continue
            element = getattr(relation.target_part, "element", None)
            if element is None:
                from docx.oxml import parse_xml

                element = parse_xml(relation.target_part.blob)
            if kind == "comments":
                comments = [" ".join("".join(self._runs(paragraph)) for paragraph, _ in paragraphs(element))]
                self.sections[-1][1].setdefault("comment", []).extend(comments)
            else:
                self.read(element)

    def parts(self) -> list[Part]:
        parts: list[Part] = []
        for shown_texts, hidden_by_reason in self.sections:
            text = "".join(shown_texts)
            apart = [
                [reason, clean(" ".join("".join(hidden_texts).split()))[:HIDDEN_CHARS]]
                for reason, hidden_texts in hidden_by_reason.items()
            ]
            apart = [pair for pair in apart if pair[1]]
            if text.strip() or apart:
                parts.append((text, apart))
        return parts or [("", [])]

    def _level(self, paragraph: Any, style_id: str | None) -> int:
        outline = val_of(paragraph, "pPr", "outlineLvl")
        style = self.styles.get(style_id or "")
        if not outline and style is not None:
            name = (style.name or "").casefold()
            for word in ("heading ", "titre "):
                if name.startswith(word) and name[len(word) :].strip().isdigit():
                    return int(name[len(word) :])
            outline = val_of(style.element, "pPr", "outlineLvl")
        return int(outline) + 1 if outline and outline.isdigit() and int(outline) < 9 else 0

    def _in_table(self, paragraph: Any) -> bool:
        parent = paragraph.getparent()
        return parent is not None and local_name(parent) == "tc"

    def _runs(self, paragraph: Any) -> Iterator[str]:
        """Yield the visible text of a paragraph; hidden and struck-out text is kept apart."""
        stack = [(child, "") for child in reversed(paragraph)]
        while stack:
            node, reason = stack.pop()
            name = local_name(node)
            if name in ("del", "moveFrom"):
                reason = reason or "struck out"
            elif name == "r" and val_of(node, "rPr", "vanish") not in (None, "0", "false"):
                reason = reason or "hidden"
            text = self._text(node, name)
            if text and reason:
                self.sections[-1][1].setdefault(reason, []).append(text)
            elif text:
                yield text
            if name not in ("pPr", "rPr", "Fallback", "t", "delText", "instrText"):
                stack += [(child, reason) for child in reversed(node)]
            if name == "p" and not reason:
                yield " "

    @staticmethod
    def _text(node: Any, name: str) -> str:
        if name in ("t", "delText"):
            return node.text or ""
        return {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}.get(name, "")

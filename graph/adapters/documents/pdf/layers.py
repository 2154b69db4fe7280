"""Hidden layers of a PDF: text on layers that are not shown is told apart. Runs in a worker process.

PDFium reads the text of every layer and does not say on which it stands. So a copy is read in which whatever belongs to
a hidden layer carries a word of ours; files without such layers are read as they are.
"""

from __future__ import annotations

import ctypes
import io
from collections.abc import Iterator
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.adapters.documents.pdf.appearance import MAX_NESTING, MAX_OBJECTS, object_of_form, objects_of_form, type_of
from graph.adapters.documents.pdf.pdfium_calls import address, bind_by_address

HIDDEN = "on a hidden layer"
SIGN = "RepriseHidden"
"""Key of ours in the group that a mark of hidden content names."""
MAX_CONDITION_DEPTH = 20
"""Conditions within conditions that are looked at; what lies deeper counts as shown."""
ANNOTATION_HIDDEN = 2

marks_of = bind_by_address(raw.FPDFPageObj_CountMarks)
mark_at = bind_by_address(raw.FPDFPageObj_GetMark, ctypes.c_ulong, returns=ctypes.c_void_p)
object_at = bind_by_address(raw.FPDFPage_GetObject, ctypes.c_int, returns=ctypes.c_void_p)
sign_of = bind_by_address(raw.FPDFPageObjMark_GetParamIntValue, ctypes.c_char_p, ctypes.c_void_p)


def mark_hidden_layers(data: bytes, password: str | None) -> tuple[bytes, bool]:
    """Mark what belongs to hidden layers; returns the document, and whether it has any.

    A document that cannot be opened here is left as it is: whoever reads it says what is wrong with it.
    """
    # The list of layers may lie in a compressed object; no such object, and no word of it: no layers.
    if b"/OCProperties" not in data and b"/ObjStm" not in data:
        return data, False
    import pikepdf

    try:
        with pikepdf.open(io.BytesIO(data), password=password or "") as pdf:
            if "/OCProperties" not in pdf.Root:
                return data, False
            layers = Layers(pdf.Root.OCProperties)
            if not layers.hidden or not _mark_hidden(pdf, layers):
                return data, False
            target = io.BytesIO()
            pdf.save(target)
            return target.getvalue(), True
    except (pikepdf.PdfError, ValueError, TypeError, AttributeError, KeyError):
        return data, False


class Layers:
    """Which layers are shown when the document is opened, by its default configuration.

    properties: the catalog's OCProperties. Raises what pikepdf raises where they have another form.
    """

    def __init__(self, properties: Any) -> None:
        config = properties.get("/D", {})
        off = str(config.get("/BaseState", "/ON")) == "/OFF"
        self.hidden = {group.objgen for group in properties.get("/OCGs", ())} if off else set()
        self.hidden -= {group.objgen for group in config.get("/ON", ())}
        self.hidden |= {group.objgen for group in config.get("/OFF", ())}
        for event in config.get("/AS", ()):
            if str(event.get("/Event", "")) == "/View":
                for group in event.get("/OCGs", ()):
                    self._apply_usage(group)

    def _apply_usage(self, group: Any) -> None:
        """Apply what a group says of its use on a screen, which goes before the configuration."""
        state = str(group.get("/Usage", {}).get("/View", {}).get("/ViewState", ""))
        if state == "/OFF":
            self.hidden.add(group.objgen)
        elif state == "/ON":
            self.hidden.discard(group.objgen)

    def hides(self, content: Any) -> bool:
        """Whether what belongs to this group, or hangs on these groups, is not shown."""
        if str(content.get("/Type", "")) != "/OCMD":
            return content.objgen in self.hidden
        if "/VE" in content:
            return not self._holds(content.VE, 0)
        groups = content.get("/OCGs")
        listed = [group for group in (groups if _is_array(groups) else [groups]) if group is not None]
        off = [group.objgen in self.hidden for group in listed]
        policy = str(content.get("/P", "/AnyOn"))
        rules = {"/AllOn": not any(off), "/AnyOff": any(off), "/AllOff": all(off)}
        return bool(off) and not rules.get(policy, not all(off))

    def _holds(self, expression: Any, depth: int) -> bool:
        """An expression of groups: [/Not e], [/And e …], [/Or e …] or a group."""
        if not _is_array(expression):
            return expression.objgen not in self.hidden
        if depth > MAX_CONDITION_DEPTH or len(expression) < 2:
            return True
        operands = [self._holds(operand, depth + 1) for operand in list(expression)[1:]]
        operator = str(expression[0])
        return not operands[0] if operator == "/Not" else all(operands) if operator == "/And" else any(operands)


def _is_array(pdf_object: Any) -> bool:
    import pikepdf

    return isinstance(pdf_object, pikepdf.Array)


def _mark_hidden(pdf: Any, layers: Layers) -> bool:
    """Mark each hidden group, condition and form, and hide each hidden annotation; False when there is none."""
    marked_any = False
    for pdf_object in pdf.objects:
        for kind, part in _layered_parts(pdf_object):
            if kind == "group":
                if layers.hides(part):
                    part[f"/{SIGN}"] = 1
                    marked_any = True
            elif "/OC" in part and layers.hides(part.OC):
                marked_any = True
                if kind == "form":
                    _mark_form(pdf, part)
                else:
                    part.F = int(part.get("/F", 0)) | ANNOTATION_HIDDEN
    return marked_any


def _layered_parts(pdf_object: Any) -> Iterator[tuple[str, Any]]:
    """Yield what may belong to a layer: "group" (also conditions), "form" or "annotation", with the object."""
    import pikepdf

    if isinstance(pdf_object, pikepdf.Stream):
        if str(pdf_object.get("/Subtype", "")) == "/Form":
            yield "form", pdf_object
        # Conditions may lie in the resources themselves, and those in the form.
        yield from _direct(pdf_object.get("/Resources"))
    elif isinstance(pdf_object, pikepdf.Dictionary):
        if str(pdf_object.get("/Type", "")) in ("/OCG", "/OCMD"):
            yield "group", pdf_object
        elif "/Rect" in pdf_object and "/Subtype" in pdf_object:
            yield "annotation", pdf_object
        yield from _direct(pdf_object.get("/Resources"))
        yield from _direct(pdf_object)


def _direct(resources: Any) -> Iterator[tuple[str, Any]]:
    import pikepdf

    properties = resources.get("/Properties") if isinstance(resources, pikepdf.Dictionary) else None
    if isinstance(properties, pikepdf.Dictionary):
        for name in sorted(properties.keys()):
            group = properties[name]
            if isinstance(group, pikepdf.Dictionary) and not group.is_indirect:
                yield "group", group


def _mark_form(pdf: Any, form: Any) -> None:
    """Let the whole content of a form belong to a hidden layer by a mark of its own."""
    import pikepdf

    if not isinstance(form.get("/Resources"), pikepdf.Dictionary):
        form.Resources = pikepdf.Dictionary()
    if not isinstance(form.Resources.get("/Properties"), pikepdf.Dictionary):
        form.Resources.Properties = pikepdf.Dictionary()
    form.Resources.Properties[f"/{SIGN}"] = pikepdf.Dictionary({"/Type": pikepdf.Name.OCG, f"/{SIGN}": 1})
    form.write(b"/OC /%s BDC\n" % SIGN.encode() + form.read_bytes() + b"\nEMC")


def hidden_text_objects(page: pdfium.PdfPage) -> frozenset[int]:
    """Addresses of the text objects of a page that belong to a hidden layer, in a document that was signed."""
    handle, visited = address(page.raw), 0
    hidden_objects: set[int] = set()
    count = min(raw.FPDFPage_CountObjects(page), MAX_OBJECTS)
    stack = [(object_at(handle, place), 0, False) for place in range(count)]
    while stack and visited < MAX_OBJECTS:
        page_object, depth, parent_hidden = stack.pop()
        visited += 1
        hidden = parent_hidden or _is_marked(page_object)
        kind = type_of(page_object)
        if kind == raw.FPDF_PAGEOBJ_TEXT and hidden:
            hidden_objects.add(page_object)
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_NESTING:
            stack += [
                (object_of_form(page_object, place), depth + 1, hidden) for place in range(objects_of_form(page_object))
            ]
    return frozenset(hidden_objects)


def _is_marked(page_object: int) -> bool:
    number = ctypes.c_int()
    marks = (mark_at(page_object, place) for place in range(marks_of(page_object)))
    return any(sign_of(mark, SIGN.encode(), ctypes.addressof(number)) and number.value == 1 for mark in marks)

"""Layers of a PDF that are not shown when it is opened: what stands on them is told apart. Runs in a child.

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
    """The document with signs on what belongs to hidden layers, and whether it has any; else as it is.

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
        """What a group says of its use on a screen, which goes before the configuration."""
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
        listed = [one for one in (groups if _is_array(groups) else [groups]) if one is not None]
        off = [one.objgen in self.hidden for one in listed]
        policy = str(content.get("/P", "/AnyOn"))
        rules = {"/AllOn": not any(off), "/AnyOff": any(off), "/AllOff": all(off)}
        return bool(off) and not rules.get(policy, not all(off))

    def _holds(self, expression: Any, depth: int) -> bool:
        """An expression of groups: [/Not e], [/And e …], [/Or e …] or a group."""
        if not _is_array(expression):
            return expression.objgen not in self.hidden
        if depth > MAX_CONDITION_DEPTH or len(expression) < 2:
            return True
        said = [self._holds(one, depth + 1) for one in list(expression)[1:]]
        word = str(expression[0])
        return not said[0] if word == "/Not" else all(said) if word == "/And" else any(said)


def _is_array(value: Any) -> bool:
    import pikepdf

    return isinstance(value, pikepdf.Array)


def _mark_hidden(pdf: Any, layers: Layers) -> bool:
    """Sign each hidden group, condition and form, and hide each annotation, that is not shown; False: there is none."""
    found = False
    for thing in pdf.objects:
        for kind, one in _layered_parts(thing):
            if kind == "group":
                if layers.hides(one):
                    one[f"/{SIGN}"] = 1
                    found = True
            elif "/OC" in one and layers.hides(one.OC):
                found = True
                if kind == "form":
                    _mark_form(pdf, one)
                else:
                    one.F = int(one.get("/F", 0)) | ANNOTATION_HIDDEN
    return found


def _layered_parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """What of an object has to do with layers: group (and condition), form or annotation, each with itself."""
    import pikepdf

    if isinstance(thing, pikepdf.Stream):
        if str(thing.get("/Subtype", "")) == "/Form":
            yield "form", thing
        # Conditions may lie in the resources themselves, and those in the form.
        yield from _direct(thing.get("/Resources"))
    elif isinstance(thing, pikepdf.Dictionary):
        if str(thing.get("/Type", "")) in ("/OCG", "/OCMD"):
            yield "group", thing
        elif "/Rect" in thing and "/Subtype" in thing:
            yield "annotation", thing
        yield from _direct(thing.get("/Resources"))
        yield from _direct(thing)


def _direct(resources: Any) -> Iterator[tuple[str, Any]]:
    import pikepdf

    properties = resources.get("/Properties") if isinstance(resources, pikepdf.Dictionary) else None
    if isinstance(properties, pikepdf.Dictionary):
        for name in sorted(properties.keys()):
            one = properties[name]
            if isinstance(one, pikepdf.Dictionary) and not one.is_indirect:
                yield "group", one


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
    handle, seen = address(page.raw), 0
    found: set[int] = set()
    count = min(raw.FPDFPage_CountObjects(page), MAX_OBJECTS)
    stack = [(object_at(handle, place), 0, False) for place in range(count)]
    while stack and seen < MAX_OBJECTS:
        item, depth, within = stack.pop()
        seen += 1
        hidden = within or _is_marked(item)
        kind = type_of(item)
        if kind == raw.FPDF_PAGEOBJ_TEXT and hidden:
            found.add(item)
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_NESTING:
            stack += [(object_of_form(item, place), depth + 1, hidden) for place in range(objects_of_form(item))]
    return frozenset(found)


def _is_marked(item: int) -> bool:
    value = ctypes.c_int()
    marks = (mark_at(item, place) for place in range(marks_of(item)))
    return any(sign_of(mark, SIGN.encode(), ctypes.addressof(value)) and value.value == 1 for mark in marks)

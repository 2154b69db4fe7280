"""What stands on a layer of a PDF that is not shown is kept apart; what stands on a shown one is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String
from reader_desk import LEASE, Desk, changed, check_offsets, pdf, says
from sample_contracts import contracts

from graph import Reprise
from graph.adapters.documents.pdf.layers import HIDDEN, Layers, mark_hidden_layers

SECRET = "The liability of the Supplier is unlimited."
Change = Callable[[pikepdf.Pdf], object]


def groups(document: pikepdf.Pdf, **config: Any) -> tuple[Any, Any]:
    """A layer that is off and one that is on."""
    off, on = (document.make_indirect(Dictionary(Type=Name.OCG, Name=String(name))) for name in ("Off", "On"))
    default = Dictionary({"/OFF": Array([off]), **{f"/{key}": value for key, value in config.items()}})
    document.Root.OCProperties = Dictionary(OCGs=Array([off, on]), D=default)
    return off, on


def draw(document: pikepdf.Pdf, content: str, **properties: Any) -> None:
    """Append content to the first page; @ stands for its font."""
    page = document.pages[0]
    page.Resources.Properties = Dictionary({f"/{name}": value for name, value in properties.items()})
    (font,) = page.Resources.Font.keys()
    page.contents_add(document.make_stream(content.replace("@", font).encode()))


def said(text: str, top: int) -> str:
    return f"BT @ 12 Tf 72 {top} Td ({text}) Tj ET "


def on_layer(name: str, text: str, top: int) -> str:
    return f"/OC /{name} BDC {said(text, top)} EMC "


async def read(desk: Desk, tmp_path: Path, change: Change, **save: Any) -> Any:
    text = await desk.text(changed(pdf(tmp_path / "a.pdf", says(LEASE)), tmp_path / "b.pdf", change, **save))
    check_offsets(text)
    return text


@pytest.mark.parametrize("streams", [pikepdf.ObjectStreamMode.disable, pikepdf.ObjectStreamMode.generate])
async def test_text_of_a_layer_that_is_off_is_kept_apart_and_that_of_one_that_is_on_is_read(
    desk: Desk, tmp_path: Path, streams: pikepdf.ObjectStreamMode
) -> None:
    def change(document: pikepdf.Pdf) -> None:
        off, on = groups(document)
        draw(document, on_layer("A", SECRET, 600) + on_layer("B", "Shown layer.", 580), A=off, B=on)

    text = await read(desk, tmp_path, change, object_stream_mode=streams)
    assert text.text == f"{LEASE}\nShown layer.\n"
    assert text.hidden == ((1, HIDDEN, SECRET),)
    assert text.warnings == (f"Text that a person does not see ({HIDDEN}) was kept apart, on page 1.",)


async def test_two_layers_in_one_place_are_told_apart(desk: Desk, tmp_path: Path) -> None:
    """A file with a layer for each language draws both over each other; what the page shows there says nothing."""

    def change(document: pikepdf.Pdf) -> None:
        off, on = groups(document)
        draw(document, on_layer("A", "illimitee entre les parties", 600) + on_layer("B", "limited", 600), A=off, B=on)

    text = await read(desk, tmp_path, change)
    assert text.text == f"{LEASE}\nlimited\n" and text.hidden == ((1, HIDDEN, "illimitee entre les parties"),)


async def test_what_is_within_hidden_content_is_hidden_also_in_forms_that_are_drawn_there(
    desk: Desk, tmp_path: Path
) -> None:
    def change(document: pikepdf.Pdf) -> None:
        off, on = groups(document)
        page = document.pages[0]
        (font,) = page.Resources.Font.keys()

        def form(content: str, **more: Any) -> Any:
            data = content.replace("@", font).encode()
            box = Array([0, 0, 600, 850])
            kinds = {"Type": Name.XObject, "Subtype": Name.Form, "BBox": box}
            return document.make_stream(data, Resources=Dictionary(Font=page.Resources.Font), **kinds, **more)

        inner, own = form(said("twice drawn", 500)), form(said("form of its own layer", 480), OC=off)
        outer = form("/F Do")
        outer.Resources.XObject = Dictionary(F=inner)
        page.Resources.XObject = Dictionary(Inner=inner, Outer=outer, Own=own)
        nested = f"/OC /A BDC {on_layer('B', 'shown within hidden', 600)} EMC "
        draw(document, nested + "/Inner Do /OC /A BDC q 1 0 0 1 0 -40 cm /Outer Do Q EMC /Own Do", A=off, B=on)

    text = await read(desk, tmp_path, change)
    assert text.text == f"{LEASE}\ntwice drawn\n"
    ((_, why, found),) = text.hidden
    assert why == HIDDEN
    assert found == "shown within hidden twice drawn form of its own layer"


def condition(**entries: Any) -> Callable[[Any, Any], Any]:
    def made(off: Any, on: Any) -> Any:
        known = {"off": off, "on": on}

        def filled(value: Any) -> Any:
            if isinstance(value, list):
                return Array([filled(one) for one in value])
            return known[value] if value in known else Name(value)

        return Dictionary({"/Type": Name.OCMD, **{f"/{key}": filled(value) for key, value in entries.items()}})

    return made


@pytest.mark.parametrize(
    ("made", "hidden"),
    [
        (condition(OCGs=["off", "on"]), False),
        (condition(OCGs="off"), True),
        (condition(OCGs=["off", "on"], P="/AllOn"), True),
        (condition(OCGs=["off", "on"], P="/AnyOff"), False),
        (condition(OCGs=["on"], P="/AllOff"), True),
        (condition(OCGs=[]), False),
        (condition(VE=["/Not", "on"]), True),
        (condition(VE=["/And", "on", ["/Not", ["/Or", "off", ["/Not", "off"]]]]), True),
        (condition(VE=["/Or", "off", ["/And", "on", ["/Not", "off"]]], OCGs="off"), False),
    ],
    ids=["any", "one", "all", "any off", "all off", "none", "not", "nested", "expression first"],
)
async def test_a_condition_on_layers_is_reckoned_as_a_viewer_does(
    desk: Desk, tmp_path: Path, made: Callable[[Any, Any], Any], hidden: bool
) -> None:
    def change(document: pikepdf.Pdf) -> None:
        off, on = groups(document)
        draw(document, on_layer("A", SECRET, 600), A=made(off, on))

    text = await read(desk, tmp_path, change)
    assert bool(text.hidden) is hidden and (SECRET in text.text) is not hidden


def test_the_default_of_a_layer_is_told_by_base_lists_and_use() -> None:
    document = pikepdf.new()
    off, on = groups(document, BaseState=Name.OFF)
    properties = document.Root.OCProperties
    assert Layers(properties).hidden == {off.objgen, on.objgen}
    properties.D.ON = Array([on])
    assert Layers(properties).hidden == {off.objgen}
    off.Usage = Dictionary(View=Dictionary(ViewState=Name.ON))
    assert Layers(properties).hidden == {off.objgen}
    properties.D.AS = Array([Dictionary(Event=Name.View, OCGs=Array([off]), Category=Array([Name.View]))])
    assert Layers(properties).hidden == set()


async def test_a_field_on_a_hidden_layer_is_a_hidden_field(desk: Desk, tmp_path: Path) -> None:
    def field(canvas: Any) -> None:
        says(LEASE)(canvas)
        canvas.acroForm.textfield(name="n", value="Secret value", x=150, y=500, width=200, height=20)

    def change(document: pikepdf.Pdf) -> None:
        off, _ = groups(document)
        document.pages[0].Annots[0].OC = off

    text = await desk.text(changed(pdf(tmp_path / "a.pdf", field), tmp_path / "b.pdf", change))
    assert text.text == f"{LEASE}\n" and text.hidden == ((1, "in a hidden field", "Secret value"),)


async def test_a_locked_document_has_its_layers_looked_at_too(desk: Desk, tmp_path: Path) -> None:
    def change(document: pikepdf.Pdf) -> None:
        off, _ = groups(document)
        draw(document, on_layer("A", SECRET, 600), A=off)

    plain = pdf(tmp_path / "a.pdf", says(LEASE))
    lock = pikepdf.Encryption(owner="boss", user="open")
    text = await desk.text(changed(plain, tmp_path / "b.pdf", change, encryption=lock), "open")
    assert text.text == f"{LEASE}\n" and text.hidden == ((1, HIDDEN, SECRET),)


def test_a_document_without_hidden_layers_is_read_as_it_is(tmp_path: Path) -> None:
    def change(document: pikepdf.Pdf) -> None:
        _, on = groups(document)
        document.Root.OCProperties.D.OFF = Array()
        draw(document, on_layer("A", "Shown.", 600), A=on)

    plain = pdf(tmp_path / "a.pdf", says(LEASE))
    for path in (plain, changed(plain, tmp_path / "b.pdf", change)):
        data = path.read_bytes()
        assert mark_hidden_layers(data, None) == (data, False)
    assert mark_hidden_layers(b"%PDF-1.7 /OCProperties rubbish", None) == (b"%PDF-1.7 /OCProperties rubbish", False)


async def test_a_clause_on_a_hidden_layer_is_no_clause_of_the_contract_and_waits_for_a_person(
    reprise: Reprise, tmp_path: Path
) -> None:
    folder = contracts(tmp_path / "room", 1)

    def change(document: pikepdf.Pdf) -> None:
        off, _ = groups(document)
        draw(document, on_layer("A", "The Supplier's liability under this Agreement is unlimited.", 400), A=off)

    changed(folder / "contract_0000.pdf", tmp_path / "b.pdf", change)
    (folder / "contract_0000.pdf").write_bytes((tmp_path / "b.pdf").read_bytes())
    view = await reprise.start(folder, thread="t")
    assert view.status == "needs_review"
    found = await reprise.findings("t")
    assert not [one for one in found if one.clause_type == "uncapped_liability"]
    (hidden,) = [one for one in found if one.clause_type == "hidden_text"]
    assert hidden.needs_review and "unlimited" in hidden.quote

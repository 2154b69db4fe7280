from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nodes.domain.shared.formats import (
    clean,
    count,
    describe_value,
    duration,
    markdown,
    money,
    number,
    one_line,
    risk_label,
    size,
    source_label,
    when,
)


@pytest.mark.parametrize(
    ("usd", "options", "shown"),
    [
        ("0", {}, "$0.00"),
        ("1.844999", {}, "$1.84"),
        ("1.845", {}, "$1.85"),
        ("0.0004", {}, "under $0.01"),
        ("1234567.5", {}, "$1,234,567.50"),
        ("-0.001", {}, "$0.00"),
        ("-2.5", {}, "-$2.50"),
        ("1.84", {"unpriced": 3}, "at least $1.84 (3 calls unpriced)"),
        ("0", {"unpriced": 1, "basis": "unknown"}, "at least $0.00 (1 call unpriced)"),
        ("0.41", {"basis": "estimated"}, "about $0.41"),
        ("0", {"basis": "unknown"}, "unknown"),
        ("NaN", {}, "unknown"),
        ("Infinity", {}, "unknown"),
        ("1E+40", {}, "unknown"),
        ("1234.5", {"language": "fr"}, "1\u202f234,50\u202f$"),
        ("1", {"language": "fr", "unpriced": 2}, "au moins 1,00\u202f$ (2 appels sans prix)"),
    ],
)
def test_money_says_what_is_known_of_a_price(usd: str, options: dict[str, Any], shown: str) -> None:
    assert money(Decimal(usd), **options) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (0.04, "0.1s"),
        (0.42, "0.4s"),
        (0.97, "1s"),
        (12.4, "12s"),
        (59.5, "1m00s"),
        (362, "6m02s"),
        (3599.6, "1h00m"),
        (11_100, "3h05m"),
        (187_200, "2d04h"),
        (-12, "-12s"),
        (float("nan"), "unknown"),
        (float("inf"), "unknown"),
    ],
)
def test_a_duration_is_shown_in_its_two_largest_units(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_a_time_is_shown_in_utc_and_one_without_a_zone_is_refused() -> None:
    assert when(datetime(2026, 11, 29, 4, 12, 59, tzinfo=timezone(timedelta(hours=1)))) == "2026-11-29 03:12 UTC"
    assert when(datetime(2026, 11, 29, tzinfo=UTC)) == "2026-11-29 00:00 UTC"
    with pytest.raises(ValueError, match="without a zone"):
        when(datetime(2026, 11, 29))  # noqa: DTZ001


def test_counts_agree_with_their_noun_in_both_languages() -> None:
    assert [count(n, "document") for n in (0, 1, 2, 1200)] == [
        "0 documents",
        "1 document",
        "2 documents",
        "1,200 documents",
    ]
    assert count(0, "constat", "constats", "fr") == "0 constat"
    assert count(2, "reply", "replies") == "2 replies"
    assert number(12_345, "fr") == "12\u202f345"


def test_sizes_and_risks_have_words() -> None:
    assert [size(n) for n in (812, 1_400, 999_949, 999_960, 3_200_000, 5 * 10**12)] == [
        "812 B",
        "1.4 kB",
        "999.9 kB",
        "1.0 MB",
        "3.2 MB",
        "5.0 TB",
    ]
    assert (risk_label("high"), risk_label("high", "fr"), risk_label("odd")) == ("high", "élevé", "odd")


def test_clean_text_has_nothing_unseen_in_it() -> None:
    hostile = "a\x00b\ud800c\x1b[31mred\x1b[0m\x1b]0;title\x07\u202ed\u200be\ufefff\x9b2Jg\U000e0041h\ufe0fi\xadj"
    assert clean(hostile) == "abcreddefghij"
    assert clean("one\r\ntwo\rthree\ffour\u2028five\tsix") == "one\ntwo\nthree\nfour\nfive\tsix"
    assert clean("\x1b[31\x1b]never ended") == "[31]never ended"
    assert clean("œuvre – 12 € “é” n’a") == "œuvre – 12 € “é” n’a"


@given(st.text(st.characters(exclude_categories=[])))
def test_clean_is_done_after_once_and_can_always_be_encoded(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    clean(text).encode()


def test_one_line_keeps_its_limit_and_breaks_at_a_word() -> None:
    assert one_line("  a \n b\tc ") == "a b c"
    assert one_line("The liability of each party is limited", 26) == "The liability of each…"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"
    assert one_line("text", 0) == "" and one_line("text", 1) == "…"


@given(st.text(), st.integers(-1, 40))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= max(limit, 0) and "\n" not in line


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("*_`[]()<>!#&|~-+1.\\")))
def test_markdown_text_is_shown_as_it_is_and_means_nothing(text: str) -> None:
    line = " ".join(clean(text).split())
    shown = MarkdownIt("commonmark").render(f"x {markdown(text)}").strip()
    for entity, mark in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        shown = shown.replace(entity, mark)
    assert shown == f"<p>x {line}</p>".replace("x </p>", "x</p>")


@pytest.mark.parametrize("text", ["# a", "- a", "+ a", "1. a", "1) a", "> a", "=== a", "* a", "    a", "| a |", "---"])
def test_markdown_text_begins_no_block(text: str) -> None:
    assert MarkdownIt("commonmark").enable("table").render(markdown(text)).startswith("<p>")


def test_addresses_in_markdown_text_become_no_links() -> None:
    text = markdown("see https://evil.example, www.evil.example or mail a@evil.example")
    assert "://" not in text and "www." not in text and "@" not in text


def test_unexpected_values_are_named_without_quoting_them() -> None:
    values = [None, True, "x" * 90, "", 3.5, {"a": 1}, {}, [1], object()]
    assert [describe_value(value) for value in values] == [
        "nothing",
        "true",
        "the text “" + "x" * 39 + "…”",
        "an empty text",
        "a number",
        "an object with the keys a",
        "an object without keys",
        "a list",
        "something that is not JSON",
    ]


@pytest.mark.parametrize(
    ("source", "language", "shown"),
    [
        ("local:model@3", "en", "the local engine, trained model 3"),
        ("local:rules@1", "fr", "le moteur local, règles 1"),
        ("playbook:our checks@2", "fr", "le guide our checks, version 2"),
        ("openai:vendor/model:large", "en", "the model vendor/model:large"),
        ("local:families@2", "en", "local:families@2"),
        ("{0}", "en", "{0}"),
        ("openai:{version.x}", "en", "the model {version.x}"),
    ],
)
def test_who_found_something_is_said_in_words(source: str, language: str, shown: str) -> None:
    assert source_label(source, language) == shown

"""Numbers, amounts and durations are read to their end, in words and in figures, in English and in French."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.domain.text.quantities import numbers_in, quantities, splits_number

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_UNITES = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit"
    " dix-neuf"
)
_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety"
_DIZAINES = "- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt"
ONES, UNITES, TENS, DIZAINES = (words.split() for words in (_ONES, _UNITES, _TENS, _DIZAINES))


def english(number: int) -> str:
    """The usual words for 1 to 999,999,999."""
    for size, name in ((10**6, "million"), (1000, "thousand")):
        if number >= size:
            rest = number % size
            joined = " and " if 0 < rest < 100 else " "
            return f"{english(number // size)} {name}" + (joined + english(rest) if rest else "")
    if number >= 100:
        return f"{ONES[number // 100]} hundred" + (f" and {english(number % 100)}" if number % 100 else "")
    if number < 20:
        return ONES[number]
    return TENS[number // 10] + (f"-{ONES[number % 10]}" if number % 10 else "")


def french(number: int) -> str:
    """The usual words for 1 to 999,999,999, in the spelling with hyphens below a hundred."""
    if number >= 10**6:
        name = "millions" if number >= 2 * 10**6 else "million"
        return " ".join([french(number // 10**6), name] + [french(number % 10**6)] * bool(number % 10**6))
    if number >= 1000:
        head = "" if number < 2000 else french(number // 1000).replace("cents", "cent").replace("vingts", "vingt") + " "
        return f"{head}mille" + (f" {french(number % 1000)}" if number % 1000 else "")
    if number >= 100:
        head = "" if number < 200 else UNITES[number // 100] + " "
        return f"{head}cent" + (f" {french(number % 100)}" if number % 100 else "s" if head else "")
    if number < 20:
        return UNITES[number]
    tens, rest = number // 10, number % 10 + (10 if number // 10 in (7, 9) else 0)
    if rest in (1, 11) and tens < 8:
        return f"{DIZAINES[tens]} et {UNITES[rest]}"
    return DIZAINES[tens] + (f"-{UNITES[rest]}" if rest else "s" if tens == 8 else "")


@given(st.integers(2, 999_999_999) | st.integers(2, 200))
def test_every_whole_number_is_read_from_its_words_in_both_languages(number: int) -> None:
    for said in (f"{english(number)} euros", f"{french(number)} euros", f"{french(number)} d'euros"):
        assert numbers_in(said) == {str(number), f"{number} EUR"}, said
    spaced = french(number).replace("-", " ") if number < 80 else french(number)
    assert numbers_in(f"{spaced} ({number}) mois") == {str(number), f"{number} month"}


@given(st.integers(21, 999_999_999), st.data())
def test_a_number_in_words_is_never_cut_into_another(number: int, data: st.DataObject) -> None:
    for words in (english(number), french(number)):
        text = f"The sum is {words} euros in all."
        inner = [at for at in range(12, 11 + len(words)) if not (text[at - 1].isalpha() and text[at].isalpha())]
        if inner:
            cut = data.draw(st.sampled_from(inner))
            for behind, kept in ((False, text[:cut]), (True, text[cut:])):
                other = [quantity.value for quantity in quantities(kept)]
                if other and other[0] != number:
                    assert splits_number(text, cut, behind=behind), kept


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("€1.2m per year", "1200000 EUR"), ("£ 2m", "2000000 GBP"), ("EUR 500k", "500000 EUR"),
        ("EUR 1.5 bn", "1500000000 EUR"), ("2,5 M€", "2500000 EUR"), ("2,5 M d'euros", "2500000 EUR"),
        ("500 k€", "500000 EUR"), ("500 KEUR", "500000 EUR"), ("k€ 500", "500000 EUR"), ("M€ 2,5", "2500000 EUR"),
        ("$3mm", "3000000 USD"), ("$1.2B", "1200000000 USD"), ("CHF 5 Mio", "5000000 CHF"),
        ("2 Mds d'euros", "2000000000 EUR"), ("500k dollars", "500000 USD"), ("1.250 k€", "1250000 EUR"),
        ("$1.125 million", "1125000 USD"), ("two and a half million dollars", "2500000 USD"),
        ("2 millions et demi d'euros", "2500000 EUR"), ("deux millions et demi d'euros", "2500000 EUR"),
        ("half a million dollars", "500000 USD"), ("un demi-million d'euros", "500000 EUR"),
        ("six thousand million euros", "6000000000 EUR"), ("five (5) million dollars", "5000000 USD"),
        ("1.2 million (1,200,000) euros", "1200000 EUR"), ("$2 million, five hundred", "2000000 USD"),
        ("Two Million, Five Hundred Thousand Dollars", "2500000 USD"), ("deux  millions\nd'euros", "2000000 EUR"),
        ("one and a half years", "1.5 year"), ("un an et demi", "1.5 year"), ("two years and a half", "2.5 year"),
        ("12 1/2 %", "12.5 %"), ("1-1/2%", "1.5 %"), ("2½ %", "2.5 %"), ("one and one-half percent (1.5%)", "1.5 %"),
        ("dix-huit (18) mois", "18 month"), ("hundred and twenty days", "120 day"), ("twenty- four hours", "24 hour"),
    ],
)  # fmt: skip
def test_a_number_has_what_multiplies_it_and_its_half(text: str, token: str) -> None:
    assert {token, token.split()[0]} <= numbers_in(text)
    counted = [quantity for quantity in quantities(text) if quantity.unit]
    assert len({quantity.value for quantity in counted}) == 1


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a pipe of 1.2m", {"1.2"}),
        ("1.2 m wide, 3 mm thick", {"1.2", "3"}),
        ("EUR 50 per m²", {"50", "50 EUR"}),
        ("EUR 50 m²", {"50", "50 EUR"}),
        ("EUR 500 M&A fees", {"500", "500 EUR"}),
        ("a delay of 5 mn", {"5"}),
        ("la valeur 500", {"500"}),
        ("several million euros", set()),
        ("plusieurs millions d'euros", set()),
        ("twenty-five cents", {"25"}),
        ("100 € 200 £", {"100", "100 EUR", "200", "200 GBP"}),
        ("500 k€ 300 €", {"500000", "500000 EUR", "300", "300 EUR"}),
        ("note 1 $3.00", {"1", "3", "3 USD"}),
        ("between one million and two million euros", {"1000000", "2000000", "2000000 EUR"}),
        ("one hundred and two hundred days", {"100", "200", "200 day"}),
        ("two thousand and three thousand", {"2000", "3000"}),
        ("two or three months", {"2", "3", "3 month"}),
    ],
)
def test_what_only_looks_like_a_larger_number_is_none(text: str, tokens: set[str]) -> None:
    assert numbers_in(text) == tokens

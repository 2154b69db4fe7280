from decimal import Decimal
from pathlib import Path

import pytest

from graph.runtime.calls.pricing import Prices
from nodes.domain.shared.errors import OperatorError
from nodes.ports import Usage

MILLION = Usage(1_000_000, 0, 1_000_000)


@pytest.mark.parametrize(
    "model",
    [
        "gpt-4.1",
        "gpt-4.1-2025-04-14",
        "openai/gpt-4.1",
        "openrouter/openai/gpt-4.1",
        "anthropic/claude-sonnet-4.5",
        "anthropic/claude-sonnet-4-5-20250929",
        "google/gemini-2.5-flash",
        "models/gemini-2.5-flash",
        "deepseek/deepseek-v3.2",
        "OpenAI/GPT-4.1",
    ],
)
def test_models_are_known_as_gateways_write_them(model: str) -> None:
    prices = Prices()
    amount, basis = prices.price(model, MILLION)
    assert isinstance(amount, Decimal) and amount > 0 and basis == "reported"
    assert prices.knows(model)


@pytest.mark.parametrize("model", ["scripted-1", "my-gpt-4.1", "openai/gpt-99", "llama3", "", "/", "a/b/c/d"])
def test_an_unknown_price_is_none_and_not_zero(model: str) -> None:
    assert Prices().price(model, MILLION) == (None, "unknown")
    assert not Prices().knows(model)


def test_a_free_variant_is_not_taken_for_free() -> None:
    amount, _ = Prices().price("deepseek/deepseek-r1:free", MILLION)
    assert amount is None or amount > 0


def test_estimated_counts_give_an_estimated_price() -> None:
    reported, _ = Prices().price("openai/gpt-4.1", MILLION)
    assert Prices().price("openai/gpt-4.1", Usage(1_000_000, 0, 1_000_000, reported=False)) == (reported, "estimated")


def test_cached_tokens_are_counted_once() -> None:
    full, _ = Prices().price("openai/gpt-4.1", Usage(1_000_000, 0, 0))
    half, _ = Prices().price("openai/gpt-4.1", Usage(1_000_000, 500_000, 0))
    none, _ = Prices().price("openai/gpt-4.1", Usage(1_000_000, 1_000_000, 0))
    assert full and half and none and full > half > none > 0
    assert half == (full + none) / 2


def test_more_cached_tokens_than_tokens_are_no_discount() -> None:
    prices = Prices()
    assert prices.price("openai/gpt-4.1", Usage(100, 999, 0)) == prices.price("openai/gpt-4.1", Usage(100, 100, 0))


def test_a_call_without_tokens_costs_nothing() -> None:
    assert Prices().price("openai/gpt-4.1", Usage()) == (Decimal(0), "reported")


def test_an_operators_price_is_exact_and_comes_first(tmp_path: Path) -> None:
    listed = tmp_path / "prices.toml"
    listed.write_text('[models."openai/gpt-4.1"]\ninput = 0.1\ncached = 0.01\noutput = 0.3\n')
    amount, basis = Prices(listed).price("openai/gpt-4.1", Usage(1_000_000, 500_000, 1_000_000))
    assert (amount, basis) == (Decimal("0.355"), "reported")


def test_zero_is_a_price_when_an_operator_says_so() -> None:
    prices = Prices({"local/*": {"input": 0, "output": 0}})
    assert prices.price("local/qwen", MILLION) == (Decimal(0), "reported")
    assert prices.knows("local/qwen") and not prices.knows("qwen")


def test_the_longest_pattern_wins_and_a_name_wins_over_patterns() -> None:
    prices = Prices(
        {"a*": {"input": 1, "output": 1}, "ab*": {"input": 2, "output": 2}, "abc": {"input": 3, "output": 3}}
    )
    assert [prices.price(name, Usage(1_000_000))[0] for name in ("ax", "abx", "ABC")] == [1, 2, 3]


def test_cached_input_costs_as_much_as_other_input_unless_it_is_said() -> None:
    prices = Prices({"m": {"input": 2, "output": 4}})
    assert prices.price("m", Usage(1_000_000, 600_000, 0))[0] == Decimal(2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("models = 3", "names no model"),
        ("[models", "not valid TOML"),
        ('[models."m"]\ninput = 1', "output must be a number"),
        ('[models."m"]\ninput = -1\noutput = 1', "input must be 0 or more"),
        ('[models."m"]\ninput = nan\noutput = 1', "input must be 0 or more"),
        ('[models."m"]\ninput = "1"\noutput = 1', "input must be a number"),
        ('[models."m"]\ninput = true\noutput = 1', "input must be a number"),
        ('[models."m"]\ninput = 1\noutput = 1\nprice = 1', "price is not one of"),
        ("models.m = 3", "write input, cached and output"),
    ],
)
def test_a_wrong_price_list_names_what_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    listed = tmp_path / "prices.toml"
    listed.write_text(text)
    with pytest.raises(OperatorError, match=words):
        Prices(listed)


def test_a_price_list_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match=r"nowhere\.toml cannot be read"):
        Prices(tmp_path / "nowhere.toml")

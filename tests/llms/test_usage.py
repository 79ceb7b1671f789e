"""Tokens and costs: of one answer, and what both adapters promise, over real HTTP."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError, LLMAnswerError
from graphsearch.llms import Call, Prices, Usage, metered, record
from graphsearch.llms.usage import token_counts
from tests.llms.conftest import Make
from tests.llms.llm_server import LLMServer, fail, reply, sent

COUNTS = st.integers(min_value=0, max_value=10**9)


def usage(input: int = 1, prices: Prices | None = None) -> Usage:
    return Usage(answers=1, input_tokens=input, output_tokens=1).priced(prices)


def test_costs_are_by_the_million() -> None:
    tokens = Usage(input_tokens=3_000_000, cached_tokens=1_000_000, output_tokens=500_000)
    assert Prices(input=2, output=10, cached=0.5).cost(tokens) == pytest.approx(2 * 2 + 0.5 + 5)
    assert Prices(input=2, output=10).cost(tokens) == pytest.approx(3 * 2 + 5)


def test_prices_below_zero_are_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        Prices(input=-1, output=float("nan"), cached=-1)
    assert len(caught.value.faults) == 3


@given(COUNTS, COUNTS, COUNTS)
def test_counts_are_taken_only_where_the_cached_are_among_the_input(input: int, output: int, cached: int) -> None:
    found = token_counts(input, output, cached)
    assert (found is None) == (cached > input)
    assert found is None or found == Usage(answers=1, input_tokens=input, cached_tokens=cached, output_tokens=output)


@pytest.mark.parametrize("value", [-1, 10**400, True, 1.0, "1", None])
def test_what_can_be_no_count_is_none(value: object) -> None:
    assert token_counts(value, 1) is token_counts(1, value) is token_counts(1, 1, value) is None


def test_a_cost_that_is_not_known_makes_the_sum_unknown() -> None:
    priced = usage(prices=Prices(input=1e6, output=0))
    assert (priced + priced).cost == 2.0
    assert (priced + usage()).cost is None
    both = priced + Usage(answers=1, unreported=1).priced(Prices(input=1, output=1))
    assert (both.answers, both.unreported, both.input_tokens, both.cost) == (2, 1, 1, None)


async def test_a_meter_counts_the_tasks_started_inside_and_no_others() -> None:
    outside = asyncio.Event()

    async def later() -> None:
        await outside.wait()
        record(Call("other", usage()))

    stranger = asyncio.create_task(later())
    with metered() as meter:
        outside.set()
        await stranger
        await asyncio.gather(*(asyncio.to_thread(record, Call("mine", usage(number))) for number in range(3)))
    record(Call("after", usage()))
    assert [call.model for call in meter.calls] == ["mine"] * 3
    assert meter.total.input_tokens == 3


def test_a_meter_that_counted_nothing() -> None:
    with metered() as meter:
        pass
    assert meter.total == Usage()
    assert meter.calls == []


SCHEMA = {
    "type": "object",
    "properties": {"hops": {"type": "integer", "maximum": 3}, "types": {"type": "array", "items": {"type": "string"}}},
    "required": ["hops", "types"],
    "additionalProperties": False,
}
PRICES = Prices(input=3.0, output=15.0, cached=0.5)
COST = (60 * 3.0 + 40 * 0.5 + 20 * 15.0) / 1e6


async def test_tokens_and_costs_are_counted_by_call_and_in_all(make: Make) -> None:
    llm = make(prices=PRICES)
    await llm.ask("before")
    with metered() as outer:
        with metered() as inner:
            await asyncio.gather(llm.ask("a"), llm.ask("b"))
        await llm.ask_json("c", SCHEMA)
    assert [call.model for call in outer.calls] == ["model-1"] * 3
    first = inner.calls[0].usage
    assert (first.answers, first.input_tokens, first.cached_tokens, first.output_tokens) == (1, 100, 40, 20)
    assert first.cost == pytest.approx(COST)
    assert inner.total.input_tokens == 200
    assert (llm.usage.answers, llm.usage.input_tokens, llm.usage.output_tokens) == (4, 400, 80)
    assert llm.usage.cost == pytest.approx(4 * COST)
    assert outer.total.cost == pytest.approx(3 * COST)


async def test_without_prices_there_is_no_cost(make: Make) -> None:
    llm = make()
    assert llm.usage == Usage()
    await llm.ask("a")
    assert llm.usage.output_tokens == 20
    assert llm.usage.cost is None


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        [],
        {"prompt_tokens": -1, "completion_tokens": 1, "input_tokens": -1, "output_tokens": 1},
        {"prompt_tokens": "9", "completion_tokens": 1, "input_tokens": "9", "output_tokens": 1},
        {"prompt_tokens": 1.5, "completion_tokens": True, "input_tokens": 1, "output_tokens": True},
        {"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 2}},
    ],
)
async def test_an_answer_without_counts_is_counted_as_such(make: Make, llm_server: LLMServer, usage: object) -> None:
    content = [{"type": "text", "text": "yes"}]
    answer = {"choices": [{"message": {"content": "yes"}}], "content": content, "usage": usage}
    llm_server.answers.append(sent(answer))
    llm = make(prices=PRICES)
    assert await llm.ask("a") == "yes"
    assert (llm.usage.answers, llm.usage.unreported, llm.usage.input_tokens) == (1, 1, 0)
    assert llm.usage.cost is None


async def test_answers_that_are_refused_here_are_paid_all_the_same(make: Make, llm_server: LLMServer) -> None:
    llm_server.answers.extend([fail(500), reply("no idea")])
    llm = make(prices=PRICES)
    with metered() as meter, pytest.raises(LLMAnswerError):
        await llm.ask_json("Which?", SCHEMA)
    assert len(meter.calls) == 1
    assert meter.total == llm.usage
    assert llm.usage.cost == pytest.approx(COST)

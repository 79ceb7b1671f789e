"""What both adapters promise of tokens and costs, over real HTTP."""

from __future__ import annotations

import asyncio

import pytest

from graphsearch.errors import LLMAnswerError
from graphsearch.llms import Prices, Usage, metered
from tests.llms.conftest import Make
from tests.llms.llm_server import LLMServer, fail, reply, sent

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

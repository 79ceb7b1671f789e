"""A budget bounds what is asked: before a call, whoever asks, however many ask at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import BudgetExhaustedError, InvalidInputError, LLMError
from graphsearch.llms import Budget, BudgetedLLM, Call, Usage, metered, record
from graphsearch.llms.usage import _AROUND
from graphsearch.testing.fakes import EchoLLM, WordCounter
from tests.llms.conftest import Make
from tests.llms.llm_server import LLMServer, fail

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


async def test_calls_are_counted_before_they_are_made() -> None:
    llm, budget = EchoLLM(), Budget(calls=2)
    budgeted = BudgetedLLM(llm, budget)
    assert [await budgeted.ask("a"), await budgeted.ask("b")] == ["a", "b"]
    with pytest.raises(BudgetExhaustedError, match="budget of 2 calls"):
        await budgeted.ask("c")
    assert (llm.asked, budget.spent_calls) == (["a", "b"], 2)


async def test_tokens_are_those_a_model_reports_or_else_counted(make: Make) -> None:
    budget = Budget(tokens=10_000, counter=WordCounter())
    await BudgetedLLM(make(), budget).ask("one two three")
    assert budget.spent_tokens == 120  # as the server reports
    await BudgetedLLM(EchoLLM("four five"), budget).ask("one two three")
    assert budget.spent_tokens == 125


async def test_data_is_asked_for_and_counted_with_its_schema(make: Make) -> None:
    budget = Budget(tokens=10_000)
    assert await BudgetedLLM(make(), budget).ask_json("a", SCHEMA) == {"a": 1}
    assert budget.spent_tokens == 120
    plain = EchoLLM('{"a": 1}')
    assert await BudgetedLLM(plain, budget).ask_json("a", SCHEMA) == {"a": 1}
    assert budget.spent_tokens == 120 + len(f"a\n{json.dumps(SCHEMA)}") + len('{"a": 1}')


async def test_a_call_that_may_need_more_than_is_left_is_not_made() -> None:
    llm = EchoLLM("yes")
    budget = Budget(tokens=100, answer_tokens=50)
    with pytest.raises(BudgetExhaustedError, match=f"0 are spent, and a call may need {19 + _AROUND + 50}"):
        await BudgetedLLM(llm, budget).ask("x" * 19)
    assert (llm.asked, budget.spent_calls) == ([], 0)
    await BudgetedLLM(llm, budget).ask("x" * 18)
    assert budget.spent_tokens == 18 + len("yes")


async def test_a_call_that_fails_is_taken_to_have_cost_all_that_it_might(make: Make, llm_server: LLMServer) -> None:
    budget = Budget(tokens=10_000, answer_tokens=500)
    llm_server.answers.append(fail(400))
    with pytest.raises(LLMError):
        await BudgetedLLM(make(), budget).ask("abc")
    assert budget.spent_tokens == 3 + _AROUND + 500


async def test_what_an_adapter_tries_again_is_one_call(make: Make, llm_server: LLMServer) -> None:
    budget = Budget(calls=1)
    llm_server.answers.append(fail(503))
    await BudgetedLLM(make(), budget).ask("abc")
    assert (len(llm_server.requests), budget.spent_calls, budget.spent_tokens) == (2, 1, 120)


async def test_outer_meters_count_as_ever(make: Make) -> None:
    with metered() as meter:
        await BudgetedLLM(make(), Budget()).ask("abc")
    assert meter.total.answers == 1


class Thinking:
    """Takes a while, and then as many tokens as it is asked for; knows how many it took in all."""

    def __init__(self) -> None:
        self.taken = 0

    async def ask(self, text: str) -> str:
        await asyncio.sleep(0)
        tokens = int(text)
        self.taken += tokens
        record(Call("thinking", Usage(answers=1, input_tokens=0, output_tokens=tokens)))
        return "done"


@given(st.integers(0, 400), st.integers(0, 8), st.lists(st.integers(1, 60), max_size=12))
async def test_many_at_once_never_spend_more_than_there_is(tokens: int, calls: int, needs: list[int]) -> None:
    llm = Thinking()
    budget = Budget(tokens=tokens, calls=calls, answer_tokens=60)
    asked = await asyncio.gather(*(BudgetedLLM(llm, budget).ask(str(need)) for need in needs), return_exceptions=True)
    assert all(each == "done" or isinstance(each, BudgetExhaustedError) for each in asked)
    assert llm.taken == budget.spent_tokens <= tokens
    assert asked.count("done") == budget.spent_calls <= calls


async def test_who_has_to_wait_for_what_others_give_back_waits() -> None:
    llm = Thinking()
    budget = Budget(tokens=100, answer_tokens=60)  # holds one call at a time
    asked = [BudgetedLLM(llm, budget).ask("1") for _ in range(4)]
    assert await asyncio.gather(*asked) == ["done"] * 4
    assert budget.spent_tokens == 4


async def test_who_gives_up_waiting_leaves_nothing_held() -> None:
    llm = Thinking()
    budget = Budget(tokens=100, answer_tokens=60)
    first, second, third = (asyncio.create_task(BudgetedLLM(llm, budget).ask("1")) for _ in range(3))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(first, second, third, return_exceptions=True)
    assert second.cancelled()
    assert (first.result(), third.result(), budget.spent_calls) == ("done", "done", 2)


async def test_models_may_share_a_budget() -> None:
    budget = Budget(calls=1)
    await BudgetedLLM(EchoLLM(), budget).ask("a")
    with pytest.raises(BudgetExhaustedError):
        await BudgetedLLM(EchoLLM(), budget).ask("a")


async def test_it_has_the_name_of_its_model(make: Make) -> None:
    budget = Budget()
    assert BudgetedLLM(make("model-7"), budget).name == "model-7"
    assert BudgetedLLM(EchoLLM(), budget).name == ""
    assert BudgetedLLM(EchoLLM(), budget).budget is budget


@pytest.mark.parametrize("given", [{"calls": -1}, {"tokens": -1}, {"answer_tokens": 0}, {"calls": "3"}])
def test_limits_are_checked(given: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        Budget(**given)

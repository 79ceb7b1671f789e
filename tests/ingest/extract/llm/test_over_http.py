"""The extractor and a budget over real HTTP: valid, invalid, slow and truncated answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from graphsearch.errors import ExtractionError, LLMTruncatedError, LLMUnavailableError
from graphsearch.ingest import Ingestor
from graphsearch.llms import AnthropicLLM, Budget, BudgetedLLM, OpenAILLM, metered
from tests.ingest.extract.llm.model import extractor, memory, passages, states, triples
from tests.ingest.folders import Parts, triplets
from tests.llms.conftest import Make, llm_server, make, make_anthropic, make_openai  # noqa: F401 - fixtures
from tests.llms.llm_server import Answer, LLMServer, anthropic_message, chat_completion, fail, hang, reply, sent

MEMORIES = [memory("Ann knows Bob.", "a"), memory("Cy thanks Di.", "b")]


def reading(change: Callable[[dict[str, Any]], None] = lambda _: None) -> Answer:
    """What a good model says of the passages that it is asked about, changed at will."""

    def answer(handler: Any, body: dict[str, Any]) -> None:
        given = passages(body["messages"][0]["content"])
        data: dict[str, Any] = {"passages": [{"passage": each["passage"], **states(each)} for each in given]}
        change(data)
        reply(data=data)(handler, body)

    return answer


def cut_off(handler: Any, body: dict[str, Any]) -> None:
    """An answer that broke off at its limit of tokens, by either protocol."""
    if "max_tokens" in body and handler.path.endswith("/messages"):
        sent(anthropic_message([{"type": "text", "text": '{"pass'}], stop_reason="max_tokens"))(handler, body)
    else:
        sent(chat_completion('{"pass', finish_reason="length"))(handler, body)


async def test_memories_are_read_and_metered(make: Make, llm_server: LLMServer) -> None:  # noqa: F811
    llm_server.answers.append(reading())
    with metered() as meter:
        extracted = await extractor(make()).extract(MEMORIES)
    assert [triples(each) for each in extracted] == [[("Ann", "knows", "Bob")], [("Cy", "thanks", "Di")]]
    assert (len(llm_server.requests), meter.total.answers) == (1, 1)
    assert extractor(make("model-7")).name == "llm/1:model-7"


async def test_openai_keeps_the_schema_to_the_letter(make_openai: Make, llm_server: LLMServer) -> None:  # noqa: F811
    llm_server.answers.append(reading())
    await extractor(make_openai()).extract(MEMORIES)
    assert llm_server.requests[0]["response_format"]["json_schema"]["strict"] is True


async def test_one_item_that_breaks_the_schema_harms_no_other(make: Make, llm_server: LLMServer) -> None:  # noqa: F811
    def breaks(data: dict[str, Any]) -> None:
        data["passages"][1]["relations"].append({"source": "Cy", "confidence": "high"})

    llm_server.answers.append(reading(breaks))
    extracted = await extractor(make()).extract(MEMORIES)
    assert [len(triples(each)) for each in extracted] == [1, 1]
    assert (len(extracted[1].refused), len(llm_server.requests)) == (1, 1)


async def test_no_json_is_asked_for_again(make_openai: Make, llm_server: LLMServer) -> None:  # noqa: F811
    llm_server.answers.extend([reply("Of course! [1, 2"), reading()])
    extracted = await extractor(make_openai()).extract(MEMORIES)
    assert [len(triples(each)) for each in extracted] == [1, 1]
    assert len(llm_server.requests) == 2


async def test_no_json_twice_is_a_typed_error(make_openai: Make, llm_server: LLMServer) -> None:  # noqa: F811
    llm_server.answers.extend([reply("Of course!"), reply("Here: {")])
    (extracted,) = await extractor(make_openai()).extract(MEMORIES[:1])
    assert isinstance(extracted.unread, ExtractionError)
    assert "the answer is not JSON" in str(extracted.unread)


async def test_an_answer_that_breaks_off_is_asked_for_in_halves(make: Make, llm_server: LLMServer) -> None:  # noqa: F811
    llm_server.answers.extend([cut_off, reading(), cut_off])
    first, second = await extractor(make()).extract(MEMORIES)
    assert (len(triples(first)), len(llm_server.requests)) == (1, 3)
    assert isinstance(second.unread, ExtractionError)
    assert isinstance(second.unread.__cause__, LLMTruncatedError)


class InTurn:
    """Asks one model after another."""

    def __init__(self, *models: OpenAILLM | AnthropicLLM) -> None:
        self._models = iter(models)

    async def ask(self, text: str) -> str:
        return await next(self._models).ask(text)

    async def ask_json(self, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        return await next(self._models).ask_json(text, schema)


@pytest.mark.parametrize("failure", [hang, fail(503)])
async def test_a_model_that_is_slow_or_down_is_an_error_and_what_was_read_stays(
    make: Make,  # noqa: F811
    llm_server: LLMServer,  # noqa: F811
    failure: Answer,
) -> None:
    llm_server.answers.extend([reading(), reading()])
    llm_server.stuck["slow or down"] = failure
    parts = Parts()
    model = InTurn(make(), make("slow or down", timeout=0.5, max_retries=0), make())  # only failures are short of time
    llm = extractor(model, memories=1, at_once=1)
    with pytest.raises(LLMUnavailableError):
        await Ingestor(parts, extractor=llm).remember(MEMORIES)
    assert await triplets(parts.store) == {("Ann", "knows", "Bob")}
    assert (await Ingestor(parts, extractor=llm).remember(MEMORIES)).changed == 1


async def test_a_budget_of_tokens_counts_what_the_server_says(make: Make, llm_server: LLMServer) -> None:  # noqa: F811
    llm_server.answers.extend([reading()] * 9)
    budget = Budget(tokens=10_000, answer_tokens=4_000)
    parts = Parts()
    llm = extractor(BudgetedLLM(make(), budget), memories=1, at_once=1)
    given = [memory(f"A{number} knows B{number}.", str(number)) for number in range(9)]
    report = await Ingestor(parts, extractor=llm).remember(given)
    assert (report.changed, report.left, budget.spent_tokens) == (9, 0, 9 * 120)
    prompt = len(llm_server.requests[0]["messages"][0]["content"]) + len(json.dumps(llm_server.requests[0]))
    tight = BudgetedLLM(make(), Budget(tokens=prompt, answer_tokens=prompt))
    assert (await Ingestor(Parts(), extractor=extractor(tight)).remember(given)).left == 9

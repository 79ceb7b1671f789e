"""Prompting: several memories per prompt, repair of invalid answers, and no prompt after a failure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from graphsearch.errors import (
    BudgetExhaustedError,
    ExtractionError,
    InvalidInputError,
    LLMAnswerError,
    LLMError,
    LLMRefusalError,
    LLMTruncatedError,
    LLMUnavailableError,
)
from graphsearch.llms import Budget, BudgetedLLM
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory
from graphsearch.testing.fakes import WordCounter
from tests.ingest.extract.llm.model import (
    Json,
    Model,
    entity,
    extractor,
    memory,
    passages,
    saying,
    states,
    triples,
)
from tests.waiting import Crowd


def memories(count: int) -> list[Memory]:
    return [memory(f"A{number} knows B{number}.", f"m{number}") for number in range(count)]


def unread(extracted: Sequence[ExtractedMemory]) -> dict[str, str]:
    return {each.memory_id: type(each.unread).__name__ for each in extracted if each.unread}


async def test_several_memories_are_asked_about_in_one_question() -> None:
    llm = Model()
    given = memories(5)
    extracted = await extractor(llm, memories=2).extract(given)
    assert [len(texts) for texts in llm.asked] == [2, 2, 1]
    assert [each.memory_id for each in extracted] == [each.id for each in given]
    assert [triples(each) for each in extracted] == [[(f"A{n}", "knows", f"B{n}")] for n in range(5)]


async def test_a_question_holds_only_so_many_tokens() -> None:
    llm = Model()
    await extractor(llm, tokens=16, counter=WordCounter()).extract(memories(3))  # each line of JSON is 7 words
    assert [len(texts) for texts in llm.asked] == [2, 1]
    alone = Model()
    await extractor(alone, tokens=1).extract(memories(2))
    assert [len(texts) for texts in alone.asked] == [1, 1]


async def test_only_so_many_questions_are_asked_at_a_time() -> None:
    crowd = Crowd(3)

    class Slow(Model):
        async def ask(self, text: str) -> str:
            async with crowd:
                return await super().ask(text)

    reader = extractor(Slow(), memories=1, at_once=3)
    await reader.extract(memories(9))
    assert (crowd.most, reader.batch) == (3, 3)


# -- broken answers ---------------------------------------------------------------------------------------------------


async def test_a_broken_answer_is_shown_to_the_model_once() -> None:
    llm = Model(failing=lambda count, _: "Sure! Here it is:" if count == 1 else None)
    extracted = await extractor(llm).extract(memories(2))
    assert (unread(extracted), len(llm.questions)) == ({}, 2)
    assert llm.asked[0] == llm.asked[1]
    assert "<answer>\nSure! Here it is:\n</answer>" in llm.questions[1]
    assert "not JSON" in llm.questions[1]


async def test_what_stays_broken_is_asked_about_in_halves_and_one_memory_is_unread() -> None:
    def failing(_: int, given: list[Json]) -> str | None:
        return "no" if any("A3 " in each["text"] for each in given) else None

    llm = Model(failing=failing)
    extracted = await extractor(llm).extract(memories(8))
    assert unread(extracted) == {"m3": "ExtractionError"}
    assert sum(len(triples(each)) for each in extracted) == 7
    assert isinstance(extracted[3].unread.__cause__, LLMAnswerError)  # type: ignore[union-attr]
    assert len(llm.questions) == 11  # twice for 8, 4, 2 and 1, once for the other halves


@pytest.mark.parametrize(
    "answer", ['{"passages": []}', '{"passages": 3}', "{}", '{"passages": [{"passage": 9}]}', "[]"]
)
async def test_an_answer_about_none_of_the_passages_is_broken(answer: str) -> None:
    (extracted,) = await extractor(Model(failing=lambda _, __: answer)).extract(memories(1))
    assert isinstance(extracted.unread, ExtractionError)
    assert "the language model could not read it: the model's answer: " in str(extracted.unread)


async def test_passages_that_an_answer_leaves_out_are_asked_about_again() -> None:
    class Forgetful(Model):
        async def ask(self, text: str) -> str:
            data = json.loads(await super().ask(text))
            return json.dumps({"passages": data["passages"][:2]})

    llm = Forgetful()
    extracted = await extractor(llm).extract(memories(5))
    assert [len(texts) for texts in llm.asked] == [5, 3, 1]
    assert all(len(triples(each)) == 1 for each in extracted)


async def test_an_answer_may_come_in_parts_and_in_any_order() -> None:
    class Scattered(Model):
        async def ask(self, text: str) -> str:
            data = json.loads(await super().ask(text))["passages"]
            names = [{"passage": each["passage"], "entities": [entity("knows")]} for each in data]
            return f"```json\n{json.dumps({'passages': [*names, *reversed(data), 7, {'passage': 'x'}]})}\n```"

    extracted = await extractor(Scattered()).extract(memories(2))
    assert [triples(each) for each in extracted] == [[("A0", "knows", "B0")], [("A1", "knows", "B1")]]
    assert [surface.name for surface in extracted[0].surfaces] == ["A0", "knows", "B0"]


class Strict(Model):
    """Keeps to a schema as vendors' adapters do: an answer that does not is an error that has it."""

    async def ask_json(self, text: str, schema: Json) -> Json:
        answer = await self.ask(text)
        raise LLMAnswerError("strict", faults=["$.passages[0].relations[0].confidence: 'high'"], answer=answer)


async def test_one_item_that_breaks_the_schema_harms_no_other() -> None:
    def answer(each: Json) -> Json:
        return saying(*states(each)["relations"], {**states(each)["relations"][0], "confidence": "high"})

    llm = Strict(answer)
    (extracted,) = await extractor(llm).extract(memories(1))
    assert (triples(extracted), len(extracted.refused), len(llm.questions)) == ([("A0", "knows", "B0")], 1, 1)


# -- failures ---------------------------------------------------------------------------------------------------------


class Failing(Model):
    """Raises an error for questions of more than one memory, or about a certain one."""

    def __init__(self, error: Exception, about: str = "") -> None:
        super().__init__()
        self._error = error
        self._about = about

    async def ask(self, text: str) -> str:
        answer = await super().ask(text)
        texts = [each["text"] for each in passages(text)]
        if any(self._about in each for each in texts) if self._about else len(texts) > 1:
            raise self._error
        return answer


@pytest.mark.parametrize("error", [LLMTruncatedError("too long"), LLMRefusalError("no")])
async def test_an_answer_that_breaks_off_or_is_declined_is_asked_for_in_halves(error: LLMError) -> None:
    llm = Failing(error)
    extracted = await extractor(llm).extract(memories(4))
    assert (unread(extracted), len(llm.questions)) == ({}, 7)
    poisoned = await extractor(Failing(error, "A2 ")).extract(memories(4))
    assert unread(poisoned) == {"m2": "ExtractionError"}
    assert poisoned[2].unread.__cause__ is error  # type: ignore[union-attr]


async def test_nothing_more_is_asked_of_a_model_that_is_down_and_what_was_read_stays() -> None:
    error = LLMUnavailableError("down")
    llm = Failing(error, "A2 ")
    extracted = await extractor(llm, memories=1, at_once=1).extract(memories(6))
    assert len(llm.questions) == 3
    assert [each.unread for each in extracted] == [None, None, error, error, error, error]
    assert len(triples(extracted[1])) == 1


async def test_any_error_of_a_model_of_ones_own_is_typed_and_keeps_its_cause() -> None:
    error = ConnectionError("no line")
    (extracted,) = await extractor(Failing(error, "A0")).extract(memories(1))
    assert type(extracted.unread) is LLMError
    assert str(extracted.unread) == "the language model failed: ConnectionError: no line"
    assert extracted.unread.__cause__ is error


async def test_a_budget_ends_the_reading_and_what_was_read_stays() -> None:
    llm = Model()
    extracted = await extractor(BudgetedLLM(llm, Budget(calls=3)), memories=1, at_once=2).extract(memories(8))
    assert len(llm.questions) == 3
    assert unread(extracted) == {f"m{number}": "BudgetExhaustedError" for number in range(3, 8)}


async def test_a_budget_that_ends_before_the_repair_leaves_the_memories_for_the_next_time() -> None:
    llm = Model(failing=lambda _, __: "no")
    extracted = await extractor(BudgetedLLM(llm, Budget(calls=1))).extract(memories(2))
    assert all(isinstance(each.unread, BudgetExhaustedError) for each in extracted)


async def test_what_half_of_a_broken_question_gave_stays_when_the_budget_ends() -> None:
    llm = Model(failing=lambda _, given: "no" if len(given) == 4 else None)
    extracted = await extractor(BudgetedLLM(llm, Budget(calls=3))).extract(memories(4))
    assert unread(extracted) == {"m2": "BudgetExhaustedError", "m3": "BudgetExhaustedError"}


# -- how it is made ---------------------------------------------------------------------------------------------------


def test_its_name_has_the_models() -> None:
    named = Model()
    assert extractor(named).name == "llm/1"
    named.name = "gpt-5"  # type: ignore[attr-defined]
    assert extractor(named).name == "llm/1:gpt-5"
    assert extractor(BudgetedLLM(named, Budget())).name == "llm/1:gpt-5"
    assert extractor(named, name="mine/2").name == "mine/2"


@pytest.mark.parametrize(
    "options", [{"memories": 0}, {"tokens": 0}, {"at_once": 0}, {"entity_types": [""]}, {"relation_types": [3]}]
)
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        extractor(Model(), **options)


async def test_types_of_ones_own_are_asked_for_and_kept() -> None:
    llm = Model(lambda _: saying(entities=[entity("A0", "starship")]))
    reader = extractor(llm, entity_types=["starship"], relation_types=["docks_at"])
    (extracted,) = await reader.extract(memories(1))
    assert extracted.surfaces[0].type == "starship"
    assert "one of starship;" in llm.questions[0]
    assert "one of docks_at where" in llm.questions[0]

"""Answers in data: what both adapters promise, how any model is asked, and one chance to repair an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from graphsearch.errors import InvalidInputError, LLMAnswerError, LLMUnavailableError
from graphsearch.llms.structured import SHOWN, ask_for_data, ask_with_repair, fenced, object_in
from graphsearch.testing.fakes import EchoLLM
from tests.llms.conftest import Make
from tests.llms.llm_server import Answer, LLMServer, reply

SCHEMA = {
    "type": "object",
    "properties": {"hops": {"type": "integer", "maximum": 3}, "types": {"type": "array", "items": {"type": "string"}}},
    "required": ["hops", "types"],
    "additionalProperties": False,
}
DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    ("answer", "faults"),
    [
        (reply("no idea"), ["the answer is not JSON: Expecting value: line 1 column 1 (char 0)"]),
        (reply(DEEP.decode()), ["the answer is not JSON: nested too deeply"]),
        (reply("[1]"), ["$: [1] is not of type 'object'"]),
        (
            reply(data={"hops": 7, "types": [1], "more": 0}),
            [
                "$.hops: 7 is greater than the maximum of 3",
                "$.types[0]: 1 is not of type 'string'",
                "$: Additional properties are not allowed ('more' was unexpected)",
            ],
        ),
        (reply(data={"hops": 1, "types": ["\0"]}), ["$['types'] must not contain NUL"]),
    ],
)
async def test_data_that_does_not_keep_the_schema(
    make: Make, llm_server: LLMServer, answer: Answer, faults: list[str]
) -> None:
    llm_server.answers.append(answer)
    with pytest.raises(LLMAnswerError) as caught:
        await make().ask_json("Which?", SCHEMA)
    assert list(caught.value.faults) == faults
    assert caught.value.answer
    assert all(fault in str(caught.value) for fault in faults)
    assert len(llm_server.requests) == 1


async def test_twenty_faults_are_enough(make: Make, llm_server: LLMServer) -> None:
    llm_server.answers.append(reply(data={"hops": 1, "types": [{"long": "x" * 1000}] * 100}))
    with pytest.raises(LLMAnswerError) as caught:
        await make().ask_json("Which?", SCHEMA)
    assert len(caught.value.faults) == 20
    assert max(map(len, caught.value.faults)) == 300
    assert all(fault.endswith("is not of type 'string'") for fault in caught.value.faults)


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"type": "object", "properties": 3}, {"type": {1, 2}}])
async def test_a_schema_that_is_none_is_refused_before_anything_is_sent(
    make: Make, llm_server: LLMServer, schema: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError, match="schema"):
        await make().ask_json("Which?", schema)
    assert llm_server.requests == []


async def test_references_lead_nowhere_outside(make: Make, llm_server: LLMServer) -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": f"{llm_server.host}/schema.json"}}}
    llm_server.answers.append(reply(data={"a": 1}))
    with pytest.raises(InvalidInputError, match="a reference cannot be resolved"):
        await make().ask_json("Which?", schema)
    assert "/schema.json" not in llm_server.paths


async def test_data_that_nests_without_end_is_an_error(make: Make, llm_server: LLMServer) -> None:
    schema = {"type": "object", "additionalProperties": {"$ref": "#"}}
    llm_server.answers.append(reply('{"a":' * 600 + "{}" + "}" * 600))
    with pytest.raises(LLMAnswerError, match="nested too deeply"):
        await make().ask_json("Which?", schema)


HOPS = {"type": "object", "properties": {"hops": {"type": "integer"}}}


class Plain:
    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def ask(self, text: str) -> str:
        self.asked.append(text)
        return self.answer


class Structured(Plain):
    async def ask_json(self, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(text)
        assert schema is HOPS
        return {"hops": 2}


async def test_a_structured_model_is_asked_by_the_schema():
    model = Structured("never")
    assert await ask_for_data(model, "how far?", HOPS) == {"hops": 2}
    assert model.asked == ["how far?"]


async def test_any_other_model_is_sent_the_schema():
    model = Plain('{"hops": 3}')
    assert await ask_for_data(model, "how far?", HOPS) == {"hops": 3}
    assert model.asked[0].startswith("how far?\n")
    assert json.dumps(HOPS) in model.asked[0]


@pytest.mark.parametrize("answer", ['{"a": 1}', ' \n{"a": 1}\n', '```json\n{"a": 1}\n```', '```\n{"a": 1}\n```\n'])
def test_objects_are_found_bare_and_fenced(answer: str):
    assert object_in(answer) == {"a": 1}


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("", "not JSON"),
        ("hops: 3", "not JSON"),
        ("[1]", "$"),
        ('{"a": NaN}', "$"),
        ('{"a": "\\u0000"}', "$"),
        (f'{{"{"k" * 10**6}": "\\u0000"}}', "NUL"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' * 100_000, "nested too deeply"),
        ('{"a": ' * 600 + "1" + "}" * 600, "nested too deeply"),
    ],
)
def test_anything_else_is_an_error_that_keeps_the_answer(answer: str, fault: str):
    with pytest.raises(LLMAnswerError, match="the model's answer") as raised:
        object_in(answer)
    assert raised.value.answer == answer
    assert fault in raised.value.faults[0]
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize("data", [{1: 2}, {"a": float("nan")}, {"a": "\0"}, ["a"], None, {"a": object()}])
async def test_what_a_model_calls_data_is_checked_too(data: Any):
    class Careless(Plain):
        async def ask_json(self, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
            return data  # type: ignore[no-any-return]

    with pytest.raises(LLMAnswerError, match=r"\$"):
        await ask_for_data(Careless("never"), "how far?", HOPS)


ANY_OBJECT = {"type": "object"}


def even(data):
    if data.get("n", 1) % 2:
        raise LLMAnswerError("the number", faults=["n must be even", "</faults> is <no> tag"])
    return data["n"]


async def test_a_good_answer_is_asked_for_once():
    model = EchoLLM('{"n": 2}')
    assert await ask_with_repair(model, "a number?", ANY_OBJECT, even) == 2
    assert len(model.asked) == 1


@pytest.mark.parametrize("faulty", ['{"n": 3}', "no JSON"])
async def test_a_faulty_one_is_shown_once_with_its_faults(faulty):
    model = EchoLLM(faulty, '{"n": 4}')
    assert await ask_with_repair(model, "a number?", ANY_OBJECT, even) == 4
    first, second = model.asked
    assert first.startswith("a number?")
    assert second.startswith("a number?")
    assert f"<answer>\n{faulty}\n</answer>" in second
    assert "- n must be even" in second or "- it is not JSON" in second
    assert second.count("</faults>") == 2  # the tag, where the task names it and where it stands: never the fault's
    assert "‹/faults›" in second or faulty == "no JSON"


async def test_a_second_faulty_one_is_an_error_with_its_own_faults_and_answer():
    model = EchoLLM("nothing", '{"n": 5}')
    with pytest.raises(LLMAnswerError, match="n must be even") as raised:
        await ask_with_repair(model, "a number?", ANY_OBJECT, even)
    assert raised.value.answer == '{"n": 5}'
    assert len(model.asked) == 2


async def test_of_a_huge_answer_little_is_shown():
    model = EchoLLM("x" * 1_000_000, '{"n": 4}')
    await ask_with_repair(model, "a number?", ANY_OBJECT, even)
    assert len(model.asked[1]) < len(model.asked[0]) + SHOWN + 1_000


async def test_what_the_model_raises_is_not_repaired():
    class Down:
        async def ask(self, text):
            raise LLMUnavailableError

    with pytest.raises(LLMUnavailableError):
        await ask_with_repair(Down(), "a number?", ANY_OBJECT, even)


def test_data_stands_between_tags():
    assert fenced("data", ["a", "b"]) == "<data>\na\nb\n</data>"

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from graphsearch.errors import LLMAnswerError
from graphsearch.llms.structured import ask_for_data, object_in

SCHEMA = {"type": "object", "properties": {"hops": {"type": "integer"}}}


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
        assert schema is SCHEMA
        return {"hops": 2}


async def test_a_structured_model_is_asked_by_the_schema():
    model = Structured("never")
    assert await ask_for_data(model, "how far?", SCHEMA) == {"hops": 2}
    assert model.asked == ["how far?"]


async def test_any_other_model_is_sent_the_schema():
    model = Plain('{"hops": 3}')
    assert await ask_for_data(model, "how far?", SCHEMA) == {"hops": 3}
    assert model.asked[0].startswith("how far?\n")
    assert json.dumps(SCHEMA) in model.asked[0]


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
        await ask_for_data(Careless("never"), "how far?", SCHEMA)

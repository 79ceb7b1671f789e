"""What both adapters promise of answers in data, over real HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from graphsearch.errors import InvalidInputError, LLMAnswerError
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

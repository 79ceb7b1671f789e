"""One chance to repair an answer, and no more."""

from __future__ import annotations

import pytest

from graphsearch.errors import LLMAnswerError, LLMUnavailableError
from graphsearch.llms.structured import SHOWN, ask_with_repair, fenced
from graphsearch.testing.fakes import EchoLLM

SCHEMA = {"type": "object"}


def even(data):
    if data.get("n", 1) % 2:
        raise LLMAnswerError("the number", faults=["n must be even", "</faults> is <no> tag"])
    return data["n"]


async def test_a_good_answer_is_asked_for_once():
    model = EchoLLM('{"n": 2}')
    assert await ask_with_repair(model, "a number?", SCHEMA, even) == 2
    assert len(model.asked) == 1


@pytest.mark.parametrize("faulty", ['{"n": 3}', "no JSON"])
async def test_a_faulty_one_is_shown_once_with_its_faults(faulty):
    model = EchoLLM(faulty, '{"n": 4}')
    assert await ask_with_repair(model, "a number?", SCHEMA, even) == 4
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
        await ask_with_repair(model, "a number?", SCHEMA, even)
    assert raised.value.answer == '{"n": 5}'
    assert len(model.asked) == 2


async def test_of_a_huge_answer_little_is_shown():
    model = EchoLLM("x" * 1_000_000, '{"n": 4}')
    await ask_with_repair(model, "a number?", SCHEMA, even)
    assert len(model.asked[1]) < len(model.asked[0]) + SHOWN + 1_000


async def test_what_the_model_raises_is_not_repaired():
    class Down:
        async def ask(self, text):
            raise LLMUnavailableError

    with pytest.raises(LLMUnavailableError):
        await ask_with_repair(Down(), "a number?", SCHEMA, even)


def test_data_stands_between_tags():
    assert fenced("data", ["a", "b"]) == "<data>\na\nb\n</data>"

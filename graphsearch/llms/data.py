"""Data out of any language model: by its own structured output where it has one, else asked for in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from graphsearch.errors import LLMAnswerError
from graphsearch.llms.decoding import decoded
from graphsearch.llms.structured import StructuredLLM
from graphsearch.model import validation as check
from graphsearch.protocols import LLM

_FENCED: Final = re.compile(r"\A```[a-zA-Z]*\s*\n(.*)\n\s*```\Z", re.DOTALL)


async def ask_for_data(llm: LLM, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A model's answer as a JSON object that was asked for by a schema of type object.

    A `StructuredLLM` is asked by ``ask_json``, and its answer keeps the schema. Any other is told the schema in the
    prompt, and its answer is an object of any shape: who asks checks it. Raises what the model raises, and
    `LLMAnswerError` for an answer that is no such object.
    """
    if callable(getattr(llm, "ask_json", None)):
        return _sound(await cast("StructuredLLM", llm).ask_json(text, schema))
    return object_in(await llm.ask(f"{text}\n\n{_in_words(schema)}"))


def object_in(answer: str) -> Mapping[str, Any]:
    """The JSON object that an answer is, perhaps fenced as a block of code. Raises `LLMAnswerError`."""
    bare = answer.strip()
    fenced = _FENCED.match(bare)
    try:
        data = decoded(fenced.group(1) if fenced else bare)
    except ValueError as error:
        raise LLMAnswerError("the model's answer", faults=[f"it is not JSON: {error}"], answer=answer) from error
    return _sound(data, answer)


def _sound(data: object, answer: str = "") -> Mapping[str, Any]:
    """What is a JSON object that every store could hold."""
    try:
        fault = check.json_object("$", data)
    except RecursionError:
        fault = "$ is nested too deep"
    if fault is not None or not isinstance(data, Mapping):
        raise LLMAnswerError("the model's answer", faults=[fault or "$ must be an object"], answer=answer)
    return data


def _in_words(schema: Mapping[str, Any]) -> str:
    return f"Answer with one JSON object that keeps this JSON schema, and with nothing else:\n{json.dumps(schema)}"

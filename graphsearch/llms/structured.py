"""Answers in data: who gives them, the schema that is asked by, and the check of what came back."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Protocol

from graphsearch._support.extras import load
from graphsearch.errors import MOST_FAULTS, InvalidInputError, LLMAnswerError
from graphsearch.llms.decoding import decoded
from graphsearch.model import validation as check
from graphsearch.protocols import LLM


class StructuredLLM(LLM, Protocol):
    """A language model that also answers in data."""

    async def ask_json(self, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The model's answer to a prompt, valid by a JSON schema of type object. `LLMAnswerError` when it is not."""
        ...


class Structure:
    """A JSON schema (draft 2020-12) of type object that answers must keep.

    Raises `InvalidInputError` for what is not such a schema; references are followed inside of it only.
    """

    def __init__(self, schema: Mapping[str, Any], *, extra: str) -> None:
        check.refuse("schema", check.json_object("schema", schema))
        check.refuse("schema", None if schema.get("type") == "object" else 'schema must have "type": "object"')
        jsonschema = load("jsonschema", extra=extra, purpose="ask_json")
        referencing = load("referencing", extra=extra, purpose="ask_json")
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            raise InvalidInputError("schema", [f"{error.json_path}: {error.message}"]) from error
        self._validator = jsonschema.Draft202012Validator(schema, registry=referencing.Registry())
        self._unresolvable = referencing.exceptions.Unresolvable

    def data(self, answer: str, where: str) -> dict[str, Any]:
        """The data in a model's answer. `LLMAnswerError` names every fault, where there are at most 20."""
        try:
            data = decoded(answer)
        except ValueError as error:
            raise LLMAnswerError(where, faults=[f"the answer is not JSON: {error}"], answer=answer) from error
        faults = self._faults(data)
        if faults or not isinstance(data, dict):
            raise LLMAnswerError(where, faults=faults, answer=answer)
        return data

    def _faults(self, data: object) -> list[str]:
        try:
            errors = islice(self._validator.iter_errors(data), MOST_FAULTS)
            faults = sorted(f"{error.json_path}: {error.message}" for error in errors)
            # Else what no store can hold, such as NUL or NaN.
            return faults or list(filter(None, [check.json_object("$", data)]))
        except RecursionError:
            return ["the answer is nested too deep"]
        except self._unresolvable as error:
            raise InvalidInputError("schema", [f"a reference leads nowhere: {error}"]) from error

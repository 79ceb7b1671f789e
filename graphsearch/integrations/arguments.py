"""Arguments of tools as models send them, and the facts that they state; for every kind of tool."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, model_validator

from graphsearch.ingest.sources.stated import read_stated


class Arguments(BaseModel):
    """Arguments as clients send them: null or empty for what they leave out, lists and objects as JSON text.

    Misspelt ones are faults, and so are arguments that would name a scope or a principal.
    """

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, given: Any) -> Any:
        given = _from_json(given)
        if not isinstance(given, dict):
            return given
        meant = {name: _from_json(value) if name in _structured(cls) else value for name, value in given.items()}
        needed = {name for name, field in cls.model_fields.items() if field.is_required()}
        absent = {
            name for name, value in meant.items() if value is None or (isinstance(value, str) and not value.strip())
        }
        return {name: value for name, value in meant.items() if name in needed or name not in absent}


@cache
def _structured(model: type[BaseModel]) -> frozenset[str]:
    """The fields of a model that take no text."""
    fields = model.model_json_schema()["properties"].items()
    kinds = {name: {one.get("type") for one in each.get("anyOf", [each])} for name, each in fields}
    return frozenset(name for name, each in kinds.items() if "string" not in each)


def _from_json(value: Any) -> Any:
    """A list, an object or null for its JSON text; anything else as it is."""
    try:
        read = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
    return read if isinstance(read, list | dict | None) else value


GOOD_FACTS: Final = """\
State what lasts and the text says: who works where, reports to whom, leads, uses, decided, prefers, lives where; \
status, deadline, budget; what is over, as `ended` or with `until`. One subject, one object, full names; dates as such \
or in the words of the text; as `quote` the words that prove it. No wishes, guesses, questions, small talk."""
"""What makes a good fact, for the model that states it."""


class StatedFact(Arguments):
    """A fact that a text says."""

    subject: str
    relation: str = Field(description="A verb or a noun, such as reports to, uses, status.")
    object: str = Field(default="", description="A name, or a value: a date, a state, an amount.")
    since: str = ""
    until: str = ""
    ended: bool = Field(default=False, description="It holds no longer.")
    quote: str = Field(default="", description="The words of the text that prove it.")
    subject_type: str = ""
    object_type: str = ""
    confidence: float | None = None


class StatedEntity(Arguments):
    """A name in a text."""

    name: str
    type: str = Field(description="Such as person, organisation, project, tool, place.")
    aliases: list[str] = Field(default_factory=list)
    description: str = ""


Facts = Annotated[list[StatedFact] | None, Field(max_length=500, description="What the text says, fact by fact.")]
Entities = Annotated[
    list[StatedEntity] | None, Field(max_length=500, description="Whom and what the text is about, with other names.")
]


def stated_of(facts: Sequence[StatedFact] | None, entities: Sequence[StatedEntity] | None) -> dict[str, Any]:
    """What they state, as ``facts`` and ``entities``. Raises `InvalidInputError` with every fault and its place."""
    given = {"facts": facts, "entities": entities}
    return read_stated(
        {name: [each.model_dump(exclude_defaults=True) for each in some or ()] for name, some in given.items()}
    )

"""Turn an async function into a tool: schema, hints, and validation of the arguments, some of which tools share."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypeVar

import attrs
from mcp.types import Tool as ListedTool
from mcp.types import ToolAnnotations
from pydantic import AfterValidator, BaseModel, Field, ValidationError, create_model

from graphsearch.errors import InvalidInputError
from graphsearch.integrations.arguments import GOOD_FACTS, Arguments
from graphsearch.integrations.mcp.service import Caller
from graphsearch.text.rendering import safe_text

Function = Callable[..., Awaitable[dict[str, Any]]]

M = TypeVar("M", bound=BaseModel)

_LINE_BREAK: Final = re.compile(r"(?<!\n)\n(?!\n)")
"""A line break inside a paragraph."""


@attrs.frozen(eq=False, kw_only=True)
class Tool:
    """A function ``async (caller, …) -> dict``; the parameters after the first are the arguments of the tool."""

    name: str
    description: str
    arguments: type[Arguments]
    hints: ToolAnnotations
    function: Function

    @property
    def writes(self) -> bool:
        """Whether it changes the graph."""
        return not self.hints.read_only_hint

    def listed(self, types: Sequence[str] = ()) -> ListedTool:
        """The tool as listed for clients; ``types`` are those of relations, where its description names some."""
        return ListedTool(
            name=self.name,
            description=self.description.replace("{good_facts}", GOOD_FACTS).replace("{types}", ", ".join(types)),
            input_schema=_untitled(self.arguments.model_json_schema()),
            annotations=self.hints,
        )

    async def run(self, caller: Caller, given: Mapping[str, Any]) -> dict[str, Any]:
        """Run the tool. Raises `InvalidInputError` that names every invalid argument, and what the tool raises."""
        checked = validated(self.arguments, given, self.name)
        return await self.function(caller, **{name: getattr(checked, name) for name in type(checked).model_fields})


def reads(function: Function) -> Tool:
    """A tool that changes nothing."""
    return _tool(function, ToolAnnotations(read_only_hint=True, open_world_hint=False))


def writes(*, destructive: bool = False, idempotent: bool = True) -> Callable[[Function], Tool]:
    """A tool that changes the graph: ``destructive`` if data may be lost, else it only adds.

    ``idempotent``: repeating a call changes nothing more.
    """
    hints = ToolAnnotations(
        read_only_hint=False, destructive_hint=destructive, idempotent_hint=idempotent, open_world_hint=False
    )
    return lambda function: _tool(function, hints)


def validated(model: type[M], given: Any, subject: str) -> M:
    """Validate arguments into a model. Raises `InvalidInputError` with every fault, in messages without the values."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        faults = [f"{'.'.join(str(part) for part in each['loc']) or 'value'}: {each['msg']}" for each in found]
        raise InvalidInputError(subject, [safe_text(fault) for fault in faults]) from None


def _tool(function: Function, hints: ToolAnnotations) -> Tool:
    name = function.__name__
    _, *parameters = inspect.signature(function, eval_str=True).parameters.values()
    fields: dict[str, Any] = {
        each.name: (each.annotation, ... if each.default is inspect.Parameter.empty else each.default)
        for each in parameters
    }
    return Tool(
        name=name,
        description=_LINE_BREAK.sub(" ", inspect.getdoc(function) or ""),
        arguments=create_model(name, __base__=Arguments, **fields),
        hints=hints,
        function=function,
    )


def _untitled(schema: Any) -> Any:
    """A schema without the titles that pydantic derives from names, which would cost tokens in every prompt."""
    if isinstance(schema, dict):
        return {key: _untitled(each) for key, each in schema.items() if key != "title" or not isinstance(each, str)}
    return [_untitled(each) for each in schema] if isinstance(schema, list) else schema


def in_utc(moment: datetime) -> datetime:
    """Interpret a time without an offset as UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(in_utc)]

Question = Annotated[
    str, Field(min_length=1, max_length=4_000, description="What you want to know, in plain words, as one question.")
]
Entity = Annotated[
    str,
    Field(
        min_length=1,
        max_length=400,
        description="An entity: its id, or a name or alias that only one entity has. search_entities finds ids.",
    ),
]
MemoryId = Annotated[str, Field(min_length=1, max_length=400, description="The id of a memory, as recall gives it.")]
Session = Annotated[str, Field(min_length=1, max_length=200)]
AsOf = Annotated[
    Moment | None,
    Field(
        description="Answer with what was valid at this time, as in 2024-05-01T09:00:00Z. Leave out for the present."
    ),
]
Limit = Annotated[int, Field(ge=1, le=100, description="The maximum number of items, best first.")]
Hops = Annotated[int, Field(ge=1, le=6, description="The maximum number of relations to follow.")]
EntityType = Annotated[str, Field(min_length=1, max_length=100, description="Such as person, organisation or tool.")]
Name = Annotated[str, Field(min_length=1, max_length=400)]
Labels = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=100)]],
    Field(max_length=20, description="Words that policies refer to, such as private or personal."),
]

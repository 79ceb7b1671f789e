"""What can be asked for with an explanation: the options of what it explains."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from graphsearch.access.gate import Gate
from graphsearch.access.reader import known, reading
from graphsearch.errors import InvalidInputError, UnknownElementError
from graphsearch.model import ElementKind, ElementRef
from graphsearch.modes.options import SearchOptions
from graphsearch.protocols import GraphStore
from graphsearch.ranking.options import RankOptions
from graphsearch.recall.options import RecallOptions


class ExplainOptions(SearchOptions, RecallOptions, RankOptions, total=False):
    """The options of `GraphSearchEngine.explain`: those of the answer that is explained, with their defaults.

    Of a relation these are `SearchOptions`, of a memory `RecallOptions`, of an entity `RankOptions`.
    """


def refuse_others(kind: ElementKind, options: ExplainOptions, own: type) -> Any:
    """The options, if all are among its ``own``; else `InvalidInputError` names the others."""
    others = [name for name in options if name not in own.__annotations__]
    if others:
        raise InvalidInputError(f"explanation of a {kind}", [f"{name!r} is no option of it" for name in others])
    return options


async def pointed_at(element: ElementRef | UUID | str, store: GraphStore, gate: Gate | None) -> ElementRef:
    """What somebody points at: a relation or an entity by its id, a memory by its id as text.

    Raises `UnknownElementError` for an id that no relation and no entity has that may be seen: what is hidden must not
    even tell what it is.
    """
    match element:
        case ElementRef():
            return element
        case str():
            return ElementRef(ElementKind.MEMORY, element)
    async with reading(store, gate=gate) as reader:
        if await reader.relation(element):
            return ElementRef(ElementKind.RELATION, str(element))
        try:
            await known(element, reader)
        except UnknownElementError as error:
            raise UnknownElementError(f"no relation and no entity {element} in {store.scope}") from error
        return ElementRef(ElementKind.ENTITY, str(element))

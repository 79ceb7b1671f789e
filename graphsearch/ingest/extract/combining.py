"""Several extractors as one: what each reads of a memory, put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.errors import ExtractionError
from graphsearch.model import Memory
from graphsearch.model import validation as check
from graphsearch.model.extracted import Said, Statement, Surface
from graphsearch.protocols import Extractor


class CombinedExtractor:
    """Reads each memory with all of some extractors, one after the other, such as rules and a language model.

    Where two of them tell different types of one name, the first that tells one counts. Names co-occur only where none
    of them relates the two. A memory that one of them could not read is unread; it is handed to those after it no more.
    Raises `InvalidInputError` for fewer than two.
    """

    def __init__(self, *extractors: Extractor) -> None:
        check.refuse("extractors", check.number("their number", len(extractors), 2))
        self._extractors = extractors

    @property
    def name(self) -> str:
        """Those of all of them, joined by "+"."""
        return "+".join(each.name for each in self._extractors)

    @property
    def batch(self) -> int | None:
        """The least that any of them asks for; None where none does."""
        return min((asked for each in self._extractors if (asked := batch_of(each)) is not None), default=None)

    async def extract(self, memories: Sequence[Memory]) -> Sequence[Said]:
        """What each memory says, in their order."""
        said = {memory.id: Said(memory_id=memory.id) for memory in memories}
        for extractor in self._extractors:
            left = [memory for memory in memories if said[memory.id].unread is None]
            for each in await said_by(extractor, left):
                said[each.memory_id] = _together(said[each.memory_id], each)
        return [said[memory.id] for memory in memories]


def batch_of(extractor: Extractor) -> int | None:
    """How many memories an extractor asks to be handed at a time; None where it does not say.

    Raises `InvalidInputError` for a number below 1, by which nothing would ever be read.
    """
    batch: int | None = getattr(extractor, "batch", None)
    if batch is not None:
        check.refuse(f"extractor {extractor.name!r}", check.number("batch", batch, 1))
    return batch


async def said_by(extractor: Extractor, memories: Sequence[Memory]) -> Sequence[Said]:
    """What an extractor says of memories. Raises `ExtractionError` unless it answers for each of them, in order."""
    said = await extractor.extract(memories)
    if [each.memory_id for each in said] != [memory.id for memory in memories]:
        raise ExtractionError(f"the extractor {extractor.name!r} did not answer memory by memory, in order")
    return said


def _together(one: Said, other: Said) -> Said:
    if other.unread is not None:
        return Said(memory_id=other.memory_id, unread=other.unread)
    types = _types((*one.surfaces, *other.surfaces))
    statements = [_retyped(statement, types) for statement in (*one.statements, *other.statements)]
    related = {_pair(each) for each in statements if each.type not in CO_OCCURRENCE_TYPES}
    return Said(
        memory_id=other.memory_id,
        surfaces=tuple(dict.fromkeys(_typed(surface, types) for surface in (*one.surfaces, *other.surfaces))),
        statements=tuple(
            dict.fromkeys(
                each for each in statements if each.type not in CO_OCCURRENCE_TYPES or _pair(each) not in related
            )
        ),
        refused=(*one.refused, *other.refused),
        same=tuple(dict.fromkeys((*one.same, *other.same))),
    )


def _types(surfaces: Sequence[Surface]) -> dict[str, str]:
    """The first type that is told of each name."""
    types: dict[str, str] = {}
    for surface in surfaces:
        if surface.type:
            types.setdefault(surface.name, surface.type)
    return types


def _typed(surface: Surface, types: dict[str, str]) -> Surface:
    return attrs.evolve(surface, type=types.get(surface.name, surface.type))


def _retyped(statement: Statement, types: dict[str, str]) -> Statement:
    ends: dict[str, Any] = {"source": _typed(statement.source, types), "target": _typed(statement.target, types)}
    return attrs.evolve(statement, **ends)


def _pair(statement: Statement) -> frozenset[str]:
    return frozenset((statement.source.name, statement.target.name))

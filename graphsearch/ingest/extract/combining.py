"""An extractor that merges the results of several extractors."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.errors import ExtractionError
from graphsearch.model import Memory
from graphsearch.model import validation as check
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, KnownName, Statement
from graphsearch.protocols import Extractor, KnowingExtractor


class CombinedExtractor:
    """Reads each memory with several extractors in turn, such as rules and a language model.

    The first type found for a name applies. Names co-occur only if no extractor relates them otherwise. A memory that
    one extractor could not read is unread, and is not passed to those after it. Raises `InvalidInputError` for fewer
    than two extractors.
    """

    def __init__(self, *extractors: Extractor) -> None:
        check.refuse("extractors", check.number("their number", len(extractors), 2))
        self._extractors = extractors

    @property
    def name(self) -> str:
        """The names of the extractors, joined by "+"."""
        return "+".join(each.name for each in self._extractors)

    @property
    def batch(self) -> int | None:
        """The smallest batch size of the extractors; None if none has one."""
        return min((size for each in self._extractors if (size := batch_of(each)) is not None), default=None)

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        """The content of each memory, in order."""
        results = {memory.id: ExtractedMemory(memory_id=memory.id) for memory in memories}
        for extractor in self._extractors:
            left = [memory for memory in memories if results[memory.id].unread is None]
            for each in await extract_with(extractor, left):
                results[each.memory_id] = merged(results[each.memory_id], each)
        return [results[memory.id] for memory in memories]

    def knowing(self, names: Sequence[KnownName]) -> CombinedExtractor:
        """The same, with names of the scope for those that ask for them."""
        parts = (each.knowing(names) if isinstance(each, KnowingExtractor) else each for each in self._extractors)
        return CombinedExtractor(*parts)


def batch_of(extractor: Extractor) -> int | None:
    """The number of memories that an extractor reads at a time; None if it has no preference.

    Raises `InvalidInputError` for a number below 1.
    """
    batch: int | None = getattr(extractor, "batch", None)
    if batch is not None:
        check.refuse(f"extractor {extractor.name!r}", check.number("batch", batch, 1))
    return batch


async def extract_with(extractor: Extractor, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
    """Run an extractor. Raises `ExtractionError` unless it returns one result per memory, in order."""
    results = await extractor.extract(memories)
    if [each.memory_id for each in results] != [memory.id for memory in memories]:
        raise ExtractionError(f"the extractor {extractor.name!r} did not return one result per memory, in order")
    return results


def merged(one: ExtractedMemory, other: ExtractedMemory) -> ExtractedMemory:
    """What two extractors found in one memory; the first type found for a name applies."""
    if other.unread is not None:
        return ExtractedMemory(memory_id=other.memory_id, unread=other.unread)
    surfaces = (*one.surfaces, *other.surfaces)
    types = {each.name: each.type for each in reversed(surfaces) if each.type}

    def typed(name: ExtractedName) -> ExtractedName:
        return attrs.evolve(name, type=types.get(name.name, name.type))

    statements = dict.fromkeys(
        attrs.evolve(each, source=typed(each.source), target=typed(each.target))
        for each in (*one.statements, *other.statements)
    )
    related = {_pair(each) for each in statements if each.type not in CO_OCCURRENCE_TYPES}
    return ExtractedMemory(
        memory_id=other.memory_id,
        surfaces=tuple(dict.fromkeys(map(typed, surfaces))),
        statements=tuple(
            each for each in statements if each.type not in CO_OCCURRENCE_TYPES or _pair(each) not in related
        ),
        refused=(*one.refused, *other.refused),
        same=tuple(dict.fromkeys((*one.same, *other.same))),
    )


def _pair(statement: Statement) -> frozenset[str]:
    return frozenset((statement.source.name, statement.target.name))

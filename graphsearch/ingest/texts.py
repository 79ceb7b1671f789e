"""Texts of memories to mentions and claims: extract, then resolve (design 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from uuid import UUID

import attrs

from graphsearch.errors import ExtractionError
from graphsearch.ingest.resolving.cascade import Resolver
from graphsearch.ingest.resolving.resolution import ResolutionCounts, Stage
from graphsearch.ingest.text.extractor import NAME, TextExtractor
from graphsearch.ingest.text.said import Said, Statement, Surface
from graphsearch.model import Claim, Entity, Memory, Mention
from graphsearch.protocols import Extractor


@attrs.frozen(eq=False, kw_only=True)
class Reading:
    """What some memories say of entities. ``named`` are the entities that were not known before."""

    mentions: tuple[Mention, ...] = ()
    claims: tuple[Claim, ...] = ()
    named: tuple[Entity, ...] = ()
    counts: ResolutionCounts = attrs.field(factory=ResolutionCounts)
    conflicts: tuple[str, ...] = ()
    """Names that an entity of another type bears: they were left apart."""
    unanswered: tuple[str, ...] = ()
    """Why the language model did not answer, wherever it was asked and failed; nothing was merged for it."""

    def tallied(self, other: Reading) -> Reading:
        """The numbers and names to report of two readings, without what they say."""
        return Reading(
            counts=self.counts + other.counts,
            conflicts=_distinct((*self.conflicts, *other.conflicts)),
            unanswered=_distinct((*self.unanswered, *other.unanswered)),
        )


class TextReader:
    """Reads memories with an extractor and tells by a resolver which entities they speak of.

    Without an extractor it makes a `TextExtractor` when there is a first text to read: it needs the extra "text".
    """

    def __init__(self, extractor: Extractor | None, resolver: Resolver) -> None:
        self._given = extractor
        self._resolver = resolver

    @property
    def name(self) -> str:
        """The extractor's."""
        return self._given.name if self._given else NAME

    @cached_property
    def _extractor(self) -> Extractor:
        return self._given or TextExtractor()

    async def read(self, memories: Sequence[Memory]) -> Reading:
        """What the memories say. All of their names are resolved together.

        Raises `ExtractionError` when the extractor does not answer for each memory, `MissingExtraError`, and what
        extractor and store raise.
        """
        said = await self._extractor.extract(memories)
        if [each.memory_id for each in said] != [memory.id for memory in memories]:
            raise ExtractionError(f"the extractor {self.name!r} did not answer memory by memory, in order")
        surfaces = list(dict.fromkeys(surface for each in said for surface in _surfaces(each)))
        resolutions = await self._resolver.resolve(surfaces)
        entities = {surface: resolution.entity for surface, resolution in zip(surfaces, resolutions, strict=True)}
        created = (each.entity for each in resolutions if each.stage is Stage.CREATE)
        return Reading(
            mentions=tuple(mention for each in said for mention in _mentions(each, entities)),
            claims=tuple(claim for each in said for claim in _claims(each, entities, self.name)),
            named=tuple({entity.id: entity for entity in created}.values()),
            counts=ResolutionCounts.of(resolutions),
            conflicts=_distinct(each.surface.name for each in resolutions if each.conflict),
            unanswered=_distinct(each.fault for each in resolutions if each.fault),
        )


def _surfaces(said: Said) -> Iterable[Surface]:
    yield from said.surfaces
    for statement in said.statements:
        yield statement.source
        yield statement.target


def _mentions(said: Said, entities: Mapping[Surface, Entity]) -> Iterable[Mention]:
    """One mention an entity and place; a surface that tells the type comes before one that does not."""
    found: dict[tuple[UUID, object], Mention] = {}
    for surface in sorted(_surfaces(said), key=lambda surface: not surface.type):
        mention = Mention(
            memory_id=said.memory_id,
            entity_id=entities[surface].id,
            surface=surface.name,
            type=surface.type,
            span=surface.span,
            confidence=surface.confidence,
        )
        found.setdefault((mention.entity_id, mention.span), mention)
    return found.values()


def _claims(said: Said, entities: Mapping[Surface, Entity], extractor: str) -> Iterable[Claim]:
    """Statements of two entities; what turns out to speak of one alone claims nothing."""
    for statement in said.statements:
        claim = _claim(said.memory_id, statement, entities, extractor)
        if claim.source_id != claim.target_id:
            yield claim


def _claim(memory_id: str, statement: Statement, entities: Mapping[Surface, Entity], extractor: str) -> Claim:
    return Claim(
        memory_id=memory_id,
        source_id=entities[statement.source].id,
        type=statement.type,
        target_id=entities[statement.target].id,
        confidence=statement.confidence,
        valid_from=statement.valid_from,
        valid_to=statement.valid_to,
        kind=statement.kind,
        fact=statement.fact,
        span=statement.span,
        extractor=f"{extractor}:{statement.pattern}",
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))

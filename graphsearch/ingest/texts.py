"""Texts of memories to mentions and claims: extract, then resolve (design 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from uuid import UUID

import attrs

from graphsearch.errors import BudgetExhaustedError, ExtractionError, GraphSearchError
from graphsearch.ingest.combining import batch_of, said_by
from graphsearch.ingest.report import Unread
from graphsearch.ingest.resolving.cascade import Resolver
from graphsearch.ingest.resolving.resolution import ResolutionCounts, Stage
from graphsearch.ingest.text.extractor import NAME, TextExtractor
from graphsearch.ingest.text.said import Said, Statement, Surface
from graphsearch.model import Claim, Entity, Memory, Mention
from graphsearch.observing import stage
from graphsearch.protocols import Extractor, GraphStore


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
    """Why the judge did not answer, wherever it was asked and failed; nothing was merged for it."""
    refused: tuple[str, ...] = ()
    """What a language model said that the texts do not prove."""
    unread: tuple[Unread, ...] = ()
    """Memories that could not be read for reasons of their own."""
    left: tuple[str, ...] = ()
    """Ids of memories that were not read because nothing could be read any more."""

    @property
    def passed_over(self) -> frozenset[str]:
        """Ids of the memories that were not read, for either reason."""
        return frozenset((*(each.memory_id for each in self.unread), *self.left))

    def tallied(self, other: Reading) -> Reading:
        """The numbers and names to report of two readings, without what they say."""
        return Reading(
            counts=self.counts + other.counts,
            conflicts=_distinct((*self.conflicts, *other.conflicts)),
            unanswered=_distinct((*self.unanswered, *other.unanswered)),
            refused=(*self.refused, *other.refused),
            unread=(*self.unread, *other.unread),
            left=(*self.left, *other.left),
        )


class TextReader:
    """Reads memories with an extractor and tells by a resolver which entities they speak of; for one ingest.

    Without an extractor it makes a `TextExtractor` when there is a first text to read: it needs the extra "text".
    Once the extractor says that it cannot read on, it is asked no more.
    """

    def __init__(self, extractor: Extractor | None, resolver: Resolver) -> None:
        self._given = extractor
        self._resolver = resolver
        self._stopped: GraphSearchError | None = None
        self.told = Reading()
        """What is to be reported of all readings so far."""

    @property
    def name(self) -> str:
        """The extractor's."""
        return self._given.name if self._given else NAME

    @property
    def batch(self) -> int | None:
        """How many memories the extractor asks to be handed at a time; None where it does not say."""
        return batch_of(self._given) if self._given else None

    def demand(self) -> None:
        """Raise what kept the extractor from reading on, unless that is a budget that is spent: that is reported."""
        if self._stopped is not None and not isinstance(self._stopped, BudgetExhaustedError):
            raise self._stopped

    @cached_property
    def _extractor(self) -> Extractor:
        return self._given or TextExtractor()

    async def read(self, memories: Sequence[Memory]) -> Reading:
        """What the memories say, but for those that could not be read. All of their names are resolved together.

        Raises `ExtractionError` when the extractor does not answer for each memory, `MissingExtraError`, and what
        extractor and store raise.
        """
        reading = await self._read(memories) if self._stopped is None else _unasked(memories)
        self.told = self.told.tallied(reading)
        return reading

    async def _read(self, memories: Sequence[Memory]) -> Reading:
        with stage("extraction"):
            answers = await said_by(self._extractor, memories)
        said = [each for each in answers if each.unread is None]
        kept_from = {each.memory_id: each.unread for each in answers if each.unread is not None}
        own = {id_: error for id_, error in kept_from.items() if isinstance(error, ExtractionError)}
        self._stopped = next((error for id_, error in kept_from.items() if id_ not in own), None)
        surfaces = list(dict.fromkeys(surface for each in said for surface in _surfaces(each)))
        with stage("resolution"):
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
            refused=tuple(why for each in said for why in each.refused),
            unread=tuple(Unread(id_, str(error)) for id_, error in own.items()),
            left=tuple(id_ for id_ in kept_from if id_ not in own),
        )


async def read_before(memories: Sequence[Memory], store: GraphStore) -> Reading:
    """What stored memories say by what is stored of them."""
    if not memories:
        return Reading()
    ids = [memory.id for memory in memories]
    mentions, claims = await store.list_mentions(memory_ids=ids), await store.list_claims(memory_ids=ids)
    return Reading(mentions=tuple(mentions), claims=tuple(claims))


def _unasked(memories: Sequence[Memory]) -> Reading:
    return Reading(left=tuple(memory.id for memory in memories))


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

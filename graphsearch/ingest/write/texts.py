"""Texts of memories to mentions and claims: extract, then resolve (design 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final
from uuid import UUID

import attrs

from graphsearch._support.observing import stage
from graphsearch.errors import BudgetExhaustedError, ExtractionError, GraphSearchError
from graphsearch.ingest.extract.combining import batch_of, extract_with
from graphsearch.ingest.extract.faults import Unread
from graphsearch.ingest.extract.rules.extractor import NAME, TextExtractor
from graphsearch.ingest.resolve.cascade import Resolver
from graphsearch.ingest.resolve.resolution import Resolution, ResolutionCounts, Stage
from graphsearch.ingest.write.freshness import begun
from graphsearch.model import Claim, Entity, Memory, Mention
from graphsearch.model.extracted import Said, Statement, Surface
from graphsearch.protocols import Extractor, GraphStore

BATCH: Final = 500
"""How many memories are looked up, and read unless their extractor says, at a time."""


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
    """Why the judge did not answer, wherever it did not; nothing was merged for it."""
    refused: tuple[str, ...] = ()
    """What a language model said that the texts do not prove."""
    unread: tuple[Unread, ...] = ()
    """Memories that could not be read for reasons of their own."""
    left: tuple[str, ...] = ()
    """Ids of memories that were not read, or not to the end, because nothing could be asked any more."""
    begun: frozenset[str] = frozenset()
    """Those of the ones left about which a judge was asked: what is decided is written, and is not asked again."""

    @property
    def unfinished(self) -> frozenset[str]:
        """Ids of the memories that were not read to the end, for either reason."""
        return frozenset((*(each.memory_id for each in self.unread), *self.left))

    def to_write(self, memories: Iterable[Memory]) -> list[Memory]:
        """Of some memories those that were read; what was begun is marked so that it is read again."""
        unfinished = self.unfinished
        return [
            begun(memory) if memory.id in self.begun else memory
            for memory in memories
            if memory.id in self.begun or memory.id not in unfinished
        ]

    def tallied(self, other: Reading) -> Reading:
        """The numbers and names to report of two readings, without what they say."""
        return Reading(
            counts=self.counts + other.counts,
            conflicts=_distinct((*self.conflicts, *other.conflicts)),
            unanswered=_distinct((*self.unanswered, *other.unanswered)),
            refused=(*self.refused, *other.refused),
            unread=(*self.unread, *other.unread),
            left=(*self.left, *other.left),
            begun=self.begun | other.begun,
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
    def batch(self) -> int:
        """How many memories are read at a time: as many as the extractor asks for, else 500."""
        asked = batch_of(self._given) if self._given else None
        return BATCH if asked is None else asked

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
            answers = await extract_with(self._extractor, memories)
        said = [each for each in answers if each.unread is None]
        kept_from = {each.memory_id: each.unread for each in answers if each.unread is not None}
        own = {id_: error for id_, error in kept_from.items() if isinstance(error, ExtractionError)}
        self._stopped = next((error for id_, error in kept_from.items() if id_ not in own), None)
        surfaces = list(dict.fromkeys(surface for each in said for surface in _surfaces(each)))
        with stage("resolution"):
            resolutions = await self._resolver.resolve(surfaces, same=[pair for each in said for pair in each.same])
        found = dict(zip(surfaces, resolutions, strict=True))
        waiting = {each.memory_id for each in said if any(found[surface].pending for surface in _surfaces(each))}
        asked = {each.memory_id for each in said if any(found[surface].asked for surface in _surfaces(each))}
        kept = [_decided(each, found) for each in said if each.memory_id not in waiting - asked]
        names = [found[surface] for surface in dict.fromkeys(surface for each in kept for surface in _surfaces(each))]
        created = {each.entity.id: each.entity for each in resolutions if each.stage is Stage.CREATE}
        return Reading(
            mentions=tuple(mention for each in kept for mention in _mentions(each, found)),
            claims=tuple(claim for each in kept for claim in _claims(each, found, self.name)),
            named=tuple({each.entity.id: each.entity for each in names if each.entity.id in created}.values()),
            counts=ResolutionCounts.of(names),
            conflicts=_distinct(each.surface.name for each in names if each.conflict),
            unanswered=_distinct(each.fault for each in resolutions if each.fault),
            refused=tuple(why for each in kept for why in each.refused),
            unread=tuple(Unread(id_, str(error)) for id_, error in own.items()),
            left=tuple(each.memory_id for each in answers if each.memory_id in waiting | kept_from.keys() - own.keys()),
            begun=frozenset(waiting & asked),
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


def _decided(said: Said, found: Mapping[Surface, Resolution]) -> Said:
    """What a memory says of names of which it is told what they name."""
    return attrs.evolve(
        said,
        surfaces=tuple(each for each in said.surfaces if not found[each].pending),
        statements=tuple(
            each for each in said.statements if not (found[each.source].pending or found[each.target].pending)
        ),
    )


def _surfaces(said: Said) -> Iterable[Surface]:
    yield from said.surfaces
    for statement in said.statements:
        yield statement.source
        yield statement.target


def _mentions(said: Said, found: Mapping[Surface, Resolution]) -> Iterable[Mention]:
    """One mention an entity and place; a surface that tells the type comes before one that does not."""
    mentions: dict[tuple[UUID, object], Mention] = {}
    for surface in sorted(_surfaces(said), key=lambda surface: not surface.type):
        mention = Mention(
            memory_id=said.memory_id,
            entity_id=found[surface].entity.id,
            surface=surface.name,
            type=surface.type,
            span=surface.span,
            confidence=surface.confidence,
        )
        mentions.setdefault((mention.entity_id, mention.span), mention)
    return mentions.values()


def _claims(said: Said, found: Mapping[Surface, Resolution], extractor: str) -> Iterable[Claim]:
    """Statements of two entities; what turns out to speak of one alone claims nothing."""
    for statement in said.statements:
        claim = _claim(said.memory_id, statement, found, extractor)
        if claim.source_id != claim.target_id:
            yield claim


def _claim(memory_id: str, statement: Statement, found: Mapping[Surface, Resolution], extractor: str) -> Claim:
    return Claim(
        memory_id=memory_id,
        source_id=found[statement.source].entity.id,
        type=statement.type,
        target_id=found[statement.target].entity.id,
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

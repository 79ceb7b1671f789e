"""Texts of memories to mentions and claims: extract, then resolve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final
from uuid import UUID

import attrs

from graphsearch._support.observing import stage
from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.errors import BudgetExhaustedError, ExtractionError, GraphSearchError
from graphsearch.ingest.extract.combining import batch_of, extract_with
from graphsearch.ingest.extract.extraction import Unread
from graphsearch.ingest.reading.extractor import NAME, TextExtractor
from graphsearch.ingest.reading.scope_names import scope_names
from graphsearch.ingest.resolve.cascade import Resolver
from graphsearch.ingest.resolve.resolution import Resolution, ResolutionCounts, Stage
from graphsearch.ingest.stating.combining import with_stated
from graphsearch.ingest.stating.scope import VALUE
from graphsearch.ingest.stating.stating import Stating
from graphsearch.ingest.write.intake import Intake
from graphsearch.ingest.write.ledger import begun, without_facts
from graphsearch.ingest.write.limits import IngestLimits, TextLimitError
from graphsearch.model import Claim, Entity, FactReport, Memory, Mention
from graphsearch.model import validation as check
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, KnownName, Statement
from graphsearch.model.identity import ids_of
from graphsearch.protocols import Extractor, GraphStore, KnowingExtractor

BATCH: Final = 500
"""Memories looked up at a time, and read at a time unless the extractor sets another number."""


@attrs.frozen(eq=False, kw_only=True)
class ResolvedTexts:
    """The resolved mentions and claims of some memories. ``named`` are the new entities."""

    mentions: tuple[Mention, ...] = ()
    claims: tuple[Claim, ...] = ()
    named: tuple[Entity, ...] = ()
    counts: ResolutionCounts = attrs.field(factory=ResolutionCounts)
    conflicts: tuple[str, ...] = ()
    """Names shared with an entity of another type, which was not merged."""
    unanswered: tuple[str, ...] = ()
    """Why the judge failed to answer; nothing was merged for it."""
    refused: tuple[str, ...] = ()
    """Statements of a language model that the texts do not prove."""
    unread: tuple[Unread, ...] = ()
    """Memories that the extractor failed to read, or that exceed a limit."""
    beyond: tuple[str, ...] = ()
    """The faults of those that exceed a limit."""
    left: tuple[str, ...] = ()
    """Ids of memories that were not completed because the language model could not be asked any more."""
    stated: tuple[FactReport, ...] = ()
    """What became of stated facts."""
    begun: frozenset[str] = frozenset()
    """Those of ``left`` that the judge was asked about: their decided names are written, and not asked again."""

    @property
    def unfinished(self) -> frozenset[str]:
        """Ids of the memories that were not completed, for either reason."""
        return frozenset((*(each.memory_id for each in self.unread), *self.left))

    def to_write(self, memories: Iterable[Memory]) -> list[Memory]:
        """Those of some memories that can be written; incomplete ones are marked to be read again."""
        unfinished = self.unfinished
        return [
            without_facts(begun(memory) if memory.id in self.begun else memory)
            for memory in memories
            if memory.id in self.begun or memory.id not in unfinished
        ]

    def add_totals(self, other: ResolvedTexts) -> ResolvedTexts:
        """The sum of two reports, without mentions, claims and entities."""
        return ResolvedTexts(
            counts=self.counts + other.counts,
            conflicts=_distinct((*self.conflicts, *other.conflicts)),
            unanswered=_distinct((*self.unanswered, *other.unanswered)),
            refused=(*self.refused, *other.refused),
            unread=(*self.unread, *other.unread),
            left=(*self.left, *other.left),
            stated=(*self.stated, *other.stated),
            begun=self.begun | other.begun,
        )


class DefaultExtractor:
    """A `TextExtractor` as it is by default, created at the first text."""

    @property
    def name(self) -> str:
        """See `TextExtractor.name`."""
        return NAME

    @cached_property
    def _extractor(self) -> TextExtractor:
        return TextExtractor()

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        """See `TextExtractor.extract`."""
        return await self._extractor.extract(memories)

    def knowing(self, names: Sequence[KnownName]) -> Extractor:
        """See `TextExtractor.knowing`."""
        return self._extractor.knowing(names)


DEFAULT_EXTRACTOR: Final[Extractor] = DefaultExtractor()
"""What reads texts unless an ingest is given something else, or nothing."""


class TextReader:
    """Extracts mentions and claims from memories within limits and resolves their names, for one ingest.

    Without an extractor nothing is read, and only what is ``stating`` of memories counts. Once the extractor reports
    that it cannot continue, it is not called any more.
    """

    def __init__(
        self,
        extractor: Extractor | None,
        resolver: Resolver,
        limits: IngestLimits,
        intake: Intake,
        store: GraphStore,
        stating: Stating,
        gate: Gate = ALLOW_ALL,
    ) -> None:
        self._extractor = extractor
        self._gate = gate
        self._stating = stating
        self._store = store
        self._intake = intake
        self._resolver = resolver
        self._limits = limits
        self._stopped: GraphSearchError | None = None
        self.totals = ResolvedTexts()
        """The report on all texts so far."""

    @property
    def name(self) -> str:
        """The extractor's name; empty without one."""
        return self._extractor.name if self._extractor else ""

    @property
    def version(self) -> str:
        """The extractor's name and the options of the ingest: what was read with others is read again."""
        return f"{self.name} {self._intake.version}".strip()

    @property
    def batch(self) -> int:
        """Memories read at a time: the number that the extractor sets, else 500."""
        size = batch_of(self._extractor) if self._extractor else None
        return BATCH if size is None else size

    def demand(self) -> None:
        """Raise the error that stopped the extractor, unless it was a spent budget, which is only reported."""
        if self._stopped is not None and not isinstance(self._stopped, BudgetExhaustedError):
            raise self._stopped

    async def read(self, memories: Sequence[Memory]) -> ResolvedTexts:
        """The mentions and claims of the memories that could be read, with all names resolved together.

        Raises `ExtractionError` if the extractor does not answer for each memory, `MissingExtraError`, and what
        extractor and store raise.
        """
        reading = await self._read(memories) if self._stopped is None else _unasked(memories)
        self.totals = self.totals.add_totals(reading)
        return reading

    async def _extracted(self, memories: Sequence[Memory]) -> list[ExtractedMemory]:
        """The content of each memory, in order. Those beyond the limits are unread, and too long ones not extracted."""
        too_long = {each.id: fault for each in memories if (fault := self._limits.too_long(each))}
        left = [each for each in memories if each.id not in too_long]
        with stage("extraction"):
            answers = (
                await extract_with(await self._knowing(self._extractor, left), left)
                if self._extractor is not None
                else [ExtractedMemory(memory_id=each.id) for each in left]
            )
        read = {each.memory_id: each for each in answers}
        faults = {each.memory_id: fault for each in answers if (fault := self._limits.too_many_names(each))} | too_long
        return [
            ExtractedMemory(memory_id=each.id, unread=faults[each.id]) if each.id in faults else _named(read[each.id])
            for each in memories
        ]

    async def _knowing(self, extractor: Extractor, memories: Sequence[Memory]) -> Extractor:
        """The extractor, told the names of the scope that occur in some memories, if it asks for them."""
        if not isinstance(extractor, KnowingExtractor):
            return extractor
        known = await scope_names(memories, self._store, self._gate)
        return extractor.knowing(known) if known else extractor

    async def _read(self, memories: Sequence[Memory]) -> ResolvedTexts:
        answers = await self._extracted(memories)
        extracted = [each for each in answers if each.unread is None]
        kept_from = {each.memory_id: each.unread for each in answers if each.unread is not None}
        failed = {id_: error for id_, error in kept_from.items() if isinstance(error, ExtractionError)}
        self._stopped = next((error for id_, error in kept_from.items() if id_ not in failed), None)
        stated = await self._stating.read([each for each in memories if each.id not in kept_from])
        extracted = [
            with_stated(stated[each.memory_id], each) if each.memory_id in stated else each for each in extracted
        ]
        descriptions = {name: text for each in stated.values() for name, text in each.descriptions.items()}
        named_in = {each.memory_id: list(dict.fromkeys(_surfaces(each))) for each in extracted}
        surfaces = list(dict.fromkeys(surface for some in named_in.values() for surface in some))
        with stage("resolution"):
            names_ = [each for each in surfaces if each.type != VALUE]
            resolutions = [
                *await self._resolver.resolve(names_, same=[pair for each in extracted for pair in each.same]),
                *await _values([each for each in surfaces if each.type == VALUE], self._store),
            ]
            found = {each.surface: each for each in resolutions}
        waiting = {id_ for id_, some in named_in.items() if any(found[surface].pending for surface in some)}
        judged = {id_ for id_, some in named_in.items() if any(found[surface].judged for surface in some)}
        kept = [
            _decided(each, found) if each.memory_id in waiting else each
            for each in extracted
            if each.memory_id not in waiting - judged
        ]
        names = [found[surface] for surface in dict.fromkeys(one for each in kept for one in _surfaces(each))]
        created = {each.entity.id: each.entity for each in resolutions if each.stage is Stage.CREATE}
        described = {
            each.entity.id: attrs.evolve(each.entity, description=descriptions[each.surface.name])
            for each in names
            if each.surface.name in descriptions
        }
        return ResolvedTexts(
            mentions=tuple(mention for each in kept for mention in _mentions(each, found)),
            claims=tuple(claim for each in kept for claim in _claims(each, found, self.name)),
            named=tuple(
                {
                    each.entity.id: described.get(each.entity.id, each.entity)
                    for each in names
                    if each.entity.id in created
                }.values()
            ),
            stated=tuple(report for each in stated.values() for report in each.reports),
            counts=ResolutionCounts.of(names),
            conflicts=_distinct(each.surface.name for each in names if each.conflict),
            unanswered=_distinct(each.fault for each in resolutions if each.fault),
            refused=tuple(why for each in kept for why in each.refused),
            unread=tuple(Unread(id_, str(error)) for id_, error in failed.items()),
            beyond=tuple(str(error) for error in failed.values() if isinstance(error, TextLimitError)),
            left=tuple(
                each.memory_id for each in answers if each.memory_id in waiting | kept_from.keys() - failed.keys()
            ),
            begun=frozenset(waiting & judged),
        )


def moved(
    mentions: Iterable[Mention], claims: Iterable[Claim], to: Mapping[UUID, UUID]
) -> tuple[tuple[Mention, ...], tuple[Claim, ...]]:
    """Mentions and claims with the entities that others have become, but for claims of one about itself."""
    ends = ((each, to.get(each.source_id, each.source_id), to.get(each.target_id, each.target_id)) for each in claims)
    return (
        tuple(attrs.evolve(each, entity_id=to.get(each.entity_id, each.entity_id)) for each in mentions),
        tuple(attrs.evolve(each, source_id=one, target_id=other) for each, one, other in ends if one != other),
    )


async def read_before(memories: Sequence[Memory], store: GraphStore) -> ResolvedTexts:
    """The stored mentions and claims of memories."""
    if not memories:
        return ResolvedTexts()
    ids = [memory.id for memory in memories]
    mentions, claims = await store.list_mentions(memory_ids=ids), await store.list_claims(memory_ids=ids)
    return ResolvedTexts(mentions=tuple(mentions), claims=tuple(claims))


async def _values(surfaces: Sequence[ExtractedName], store: GraphStore) -> list[Resolution]:
    """Values are what they say: they are never another thing of a like name."""
    if not surfaces:
        return []
    key = await store.id_key()
    ids = {each: ids_of(VALUE, each.name, key) for each in surfaces}
    known = {each.id: each for each in await store.get_entities([id_ for pair in ids.values() for id_ in pair])}
    found = []
    for each, (plain, minted) in ids.items():
        entity = known.get(plain) or known.get(minted)
        stage_ = Stage.CREATE if entity is None else Stage.ID
        entity = entity or Entity(id=minted, type=VALUE, name=each.name)
        found.append(Resolution(surface=each, entity=entity, stage=stage_, score=float(stage_ is Stage.ID)))
    return found


def _unasked(memories: Sequence[Memory]) -> ResolvedTexts:
    return ResolvedTexts(left=tuple(memory.id for memory in memories))


def _decided(extracted: ExtractedMemory, found: Mapping[ExtractedName, Resolution]) -> ExtractedMemory:
    """The mentions and statements of a memory whose names are all decided."""
    return attrs.evolve(
        extracted,
        surfaces=tuple(each for each in extracted.surfaces if not found[each].pending),
        statements=tuple(
            each for each in extracted.statements if not (found[each.source].pending or found[each.target].pending)
        ),
    )


def _named(extracted: ExtractedMemory) -> ExtractedMemory:
    """What was extracted without names that are too long to be any, which are refused alone."""
    named = dict.fromkeys(_surfaces(extracted))
    checked = {each: check.name("a name", each.name) or check.name("a type", each.type, empty=True) for each in named}
    faults = {each: why for each, why in checked.items() if why}
    if not faults:
        return extracted
    return attrs.evolve(
        extracted,
        surfaces=tuple(each for each in extracted.surfaces if each not in faults),
        statements=tuple(each for each in extracted.statements if faults.keys().isdisjoint((each.source, each.target))),
        refused=(*extracted.refused, *(f"{extracted.memory_id}: {why}" for why in dict.fromkeys(faults.values()))),
    )


def _surfaces(extracted: ExtractedMemory) -> Iterable[ExtractedName]:
    yield from extracted.surfaces
    for statement in extracted.statements:
        yield statement.source
        yield statement.target


def _mentions(extracted: ExtractedMemory, found: Mapping[ExtractedName, Resolution]) -> Iterable[Mention]:
    """One mention per entity and span; a surface form with a type precedes one without."""
    mentions: dict[tuple[UUID, object], Mention] = {}
    for surface in sorted(_surfaces(extracted), key=lambda surface: not surface.type):
        entity = found[surface].entity
        if (entity.id, surface.span) not in mentions:
            mentions[entity.id, surface.span] = Mention(
                memory_id=extracted.memory_id,
                entity_id=entity.id,
                surface=surface.written or surface.name,
                type=surface.type,
                span=surface.span,
                confidence=surface.confidence,
            )
    return mentions.values()


def _claims(extracted: ExtractedMemory, found: Mapping[ExtractedName, Resolution], extractor: str) -> Iterable[Claim]:
    """The claims of statements; one whose ends resolve to the same entity is left out."""
    for statement in extracted.statements:
        claim = _claim(extracted.memory_id, statement, found, extractor)
        if claim.source_id != claim.target_id:
            yield claim


def _claim(memory_id: str, statement: Statement, found: Mapping[ExtractedName, Resolution], extractor: str) -> Claim:
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
        extractor=f"{statement.extractor or extractor}:{statement.pattern}",
        ceiling=statement.ceiling,
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))

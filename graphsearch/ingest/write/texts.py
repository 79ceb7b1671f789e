"""Texts of memories to mentions and claims: extract, resolve, and write them, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final
from uuid import UUID

import attrs

from graphsearch._support.concurrency import aside
from graphsearch._support.observing import stage
from graphsearch.access.gate import Gate
from graphsearch.errors import BudgetExhaustedError, ExtractionError, GraphSearchError
from graphsearch.ingest.extract.combining import batch_of, extract_with
from graphsearch.ingest.extract.extraction import Unread
from graphsearch.ingest.reading.extractor import TextExtractor
from graphsearch.ingest.reading.scope_names import scope_names
from graphsearch.ingest.resolve.cascade import Resolver
from graphsearch.ingest.resolve.resolution import Resolution, ResolutionCounts, Stage
from graphsearch.ingest.stating.combining import with_stated
from graphsearch.ingest.stating.scope import VALUE
from graphsearch.ingest.stating.stating import Stating
from graphsearch.ingest.write.echoes import Echoes
from graphsearch.ingest.write.ledger import Waiting, begun, without_facts
from graphsearch.ingest.write.options import IngestLimits, Intake, TextLimitError
from graphsearch.ingest.write.writer import Writer, chunks
from graphsearch.model import Batch, Claim, Entity, FactReport, Memory, Mention
from graphsearch.model import validation as check
from graphsearch.model.extracted import ExtractedMemory, ExtractedName
from graphsearch.model.identity import ids_of
from graphsearch.protocols import Extractor, KnowingExtractor
from graphsearch.stores.graph import GraphStore

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
    failed: Mapping[str, ExtractionError] = attrs.field(factory=dict)
    """Why memories were not read: the extractor failed, or they exceed a limit."""
    left: tuple[str, ...] = ()
    """Ids of memories that were not completed because a language model could not be asked any more."""
    stated: tuple[FactReport, ...] = ()
    """What became of stated facts."""
    begun: frozenset[str] = frozenset()
    """Those of ``left`` that the judge was asked about: their decided names are written, and not asked again."""

    @property
    def unread(self) -> tuple[Unread, ...]:
        """The memories that were not read, and why."""
        return tuple(Unread(id_, str(error)) for id_, error in self.failed.items())

    def to_write(self, memories: Iterable[Memory]) -> list[Memory]:
        """Those of some memories that can be written; incomplete ones are marked to be read again."""
        unfinished = {*self.failed, *self.left} - self.begun
        return [
            without_facts(begun(each) if each.id in self.begun else each)
            for each in memories
            if each.id not in unfinished
        ]

    def add_totals(self, other: ResolvedTexts) -> ResolvedTexts:
        """The sum of two reports, without mentions, claims and entities."""
        return ResolvedTexts(
            counts=self.counts + other.counts,
            conflicts=_distinct((*self.conflicts, *other.conflicts)),
            unanswered=_distinct((*self.unanswered, *other.unanswered)),
            refused=(*self.refused, *other.refused),
            failed={**self.failed, **other.failed},
            left=(*self.left, *other.left),
            stated=(*self.stated, *other.stated),
            begun=self.begun | other.begun,
        )


DEFAULT_EXTRACTOR: Final[Extractor] = TextExtractor()
"""What reads texts unless an ingest is given something else, or nothing."""


@attrs.define(eq=False)
class TextReader:
    """Extracts mentions and claims from memories within limits and resolves their names, for one ingest.

    Without an extractor nothing is read, and only what is ``stating`` of memories counts. Once the extractor reports
    that it cannot continue, it is not called any more.
    """

    extractor: Extractor | None
    resolver: Resolver
    limits: IngestLimits
    intake: Intake
    store: GraphStore
    stating: Stating
    gate: Gate
    totals: ResolvedTexts = attrs.field(factory=ResolvedTexts)
    """The report on all texts so far."""
    _stopped: GraphSearchError | None = None

    @property
    def name(self) -> str:
        """The extractor's name; empty without one."""
        return self.extractor.name if self.extractor else ""

    @property
    def version(self) -> str:
        """The extractor's name and the options of the ingest: what was read with others is read again."""
        return f"{self.name} {self.intake.version}".strip()

    @property
    def batch(self) -> int:
        """Memories read at a time: the number that the extractor sets, else 500."""
        size = batch_of(self.extractor) if self.extractor else None
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
        if self._stopped is None:
            reading = await self._read(memories)
        else:
            reading = ResolvedTexts(left=tuple(memory.id for memory in memories))
        self.totals = self.totals.add_totals(reading)
        return reading

    async def _extracted(self, memories: Sequence[Memory]) -> list[ExtractedMemory]:
        """The content of each memory, in order. Those beyond the limits are unread, and too long ones not extracted."""
        too_long = {each.id: fault for each in memories if (fault := self.limits.too_long(each))}
        left = [each for each in memories if each.id not in too_long]
        with stage("extraction"):
            answers = (
                await extract_with(await self._knowing(self.extractor, left), left)
                if self.extractor is not None
                else [ExtractedMemory(memory_id=each.id) for each in left]
            )
        read = {each.memory_id: each for each in answers}
        faults = {each.memory_id: fault for each in answers if (fault := self.limits.too_many_names(each))} | too_long
        return [
            ExtractedMemory(memory_id=each.id, unread=faults[each.id]) if each.id in faults else _named(read[each.id])
            for each in memories
        ]

    async def _knowing(self, extractor: Extractor, memories: Sequence[Memory]) -> Extractor:
        """The extractor, told the names of the scope that occur in some memories, if it asks for them."""
        if not isinstance(extractor, KnowingExtractor):
            return extractor
        known = await scope_names(memories, self.store, self.gate)
        return extractor.knowing(known) if known else extractor

    async def _read(self, memories: Sequence[Memory]) -> ResolvedTexts:
        answers = await self._extracted(memories)
        failed = {each.memory_id: each.unread for each in answers if isinstance(each.unread, ExtractionError)}
        stopped = {each.memory_id: each.unread for each in answers if each.unread and each.memory_id not in failed}
        self._stopped = next(iter(stopped.values()), None)
        stated = await self.stating.read([each for each in memories if each.id not in failed.keys() | stopped.keys()])
        extracted = [
            with_stated(stated[each.memory_id], each) if each.memory_id in stated else each
            for each in answers
            if each.unread is None
        ]
        surfaces = dict.fromkeys(surface for each in extracted for surface in _surfaces(each))
        with stage("resolution"):
            found = await self._resolved(surfaces, [pair for each in extracted for pair in each.same])
        descriptions = {name: text for each in stated.values() for name, text in each.descriptions.items()}
        reading = await aside(lambda: self._assembled(extracted, found, descriptions), len(surfaces))
        left = {*reading.left, *stopped}
        return attrs.evolve(
            reading,
            failed=failed,
            left=tuple(each.memory_id for each in answers if each.memory_id in left),
            stated=tuple(report for each in stated.values() for report in each.reports),
        )

    def _assembled(
        self,
        extracted: Sequence[ExtractedMemory],
        found: Mapping[ExtractedName, Resolution],
        descriptions: Mapping[str, str],
    ) -> ResolvedTexts:
        """The mentions and claims of what was extracted."""
        surfaces = {each.memory_id: list(_surfaces(each)) for each in extracted}
        # a memory with a name that the judge could not be asked about is read again by the next call
        waiting = {id_ for id_, some in surfaces.items() if any(found[each].pending for each in some)}
        begun_ = {id_ for id_ in waiting if any(found[each].judged for each in surfaces[id_])}
        kept = [
            _decided(each, found) if each.memory_id in waiting else each
            for each in extracted
            if each.memory_id not in waiting - begun_
        ]
        names = [found[surface] for surface in dict.fromkeys(one for each in kept for one in _surfaces(each))]
        created = {each.entity.id for each in found.values() if each.stage is Stage.CREATE}
        new = [each for each in names if each.entity.id in created]
        return ResolvedTexts(
            mentions=tuple(mention for each in kept for mention in _mentions(each, found)),
            claims=tuple(claim for each in kept for claim in _claims(each, found, self.name)),
            named=tuple({each.entity.id: _described(each, descriptions) for each in new}.values()),
            counts=ResolutionCounts.of(names),
            conflicts=_distinct(each.surface.name for each in names if each.conflict),
            unanswered=_distinct(each.fault for each in found.values() if each.fault),
            refused=tuple(why for each in kept for why in each.refused),
            left=tuple(waiting),
            begun=frozenset(begun_),
        )

    async def _resolved(
        self, surfaces: Iterable[ExtractedName], same: Sequence[tuple[str, str]]
    ) -> dict[ExtractedName, Resolution]:
        """What each surface means. Values are what they say: they are never another thing of a like name."""
        resolutions = [
            *await self.resolver.resolve([each for each in surfaces if each.type != VALUE], same=same),
            *await _values([each for each in surfaces if each.type == VALUE], self.store),
        ]
        return {each.surface: each for each in resolutions}


# -- writing ----------------------------------------------------------------------------------------------------------


async def write_texts(
    found: Waiting,
    writer: Writer,
    reader: TextReader,
    *,
    echoes: Echoes | None = None,
    strict: bool = False,
    progress: Callable[[int, Memory], None] = lambda _, __: None,
) -> int:
    """Read and write memories, a batch of the reader in one transaction; return how many were completed.

    ``echoes`` leaves out what they repeat; ``strict``: raise `InvalidInputError` for texts that exceed a limit.
    ``progress`` is called with the number of memories after each batch, and the last of them.
    """
    await writer.begin()
    changed = await _write(found.moved, await _read_before(found.moved, writer.store), writer)
    for part in chunks(found.read, reader.batch):
        new = await echoes.keep(part) if echoes else part
        if new:
            reading = await reader.read(new)
            faults = [str(error) for error in reading.failed.values() if isinstance(error, TextLimitError)]
            check.refuse("memories", *(faults if strict else ()))
            if echoes:
                reading = attrs.evolve(reading, claims=echoes.without(reading.claims))
            changed += await _write(new, reading, writer)
        if echoes:
            await echoes.link(new)
        progress(len(part), part[-1])
    return changed


async def _write(memories: Sequence[Memory], reading: ResolvedTexts, writer: Writer) -> int:
    """Write some memories with their mentions and claims; return how many were completed."""
    if read := reading.to_write(memories):
        batch = Batch(
            named=reading.named,
            memories=read,
            mentions=reading.mentions,
            claims=reading.claims,
            counters=reading.counts.counters,
        )
        # files do not describe what memories name
        await writer.write(batch, anew=False, embed=read, stale=lambda _: False)
    return len(read) - len(reading.begun)


async def _read_before(memories: Sequence[Memory], store: GraphStore) -> ResolvedTexts:
    """The stored mentions and claims of memories."""
    if not memories:
        return ResolvedTexts()
    ids = [memory.id for memory in memories]
    mentions, claims = await store.list_mentions(memory_ids=ids), await store.list_claims(memory_ids=ids)
    return ResolvedTexts(mentions=tuple(mentions), claims=tuple(claims))


# -- from surfaces to entities ----------------------------------------------------------------------------------------


async def _values(surfaces: Sequence[ExtractedName], store: GraphStore) -> list[Resolution]:
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


def _decided(extracted: ExtractedMemory, found: Mapping[ExtractedName, Resolution]) -> ExtractedMemory:
    """The mentions and statements of a memory whose names are all decided."""
    return _without(extracted, {each for each in _surfaces(extracted) if found[each].pending})


def _without(extracted: ExtractedMemory, names: AbstractSet[ExtractedName]) -> ExtractedMemory:
    return attrs.evolve(
        extracted,
        surfaces=tuple(each for each in extracted.surfaces if each not in names),
        statements=tuple(each for each in extracted.statements if names.isdisjoint((each.source, each.target))),
    )


def _named(extracted: ExtractedMemory) -> ExtractedMemory:
    """What was extracted without names that are too long to be any, which are refused alone."""
    named = dict.fromkeys(_surfaces(extracted))
    checked = {each: check.name("a name", each.name) or check.name("a type", each.type, empty=True) for each in named}
    faults = {each: why for each, why in checked.items() if why}
    refused = (*extracted.refused, *(f"{extracted.memory_id}: {why}" for why in dict.fromkeys(faults.values())))
    return attrs.evolve(_without(extracted, faults.keys()), refused=refused) if faults else extracted


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


def _claims(extracted: ExtractedMemory, found: Mapping[ExtractedName, Resolution], extractor: str) -> Iterator[Claim]:
    """The claims of statements; one whose ends resolve to the same entity is left out."""
    for each in extracted.statements:
        source, target = found[each.source].entity.id, found[each.target].entity.id
        if source != target:
            yield Claim(
                memory_id=extracted.memory_id,
                source_id=source,
                type=each.type,
                target_id=target,
                confidence=each.confidence,
                valid_from=each.valid_from,
                valid_to=each.valid_to,
                kind=each.kind,
                fact=each.fact,
                span=each.span,
                extractor=f"{each.extractor or extractor}:{each.pattern}",
                ceiling=each.ceiling,
            )


def _described(found: Resolution, descriptions: Mapping[str, str]) -> Entity:
    """The entity of a name, as the giver of a memory describes it."""
    text = descriptions.get(found.surface.name)
    return found.entity if text is None else attrs.evolve(found.entity, description=text)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))

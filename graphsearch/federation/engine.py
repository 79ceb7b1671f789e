"""One question to several scopes of one organisation, each behind its own gate: one ranking.

It opens several scopes where a `GraphSearchEngine` opens one. Each element of a result has the scopes that it comes
from, and ids as its own scope has them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, Final, Self, TypeVar, Unpack
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch._support.concurrency import in_order
from graphsearch._support.observing import all_observed
from graphsearch._support.timing import Stopwatch
from graphsearch.access.gate import Gate
from graphsearch.access.gatekeeper import rare_entities
from graphsearch.access.reader import Reader, ReadingOptions, RelationPage, reading
from graphsearch.columns import NONE, Expansion, FarEnds, Hits, Keys, Mask, Mentioned, Rows, Steps, Turns
from graphsearch.columns.key_index import KeyIndex, distinct
from graphsearch.engine import Engine, GraphSearchEngine
from graphsearch.errors import EmbeddingModelError
from graphsearch.model import (
    Claim,
    Community,
    ElementKind,
    ElementRef,
    Entity,
    Group,
    Memory,
    Relation,
    RelationType,
    Scope,
    Triplet,
    Vector,
    View,
)
from graphsearch.model import validation as check
from graphsearch.model.signatures import SignatureTable
from graphsearch.model.validation import revised
from graphsearch.modes.mode import Question
from graphsearch.modes.result import SearchResult, Sentence, Source, Summary
from graphsearch.question.understanding import Understanding
from graphsearch.ranking.entity_ranking import RankRequest, RankResult
from graphsearch.ranking.recall_result import RecallRequest, RecallResult
from graphsearch.ranking.retrieval import Parts
from graphsearch.ranking.triplet_score import Connection
from graphsearch.stores.graph import GraphStore
from graphsearch.text.analyser import Analyser
from graphsearch.text.bm25 import TermCounts
from graphsearch.traversal.paths import GraphPath

K = TypeVar("K")
T = TypeVar("T")


@all_observed
class FederatedEngine(Engine):
    """Searches several scopes of one organisation as one, and writes to none of them.

    ``engines``: one for each scope, in any order. They must embed with the same model; traversal, language model and
    constants are those of the first by the name of its scope. Answers of a single engine are that engine's.

    Each scope is read through the gate on its own. A scope of which the principal may see nothing takes no part:
    answers are those of the others, without it. Entities and relations of the same id are one. Each triplet, memory and
    entity of an answer states its ``scopes``.

    Raises `InvalidInputError` for no scope, for one scope twice, and for scopes of several organisations, and
    `EmbeddingModelError` for engines with different models.
    """

    def __init__(self, engines: Sequence[GraphSearchEngine]) -> None:
        scopes = [engine.store.scope for engine in engines]
        orgs = sorted({scope.org_id for scope in scopes})
        twice = sorted(str(scope) for scope, number in Counter(scopes).items() if number > 1)
        check.refuse(
            "federated search",
            None if scopes else "name a scope at least",
            f"{', '.join(twice)}: name each scope once" if twice else None,
            f"scopes must be of one organisation, not of {', '.join(orgs)}" if len(orgs) > 1 else None,
        )
        self.engines = tuple(sorted(engines, key=lambda engine: engine.store.scope))
        models = {engine.embedder.name if engine.embedder else None: engine.store.scope for engine in self.engines}
        if len(models) > 1:
            each = ", ".join(f"that of {scope} with {name!r}" for name, scope in models.items())
            raise EmbeddingModelError(f"engines must embed questions with one model: {each}")
        first = self.engines[0]
        super().__init__(
            first.store,
            embedder=first.embedder,
            llm=first.llm,
            traversal=first.traversal,
            modes=first.modes,
            scoring=first.scoring,
            recall_scoring=first.recall_scoring,
        )

    @property
    def stores(self) -> tuple[GraphStore, ...]:
        """The stores, in the order of the names of their scopes."""
        return tuple(engine.store for engine in self.engines)

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes, in the order of their names."""
        return tuple(engine.store.scope for engine in self.engines)

    @asynccontextmanager
    async def _open(self, **options: Unpack[ReadingOptions]) -> AsyncIterator[Reader]:
        """The scopes of which the principal may see anything; a single one of these as if it were asked alone."""
        opening = partial(reading, now=self.stores[0].clock.now(), **options)
        readers: dict[int, Reader] = {}
        async with AsyncExitStack() as stack:
            entered = self._entered(options.get("gate"))
            for number in entered:
                store = self.stores[number]
                await stack.enter_async_context(store.snapshot())
                if len(entered) > 1:
                    async with opening(store) as probe:  # what it denies is not counted as denied
                        if not await probe.sees_anything() and (readers or number != entered[-1]):
                            continue
                readers[number] = await stack.enter_async_context(
                    opening(store, documents=self._caches.documents[store.scope])
                )
            yield _joint(readers)

    def _entered(self, gate: Gate | None) -> Sequence[int]:
        """The numbers of the scopes that the principal may enter; the first of all if there are none."""
        every = range(len(self.engines))
        return [each for each in every if gate is None or gate.enters(self.scopes[each])] or every[:1]

    async def _search(self, question: Question, reader: Reader) -> SearchResult:
        return with_scopes(await super()._search(question, reader), reader, self.scopes)

    async def _conclude(self, found: SearchResult, question: Question) -> SearchResult:
        return with_own_ids(await super()._conclude(found, question))

    async def _recall(
        self, request: RecallRequest, vector: Vector | None, reader: Reader, stopwatch: Stopwatch
    ) -> RecallResult:
        return recalled(await super()._recall(request, vector, reader, stopwatch), reader, self.scopes)

    async def _rank(
        self, request: RankRequest, meaning: Understanding | None, parts: Parts, reader: Reader
    ) -> RankResult:
        return ranked(await super()._rank(request, meaning, parts, reader), reader)


def _joint(readers: Mapping[int, Reader]) -> Reader:
    """One reader of some scopes by number; that of a single scope itself."""
    if len(readers) == 1:
        return next(iter(readers.values()))
    return JointReader(
        [
            ScopePart(reader, number=number, place=place, of=len(readers))
            for place, (number, reader) in enumerate(readers.items())
        ]
    )


def with_scopes(found: SearchResult, reader: Reader, scopes: Sequence[Scope]) -> SearchResult:
    """A result with the scopes that were searched, whose triplets have theirs; ``scopes`` are those of the engine."""
    own = reader.owners(ElementKind.RELATION, [each.relation.id for each in found.triplets])
    triplets = (
        attrs.evolve(
            each,
            relation=_as_walked(each),
            origins={scope: _evidence_in(scope, each.relation, reader, scopes) for scope in ids},
            own_ids={scope: id_ for scope, id_ in ids.items() if id_ != each.relation.id},
        )
        for each, ids in zip(found.triplets, own, strict=True)
    )
    return attrs.evolve(found, triplets=tuple(triplets), scopes=reader.scopes)


def _evidence_in(scope: Scope, relation: Relation, reader: Reader, scopes: Sequence[Scope]) -> tuple[str, ...]:
    """The evidence that a relation has in one of its scopes."""
    if len(reader.scopes) == 1:
        return relation.evidence
    return tuple(own_id(each) for each in relation.evidence if scopes[number_of(each)] == scope)


def _as_walked(triplet: Triplet) -> Relation:
    """The relation between the ends of its triplet: where one scope merged an end, another scope has another one."""
    relation, ends = triplet.relation, (triplet.source.id, triplet.target.id)
    if (relation.source_id, relation.target_id) == ends:
        return relation
    return attrs.evolve(relation, source_id=ends[0], target_id=ends[1])


def with_own_ids(found: SearchResult) -> SearchResult:
    """A result in which memories are cited by their own ids; that of a single scope cites them so already."""
    own: SearchResult = found if len(found.scopes) == 1 else _own(found)
    return own


def recalled(found: RecallResult, reader: Reader, scopes: Sequence[Scope]) -> RecallResult:
    """A result whose memories have their scopes and their own ids; ``scopes`` are those of the engine, by number."""
    memories = [attrs.evolve(each, scopes=reader.scopes) for each in found.memories]
    if len(reader.scopes) > 1:
        memories = [
            attrs.evolve(
                each, memory=own_memory(each.memory), path=_own(each.path), scopes=(scopes[number_of(each.memory.id)],)
            )
            for each in memories
        ]
    return attrs.evolve(found, memories=tuple(memories), scopes=reader.scopes)


def ranked(found: RankResult, reader: Reader) -> RankResult:
    """A result with the scopes that were searched, whose entities have theirs."""
    own = reader.owners(ElementKind.ENTITY, [each.entity.id for each in found.entities])
    entities = (attrs.evolve(each, scopes=tuple(ids)) for each, ids in zip(found.entities, own, strict=True))
    return attrs.evolve(found, entities=tuple(entities), scopes=reader.scopes)


_CITING: Final[Mapping[type, tuple[str, ...]]] = {
    SearchResult: ("triplets", "connections", "summary"),
    Triplet: ("relation",),
    Connection: ("paths",),
    GraphPath: ("relations",),
    Summary: ("sources", "sentences"),
    Sentence: ("sources",),
    Source: ("element",),
}
"""The fields of a result, and of its parts, in which memories are cited."""


def _own(part: Any) -> Any:
    """A result or a part of one, in which memories are cited by their own ids."""
    if isinstance(part, Relation):
        return own_relation(part)
    if isinstance(part, ElementRef):
        return ElementRef(part.kind, own_id(part.id)) if part.kind is ElementKind.MEMORY else part
    if isinstance(part, tuple):
        return tuple(map(_own, part))
    if isinstance(part, Mapping):
        return {key: _own(value) for key, value in part.items()}
    return part and attrs.evolve(part, **{name: _own(getattr(part, name)) for name in _CITING[type(part)]})


class JointReader(Reader):
    """Reads several scopes for one question, each in its own snapshot; ``parts`` are in the order of their names.

    Every scope is read by a reader of its own, behind its own gate and in its own view, and nothing else reads here. So
    what a scope hides has no part in any answer, and everything above a reader (modes, walks, recall, ranking) works on
    several scopes as on one: candidates are scored together, by the statistics of all of them, and a walk passes from
    one scope to another where both know an entity.

    It has the methods of `Reader` that searches, recall and rankings read by. Counts are added up; scope, analyser and
    present are those of the first scope, and so is the vector of an element of several. Memories have joint ids. Models
    of vectors that differ raise an `EmbeddingModelError`.
    """

    def __init__(self, parts: Sequence[ScopePart]) -> None:
        self.parts = tuple(parts)
        self.view = self.parts[0].reader.view
        self.types = {name: type_ for part in reversed(self.parts) for name, type_ in part.reader.types.items()}
        self._table: tuple[Sequence[int], SignatureTable] | None = None

    def viewing(self, view: View) -> Self:
        return self if view == self.view else type(self)([part.viewing(view) for part in self.parts])

    async def _each(self, call: Callable[[ScopePart], Awaitable[T]]) -> list[T]:
        """What each scope answers, in the order of the scopes."""
        return await in_order(call, self.parts, limit=len(self.parts))

    async def _held(
        self, kind: ElementKind, keys: Keys, read: Callable[[ScopePart, Keys], Awaitable[T]], none: T
    ) -> list[T]:
        """What each scope answers of those elements that it has: entities that hold, others that were met."""

        async def of(part: ScopePart) -> T:
            _, own = await part.holding(keys) if kind is ElementKind.ENTITY else part.met(kind, keys)
            return await read(part, own) if len(own) else none

        return await self._each(of)

    # -- the scopes ----------------------------------------------------------------------------------------------

    @property
    def scope(self) -> Scope:
        return self.parts[0].scope

    @property
    def scopes(self) -> tuple[Scope, ...]:
        return tuple(part.scope for part in self.parts)

    @property
    def analyser(self) -> Analyser:
        return self.parts[0].reader.analyser

    @property
    def now(self) -> datetime:
        return self.parts[0].reader.now

    async def version(self) -> Hashable:
        return tuple([(part.scope, await part.reader.version()) for part in self.parts])

    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        return unpacked(keys)

    def relation_ids(self, keys: Keys) -> Sequence[UUID]:
        return unpacked(keys)

    def memory_ids(self, keys: Keys) -> Sequence[str]:
        return [str(key) for key in keys.tolist()]

    def owned(self, kind: ElementKind, keys: Keys) -> Mapping[int, tuple[Rows, Keys]]:
        """For the number of each scope, the rows of the elements that it has, and its own keys of these.

        It has those that this view has met in it; those that no scope has so, wherever another view has met them.
        """
        met = {part.number: part.met(kind, keys) for part in self.parts}
        absent = np.ones(len(keys), np.bool_)
        for rows, _ in met.values():
            absent[rows] = False
        if not absent.any():
            return met
        others = {part.number: part.known(kind, keys) for part in self.parts}
        wanted = {number: absent[rows] for number, (rows, _) in others.items()}
        return {
            number: (_both(rows, others[number][0][wanted[number]]), _both(own, others[number][1][wanted[number]]))
            for number, (rows, own) in met.items()
        }

    async def _shown_by(
        self, kind: ElementKind, keys: Keys, read: Callable[[ScopePart, Keys], Awaitable[Sequence[T]]]
    ) -> list[tuple[ScopePart, int, T]]:
        """What each scope shows of those elements that it has, with their rows among the keys, scope by scope."""
        owned = self.owned(kind, keys)

        async def of(part: ScopePart) -> list[tuple[ScopePart, int, T]]:
            rows, own = owned[part.number]
            found = await read(part, own) if len(own) else ()
            return [(part, row, each) for row, each in zip(rows.tolist(), found, strict=True)]

        return list(chain.from_iterable(await self._each(of)))

    def owners(self, kind: ElementKind, ids: Sequence[UUID]) -> Sequence[Mapping[Scope, UUID]]:
        found: list[dict[Scope, UUID]] = [{} for _ in ids]
        owned = self.owned(kind, packed(ids))
        for part in self.parts:
            rows, own = owned[part.number]
            own_ids = part.reader.entity_ids if kind is ElementKind.ENTITY else part.reader.relation_ids
            for row, id_ in zip(rows.tolist(), own_ids(own) if len(own) else (), strict=True):
                found[row][part.scope] = id_
        return found

    async def embedder_name(self) -> str | None:
        names = await self._each(lambda part: part.reader.embedder_name())
        bound = {name: part.scope for name, part in zip(names, self.parts, strict=True) if name is not None}
        if len(bound) > 1:
            each = ", ".join(f"those of {scope} by {name!r}" for name, scope in sorted(bound.items()))
            raise EmbeddingModelError(
                f"vectors of different models cannot be compared: {each}; ask these scopes one by one, or ingest one of"
                " them again into another project"
            )
        return next(iter(bound), None)

    # -- the gates -----------------------------------------------------------------------------------------------

    @property
    def hides(self) -> bool:
        return any(part.reader.hides for part in self.parts)

    @property
    def denied(self) -> Mapping[ElementKind, int]:
        return summed(part.reader.denied for part in self.parts)

    async def denied_by(self) -> Mapping[str, int]:
        return summed(await self._each(lambda part: part.reader.denied_by()))

    async def health(self) -> float | None:
        known = [each for each in await self._each(lambda part: part.reader.health()) if each is not None]
        return min(known, default=None)

    # -- types and statistics ------------------------------------------------------------------------------------

    @property
    def signatures(self) -> SignatureTable:
        tables = [part.reader.signatures for part in self.parts]
        sizes = list(map(len, tables))
        if self._table is None or self._table[0] != sizes:
            self._table = sizes, joint_table(tables)
        return self._table[1]

    async def document_count(self, kind: ElementKind) -> int:
        return sum(await self._each(lambda part: part.reader.document_count(kind)))

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        counted = await self._each(lambda part: part.reader.document_frequencies(kind, groups))
        return [sum(each) for each in zip(*counted, strict=True)]

    async def term_counts(self, kind: ElementKind, terms: Sequence[str]) -> TermCounts:
        counted = await self._each(lambda part: part.reader.term_counts(kind, terms))
        return TermCounts(sum(each.documents for each in counted), summed(each.containing for each in counted))

    async def left_out(self, keys: Keys) -> Mapping[str, int]:
        none: Mapping[str, int] = {}
        return summed(await self._held(ElementKind.ENTITY, keys, lambda part, own: part.reader.left_out(own), none))

    # -- searches ------------------------------------------------------------------------------------------------

    async def _hits(self, kind: ElementKind, search: Callable[[Reader], Awaitable[Hits]]) -> list[Hits]:
        async def of(part: ScopePart) -> Hits:
            return part.hits(kind, await search(part.reader))

        return await self._each(of)

    async def nearest(self, kind: ElementKind, vector: Vector, limit: int) -> Hits:
        return best_hits(await self._hits(kind, lambda reader: reader.nearest(kind, vector, limit)), 1.0, limit)

    async def lexical(self, kind: ElementKind, query: str, limit: int, *, counts: TermCounts | None = None) -> Hits:
        known = counts or await self.term_counts(kind, list(dict.fromkeys(self.analyser.terms(query))))

        found = await self._hits(kind, lambda reader: reader.lexical(kind, query, limit, counts=known))
        return best_hits(found, -1.0, limit)

    async def locate(self, ids: Sequence[UUID]) -> Hits:
        return _once(await self._hits(ElementKind.ENTITY, lambda reader: reader.locate(ids)))

    async def named(self, names: Sequence[str], words: Sequence[str], *, limit: int) -> tuple[Hits, list[Entity]]:
        whole = await self._each(lambda part: part.reader.find_names(names))
        partly = await self._each(lambda part: part.reader.find_name_words(words, limit=limit))
        once = {(each.entity_id, each.name): each for each in chain.from_iterable(partly)}
        ids = {each.entity_id for each in chain.from_iterable(whole)} | rare_entities([*once.values()], limit)
        hits = await self.locate(sorted(ids))
        return hits, await self.entities(hits.keys)

    # -- walks ---------------------------------------------------------------------------------------------------

    async def expand(self, keys: Keys, fan_out: int, ahead: int = 0) -> Steps:
        del ahead

        async def of(part: ScopePart, own: Keys) -> Steps:
            return part.steps(await part.reader.expand(own, fan_out))

        found = await self._held(ElementKind.ENTITY, keys, of, Steps.none(packed(())))
        return strongest(keys, found, fan_out) if len(keys) else Steps.none(keys)

    async def related(self, keys: Keys) -> Steps:
        async def of(part: ScopePart, own: Keys) -> Steps:
            return part.steps(await part.reader.related(own))

        return by_relation(await self._held(ElementKind.RELATION, keys, of, Steps.none(packed(()))))

    async def page(self, *, after: UUID | None = None, limit: int) -> RelationPage:
        """The visible ones among the next relations of the view, by id: ``limit`` or more, fewer only at the end.

        By the ids that they have in their scopes: what scopes have under several ids may be on several pages.
        """

        def until(part: ScopePart, found: Steps) -> Steps:
            steps = part.steps(found)
            own = packed(part.reader.relation_ids(found.rows.relations))
            return steps if last is None else steps.keep(np.flatnonzero(own <= packed([last])))

        pages = await self._each(lambda part: part.reader.page(after=after, limit=limit))
        ends = [each.last for each in pages if each.read == limit and each.last is not None]
        last = min(ends, default=None)
        found = [until(part, each.steps) for part, each in zip(self.parts, pages, strict=True)]
        read = limit if ends else min(sum(each.read for each in pages), limit - 1)
        return RelationPage(by_relation(found), read, last)

    async def entity_types(self, hits: Hits) -> list[str]:
        return [each.type for each in await self.entities(hits.keys)]

    async def list_entities(
        self, *, after: UUID | None = None, limit: int, type: str
    ) -> tuple[list[Entity], UUID | None]:
        pages = await self._each(lambda part: part.reader.list_entities(after=after, limit=limit, type=type))
        last = min((each for _, each in pages if each is not None), default=None)
        listed = [each for page, _ in pages for each in page if last is None or each.id <= last]
        return _joined(listed, sorted({each.id for each in listed})), last

    async def mentioned(self, kind: ElementKind, keys: Keys, limit: int) -> Mentioned:
        """The visible elements one mention away from memories, or from entities; see `GraphStore.mentioned`.

        The limit is of each scope, and of all together.
        """
        other = ElementKind.ENTITY if kind is ElementKind.MEMORY else ElementKind.MEMORY

        async def of(part: ScopePart, own: Keys) -> Mentioned:
            found = await part.reader.mentioned(kind, own, limit)
            near, far = part.joint(kind, found.near), part.joint(other, found.far)
            return attrs.evolve(found, near=near, far=far, far_signatures=np.zeros(len(far), np.int64))

        found = Mentioned.concatenate(await self._held(kind, keys, of, _no_mentions(kind, other)))
        near = KeyIndex(keys).of(found.near)
        order = np.lexsort((found.far, near))
        few = np.bincount(near, minlength=len(keys))[near[order]] <= limit
        return found.keep(order[few])

    async def turns(self, keys: Keys) -> Turns:
        async def of(part: ScopePart, own: Keys) -> Turns:
            found = await part.reader.turns(own)
            near, far = (part.joint(ElementKind.MEMORY, each) for each in (found.near, found.far))
            return attrs.evolve(found, near=near, far=far, far_signatures=np.zeros(len(far), np.int64))

        none = np.empty(0, np.str_)
        nobody = Turns(near=none, far=none, later=np.empty(0, np.bool_), far_signatures=np.empty(0, np.int64))
        found = Turns.concatenate(await self._held(ElementKind.MEMORY, keys, of, nobody))
        return found.keep(np.argsort(KeyIndex(keys).of(found.near), kind="stable"))

    # -- elements ------------------------------------------------------------------------------------------------

    async def entities(self, keys: Keys) -> list[Entity]:
        await self._each(lambda part: part.holding(keys))
        found = await self._shown_by(ElementKind.ENTITY, keys, lambda part, own: part.reader.entities(own))
        return _joined((each for _, _, each in found), unpacked(keys))

    async def get_entities(self, ids: Sequence[UUID]) -> list[Entity]:
        return _joined(chain.from_iterable(await self._each(lambda part: part.reader.get_entities(ids))), ids)

    async def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        joint: defaultdict[UUID, dict[str, float]] = defaultdict(dict)
        for found in await self._each(lambda part: part.reader.words(ids)):
            for id_, weights in found.items():
                for word, weight in weights.items():
                    joint[id_][word] = max(weight, joint[id_].get(word, 0.0))
        return dict(joint)

    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        owned = self.owned(kind, keys)

        async def of(part: ScopePart) -> tuple[Rows, Vector]:
            rows, own = owned[part.number]
            return rows, await part.reader.vectors(kind, own)

        found = await self._each(of)
        joint = np.zeros((len(keys), max(vectors.shape[1] for _, vectors in found)), np.float32)
        for rows, vectors in reversed(found):
            if vectors.shape[1] and len(rows):
                there = vectors.any(axis=1)
                joint[rows[there]] = vectors[there]
        return joint

    async def communities(
        self, *, entity_ids: Sequence[UUID] | None = None, limit: int | None = None
    ) -> list[Community]:
        found = await self._each(lambda part: part.reader.communities(entity_ids=entity_ids, limit=limit))
        once = {(each.id, each.members): each for each in chain.from_iterable(found)}
        return sorted(once.values(), key=lambda each: (-each.size, each.id, each.members))[:limit]

    async def memories(self, keys: Keys) -> Sequence[Memory]:
        read = await self._shown_by(ElementKind.MEMORY, keys, lambda part, own: part.reader.memories(own))
        found = {row: joint_memory(each, part.number) for part, row, each in read}
        return [found[row] for row in range(len(keys))]

    async def get_memories(self, ids: Sequence[str]) -> list[Memory]:
        async def of(part: ScopePart) -> list[Memory]:
            read = await part.reader.get_memories(_own_ids(ids, part))
            return [joint_memory(each, part.number) for each in read]

        found = {each.id: each for each in chain.from_iterable(await self._each(of))}
        return [found[id_] for id_ in ids if id_ in found]

    async def claims(self, *, memory_ids: Sequence[str] = (), groups: Iterable[Group] = ()) -> list[Claim]:
        wanted = list(groups)

        async def of(part: ScopePart) -> list[Claim]:
            own = _own_ids(memory_ids, part)
            read = await part.reader.claims(memory_ids=own, groups=wanted) if own or wanted else []
            return [joint_claim(each, part.number) for each in read]

        return list(chain.from_iterable(await self._each(of)))

    async def relations(self, keys: Keys) -> list[Relation]:
        ids = unpacked(keys)
        forms: list[list[Relation]] = [[] for _ in ids]
        read = await self._shown_by(ElementKind.RELATION, keys, lambda part, own: part.reader.relations(own))
        for part, row, each in read:
            forms[row].append(joint_relation(each, part.number, ids[row]))
        return [joint_relations(each) for each in forms]


def _joined(found: Iterable[Entity], ids: Sequence[UUID]) -> list[Entity]:
    """One entity for each id that was found, as the scopes show it together, in the order of ids."""
    forms: defaultdict[UUID, list[Entity]] = defaultdict(list)
    for each in found:
        forms[each.id].append(each)
    return [joint_entity(forms[id_]) for id_ in ids if id_ in forms]


def _own_ids(ids: Sequence[str], part: ScopePart) -> list[str]:
    """The ids, in a scope, of those memories that are its own."""
    return [own_id(each) for each in ids if number_of(each) == part.number]


def _no_mentions(kind: ElementKind, other: ElementKind) -> Mentioned:
    keys = {each: np.empty(0, np.str_) if each is ElementKind.MEMORY else packed(()) for each in (kind, other)}
    return Mentioned(
        near=keys[kind],
        far=keys[other],
        times=np.empty(0),
        about=np.empty(0, np.bool_),
        far_signatures=np.empty(0, np.int64),
    )


def _both(some: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """Columns one after the other; an empty one may be of another type."""
    return np.concatenate([each for each in (some, others) if len(each)] or [some])


# -- what several scopes show, merged ----------------------------------------------------------------------------------


def best_hits(parts: Sequence[Hits], sign: float, limit: int) -> Hits:
    """The best hits of all, each element once, ties by key; ``sign`` is -1 where higher values are better."""
    found = _once(parts, sign)
    return found.keep(np.lexsort((found.keys, sign * found.values))[:limit])


def _once(parts: Sequence[Hits], sign: float = 1.0) -> Hits:
    """Each element once, with its best value and its greatest importance, in the order of keys."""
    every = Hits.concatenate(parts)
    order = np.lexsort((sign * every.values, every.keys))
    every = every.keep(order)
    first = _begins(every.keys)
    starts = np.flatnonzero(first)
    importance = np.maximum.reduceat(every.importance, starts) if len(starts) else every.importance
    return attrs.evolve(every.keep(first), importance=importance)


def _begins(*columns: Keys | Rows) -> Mask:
    """Which rows of sorted columns differ from the one before."""
    begins = np.ones(len(columns[0]), np.bool_)
    if len(begins) > 1:
        begins[1:] = np.logical_or.reduce([each[1:] != each[:-1] for each in columns])
    return begins


def strongest(keys: Keys, parts: Sequence[Steps], fan_out: int) -> Steps:
    """The strongest steps from each key and in each direction, at most ``fan_out``, each relation once."""
    found = _each_once(parts)
    rows = found.rows
    start = KeyIndex(keys).of(rows.near)
    order = np.lexsort((rows.relations, -rows.confidence * found.prior, ~rows.outgoing, start))
    number, begins = np.arange(len(order)), _begins(start[order], rows.outgoing[order])
    kept = order[number - np.maximum.accumulate(np.where(begins, number, 0)) < fan_out]
    found = found.keep(kept)
    return attrs.evolve(found, rows=attrs.evolve(found.rows, starts=keys, start=start[kept]))


def by_relation(parts: Sequence[Steps]) -> Steps:
    """Steps from source to target in the order of their relations, each once."""
    found = _each_once(parts)
    found = found.keep(np.argsort(found.rows.relations, kind="stable"))
    starts, start = np.unique(found.rows.near, return_inverse=True)
    return attrs.evolve(found, rows=attrs.evolve(found.rows, starts=starts, start=start))


def _each_once(parts: Sequence[Steps]) -> Steps:
    """Each step once: the most reliable of those that several scopes have, of equal ones that of the first scope.

    An entity has the greatest importance that any of them gives it.
    """
    rows = Expansion.concatenate([each.rows for each in parts])
    importance = np.zeros(len(rows.ends))
    for each in parts:
        places = np.searchsorted(rows.ends.keys, each.rows.ends.keys)
        np.maximum.at(importance, places, each.rows.ends.importance)
    columns = (np.concatenate([getattr(each, name) for each in parts]) for name in ("signatures", "freshness", "prior"))
    found = Steps(attrs.evolve(rows, ends=attrs.evolve(rows.ends, importance=importance)), *columns)
    same = (rows.near, rows.outgoing, rows.relations)
    order = np.lexsort((-found.reliability, *same))  # stable; not by signatures, whose numbers count hidden ones
    return found.keep(order[_begins(*(each[order] for each in same))])


def joint_entity(forms: Sequence[Entity]) -> Entity:
    """One entity as several scopes show it, in the order of the scopes.

    The name of the first, all other names as aliases, all labels, the longest description, the greatest importance, the
    mean feedback; of attributes the first of each name.
    """
    if len(forms) == 1:
        return forms[0]
    first = forms[0]
    names = dict.fromkeys(chain.from_iterable((each.name, *each.aliases) for each in forms))
    attributes: dict[str, object] = {}
    for each in reversed(forms):
        attributes |= each.attributes
    return attrs.evolve(
        first,
        aliases=tuple(name for name in names if name != first.name),
        description=max((each.description for each in forms), key=len),
        labels=tuple(chain.from_iterable(each.labels for each in forms)),
        attributes=attributes,
        importance_weight=max(each.importance_weight for each in forms),
        feedback_weight=sum(each.feedback_weight for each in forms) / len(forms),
    )


def joint_relations(forms: Sequence[Relation]) -> Relation:
    """One relation as several scopes show it: the most confident, the first of equal ones, with all evidence."""
    best = max(forms, key=lambda each: each.confidence)
    evidence = tuple(chain.from_iterable(each.evidence for each in forms))
    return best if len(forms) == 1 else attrs.evolve(best, evidence=evidence)


def joint_table(tables: Sequence[SignatureTable]) -> SignatureTable:
    """One table of several: row r of table n is row r · (number of tables) + n."""
    many, size = len(tables), len(tables) * max(map(len, tables))
    columns: dict[str, Any] = {
        "contents": [None] * size,
        "types": [RelationType(name="unregistered")] * size,
        "priors": np.ones(size),
        "half_lives": np.full(size, np.inf),
        **{name: np.zeros(size, np.bool_) for name in ("shared", "typed", "attested")},
    }
    for number, table in enumerate(tables):
        for name, column in columns.items():
            column[number : many * len(table) : many] = getattr(table, name)
    return SignatureTable(**columns, decays=any(table.decays for table in tables), shares_none=False)


def summed(counts: Iterable[Mapping[K, int]]) -> dict[K, int]:
    """The sums of counts by name."""
    total = Counter[K]()
    for each in counts:
        total.update(each)
    return dict(total)


# -- the part of one scope ---------------------------------------------------------------------------------------------


class ScopePart:
    """One scope: what its own reader shows, translated to joint keys.

    Joint keys are those of the elements of several scopes in one order, with the scopes' own keys behind them. An
    entity or a relation has one joint key in all scopes, the 16 bytes of its id: that is derived from what it is, so
    that the same id means the same thing. Where something hidden began a relation, its scope has it under another id
    than what is visible proves; its joint key is that of what is visible. Ids of memories are given by whoever writes
    them, and may mean another memory in each scope: their joint key is the id followed by the number of the scope.
    Joint keys sort as ids do.

    ``number`` is that of the scope in the engine, ``place`` that among the ``of`` scopes that are read. ``known`` has
    the keys that the question has met in the scope, whatever the view.
    """

    def __init__(
        self,
        reader: Reader,
        *,
        number: int,
        place: int,
        of: int,
        known: Mapping[ElementKind, KeyMap] | None = None,
    ) -> None:
        self.reader = reader
        self.number = number
        self._place = place
        self._of = of
        self._known = known or {kind: KeyMap() for kind in ElementKind}
        self._here = {kind: KeyMap() for kind in ElementKind}
        """The keys that were met in this view."""
        self._looked_up = KeyMap()
        """Entities that were met or looked for in this view."""

    def viewing(self, view: View) -> ScopePart:
        """The same snapshot and gate, with the moments and types of another view."""
        mine = attrs.evolve(
            self.reader.view,
            as_of=view.as_of,
            known_at=view.known_at,
            since=view.since,
            min_edge_confidence=view.min_edge_confidence,
            skipped_types=view.skipped_types,
            only_types=view.only_types,
        )
        reader = self.reader.viewing(mine)
        return ScopePart(reader, number=self.number, place=self._place, of=self._of, known=self._known)

    @property
    def scope(self) -> Scope:
        """The scope."""
        return self.reader.scope

    # -- keys ----------------------------------------------------------------------------------------------------

    def joint(self, kind: ElementKind, own: Keys) -> Keys:
        """The joint keys of elements that this scope shows."""
        match kind:
            case ElementKind.MEMORY:
                ids = [joint_id(each, self.number) for each in self.reader.memory_ids(own)]
                joint = np.array(ids, np.str_)
            case ElementKind.ENTITY:
                joint = packed(self.reader.entity_ids(own))
            case _:
                joint = packed(self.reader.visible_relation_ids(own))
        self._known[kind].learn(joint, own)
        self._here[kind].learn(joint, own)
        return joint

    def met(self, kind: ElementKind, joint: Keys) -> tuple[Rows, Keys]:
        """The rows of the elements that the question has met in this view, and the scope's keys of these."""
        return self._here[kind].of(joint)

    def known(self, kind: ElementKind, joint: Keys) -> tuple[Rows, Keys]:
        """The same, in any view."""
        return self._known[kind].of(joint)

    async def holding(self, joint: Keys) -> tuple[Rows, Keys]:
        """The rows of the entities that hold and are visible in this scope, met or not, and the scope's keys."""
        unknown = joint[~(self._here[ElementKind.ENTITY].has(joint) | self._looked_up.has(joint))]
        if len(unknown):
            self._looked_up.learn(unknown, np.arange(len(unknown)))
            self.joint(ElementKind.ENTITY, (await self.reader.locate(sorted(unpacked(unknown)))).keys)
        return self.met(ElementKind.ENTITY, joint)

    def hits(self, kind: ElementKind, found: Hits) -> Hits:
        """Hits in joint keys. Their signatures are of no use beyond the scope, and 0."""
        joint = self.joint(kind, found.keys)
        return attrs.evolve(found, keys=joint, signatures=np.zeros(len(joint), np.int64))

    def steps(self, found: Steps) -> Steps:
        """Visible steps of this scope in joint keys, with the rows of their signatures in the joint table."""
        rows, signatures = found.rows, found.signatures * self._of + self._place
        met, end = distinct(rows.end)
        near, start = distinct(rows.start)
        far = self.joint(ElementKind.ENTITY, rows.ends.keys.take(met))
        no_codes = np.zeros(len(far), np.int64)
        joint = attrs.evolve(
            rows,
            starts=self.joint(ElementKind.ENTITY, rows.starts.take(near)),
            start=start,
            ends=FarEnds(keys=far, signatures=no_codes, importance=rows.ends.importance.take(met)),
            end=end,
            relations=self.joint(ElementKind.RELATION, rows.relations),
            signatures=signatures,
            far_holds=None,
            located=None,
        )
        return attrs.evolve(found, rows=joint, signatures=signatures)


SEPARATOR: Final = "\x1f"
"""Between the id of a memory and the number of its scope; sorts before whatever may continue an id."""


def packed(ids: Iterable[UUID]) -> Keys:
    """The joint keys of entities or relations."""
    return np.frombuffer(b"".join(id_.bytes for id_ in ids), "S16")


def unpacked(keys: Keys) -> list[UUID]:
    """The ids behind joint keys of entities or relations; numpy strips trailing zero bytes from single items."""
    column = np.asarray(keys, "S16").tobytes()
    return [UUID(bytes=column[at : at + 16]) for at in range(0, len(column), 16)]


def joint_id(memory_id: str, number: int) -> str:
    """The id of a memory of the scope with a number, as joint readers show it."""
    return f"{memory_id}{SEPARATOR}{number}"


def own_id(joint: str) -> str:
    """The id of a memory in its own scope."""
    return joint.rpartition(SEPARATOR)[0] or joint


def number_of(joint: str) -> int:
    """The number of the scope of a memory, -1 for an id that is of none."""
    number = joint.rpartition(SEPARATOR)[2]
    return int(number) if SEPARATOR in joint and number.isdecimal() else NONE


def joint_memory(memory: Memory, number: int) -> Memory:
    """A memory with joint ids: its own, and that of its session, which another scope may use for another session."""
    session = joint_id(memory.session_id, number) if memory.session_id else memory.session_id
    return revised(memory, id=joint_id(memory.id, number), session_id=session)


def own_memory(memory: Memory) -> Memory:
    """A memory as its own scope has it."""
    session = own_id(memory.session_id) if memory.session_id else memory.session_id
    return revised(memory, id=own_id(memory.id), session_id=session)


def joint_relation(relation: Relation, number: int, joint: UUID) -> Relation:
    """A relation with its joint id, and the joint ids of its evidence."""
    return revised(relation, id=joint, evidence=tuple(joint_id(each, number) for each in relation.evidence))


def own_relation(relation: Relation) -> Relation:
    """A relation with the ids of its evidence in their own scopes."""
    return revised(relation, evidence=tuple(dict.fromkeys(map(own_id, relation.evidence))))


def joint_claim(claim: Claim, number: int) -> Claim:
    """A claim with the joint id of its memory."""
    return revised(claim, memory_id=joint_id(claim.memory_id, number))


class KeyMap:
    """The joint keys met in one scope, and the scope's own key behind each."""

    def __init__(self) -> None:
        self._own: dict[Any, Any] = {}
        self._none: Keys = np.empty(0, "S16")

    def learn(self, joint: Keys, own: Keys) -> None:
        """Add keys, of which some may be known and some may be there several times."""
        self._none = np.concatenate((self._none, own))[:0] if self._own else own[:0]  # texts may be longer than before
        pairs = zip(joint.tolist(), own.tolist(), strict=True)
        self._own |= {key: value for key, value in pairs if key not in self._own}

    def of(self, joint: Keys) -> tuple[Rows, Keys]:
        """The rows of the keys that are known, in their order, and the own key of each."""
        known = [(row, self._own[key]) for row, key in enumerate(joint.tolist()) if key in self._own]
        own = np.array([value for _, value in known], self._none.dtype)
        return np.array([row for row, _ in known], np.intp), own

    def has(self, joint: Keys) -> Mask:
        """Whether each key is known."""
        return np.array([key in self._own for key in joint.tolist()], np.bool_)

"""One reader of several scopes: what each scope's own reader shows, merged.

Every scope is read by a reader of its own, behind its own gate and in its own view, and nothing else reads here. So
what a scope hides has no part in any answer, and everything above a reader (modes, walks, recall, ranking) works on
several scopes as on one: candidates are scored together, by the statistics of all of them, and a walk passes from one
scope to another where both know an entity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, Self, TypeVar
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch._support.concurrency import in_order
from graphsearch.access.reader import Reader, RelationPage
from graphsearch.access.visible_entities import rare_entities
from graphsearch.claims.folding import type_named
from graphsearch.columns import Hits, Keys, Mentioned, Rows, Steps, Turns
from graphsearch.columns.key_index import KeyIndex
from graphsearch.errors import EmbeddingModelError
from graphsearch.federation import merging
from graphsearch.federation.scope_part import (
    ScopePart,
    joint_claim,
    joint_memory,
    joint_relation,
    number_of,
    own_id,
    packed,
    unpacked,
)
from graphsearch.model import (
    Claim,
    Community,
    ElementKind,
    Entity,
    Group,
    Memory,
    Relation,
    RelationType,
    Scope,
    Vector,
    View,
)
from graphsearch.model.signatures import SignatureTable
from graphsearch.text.analyser import Analyser
from graphsearch.text.bm25 import TermCounts

T = TypeVar("T")


class JointReader(Reader):
    """Reads several scopes for one question, each in its own snapshot; ``parts`` are in the order of their names.

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
        return merging.summed(part.reader.denied for part in self.parts)

    async def denied_by(self) -> Mapping[str, int]:
        return merging.summed(await self._each(lambda part: part.reader.denied_by()))

    async def health(self) -> float | None:
        known = [each for each in await self._each(lambda part: part.reader.health()) if each is not None]
        return min(known, default=None)

    # -- types and statistics ------------------------------------------------------------------------------------

    @property
    def signatures(self) -> SignatureTable:
        tables = [part.reader.signatures for part in self.parts]
        sizes = list(map(len, tables))
        if self._table is None or self._table[0] != sizes:
            self._table = sizes, merging.joint_table(tables)
        return self._table[1]

    def type_of(self, name: str) -> RelationType:
        return type_named(name, self.types)

    async def document_count(self, kind: ElementKind) -> int:
        return sum(await self._each(lambda part: part.reader.document_count(kind)))

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        counted = await self._each(lambda part: part.reader.document_frequencies(kind, groups))
        return [sum(each) for each in zip(*counted, strict=True)]

    async def term_counts(self, kind: ElementKind, terms: Sequence[str]) -> TermCounts:
        counted = await self._each(lambda part: part.reader.term_counts(kind, terms))
        return TermCounts(sum(each.documents for each in counted), merging.summed(each.containing for each in counted))

    async def left_out(self, keys: Keys) -> Mapping[str, int]:
        none: Mapping[str, int] = {}
        return merging.summed(
            await self._held(ElementKind.ENTITY, keys, lambda part, own: part.reader.left_out(own), none)
        )

    # -- searches ------------------------------------------------------------------------------------------------

    async def nearest(self, kind: ElementKind, vector: Vector, limit: int) -> Hits:
        async def of(part: ScopePart) -> Hits:
            return part.hits(kind, await part.reader.nearest(kind, vector, limit))

        return merging.best_hits(await self._each(of), 1.0, limit)

    async def lexical(self, kind: ElementKind, query: str, limit: int, *, counts: TermCounts | None = None) -> Hits:
        known = counts or await self.term_counts(kind, list(dict.fromkeys(self.analyser.terms(query))))

        async def of(part: ScopePart) -> Hits:
            return part.hits(kind, await part.reader.lexical(kind, query, limit, counts=known))

        return merging.best_hits(await self._each(of), -1.0, limit)

    async def locate(self, ids: Sequence[UUID]) -> Hits:
        async def of(part: ScopePart) -> Hits:
            return part.hits(ElementKind.ENTITY, await part.reader.locate(ids))

        return merging.located(await self._each(of))

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
        return merging.strongest(keys, found, fan_out) if len(keys) else Steps.none(keys)

    async def related(self, keys: Keys) -> Steps:
        async def of(part: ScopePart, own: Keys) -> Steps:
            return part.steps(await part.reader.related(own))

        return merging.by_relation(await self._held(ElementKind.RELATION, keys, of, Steps.none(packed(()))))

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
        return RelationPage(merging.by_relation(found), read, last)

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
        return [merging.joint_relations(each) for each in forms]


def _joined(found: Iterable[Entity], ids: Sequence[UUID]) -> list[Entity]:
    """One entity for each id that was found, as the scopes show it together, in the order of ids."""
    forms: defaultdict[UUID, list[Entity]] = defaultdict(list)
    for each in found:
        forms[each.id].append(each)
    return [merging.joint_entity(forms[id_]) for id_ in ids if id_ in forms]


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

"""The window of one question on a store: a view of a snapshot behind a gate, and single elements read through it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self, TypeAlias
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.evidence import VisibleEvidence
from graphsearch.access.gatekeeper import Gatekeeper
from graphsearch.claims.folding import type_named
from graphsearch.columns import Hits, Keys, Rows
from graphsearch.model import (
    Claim,
    Community,
    ElementKind,
    Entity,
    Group,
    HealthRecord,
    Memory,
    Mention,
    Relation,
    RelationType,
    Scope,
    Vector,
    View,
)
from graphsearch.model.signatures import SignatureTable
from graphsearch.protocols import GraphStore
from graphsearch.text.analyser import Analyser

MARGIN: Final = timedelta(days=1)
"""Margin at the ends of the calendar, so that every time zone can represent the moments."""
_FIRST: Final = datetime.min.replace(tzinfo=UTC) + MARGIN
_LAST: Final = datetime.max.replace(tzinfo=UTC) - MARGIN

ROUNDS: Final = 4
"""Most rounds of a search of which hidden hits are filtered out, each twice as wide, until enough are visible."""


def widest(limit: int) -> int:
    """The limit of the last round, each round being twice as wide as the one before."""
    return limit << (ROUNDS - 1)


Embed: TypeAlias = Callable[[Sequence[str]], Awaitable[Vector]]
"""Embeds texts as documents; one row of length 1 for each."""


class Window:
    """Reads single elements of a store, as visible, inside one snapshot."""

    def __init__(
        self,
        store: GraphStore,
        view: View,
        gatekeeper: Gatekeeper,
        types: Mapping[str, RelationType],
        evidence: VisibleEvidence,
        embed: Embed | None = None,
        met: Mapping[ElementKind, dict[Any, Any]] | None = None,
    ) -> None:
        self._store = store
        self._gatekeeper = gatekeeper
        self._evidence = evidence
        self._embed = embed
        self._met = met or {kind: {} for kind in ElementKind}
        """The stored elements that the question has read, by key."""
        self.view = view
        self.types = types

    def viewing(self, view: View) -> Self:
        """The same snapshot through the same gate, with another view."""
        if view == self.view:
            return self
        return type(self)(self._store, view, self._gatekeeper, self.types, self._evidence, self._embed, self._met)

    def whenever(self) -> Self:
        """A view of what holds at any time."""
        return self.viewing(attrs.evolve(self.view, as_of=_LAST, since=_FIRST))

    # -- the store -----------------------------------------------------------------------------------------------

    @property
    def scope(self) -> Scope:
        """The scope of the store."""
        return self._store.scope

    @property
    def analyser(self) -> Analyser:
        """The analyser that produces the terms of texts and of questions."""
        return self._store.analyser

    @property
    def now(self) -> datetime:
        """The store's present."""
        return self._store.clock.now()

    async def version(self) -> Hashable:
        """As `GraphStore.version`."""
        return await self._store.version()

    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of entities."""
        return self._store.entity_ids(keys)

    def relation_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of relations."""
        return self._store.relation_ids(keys)

    def memory_ids(self, keys: Keys) -> Sequence[str]:
        """The ids behind keys of memories."""
        return self._store.memory_ids(keys)

    async def embedder_name(self) -> str | None:
        """The model of the scope's vectors; None if it has none."""
        return await self._store.embedder_name()

    async def _stored(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """As `GraphStore.elements`; each is read once for a question."""
        met, wanted = self._met[kind], keys.tolist()
        if unread := [row for row, key in enumerate(wanted) if key not in met]:
            read = await self._store.elements(kind, keys[unread])
            met.update(zip((wanted[row] for row in unread), read, strict=True))
        return [met[key] for key in wanted]

    async def _embedded(self, texts: Sequence[str]) -> Vector:
        """The vectors of texts, rounded as stores round them; zeros for empty texts, and without an embedder."""
        if self._embed is None or not texts:
            return np.zeros((len(texts), 1), np.float32)
        vectors = (await self._embed(texts)).astype(np.float16).astype(np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        filled = np.array([bool(text.strip()) for text in texts])[:, None]
        unit: Vector = np.divide(vectors, norms, out=np.zeros_like(vectors), where=filled & (norms > 0))
        return unit

    # -- the gate ------------------------------------------------------------------------------------------------

    @property
    def hides(self) -> bool:
        """Whether anything may be hidden."""
        return self._gatekeeper.hides

    def changes(self, kind: ElementKind) -> bool:
        """Whether elements of a kind may be shown with another text than is stored."""
        past = kind is ElementKind.RELATION and self._evidence.is_past(self.view)
        return past or (not self._gatekeeper.allows_all and kind is not ElementKind.MEMORY)

    async def sees_everything(self) -> bool:
        """Whether all elements of the scope may be seen; reads all where policies read names, ids or tags."""
        return await self._gatekeeper.sees_everything()

    async def health(self) -> float | None:
        """The stored health of the graph, None if none is.

        It counts everything, so that it is None where anything may be hidden: where policies read more than signatures,
        for whomever.
        """
        history: Sequence[HealthRecord] = await self._store.health_history()
        if not history or not await self._gatekeeper.sees_everything_by_signature():
            return None
        return history[-1].value

    @property
    def denied(self) -> Mapping[ElementKind, int]:
        """The number of distinct elements denied so far, by kind."""
        return self._gatekeeper.denied

    async def denied_by(self) -> Mapping[str, int]:
        """How many of them each policy hides by itself; see `Gatekeeper.denied_by`."""
        return await self._gatekeeper.denied_by()

    @property
    def signatures(self) -> SignatureTable:
        """The signatures met so far, and possibly others; its rows are those of the gatekeeper's interner."""
        return self._gatekeeper.book.table

    def type_of(self, name: str) -> RelationType:
        """The properties of a type; an unknown one has prior 1.0 and does not decay."""
        return type_named(name, self.types)

    # -- entities ------------------------------------------------------------------------------------------------

    async def locate(self, ids: Sequence[UUID]) -> Hits:
        """The entities with these ids that hold and are visible."""
        return await self._visible(await self._store.locate(ids, view=self.view))

    async def _visible(self, hits: Hits) -> Hits:
        seen = await self._gatekeeper.admitted(ElementKind.ENTITY, hits.keys, hits.signatures)
        return hits if seen is None else hits.keep(seen)

    async def visible_ids(self, ids: Iterable[UUID]) -> set[UUID]:
        """Those entities that are visible, whether they hold or not, and were not merged into others."""
        hits = await self.whenever().locate(sorted(ids))
        return set(self.entity_ids(hits.keys))

    async def entities(self, keys: Keys) -> list[Entity]:
        """The visible forms of entities that are visible, in the order of their keys."""
        return await self._gatekeeper.entities.admitted(await self._stored(ElementKind.ENTITY, keys))

    async def get_entities(self, ids: Sequence[UUID]) -> list[Entity]:
        """The visible forms of the visible ones of some entities, whether they hold or not, in the order of ids."""
        return await self._gatekeeper.entities.shown(await self._store.get_entities(ids))

    async def entity_types(self, hits: Hits) -> list[str]:
        """The types of visible entities, as visible."""
        contents = await self._store.signatures(sorted(set(hits.signatures.tolist())))
        types = [contents[code].type for code in hits.signatures.tolist()]
        if len(partial := self._partial(hits.keys)):
            for row, entity in zip(partial.tolist(), await self.entities(hits.keys[partial]), strict=True):
                types[row] = entity.type
        return types

    def _partial(self, keys: Keys) -> Rows:
        """The rows of visible entities of which some mentions may be hidden."""
        return np.flatnonzero([self._gatekeeper.entities.is_partial(id_) for id_ in self.entity_ids(keys)])

    async def communities(
        self, *, entity_ids: Sequence[UUID] | None = None, limit: int | None = None
    ) -> list[Community]:
        """The stored communities, the largest first.

        They are made of all relations, so that there are none where anything may be hidden: as in `health`, where
        policies read more than signatures, for whomever.
        """
        if not await self._gatekeeper.sees_everything_by_signature():
            return []
        return list(await self._store.communities(entity_ids=entity_ids, limit=limit))

    # -- memories, mentions and claims -------------------------------------------------------------------------------

    async def memories(self, keys: Keys) -> Sequence[Memory]:
        """Visible memories in the order of their keys."""
        return await self._stored(ElementKind.MEMORY, keys)

    async def get_memories(self, ids: Sequence[str]) -> list[Memory]:
        """The visible ones of some memories, in the order of ids."""
        visible = await self._gatekeeper.visible_memories(list(dict.fromkeys(ids)))
        return list(await self._store.get_memories([id_ for id_ in ids if id_ in visible]))

    async def memory(self, memory_id: str) -> Memory | None:
        """One memory, whether it passes the view or not, if it is visible."""
        found = await self._store.get_memories([memory_id])
        return found[0] if found and await self._gatekeeper.permits_memory(found[0]) else None

    async def mentions(self, *, memory_ids: Sequence[str] = (), entity_ids: Sequence[UUID] = ()) -> list[Mention]:
        """The mentions in visible memories, in the order of `GraphStore.list_mentions`."""
        found = await self._store.list_mentions(memory_ids=memory_ids, entity_ids=entity_ids)
        visible = await self._gatekeeper.visible_memories(sorted({each.memory_id for each in found}))
        return [each for each in found if each.memory_id in visible]

    async def claims(self, *, memory_ids: Sequence[str] = (), groups: Iterable[Group] = ()) -> list[Claim]:
        """The claims of visible memories that state visible relations of visible entities, in the order of the fold."""
        found = await self._store.list_claims(memory_ids=memory_ids, groups=list(groups))
        if self._gatekeeper.allows_all or not found:
            return list(found)
        visible = await self._gatekeeper.visible_memories(sorted({each.memory_id for each in found}))
        seen = await self.visible_ids({end for each in found for end in (each.source_id, each.target_id)})
        found = [each for each in found if each.memory_id in visible and {each.source_id, each.target_id} <= seen]
        return await self._gatekeeper.admitted_claims(found)

    # -- relations -----------------------------------------------------------------------------------------------

    async def relations(self, keys: Keys) -> list[Relation]:
        """Relations walked by this question, as visible: without hidden evidence."""
        stored = await self._stored(ElementKind.RELATION, keys)
        return [relation for relation in self._evidence.stated(stored, self.view) if relation]

    def visible_relation_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids that relations walked by this question have in a graph without what is hidden."""
        return self._evidence.visible_ids(self.relation_ids(keys), self.view)

    async def relation(self, relation_id: UUID) -> Relation | None:
        """One relation, whether it passes the view or not, if it and both of its ends are visible."""
        found = await self.shown(await self._store.get_relations([relation_id]))
        return next((each for each in found if each.id == relation_id), None)

    async def shown(self, relations: Sequence[Relation]) -> list[Relation]:
        """Those of some relations that are visible with both of their ends, whether they pass the view or not.

        Each with all of its visible periods, of which several may be stored as one that something hidden joined.
        """
        ends = {end for relation in relations for end in (relation.source_id, relation.target_id)}
        seen = {each.id for each in await self.get_entities(sorted(ends))}
        admitted = await self._gatekeeper.admits(relations)
        allowed = [
            relation
            for relation, allow in zip(relations, admitted, strict=True)
            if allow and {relation.source_id, relation.target_id} <= seen
        ]
        return await self._evidence.show(allowed, self.view)

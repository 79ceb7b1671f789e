"""The reader of a store for one question: what its view leaves out and its gate hides is never returned.

Modes, traversals, recall and curation read through a `Reader` and nothing else. So the gate decides before anything is
ranked, walked or scored, and hidden elements do not affect any result. A reader is made of a `Gatekeeper`, which
decides what may be seen; of `VisibleEntities` and `VisibleEvidence`, which fold again what is partly hidden; and of
`Searches`, which go on until enough of what they find is visible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import compress
from typing import Any, Final, Self, TypeAlias, TypedDict
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.paging import pages
from graphsearch.access.evidence import VisibleEvidence
from graphsearch.access.gate import ALLOW_ALL, Gate, known_by, resource_of
from graphsearch.access.gatekeeper import (
    PARTIAL,
    Decided,
    DocumentCache,
    Embed,
    Gatekeeper,
    SignatureInterner,
    VisibleDocuments,
    allows_scope,
    are_called,
    first_matches,
    most_similar,
    rare_entities,
    runs_to_widen,
    strongest,
    visible_matches,
    whole,
    widest,
)
from graphsearch.claims.folding import type_named
from graphsearch.columns import NONE, Expansion, Floats, Hits, Keys, Mask, Mentioned, Rows, Steps, Turns
from graphsearch.columns.formulas import age_in_days, cosines, freshness
from graphsearch.columns.key_index import KeyIndex, among, distinct
from graphsearch.model import (
    Claim,
    Community,
    ElementKind,
    Entity,
    Group,
    HealthRecord,
    Memory,
    Mention,
    NameMatch,
    Relation,
    RelationType,
    Scope,
    SimilarName,
    Vector,
    View,
)
from graphsearch.model import validation as check
from graphsearch.model.signatures import SignatureTable
from graphsearch.stores.graph import GraphStore
from graphsearch.text.analyser import Analyser, terms
from graphsearch.text.bm25 import TermCounts, document, embedding_text, saturated, searchable_text
from graphsearch.text.trigrams import name_words

_MARGIN: Final = timedelta(days=1)
"""Margin at the ends of the calendar, so that every time zone can represent the moments."""
_FIRST: Final = datetime.min.replace(tzinfo=UTC) + _MARGIN
_LAST: Final = datetime.max.replace(tzinfo=UTC) - _MARGIN

PASSED: Final = 16
"""Most consecutive hidden turns that are skipped to reach the next visible one."""


@attrs.frozen(eq=False)
class RelationPage:
    """The visible ones among a page of relations; ``read`` were read in all, and ``last`` is the id of the last."""

    steps: Steps
    read: int
    last: UUID | None


class Reader:
    """Reads a store for one question, inside one snapshot; created by `reading`."""

    def __init__(
        self,
        store: GraphStore,
        view: View,
        gatekeeper: Gatekeeper,
        types: Mapping[str, RelationType],
        evidence: VisibleEvidence,
        *,
        embed: Embed | None = None,
        met: Mapping[ElementKind, dict[Any, Any]] | None = None,
    ) -> None:
        self.view = view
        self.types = types
        self._store = store
        self._gatekeeper = gatekeeper
        self._evidence = evidence
        self._embed = embed
        self._met = met or {kind: {} for kind in ElementKind}
        """The stored elements that the question has read, by key."""
        self._searches = Searches(self, store, gatekeeper)

    def viewing(self, view: View) -> Self:
        """The same snapshot through the same gate, with another view."""
        if view == self.view:
            return self
        mine = self._store, view, self._gatekeeper, self.types, self._evidence
        return type(self)(*mine, embed=self._embed, met=self._met)

    def whenever(self) -> Self:
        """A view of what holds at any time."""
        return self.viewing(attrs.evolve(self.view, as_of=_LAST, since=_FIRST))

    # -- the store -----------------------------------------------------------------------------------------------

    @property
    def scope(self) -> Scope:
        """The scope of the store."""
        return self._store.scope

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes that are read."""
        return (self.scope,)

    def owners(self, kind: ElementKind, ids: Sequence[UUID]) -> Sequence[Mapping[Scope, UUID]]:  # noqa: ARG002 - of one
        """The scopes that gave each entity or relation to this question, with the id that it has there."""
        return [{self.scope: id_} for id_ in ids]

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

    async def stored(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """As `GraphStore.elements`, whatever part of them is hidden; each is read once for a question."""
        met, wanted = self._met[kind], keys.tolist()
        if unread := [row for row, key in enumerate(wanted) if key not in met]:
            read = await self._store.elements(kind, keys[unread])
            met.update(zip((wanted[row] for row in unread), read, strict=True))
        return [met[key] for key in wanted]

    # -- the gate ------------------------------------------------------------------------------------------------

    @property
    def hides(self) -> bool:
        """Whether anything may be hidden."""
        return self._gatekeeper.hides

    @property
    def is_past(self) -> bool:
        """Whether the view is of the past, so that what later memories prove does not count."""
        return self._evidence.is_past(self.view)

    def changes(self, kind: ElementKind) -> bool:
        """Whether elements of a kind may be shown with another text than is stored."""
        past = kind is ElementKind.RELATION and self.is_past
        return past or (not self._gatekeeper.allows_all and kind is not ElementKind.MEMORY)

    async def sees_everything(self) -> bool:
        """Whether all elements of the scope may be seen; reads all where policies read names, ids or tags."""
        return await self._gatekeeper.sees_everything(reads=True)

    async def sees_anything(self) -> bool:
        """Whether any element of the scope may be seen; reads up to the first one that may, or all."""
        if not self.hides:
            return True
        for kind in ElementKind:
            async for page in self._every_visible(kind):
                if page:
                    return True
        return False

    async def health(self) -> float | None:
        """The stored health of the graph, None if none is.

        It counts everything, so that it is None where anything may be hidden: where policies read more than signatures,
        for whomever.
        """
        history: Sequence[HealthRecord] = await self._store.health_history()
        if not history or not await self._gatekeeper.sees_everything(reads=False):
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
        return await self.admitted(ElementKind.ENTITY, await self._store.locate(ids, view=self.view))

    async def admitted(self, kind: ElementKind, hits: Hits) -> Hits:
        """Those of some hits that may be seen."""
        seen = await self._gatekeeper.admitted(kind, hits.keys, hits.signatures)
        return hits if seen is None else hits.keep(seen)

    async def visible_ids(self, ids: Iterable[UUID]) -> set[UUID]:
        """Those entities that are visible, whether they hold or not, and were not merged into others."""
        hits = await self.whenever().locate(sorted(ids))
        return set(self.entity_ids(hits.keys))

    async def entities(self, keys: Keys) -> list[Entity]:
        """The visible forms of entities that are visible, in the order of their keys."""
        return await self._gatekeeper.entities.admitted(await self.stored(ElementKind.ENTITY, keys))

    async def get_entities(self, ids: Sequence[UUID]) -> list[Entity]:
        """The visible forms of the visible ones of some entities, whether they hold or not, in the order of ids."""
        return await self._gatekeeper.entities.shown(await self._store.get_entities(ids))

    async def entity_types(self, hits: Hits) -> list[str]:
        """The types of visible entities, as visible."""
        contents = await self._store.signatures(sorted(set(hits.signatures.tolist())))
        types = [contents[code].type for code in hits.signatures.tolist()]
        if len(partial := self.partial(hits.keys)):  # hidden mentions may have given the stored one
            for row, entity in zip(partial.tolist(), await self.entities(hits.keys[partial]), strict=True):
                types[row] = entity.type
        return types

    def partial(self, keys: Keys) -> Rows:
        """The rows of visible entities of which some mentions may be hidden."""
        if self._gatekeeper.allows_all:
            return np.empty(0, np.intp)
        return np.flatnonzero([id_ in self._gatekeeper.entities.partial for id_ in self.entity_ids(keys)])

    async def list_entities(
        self, *, after: UUID | None = None, limit: int, type: str
    ) -> tuple[list[Entity], UUID | None]:
        """The visible ones among the next ``limit`` entities of a type, and the id to go on after; None at the end."""
        stored = await self._store.list_entities(after=after, limit=limit, type=type)
        shown = await self._gatekeeper.entities.shown(stored)
        return [each for each in shown if each.type == type], stored[-1].id if len(stored) == limit else None

    async def unmerged_entities(self, *, without: Collection[str] = ()) -> list[Entity]:
        """All visible entities that are not merged into another, except those of some types, by id."""
        if self.hides:
            every = [each async for page in self._every_visible(ElementKind.ENTITY) for each in page]
        else:  # code is most of a scope of code, and is not read to be left out
            types = sorted((await self._store.statistics()).entities_by_type.keys() - set(without))
            listed = [pages(self._store.list_entities, type=each) for each in types]
            every = [each for found in listed async for page in found for each in page]
        kept = [each for each in every if each.merged_into is None and each.type not in without]
        return sorted(kept, key=lambda each: each.id)

    async def communities(
        self, *, entity_ids: Sequence[UUID] | None = None, limit: int | None = None
    ) -> list[Community]:
        """The stored communities, the largest first.

        They are made of all relations, so that there are none where anything may be hidden: as in `health`.
        """
        if not await self._gatekeeper.sees_everything(reads=False):
            return []
        return list(await self._store.communities(entity_ids=entity_ids, limit=limit))

    # -- names: of entities that hold or not; hidden names find nothing ------------------------------------------------

    async def named(self, names: Sequence[str], words: Sequence[str], *, limit: int) -> tuple[Hits, list[Entity]]:
        """The entities with one of some names, or with one of some words in less than ``limit`` visible names.

        Hidden entities do not make a word common.
        """
        found = await self._store.named(names, words, limit=limit, view=self.view)
        self._met[ElementKind.ENTITY].update(zip(found.hits.keys.tolist(), found.entities, strict=True))
        if self._gatekeeper.allows_all:
            return found.hits, list(found.entities)
        hits = await self.admitted(ElementKind.ENTITY, found.hits)
        if len(partial := self.partial(hits.keys)):
            shown = await self.entities(hits.keys[partial])
            called = are_called(shown, names, set(words).difference(found.common))
            hits = hits.keep(np.delete(np.arange(len(hits)), partial[~called]))
        if found.common:  # perhaps by hidden entities alone
            rare = rare_entities(await self.find_name_words(found.common, limit=limit), limit)
            hits = Hits.concatenate([hits, await self.locate(sorted(rare.difference(self.entity_ids(hits.keys))))])
            hits = hits.keep(np.argsort(hits.keys))
        return hits, await self.entities(hits.keys)

    async def find_names(self, names: Sequence[str]) -> list[NameMatch]:
        """As `GraphStore.find_names`."""
        stored = await self._store.find_names(names)
        if self._gatekeeper.allows_all:
            return list(stored)
        return await visible_matches(stored, await self._forms(stored), whole)

    async def find_name_words(self, words: Sequence[str], *, prefix: bool = False, limit: int = 50) -> list[NameMatch]:
        """As `GraphStore.find_name_words`, for each word among the first matches of a wider search."""
        if self._gatekeeper.allows_all:
            return list(await self._store.find_name_words(words, prefix=prefix, limit=limit))
        kept: list[NameMatch] = []
        left = list(words)
        for wide in (limit, widest(limit)):  # what `named` has read, then further
            stored = await self._store.find_name_words(left, prefix=prefix, limit=wide)
            found = await visible_matches(stored, await self._forms(stored), name_words, prefix=prefix)
            proposed, visible = Counter(each.name for each in stored), Counter(each.name for each in found)
            kept = [*(each for each in kept if each.name not in left), *first_matches(found, limit)]
            left = [word for word in left if proposed[word] >= wide and visible[word] < limit]
            if not left:
                break
        return sorted(kept, key=lambda each: (each.entity_id, each.name))

    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        """As `GraphStore.similar_names`, for each name among the most similar ones of a wider search."""
        kept: dict[str, Sequence[SimilarName]] = {}
        left = list(names)
        for wide in (limit, widest(limit)):
            stored = await self._store.similar_names(left, threshold=threshold, limit=wide)
            if self._gatekeeper.allows_all:
                return stored
            forms = await self._forms([each for found in stored.values() for each in found])
            for name in left:
                kept[name] = most_similar(name, stored.get(name, ()), forms, threshold)[:limit]
            left = [name for name in left if len(stored.get(name, ())) == wide and len(kept[name]) < limit]
            if not left:
                break
        return kept

    async def _forms(self, found: Sequence[NameMatch | SimilarName]) -> Mapping[UUID, Entity | None]:
        """The visible ones of the entities found: the visible form of each if it may differ from the stored one."""
        forms: dict[UUID, Entity | None] = dict.fromkeys(await self.visible_ids({each.entity_id for each in found}))
        partial = self._gatekeeper.entities.partial.intersection(forms)
        forms.update((each.id, each) for each in await self.get_entities(sorted(partial)))
        return forms

    # -- texts and vectors -----------------------------------------------------------------------------------------

    async def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        """As `GraphStore.words`; none for an entity that hidden memories mention, since they may be theirs."""
        whole = [id_ for id_ in ids if id_ not in self._gatekeeper.entities.partial]
        return await self._store.words(whole)

    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        """As `GraphStore.vectors`, of the visible texts; zeros where these differ and the reader cannot embed.

        What is stored without a vector has none, however else its visible text reads.
        """
        vectors = await self._store.vectors(kind, keys)
        if not self.changes(kind) or not vectors.size:
            return vectors
        changed = np.flatnonzero(vectors.any(axis=1) & ~await self.unchanged(kind, keys))
        if len(changed):
            shown = await (self.entities if kind is ElementKind.ENTITY else self.relations)(keys[changed])
            vectors = vectors.copy()
            vectors[changed] = await self.embedded([embedding_text(each) for each in shown])
        return vectors

    async def unchanged(self, kind: ElementKind, keys: Keys) -> Mask:
        """Which visible entities or relations have the text that is stored, without anything hidden."""
        if kind is ElementKind.RELATION:
            relations: Sequence[Relation] = await self.stored(kind, keys)
            facts = [each and each.fact for each in self._evidence.stated(relations, self.view)]
            return np.array([each.fact == fact for each, fact in zip(relations, facts, strict=True)], np.bool_)
        unchanged = np.ones(len(keys), np.bool_)
        if len(partial := self.partial(keys)):
            stored = await self.stored(kind, keys[partial])
            pairs = zip(stored, await self.entities(keys[partial]), strict=True)
            unchanged[partial] = [embedding_text(then) == embedding_text(now) for then, now in pairs]
        return unchanged

    async def embedded(self, texts: Sequence[str]) -> Vector:
        """The vectors of texts, rounded as stores round them; zeros for empty texts, and without an embedder."""
        if self._embed is None or not texts:
            return np.zeros((len(texts), 1), np.float32)
        vectors = (await self._embed(texts)).astype(np.float16).astype(np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        filled = np.array([bool(text.strip()) for text in texts])[:, None]
        unit: Vector = np.divide(vectors, norms, out=np.zeros_like(vectors), where=filled & (norms > 0))
        return unit

    # -- memories, mentions and claims -------------------------------------------------------------------------------

    async def memories(self, keys: Keys) -> Sequence[Memory]:
        """Visible memories in the order of their keys."""
        return await self.stored(ElementKind.MEMORY, keys)

    async def get_memories(self, ids: Sequence[str]) -> list[Memory]:
        """The visible ones of some memories, in the order of ids."""
        visible = await self._gatekeeper.visible_memories(list(dict.fromkeys(ids)))
        return list(await self._store.get_memories([id_ for id_ in ids if id_ in visible]))

    async def memory(self, memory_id: str) -> Memory | None:
        """One memory, whether it passes the view or not, if it is visible."""
        found, policies = await self._store.get_memories([memory_id]), self._gatekeeper.gate.policies
        seen = policies.allows_all or all(await policies.permits([resource_of(each) for each in found]))
        return found[0] if found and seen else None

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

    async def mentioned(self, kind: ElementKind, keys: Keys, limit: int) -> Mentioned:
        """The visible elements one mention away from memories, or from entities; see `GraphStore.mentioned`."""
        found = await self._store.mentioned(kind, keys, limit=limit, view=self.view)
        other = ElementKind.ENTITY if kind is ElementKind.MEMORY else ElementKind.MEMORY
        seen = await self._gatekeeper.admitted(other, found.far, found.far_signatures)
        return found if seen is None else found.keep(seen)

    async def turns(self, keys: Keys) -> Turns:
        """The visible memories before and after each in its session; at most `PASSED` hidden ones are skipped."""
        kept: list[Turns] = []
        found = await self._store.turns(keys, view=self.view)
        for passed in range(PASSED + 1):
            seen = await self._gatekeeper.admitted(ElementKind.MEMORY, found.far, found.far_signatures)
            kept.append(found if seen is None else found.keep(seen))
            if seen is None or passed == PASSED:
                break
            hidden = found.keep(~seen)
            found = _further(hidden, await self._store.turns(np.unique(hidden.far), view=self.view))
        return Turns.concatenate(kept)

    # -- relations -----------------------------------------------------------------------------------------------

    async def relations(self, keys: Keys) -> list[Relation]:
        """Relations walked by this question, as visible: without hidden evidence."""
        stored = await self.stored(ElementKind.RELATION, keys)
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

    async def expand(self, keys: Keys, fan_out: int, ahead: int = 0) -> Steps:
        """The strongest visible relations of a frontier, at most ``fan_out`` per entity and direction.

        With ``ahead`` the store may read that many further hops with the first one.
        """
        found = await self._decided(await self._store.expand(keys, fan_out=fan_out, view=self.view, ahead=ahead))
        allowed = found.allowed
        if found.partial is None and (allowed is None or allowed.all()):
            return self._steps(found)
        if len(short := runs_to_widen(found, fan_out)):
            wider = await self._store.expand(found.rows.starts[short], fan_out=widest(fan_out), view=self.view)
            rest = found.keep(~np.isin(found.rows.start, short))
            found = Decided.concatenate([rest, await self._decided(wider)])
        corrected = await self._evidence.correct(found, self.view)
        return self._steps(strongest(corrected, self.signatures.priors, fan_out))

    async def related(self, keys: Keys) -> Steps:
        """Relations that pass the view, as steps from source to target; only those visible with both ends."""
        found = await self._decided(await self._store.related(keys, view=self.view))
        found = await self._evidence.correct(found, self.view)
        allowed = found.allowed
        if allowed is not None:
            found = found.keep(allowed)
        near, _ = distinct(found.rows.near)
        if found.rows.located is None:
            sources = await self.locate(self.entity_ids(near))
        else:
            located = found.rows.located
            sources = await self.admitted(ElementKind.ENTITY, located.keep(among(located.keys, near)))
        return self._steps(found.keep(among(found.rows.near, sources.keys)))

    async def page(self, *, after: UUID | None = None, limit: int) -> RelationPage:
        """The visible ones among the next ``limit`` relations of the view, by id; fewer than that only at the end."""
        edges = await self._store.edges(after=after, limit=limit, view=self.view)
        last = self.relation_ids(edges.relations[-1:])[0] if len(edges) else None
        return RelationPage(await self.related(edges.relations), len(edges), last)

    async def left_out(self, keys: Keys) -> Mapping[str, int]:
        """The number of relations of some entities that the view leaves out, by reason; empty if any may be hidden.

        Behind a gate the counts would include hidden relations.
        """
        return {} if self.hides else await self._store.left_out(keys, view=self.view)

    async def _decided(self, found: Expansion) -> Decided:
        return self._evidence.dated(await self._gatekeeper.steps(found), self.view)

    def _steps(self, found: Decided) -> Steps:
        known, signatures = self.signatures, found.signatures
        fresh = np.ones(len(signatures))
        if known.decays:
            age = age_in_days(found.rows.since, self.view.as_of.timestamp())
            fresh = freshness(age, known.half_lives.take(signatures))
        return Steps(found.rows, signatures, freshness=fresh, prior=known.priors.take(signatures))

    # -- searches and statistics ---------------------------------------------------------------------------------------

    async def nearest(self, kind: ElementKind, vector: Vector, limit: int) -> Hits:
        """The nearest visible elements of a kind, by cosine distance, ties by key."""
        return await self._searches.nearest(kind, vector, limit)

    async def lexical(self, kind: ElementKind, query: str, limit: int, *, counts: TermCounts | None = None) -> Hits:
        """The visible elements of a kind that match a text best, by BM25, ties by key.

        ``counts`` replace those of the scope.
        """
        if self.counts_visible:
            visible = await self._documents(kind)
            given = counts or visible.counts(self.analyser.terms(query))
            counts = attrs.evolve(given, average=visible.average)
        return await self._searches.lexical(kind, query, limit, counts)

    @property
    def counts_visible(self) -> bool:
        """Whether statistics cover the visible alone."""
        return self._gatekeeper.counts_visible

    async def document_count(self, kind: ElementKind) -> int:
        """The number of elements with a word in their texts: see `GraphStore.document_count`."""
        return (await self._documents(kind)).count if self.counts_visible else await self._store.document_count(kind)

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        """The number of elements that have some terms: see `GraphStore.document_frequencies`."""
        if not self.counts_visible:
            return await self._store.document_frequencies(kind, groups)
        visible = await self._documents(kind)
        return [visible.having(group) for group in groups]

    async def term_counts(self, kind: ElementKind, terms: Sequence[str]) -> TermCounts:
        """The number of documents of a kind, and of those that contain each of some terms."""
        containing = await self.document_frequencies(kind, [[term] for term in terms])
        return TermCounts(await self.document_count(kind), dict(zip(terms, containing, strict=True)))

    async def entity_count(self) -> int:
        """The number of entities with a word in their texts."""
        return await self.document_count(ElementKind.ENTITY)

    async def _documents(self, kind: ElementKind) -> VisibleDocuments:
        """The visible texts of a kind: read once for a question, or for several, see `DocumentCache`."""
        known = self._gatekeeper.documents
        if kind not in known:
            known[kind] = await self._cached_documents(kind)
        return known[kind]

    async def _cached_documents(self, kind: ElementKind) -> VisibleDocuments:
        cache, gate = self._gatekeeper.cache, self._gatekeeper.gate.question
        stated_by_view = kind is ElementKind.RELATION and (self.is_past or self.view.refolded)
        if cache is None or gate is None or stated_by_view:
            return await self._read_documents(kind)
        shown: Hashable = (kind, gate)
        version = await self._store.version()
        found = cache.known(shown, version)
        if found is None:
            found = await self._read_documents(kind)
            if not self._gatekeeper.gate.failures:  # what they denied may be shown the next time
                cache.keep(shown, version, found)
        return found

    async def _read_documents(self, kind: ElementKind) -> VisibleDocuments:
        found = []
        async for page in self._every_visible(kind):
            words: Mapping[Any, Mapping[str, float]] = {}
            if kind is ElementKind.ENTITY:
                words = await self.words([each.id for each in page])
            found += [document(searchable_text(each), words.get(each.id, {}), self.analyser) for each in page]
        return VisibleDocuments.of(found)

    async def _every_visible(self, kind: ElementKind) -> AsyncIterator[Sequence[Any]]:
        """Pages of all visible elements of a kind, as they are shown, whether they hold or not."""
        match kind:
            case ElementKind.RELATION:
                async for relations in pages(self._store.list_relations):
                    yield await self.shown(relations)
            case ElementKind.MEMORY:
                async for memories in pages(self._store.list_memories):
                    visible = await self._gatekeeper.visible_memories([each.id for each in memories])
                    yield [each for each in memories if each.id in visible]
            case _:
                async for entities in pages(self._store.list_entities):
                    await self.visible_ids(each.id for each in entities)  # notes those that are partly hidden
                    yield await self._gatekeeper.entities.shown(entities)


def _further(turns: Turns, beyond: Turns) -> Turns:
    """Turns whose far ends are those on the other side of theirs, if there are any."""
    parts = []
    for later in (False, True):
        some, others = turns.keep(turns.later == later), beyond.keep(beyond.later == later)
        rows = KeyIndex(others.near).of(some.far)
        ends = others.keep(rows[rows != NONE])
        parts.append(attrs.evolve(ends, near=some.near[rows != NONE]))
    return Turns.concatenate(parts)


class When(TypedDict, total=False):
    """The moment whose facts, and the moment whose knowledge, counts; the present where it is not given."""

    as_of: datetime | None
    known_at: datetime | None


class ReadingOptions(When, total=False):
    """What a question decides of the snapshot that answers it; see `reading`."""

    gate: Gate | None
    min_edge_confidence: float
    skip_types: Collection[str] | None
    since: datetime | None
    embed: Embed | None
    question: str


@asynccontextmanager
async def reading(
    store: GraphStore,
    *,
    gate: Gate | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    min_edge_confidence: float = 0.5,
    skip_types: Collection[str] | None = None,
    since: datetime | None = None,
    embed: Embed | None = None,
    documents: DocumentCache | None = None,
    now: datetime | None = None,
    question: str = "",
) -> AsyncIterator[Reader]:
    """Open a snapshot of a store for one question; ``as_of`` and ``known_at`` default to ``now``, the store's present.

    Relations of ``skip_types`` are left out, by default of those types that the scope skips.

    ``embed`` serves to find elements of which a part is hidden by the meaning of what may be seen. ``documents`` caches
    the texts from which the statistics of the visible are computed; those of the past are not cached. A type that is
    skipped is read for a ``question`` with its verb: "who did Bob meet?".
    """
    async with store.snapshot():
        types = await store.relation_types()
        book = SignatureInterner(store, types, store.signature_table())
        now = now or store.clock.now()
        view = View(
            as_of=as_of or now,
            known_at=known_at or now,
            min_edge_confidence=min_edge_confidence,
            skipped_types=_skipped(types, question) if skip_types is None else skip_types,
            since=since,
        )
        bound = known_by((gate or ALLOW_ALL).bind(store.scope), store, view, now)
        cache = documents if known_at is None and view.as_of >= now else None
        everything = bound.allows_all or await allows_scope(bound, book.table)
        gatekeeper = Gatekeeper(store, bound, book, cache, allows_all=everything)
        if refolded := await gatekeeper.refolded():
            view = attrs.evolve(view, refolded=refolded)
        yield Reader(store, view, gatekeeper, types, VisibleEvidence(store, gatekeeper, types, now), embed=embed)


_IRREGULAR: Final[Mapping[str, str]] = {"met": "meet"}


def _skipped(types: Mapping[str, RelationType], question: str) -> list[str]:
    """The types that a scope skips, without those whose verb a question has."""
    skipped = [name for name, known in types.items() if known.skip]
    if not skipped or not question:
        return skipped
    asked = set(terms(question))
    verbs = {name: name.partition("_")[0] for name in skipped}
    return [name for name, verb in verbs.items() if asked.isdisjoint(terms(f"{verb} {_IRREGULAR.get(verb, '')}"))]


@attrs.frozen(kw_only=True)
@check.checked(
    "question",
    query=partial(check.text, empty=True, longest=check.LONGEST_QUESTION),
    limit=check.within(1),
)
class Request:
    """A question, the moment and the principal that it is asked for, and how much of what is found is shown.

    * ``limit``: how many results to return.
    * ``min_score``: results that score less are left out, in [0, 1].
    * ``diversity``: 1 − λ of maximal marginal relevance, in [0, 1]; 0 is the order of the scores.
    * ``as_of`` and ``known_at``: the moment whose facts, and the moment whose knowledge, counts; the present if None.
    * ``gate``: who asks, which determines the visible elements; all are visible if None.
    """

    query: str = attrs.field(kw_only=False)
    limit: int = 10
    min_score: float = 0.0
    diversity: float = 0.0
    as_of: datetime | None = None
    known_at: datetime | None = None
    gate: Gate | None = None

    def reading(self) -> ReadingOptions:
        """What of it decides on the snapshot that answers it."""
        return {"gate": self.gate, "as_of": self.as_of, "known_at": self.known_at, "question": self.query}


RESTATED: Final = 500
"""Most relations of a scope that are read to find those with another visible fact, the first by id."""

Elements: TypeAlias = Sequence[Entity] | Sequence[Relation]


@attrs.frozen(kw_only=True)
class _Search:
    """A search of a store, and how the elements are found that are shown with another text than it searches.

    * ``run``: search for at most as many hits.
    * ``text`` and ``score``: the text of an entity that is searched, and the scores of elements by their visible texts,
      NaN for those that are not found.
    * ``sign``: -1 where higher values are better.
    * ``everything``: the limit of a search for all hits, where no more may be left out than would be if nothing were
      hidden; otherwise the search ends with the last round.
    """

    kind: ElementKind
    run: Callable[[int], Awaitable[Hits]]
    text: Callable[[Entity], str]
    score: Callable[[Elements], Awaitable[Floats]]
    sign: float
    everything: int | None = None

    def best(self, hits: Hits, limit: int) -> Hits:
        """The first hits by value, ties by key."""
        return hits.keep(np.lexsort((hits.keys, self.sign * hits.values))[:limit])


class Searches:
    """The searches of a reader in its store, as its gatekeeper decides, widened until enough visible hits are found.

    Hidden memories may have a part in the stored text of an entity or a relation. It is found by the text that may be
    seen: an entity by its visible names, a relation by its visible fact. A store searches the stored texts, so that
    these scores are computed here: those of meaning by an embedding of the visible text, where the reader can embed,
    and those of words as if the text were of average length, where that of the visible is not known.
    """

    def __init__(self, reader: Reader, store: GraphStore, gatekeeper: Gatekeeper) -> None:
        self._reader = reader
        self._store = store
        self._gatekeeper = gatekeeper

    async def nearest(self, kind: ElementKind, vector: Vector, limit: int) -> Hits:
        """The nearest visible elements of a kind, by cosine distance, ties by key."""

        async def run(wide: int) -> Hits:
            return await self._store.search_by_embedding(kind, vector, limit=wide, view=self._reader.view)

        async def score(elements: Elements) -> Floats:
            vectors = await self._reader.embedded([embedding_text(each) for each in elements])
            if not vectors.any():
                return np.full(len(elements), np.nan)
            distances = 1.0 - cosines(vectors, np.asarray(vector / np.linalg.norm(vector), np.float32))
            return np.where(vectors.any(axis=1), distances, np.nan)

        return await self._found(_Search(kind=kind, run=run, text=embedding_text, score=score, sign=1.0), limit)

    async def lexical(self, kind: ElementKind, query: str, limit: int, counts: TermCounts | None) -> Hits:
        """The visible elements that match a text best, by BM25 with the statistics of the scope or ``counts``."""

        async def run(wide: int) -> Hits:
            return await self._store.search_lexical(kind, query, limit=wide, view=self._reader.view, counts=counts)

        async def score(elements: Elements) -> Floats:
            analyser = self._reader.analyser
            terms = list(dict.fromkeys(analyser.terms(query)))
            known = counts or await self._reader.term_counts(kind, terms)
            values = []
            for text in map(searchable_text, elements):
                found = document(text, {}, analyser)
                length, wanted = sum(found.values()), {term: found[term] for term in terms if term in found}
                weights = saturated(wanted, length, known.average or length) if wanted else {}
                values.append(sum(known.idf(term) * weight for term, weight in weights.items()) or np.nan)
            return np.array(values, np.float64)

        everything = await self._store.document_count(kind) + 1 if counts and counts.average else None
        search = _Search(kind=kind, run=run, text=searchable_text, score=score, sign=-1.0, everything=everything)
        return await self._found(search, limit)

    async def _found(self, search: _Search, limit: int) -> Hits:
        """The best visible hits of a search, widened until there are enough; by the scores of their visible texts."""
        changes = self._reader.changes(search.kind)
        wide, last = (changes and search.everything) or limit, search.everything or widest(limit)
        while True:
            stored = await search.run(wide)
            if changes:
                hits = await self._shown(search, stored, cut=len(stored) == wide)
            else:
                hits = await self._reader.admitted(search.kind, stored)
            if len(hits) >= limit or len(stored) < wide or wide >= last:
                break
            wide *= 2
        if changes and search.kind is ElementKind.RELATION and (codes := await self._restatable()):
            hits = Hits.concatenate([hits, await self._restated(search, codes)])
        return hits if hits is stored and len(hits) <= limit else search.best(hits, limit)

    async def _shown(self, search: _Search, stored: Hits, *, cut: bool) -> Hits:
        """The visible ones of some hits: relations that state what they were found by, entities scored again.

        Such a score counts as far as the search went: where it was ``cut``, there may be better ones beyond.
        """
        if search.kind is ElementKind.RELATION:
            return await self._unchanged(stored)
        hits = await self._reader.admitted(search.kind, stored)
        if not len(partial := self._reader.partial(hits.keys)):
            return hits
        entities = await self._reader.entities(hits.keys[partial])
        words = await self._store.words([each.id for each in entities])  # they may be those of hidden memories
        texts = map(search.text, await self._reader.stored(ElementKind.ENTITY, hits.keys[partial]))
        renamed = [now.id in words or then != search.text(now) for then, now in zip(texts, entities, strict=True)]
        if not any(renamed):
            return hits
        changed, values = partial[renamed], search.sign * hits.values
        values[changed] = search.sign * (await search.score(list(compress(entities, renamed))))
        kept = np.ones(len(hits), np.bool_)
        kept[changed] = values[changed] <= (search.sign * stored.values[-1] if cut else np.inf)
        return attrs.evolve(hits, values=search.sign * values).keep(kept)

    async def _unchanged(self, hits: Hits) -> Hits:
        """The relations that are visible with the text that they were found by."""
        verdicts = await self._gatekeeper.verdicts(ElementKind.RELATION, hits.keys, hits.signatures)
        allowed: Mask = among(hits.keys, (await self._reader.related(hits.keys)).rows.relations)
        may_differ = (verdicts == PARTIAL) | self._reader.is_past
        if (partial := np.flatnonzero(allowed & may_differ)).size:
            allowed[partial] = await self._reader.unchanged(ElementKind.RELATION, hits.keys[partial])
        return hits if allowed.all() else hits.keep(allowed)

    async def _restatable(self) -> Collection[int]:
        """The signatures whose relations may state another fact than is stored."""
        if not self._gatekeeper.allows_all or not self._reader.is_past:
            return self._reader.view.refolded
        shared: list[int] = (await self._store.signature_codes(shared=True)).tolist()
        return shared

    async def _restated(self, search: _Search, codes: Collection[int]) -> Hits:
        """The relations of the view that state another fact than is stored, scored by it.

        In a search by meaning those alone whose stored fact has a vector: facts without one are found by no meaning.
        """
        keys = await self._store.signed(sorted(codes), limit=RESTATED)
        rows = (await self._reader.related(keys)).rows
        changed = ~await self._reader.unchanged(ElementKind.RELATION, rows.relations)
        if search.sign > 0:
            changed &= (await self._store.vectors(ElementKind.RELATION, rows.relations)).any(axis=1)
        found = rows.relations[changed]
        values = np.array(await search.score(await self._reader.relations(found))) if len(found) else np.empty(0)
        importance = np.full(len(found), 0.5)
        hits = Hits(keys=found, signatures=rows.signatures[changed], values=values, importance=importance)
        return hits.keep(np.isfinite(values))

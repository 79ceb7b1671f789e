"""The reader of a store for one question: what its view leaves out and its gate hides is never returned.

Modes and traversals read through a `Reader` and nothing else. So the gate decides before anything is ranked, walked or
scored, and hidden elements do not affect any result.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.decisions import PARTIAL, SignatureInterner
from graphsearch.access.evidence import VisibleEvidence
from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.access.gatekeeper import Decided, Gatekeeper
from graphsearch.claims.folding import type_named
from graphsearch.columns import Codes, Expansion, Hits, Keys, Mask, Rows, Steps
from graphsearch.columns.key_index import among, distinct
from graphsearch.model import EdgeKind, ElementKind, Entity, Memory, Relation, RelationType, View
from graphsearch.model.signatures import SignatureTable
from graphsearch.protocols import GraphStore
from graphsearch.scoring.triplet_score import age_in_days, freshness

ROUNDS: Final = 4
"""Most rounds of a search, each twice as wide, until enough of its hits are visible."""

_RANKS: Final = {kind: rank for rank, kind in enumerate(EdgeKind)}


@asynccontextmanager
async def reading(
    store: GraphStore,
    *,
    gate: Gate | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    min_edge_confidence: float = 0.5,
    since: datetime | None = None,
) -> AsyncIterator[Reader]:
    """Open a snapshot of a store for one question; ``as_of`` and ``known_at`` default to the store's present."""
    async with store.snapshot():
        types = await store.relation_types()
        book = SignatureInterner(store, types, store.signature_table())
        now = store.clock.now()
        view = View(
            as_of=as_of or now,
            known_at=known_at or now,
            min_edge_confidence=min_edge_confidence,
            skipped_types=frozenset(name for name, known in types.items() if known.skip),
            since=since,
        )
        gatekeeper = Gatekeeper(store, (gate or ALLOW_ALL).bind(store.scope), book)
        if refolded := await gatekeeper.refolded():
            view = attrs.evolve(view, refolded=refolded)
        yield Reader(store, view, gatekeeper, types)


class Reader:
    """Reads a store for one question, inside one snapshot; created by `reading`."""

    def __init__(
        self,
        store: GraphStore,
        view: View,
        gatekeeper: Gatekeeper,
        types: Mapping[str, RelationType],
        evidence: VisibleEvidence | None = None,
    ) -> None:
        self.store = store
        self.view = view
        self.gatekeeper = gatekeeper
        self.types = types
        self._as_of = view.as_of.timestamp()
        self._evidence = evidence or VisibleEvidence(store, gatekeeper, types)

    def viewing(self, view: View) -> Reader:
        """A reader with another view of the same snapshot, through the same gate."""
        return self if view == self.view else Reader(self.store, view, self.gatekeeper, self.types, self._evidence)

    # -- seeds ---------------------------------------------------------------------------------------------------

    async def locate(self, ids: Sequence[UUID]) -> Hits:
        """The entities with these ids that hold and are visible."""
        return await self._visible(await self.store.locate(ids, view=self.view))

    async def _visible(self, hits: Hits) -> Hits:
        seen = await self.gatekeeper.admitted(ElementKind.ENTITY, hits.keys, hits.signatures)
        return hits if seen is None else hits.keep(seen)

    # -- steps ---------------------------------------------------------------------------------------------------

    async def expand(self, keys: Keys, fan_out: int) -> Steps:
        """The strongest visible relations of a frontier, at most ``fan_out`` per entity and direction."""
        kept: list[Decided] = []
        frontier, limit, last = keys, fan_out, widest(fan_out)
        while True:
            found = await self.gatekeeper.steps(await self.store.expand(frontier, fan_out=limit, view=self.view))
            allowed = found.allowed
            if limit == fan_out and (allowed is None or allowed.all()) and found.partial is None:
                kept.append(found)
                break
            found, certain = await self._strongest(found)
            allowed = found.rows.holding if found.allowed is None else found.allowed
            runs = _Runs(found.rows)
            short = np.unique(runs.start[(runs.sizes == limit) & (runs.count(allowed & certain) < fan_out)])
            again = np.isin(found.rows.start, short) & (limit < last)
            kept.append(found.keep(allowed & ~again & (runs.rank(allowed) < fan_out)))
            if limit == last or not len(short):
                break
            frontier, limit = found.rows.starts[short], limit * 2
        return self._relied_on(Decided.concatenate(kept))

    async def _strongest(self, found: Decided) -> tuple[Decided, Mask]:
        """An expansion in visible order, and the rows whose rank cannot change when more relations are fetched.

        Relations not fetched are no stronger than the last of their run; but a row may be weaker than stored.
        """
        corrected = await self._evidence.correct(found, self.view)
        if corrected is found:
            return found, np.ones(len(found.rows), dtype=np.bool_)
        priors, runs = self.signatures.priors.take(found.signatures), _Runs(found.rows)
        least = np.minimum.reduceat(found.rows.confidence * priors, runs.begins)[runs.run]
        weight = corrected.rows.confidence * priors
        order = np.lexsort((corrected.rows.relations, -weight, runs.run))
        return corrected.keep(order), (weight >= least)[order]

    async def related(self, keys: Keys) -> Steps:
        """Relations that pass the view, as steps from source to target; only those visible with both ends."""
        found = await self.gatekeeper.steps(await self.store.related(keys, view=self.view))
        found = await self._evidence.correct(found, self.view)
        allowed = found.allowed
        if allowed is not None:
            found = found.keep(allowed)
        sources = await self._sources(found.rows)
        return self._relied_on(found.keep(among(found.rows.near, sources.keys)))

    async def _sources(self, found: Expansion) -> Hits:
        """The entities that relations start from, if they hold and are visible."""
        near, _ = distinct(found.near)
        if found.located is None:
            return await self.locate(self.store.entity_ids(near))
        return await self._visible(found.located.keep(among(found.located.keys, near)))

    async def unchanged(self, hits: Hits) -> Mask:
        """Which relations are visible with both ends, and state the same without any hidden memory."""
        allowed = among(hits.keys, (await self.related(hits.keys)).rows.relations)
        verdicts = await self.gatekeeper.verdicts(ElementKind.RELATION, hits.keys, hits.signatures)
        if (partial := np.flatnonzero(allowed & (verdicts == PARTIAL))).size:
            stored = await self.store.elements(ElementKind.RELATION, hits.keys[partial])
            shown = await self._evidence.show(stored, self.view)
            unchanged = [now is not None and now.fact == then.fact for now, then in zip(shown, stored, strict=True)]
            allowed[partial] = unchanged
        return allowed

    async def entity_count(self) -> int:
        """The number of entities of the whole scope, visible or not: see `GraphStore.document_count`."""
        return await self.store.document_count(ElementKind.ENTITY)

    def _relied_on(self, found: Decided) -> Steps:
        known, signatures = self.signatures, found.signatures
        if known.decays:
            age = age_in_days(found.rows.since, self._as_of)
            fresh = freshness(age, known.half_lives.take(signatures))
        else:
            fresh = np.ones(len(signatures))
        return Steps(found.rows, signatures, freshness=fresh, prior=known.priors.take(signatures))

    @property
    def signatures(self) -> SignatureTable:
        """The signatures met so far, and possibly others; its rows are those of the gatekeeper's interner."""
        return self.gatekeeper.book.table

    def kind_ranks(self, signatures: Rows) -> list[int]:
        """The origin of relations of some signatures, by row: 0 structural, 1 semantic, 2 lifecycle."""
        contents = self.signatures.contents
        known = [contents[row] for row in signatures.tolist()]
        return [_RANKS[(each and each.edge_kind) or EdgeKind.SEMANTIC] for each in known]

    def type_of(self, name: str) -> RelationType:
        """The properties of a type; an unknown one has prior 1.0 and does not decay."""
        return type_named(name, self.types)

    async def left_out(self, keys: Keys) -> Mapping[str, int]:
        """The number of relations of some entities that the view leaves out, by reason."""
        return await self.store.left_out(keys, view=self.view)

    # -- whole elements ------------------------------------------------------------------------------------------

    async def relations(self, keys: Keys) -> list[Relation]:
        """Relations walked by this question, as visible: without hidden evidence."""
        stored = await self.store.elements(ElementKind.RELATION, keys)
        return self._evidence.known(stored, self.view)

    async def relation(self, relation_id: UUID) -> Relation | None:
        """One relation, whether it passes the view or not, if it and both of its ends are visible."""
        found = await self.shown(await self.store.get_relations([relation_id]))
        return found[0] if found else None

    async def shown(self, relations: Sequence[Relation]) -> list[Relation]:
        """Those of some relations that are visible with both of their ends, whether they pass the view or not."""
        ids = {end for relation in relations for end in (relation.source_id, relation.target_id)}
        ends = await self.store.get_entities(sorted(ids))
        admitted = await self.gatekeeper.admits([*relations, *ends])
        seen = {end.id for end, allow in zip(ends, admitted[len(relations) :], strict=True) if allow}
        allowed = [
            relation
            for relation, allow in zip(relations, admitted, strict=False)
            if allow and {relation.source_id, relation.target_id} <= seen
        ]
        return [relation for relation in await self._evidence.show(allowed, self.view) if relation]

    async def memories(self, keys: Keys) -> Sequence[Memory]:
        """Memories in the order of their keys."""
        return await self.store.elements(ElementKind.MEMORY, keys)

    async def entities(self, keys: Keys) -> Sequence[Entity]:
        """Entities in the order of their keys."""
        return await self.store.elements(ElementKind.ENTITY, keys)


def widest(limit: int) -> int:
    """The limit of the last round, each round being twice as wide as the one before."""
    return limit << (ROUNDS - 1)


class _Runs:
    """The runs of rows that share (start, direction) in an expansion."""

    def __init__(self, found: Expansion) -> None:
        begins = np.ones(len(found), dtype=np.bool_)
        begins[1:] = (found.start[1:] != found.start[:-1]) | (found.outgoing[1:] != found.outgoing[:-1])
        self.begins = np.flatnonzero(begins)
        self.run = np.cumsum(begins) - 1
        """The run of each row."""
        self.start = found.start[self.begins]
        self.sizes = np.diff(self.begins, append=len(found))

    def count(self, mask: Mask) -> Codes:
        """The number of rows of each run that the mask keeps."""
        return np.add.reduceat(mask, self.begins, dtype=np.int64) if len(self.begins) else np.empty(0, np.int64)

    def rank(self, mask: Mask) -> Codes:
        """For rows that the mask keeps: the number of earlier kept rows of the same run."""
        before: Codes = np.cumsum(mask) - mask
        rank: Codes = before - before[self.begins][self.run]
        return rank

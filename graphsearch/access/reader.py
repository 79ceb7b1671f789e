"""One question's reading of a store: what its view leaves out and its gate hides never comes out of here.

Modes and traversals read through a `Reader` and nothing else. So the gate is asked before anything is ranked, walked
or scored, and what is hidden shapes nothing that is shown (design 4).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.decisions import PARTIAL
from graphsearch.access.evidence import VisibleEvidence
from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.access.gatekeeper import Decided, Gatekeeper
from graphsearch.access.signature_interner import SignatureBook
from graphsearch.claims.folding import type_named
from graphsearch.columns import Codes, Expansion, Hits, Keys, Mask, Rows, Steps
from graphsearch.columns.key_index import among, distinct
from graphsearch.model import EdgeKind, ElementKind, Entity, Memory, Relation, RelationType, View
from graphsearch.model.signatures import SignatureTable
from graphsearch.protocols import GraphStore
from graphsearch.scoring.decay import age_in_days, freshness

ROUNDS: Final = 4
"""How often a search is asked again, each time twice as wide, until enough of what it found may be seen."""

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
    """Open a snapshot of a store for one question: as of now, unless given; without a gate everything is shown."""
    async with store.snapshot():
        types = await store.relation_types()
        book = SignatureBook(store, types, store.signature_table())
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
    """Reads a store for one question, inside one snapshot; `reading` makes it."""

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
        """Another view of the same snapshot, through the same gate."""
        return self if view == self.view else Reader(self.store, view, self.gatekeeper, self.types, self._evidence)

    # -- seeds ---------------------------------------------------------------------------------------------------

    async def locate(self, ids: Sequence[UUID]) -> Hits:
        """The entities of these ids that hold and may be seen."""
        return await self._visible(await self.store.locate(ids, view=self.view))

    async def _visible(self, hits: Hits) -> Hits:
        seen = await self.gatekeeper.admitted(ElementKind.ENTITY, hits.keys, hits.signatures)
        return hits if seen is None else hits.keep(seen)

    # -- steps ---------------------------------------------------------------------------------------------------

    async def expand(self, keys: Keys, fan_out: int) -> Steps:
        """The strongest relations of a frontier that may be seen, at most ``fan_out`` an entity and direction."""
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
        """An expansion in the order of what may be seen, and which rows no relation comes before that it left out.

        What it left out is no stronger than the last of its run; but a row may be weaker than it was taken for.
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
        """Relations, which pass the view, as steps from source to target; those that may be seen with both ends."""
        found = await self.gatekeeper.steps(await self.store.related(keys, view=self.view))
        found = await self._evidence.correct(found, self.view)
        allowed = found.allowed
        if allowed is not None:
            found = found.keep(allowed)
        sources = await self._sources(found.rows)
        return self._relied_on(found.keep(among(found.rows.near, sources.keys)))

    async def _sources(self, found: Expansion) -> Hits:
        """The entities that relations start from, as far as they hold and may be seen."""
        near, _ = distinct(found.near)
        if found.located is None:
            return await self.locate(self.store.entity_ids(near))
        return await self._visible(found.located.keep(among(found.located.keys, near)))

    async def told(self, hits: Hits) -> Mask:
        """Which relations may be seen with both ends, and say what they say without any memory that may not be."""
        allowed = among(hits.keys, (await self.related(hits.keys)).rows.relations)
        verdicts = await self.gatekeeper.verdicts(ElementKind.RELATION, hits.keys, hits.signatures)
        if (partial := np.flatnonzero(allowed & (verdicts == PARTIAL))).size:
            stored = await self.store.elements(ElementKind.RELATION, hits.keys[partial])
            shown = await self._evidence.show(stored, self.view)
            told = [now is not None and now.fact == then.fact for now, then in zip(shown, stored, strict=True)]
            allowed[partial] = told
        return allowed

    async def entity_count(self) -> int:
        """How many entities the whole scope has, hidden or not: see `GraphStore.document_count`."""
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
        """The signatures met so far, and maybe others; its rows are those of the gatekeeper's book."""
        return self.gatekeeper.book.table

    def kind_ranks(self, signatures: Rows) -> list[int]:
        """Where relations of some signatures, by row, come from: 0 structural, 1 semantic, 2 lifecycle."""
        contents = self.signatures.contents
        known = [contents[row] for row in signatures.tolist()]
        return [_RANKS[(each and each.edge_kind) or EdgeKind.SEMANTIC] for each in known]

    def type_of(self, name: str) -> RelationType:
        """What is known of a type; an unknown one has prior 1.0 and does not decay."""
        return type_named(name, self.types)

    async def left_out(self, keys: Keys) -> Mapping[str, int]:
        """How many relations of some entities the view leaves out, by reason."""
        return await self.store.left_out(keys, view=self.view)

    # -- whole elements ------------------------------------------------------------------------------------------

    async def relations(self, keys: Keys) -> list[Relation]:
        """Relations that this question has walked, as it may see them: without the evidence that is hidden."""
        stored = await self.store.elements(ElementKind.RELATION, keys)
        return self._evidence.known(stored, self.view)

    async def relation(self, relation_id: UUID) -> Relation | None:
        """One relation, whether it passes the view or not, if it and both of its ends may be seen."""
        found = await self.shown(await self.store.get_relations([relation_id]))
        return found[0] if found else None

    async def shown(self, relations: Sequence[Relation]) -> list[Relation]:
        """Those of some relations, whether they pass the view or not, that may be seen with both of their ends."""
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
    """The limit of the last round, each being twice as wide as the one before."""
    return limit << (ROUNDS - 1)


class _Runs:
    """The runs of rows that share (start, direction) in an expansion."""

    def __init__(self, found: Expansion) -> None:
        begins = np.ones(len(found), dtype=np.bool_)
        begins[1:] = (found.start[1:] != found.start[:-1]) | (found.outgoing[1:] != found.outgoing[:-1])
        self.begins = np.flatnonzero(begins)
        self.run = np.cumsum(begins) - 1
        """Of each row."""
        self.start = found.start[self.begins]
        self.sizes = np.diff(self.begins, append=len(found))

    def count(self, mask: Mask) -> Codes:
        """How many rows of each run the mask keeps."""
        return np.add.reduceat(mask, self.begins, dtype=np.int64) if len(self.begins) else np.empty(0, np.int64)

    def rank(self, mask: Mask) -> Codes:
        """For rows that the mask keeps: how many kept rows of the same run come before."""
        before: Codes = np.cumsum(mask) - mask
        rank: Codes = before - before[self.begins][self.run]
        return rank

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

import numpy as np

from graphsearch.columns import Codes, Expansion, Hits, Keys, Mask, Rows, Steps
from graphsearch.evidence import VisibleEvidence
from graphsearch.gate import Gatekeeper
from graphsearch.model import EdgeKind, ElementKind, Entity, Relation, RelationType, View
from graphsearch.places import Memo
from graphsearch.protocols import Gate, GraphStore
from graphsearch.records import Vector
from graphsearch.scoring.decay import age_in_days, freshness

ROUNDS: Final = 4
"""How often a search is asked again, each time twice as wide, until enough of what it found may be seen."""

_UNREGISTERED: Final = RelationType(name="unregistered")
_RANKS: Final = {kind: rank for rank, kind in enumerate(EdgeKind)}


@asynccontextmanager
async def reading(
    store: GraphStore,
    *,
    gate: Gate | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    min_edge_confidence: float = 0.5,
) -> AsyncIterator[Reader]:
    """Open a snapshot of a store for one question; ``as_of`` and ``known_at`` are the store's present by default."""
    async with store.snapshot():
        types = await store.relation_types()
        now = store.clock.now()
        view = View(
            as_of=as_of or now,
            known_at=known_at or now,
            min_edge_confidence=min_edge_confidence,
            skipped_types=frozenset(name for name, known in types.items() if known.skip),
        )
        yield Reader(store, view, Gatekeeper(store, gate), types)


class Reader:
    """Reads a store for one question, inside one snapshot; `reading` makes it."""

    def __init__(
        self, store: GraphStore, view: View, gatekeeper: Gatekeeper, types: Mapping[str, RelationType]
    ) -> None:
        self.store = store
        self.view = view
        self.gatekeeper = gatekeeper
        self.types = types
        self._as_of = view.as_of.timestamp()
        self._met = Memo(np.intp)
        self._types_met: list[RelationType] = []
        self._priors = self._half_lives = np.empty(0)
        self._kind_ranks = np.empty(0, dtype=np.int64)
        self._evidence = VisibleEvidence(store, view, gatekeeper, self.type_of)

    # -- seeds ---------------------------------------------------------------------------------------------------

    async def nearest(self, vector: Vector, top_k: int) -> Hits:
        """The ``top_k`` nearest entities that may be seen; fewer if four rounds do not find as many."""
        limit, widest = top_k, _widest(top_k)
        while True:
            hits = await self.store.search_by_embedding(ElementKind.ENTITY, vector, limit=limit, view=self.view)
            allowed = hits.keep(await self.gatekeeper.entities(hits.keys, hits.signatures))
            if limit == widest or len(allowed) >= top_k or len(hits) < limit:
                return allowed.keep(np.arange(min(top_k, len(allowed))))
            limit *= 2

    async def locate(self, ids: Sequence[UUID]) -> Hits:
        """The entities of these ids that hold and may be seen."""
        hits = await self.store.locate(ids, view=self.view)
        return hits.keep(await self.gatekeeper.entities(hits.keys, hits.signatures))

    # -- steps ---------------------------------------------------------------------------------------------------

    async def expand(self, keys: Keys, fan_out: int) -> Steps:
        """The strongest relations of a frontier that may be seen, at most ``fan_out`` an entity and direction."""
        kept: list[Expansion] = []
        frontier, limit, widest = keys, fan_out, _widest(fan_out)
        while True:
            found = await self.store.expand(frontier, fan_out=limit, view=self.view)
            allowed = found.far_holds & await self.gatekeeper.steps(found)
            if allowed.all() and limit == fan_out:
                kept.append(found)
                break
            runs = _Runs(found)
            short = runs.near[(runs.sizes == limit) & (runs.count(allowed) < fan_out)]
            again = np.isin(found.near, short) & (limit < widest)
            kept.append(found.keep(allowed & ~again & (runs.rank(allowed) < fan_out)))
            if limit == widest or not len(short):
                break
            frontier, limit = np.unique(short), limit * 2
        return await self._relied_on(await self._evidence.correct(Expansion.concatenate(kept)))

    async def _relied_on(self, rows: Expansion) -> Steps:
        row = await self._rows_of(rows.signatures)
        return Steps(
            rows,
            freshness=freshness(age_in_days(rows.since, self._as_of), self._half_lives[row]),
            prior=self._priors[row],
            kind_rank=self._kind_ranks[row],
        )

    async def types_of(self, signatures: Codes) -> tuple[Sequence[RelationType], Rows]:
        """Types of relations, and which of them each row has; a type may be listed more than once."""
        row = await self._rows_of(signatures)
        return self._types_met, row

    async def _rows_of(self, signatures: Codes) -> Rows:
        """Rows of the columns below, which hold what this question has met so far, one row a signature."""
        fresh = self._met.missing(signatures)
        if len(fresh):
            contents = (await self.gatekeeper.signatures.read(fresh)).values()
            self._met.learn(fresh, range(len(self._types_met), len(self._types_met) + len(fresh)))
            types = [self.types.get(content.type, _UNREGISTERED) for content in contents]
            ranks = [_RANKS[content.edge_kind or EdgeKind.SEMANTIC] for content in contents]
            self._types_met.extend(types)
            self._kind_ranks = np.concatenate((self._kind_ranks, np.array(ranks, dtype=np.int64)))
            self._priors = np.concatenate((self._priors, [known.prior for known in types]))
            half_lives = [known.half_life_days or np.inf for known in types]
            self._half_lives = np.concatenate((self._half_lives, half_lives))
        rows: Rows = self._met[signatures]
        return rows

    def type_of(self, name: str) -> RelationType:
        """What is known of a type; an unknown one has prior 1.0 and does not decay."""
        return self.types.get(name) or RelationType(name=name)

    async def left_out(self, keys: Keys) -> Mapping[str, int]:
        """How many relations of some entities the view leaves out, by reason."""
        return await self.store.left_out(keys, view=self.view)

    # -- whole elements ------------------------------------------------------------------------------------------

    async def relations(self, keys: Keys) -> list[Relation]:
        """Relations as this question may see them: without the evidence that is hidden."""
        return await self._evidence.show(await self.store.get_relations(self.store.relation_ids(keys)))

    async def relation(self, relation_id: UUID) -> Relation | None:
        """One relation, whether it passes the view or not, if it and both of its ends may be seen."""
        for relation in await self.store.get_relations([relation_id]):
            ends = await self.store.get_entities([relation.source_id, relation.target_id])
            (shown,) = await self._evidence.show([relation])
            if all(await self.gatekeeper.admits([relation, *ends])) and (shown.evidence or not relation.evidence):
                return shown
        return None

    async def entities(self, keys: Keys) -> dict[UUID, Entity]:
        """Entities by id."""
        return {entity.id: entity for entity in await self.store.get_entities(self.store.entity_ids(keys))}


def _widest(limit: int) -> int:
    """The limit of the last round, each being twice as wide as the one before."""
    return limit << (ROUNDS - 1)


class _Runs:
    """The runs of rows that share (near, direction) in an expansion."""

    def __init__(self, found: Expansion) -> None:
        starts = np.ones(len(found), dtype=np.bool_)
        starts[1:] = (found.near[1:] != found.near[:-1]) | (found.outgoing[1:] != found.outgoing[:-1])
        self._starts = np.flatnonzero(starts)
        self._run = np.cumsum(starts) - 1
        self.near = found.near[self._starts]
        self.sizes = np.diff(self._starts, append=len(found))

    def count(self, mask: Mask) -> Codes:
        """How many rows of each run the mask keeps."""
        return np.add.reduceat(mask, self._starts, dtype=np.int64) if len(self._starts) else np.empty(0, np.int64)

    def rank(self, mask: Mask) -> Codes:
        """For rows that the mask keeps: how many kept rows of the same run come before."""
        before: Codes = np.cumsum(mask) - mask
        rank: Codes = before - before[self._starts][self._run]
        return rank

"""One question's reading of a store: what its view leaves out and its gate hides never comes out of here.

Modes and traversals read through a `Reader` and nothing else. So the gate is asked before anything is ranked, walked
or scored, and what is hidden shapes nothing that is shown (design 4).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import lru_cache
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Codes, Expansion, Floats, Hits, Keys, Mask
from graphsearch.gate import Gatekeeper
from graphsearch.ingest.folding import DatedClaim, fold
from graphsearch.model import EdgeKind, ElementKind, Entity, Relation, RelationType, View
from graphsearch.places import Rows, distinct
from graphsearch.protocols import Gate, GraphStore
from graphsearch.records import Vector
from graphsearch.scoring.decay import age_in_days, freshness

ROUNDS: Final = 4
"""How often a search is asked again, each time twice as wide, until enough of what it found may be seen."""

_SUREST: Final = tuple(EdgeKind)


@attrs.frozen(eq=False)
class Steps:
    """An expansion of which all may be seen, with how much each relation can be relied on."""

    rows: Expansion
    freshness: Floats
    prior: Floats
    kind_rank: Codes
    """0 structural, 1 semantic, 2 lifecycle."""

    @property
    def reliability(self) -> Floats:
        """Confidence × freshness × prior."""
        return self.rows.confidence * self.freshness * self.prior

    @staticmethod
    def none(like: Keys) -> Steps:
        """No rows, with keys of the same dtype as some keys."""
        return Steps(Expansion.none(like), np.empty(0), np.empty(0), np.empty(0, dtype=np.int64))


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
        self._typed: dict[int, tuple[RelationType, int]] = {}
        self._unproven: dict[UUID, Relation] = {}

    # -- seeds ---------------------------------------------------------------------------------------------------

    async def nearest(self, vector: Vector, top_k: int) -> Hits:
        """The ``top_k`` nearest entities that may be seen; fewer if four rounds do not find as many."""
        if not vector.any():  # an empty question: nothing is near it
            return await self.store.locate([], view=self.view)
        limit = top_k
        for final in _last_of(ROUNDS):
            hits = await self.store.search_by_embedding(ElementKind.ENTITY, vector, limit=limit, view=self.view)
            allowed = hits.keep(await self.gatekeeper.entities(hits.keys, hits.signatures))
            if final or len(allowed) >= top_k or len(hits) < limit:
                return allowed.keep(np.arange(min(top_k, len(allowed))))
            limit *= 2
        raise AssertionError  # pragma: no cover - the last round returns

    async def locate(self, ids: Sequence[UUID]) -> Hits:
        """The entities of these ids that hold and may be seen."""
        hits = await self.store.locate(ids, view=self.view)
        return hits.keep(await self.gatekeeper.entities(hits.keys, hits.signatures))

    # -- steps ---------------------------------------------------------------------------------------------------

    async def expand(self, keys: Keys, fan_out: int) -> Steps:
        """The strongest relations of a frontier that may be seen, at most ``fan_out`` an entity and direction."""
        kept: list[Expansion] = []
        frontier, limit = keys, fan_out
        for final in _last_of(ROUNDS):
            found = await self.store.expand(frontier, fan_out=limit, view=self.view)
            allowed = await self._allowed(found)
            if allowed.all() and limit == fan_out:
                kept.append(found)
                break
            runs = _Runs(found)
            short = runs.near[(runs.sizes == limit) & (runs.count(allowed) < fan_out)]
            again = np.zeros(len(found), dtype=np.bool_) if final else np.isin(found.near, short)
            kept.append(found.keep(allowed & ~again & (runs.rank(allowed) < fan_out)))
            if final or not len(short):
                break
            frontier, limit = np.unique(short), limit * 2
        return await self._relied_on(await self._only_visible_evidence(Expansion.concatenate(kept)))

    async def _relied_on(self, rows: Expansion) -> Steps:
        types, kinds, row = await self.types_of(rows.signatures)
        half_life = np.array([known.half_life_days or np.inf for known in types])
        prior = np.array([known.prior for known in types])
        fresh = freshness(age_in_days(rows.since, self._as_of), half_life[row])
        return Steps(rows, freshness=fresh, prior=prior[row], kind_rank=kinds[row])

    async def _allowed(self, found: Expansion) -> Mask:
        allowed = found.far_holds & await self.gatekeeper.relations(found.relations, found.signatures)
        if allowed.any():
            allowed[allowed] = await self.gatekeeper.entities(found.far[allowed], found.far_signatures[allowed])
        return allowed

    async def types_of(self, signatures: Codes) -> tuple[list[RelationType], Codes, Rows]:
        """What is known of relations: types and ranks of kind by distinct signature, and which of them each row has."""
        codes, row = distinct(signatures)
        listed = codes.tolist()
        fresh = [code for code in listed if code not in self._typed]
        for code, content in (await self.store.signatures(fresh)).items():
            self._typed[code] = self.type_of(content.type), _SUREST.index(content.edge_kind or EdgeKind.SEMANTIC)
        known = [self._typed[code] for code in listed]
        return [known_type for known_type, _ in known], np.array([rank for _, rank in known], dtype=np.int64), row

    def type_of(self, name: str) -> RelationType:
        """What is known of a type; an unknown one has prior 1.0 and does not decay."""
        return self.types.get(name) or _unregistered(name)

    # -- evidence that is only partly visible --------------------------------------------------------------------

    async def _only_visible_evidence(self, rows: Expansion) -> Expansion:
        """Fold relations again whose evidence is partly hidden, from the claims that may be seen."""
        partly = await self.gatekeeper.hidden_evidence(rows.relations, rows.signatures)
        if not partly.any():
            return rows
        ids = self.store.relation_ids(rows.relations[partly])
        await self._fold_visible(
            [relation_id for relation_id in dict.fromkeys(ids) if relation_id not in self._unproven]
        )
        refolded = [self._unproven[relation_id] for relation_id in ids]
        confidence, since = rows.confidence.copy(), rows.since.copy()
        confidence[partly] = [relation.confidence for relation in refolded]
        since[partly] = [_since(relation) for relation in refolded]
        kept = np.ones(len(rows), dtype=np.bool_)
        kept[partly] = [self._passes(relation) for relation in refolded]
        return attrs.evolve(rows, confidence=confidence, since=since).keep(kept)

    async def _fold_visible(self, ids: Sequence[UUID]) -> None:
        for relation in await self.store.get_relations(ids):
            claims = await self.store.list_claims(relation_ids=[relation.id])
            visible = await self.gatekeeper.visible_memories(relation.evidence)
            dated = await self._dated(visible, [claim.memory_id for claim in claims])
            folded = fold(
                (DatedClaim(claim, dated[claim.memory_id]) for claim in claims if claim.memory_id in visible),
                self.type_of(relation.type),
            )
            evidence = tuple(memory_id for memory_id in relation.evidence if memory_id in visible)
            self._unproven[relation.id] = _reproven(relation, evidence, folded, self.view)

    async def _dated(self, visible: set[str], ids: Iterable[str]) -> dict[str, datetime | None]:
        memories = await self.store.get_memories(
            [memory_id for memory_id in dict.fromkeys(ids) if memory_id in visible]
        )
        return {memory.id: memory.occurred_at for memory in memories}

    def _passes(self, relation: Relation) -> bool:
        return relation.confidence >= self.view.min_edge_confidence and self.view.holds(
            relation.valid_from, relation.valid_to
        )

    async def left_out(self, keys: Keys) -> Mapping[str, int]:
        """How many relations of some entities the view leaves out, by reason."""
        return await self.store.left_out(keys, view=self.view)

    # -- whole elements ------------------------------------------------------------------------------------------

    async def relations(self, keys: Keys) -> list[Relation]:
        """Relations as this question may see them: without the evidence that is hidden."""
        relations = await self.store.get_relations(self.store.relation_ids(keys))
        visible = await self.gatekeeper.visible_memories(
            [memory_id for relation in relations for memory_id in relation.evidence]
        )
        return [self._unproven.get(relation.id) or _with_evidence(relation, visible) for relation in relations]

    async def relation(self, relation_id: UUID) -> Relation | None:
        """One relation, whether it passes the view or not, if it and both of its ends may be seen."""
        for relation in await self.store.get_relations([relation_id]):
            ends = await self.store.get_entities([relation.source_id, relation.target_id])
            visible = await self.gatekeeper.visible_memories(relation.evidence)
            if all(await self.gatekeeper.admits([relation, *ends])) and (visible or not relation.evidence):
                return _with_evidence(relation, visible)
        return None

    async def entities(self, keys: Keys) -> dict[UUID, Entity]:
        """Entities by id."""
        return {entity.id: entity for entity in await self.store.get_entities(self.store.entity_ids(keys))}


@lru_cache(maxsize=4096)
def _unregistered(name: str) -> RelationType:
    return RelationType(name=name)


def _last_of(rounds: int) -> Iterable[bool]:
    return (number == rounds - 1 for number in range(rounds))


def _since(relation: Relation) -> float:
    moment = relation.supported_at or relation.valid_from or relation.created_at
    return moment.timestamp() if moment else 0.0


def _reproven(relation: Relation, evidence: tuple[str, ...], folded: Sequence[Relation], view: View) -> Relation:
    """A relation as the visible part of its evidence has it: under its stored id, so that feedback finds it."""
    own = [candidate for candidate in folded if candidate.target_id == relation.target_id]
    if not own:  # written with evidence but without claims: its confidence is as given
        return attrs.evolve(relation, evidence=evidence)
    now = next((candidate for candidate in own if view.holds(candidate.valid_from, candidate.valid_to)), own[-1])
    return attrs.evolve(
        now,
        id=relation.id,
        labels=relation.labels,
        attributes=relation.attributes,
        feedback_weight=relation.feedback_weight,
        created_at=relation.created_at,
        retracted_at=relation.retracted_at,
    )


def _with_evidence(relation: Relation, visible: set[str]) -> Relation:
    if all(memory_id in visible for memory_id in relation.evidence):
        return relation
    return attrs.evolve(relation, evidence=tuple(item for item in relation.evidence if item in visible))


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

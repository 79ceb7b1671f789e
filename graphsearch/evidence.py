"""Relations of which only part of the evidence may be seen, told from that part alone.

A relation is the fold of its claims. Where a gate hides some of the memories behind one, the others are folded again,
so that its confidence, its period and its sentence are what they would be had the hidden memories never been stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

import attrs
import numpy as np

from graphsearch.gatekeeper import Gatekeeper, Judged
from graphsearch.ingest.folding import DatedClaim, fold
from graphsearch.judges import PARTLY
from graphsearch.model import Relation, RelationType, View
from graphsearch.protocols import GraphStore


class VisibleEvidence:
    """What the visible memories prove, for one question."""

    def __init__(
        self, store: GraphStore, view: View, gatekeeper: Gatekeeper, type_of: Callable[[str], RelationType]
    ) -> None:
        self._store = store
        self._view = view
        self._gatekeeper = gatekeeper
        self._type_of = type_of
        self._refolded: dict[UUID, Relation] = {}

    async def correct(self, found: Judged) -> Judged:
        """The rows with confidence and age as the visible evidence has them, less those that it does not carry."""
        if found.verdicts is None:
            return found
        partly = found.verdicts == PARTLY
        if not partly.any():
            return found
        rows = found.rows
        ids = self._store.relation_ids(rows.relations[partly])
        for relation in await self._store.get_relations(
            [id_ for id_ in dict.fromkeys(ids) if id_ not in self._refolded]
        ):
            self._refolded[relation.id] = await self._refold(relation)
        relations = [self._refolded[id_] for id_ in ids]
        confidence, since, kept = rows.confidence.copy(), rows.since.copy(), np.ones(len(rows), dtype=np.bool_)
        confidence[partly] = [relation.confidence for relation in relations]
        since[partly] = [supported_since(relation) for relation in relations]
        kept[partly] = [self._passes(relation) for relation in relations]
        return attrs.evolve(found, rows=attrs.evolve(rows, confidence=confidence, since=since)).keep(kept)

    async def show(self, relations: Sequence[Relation]) -> list[Relation]:
        """Relations with the evidence that may be seen, and what follows from it."""
        evidence = [memory_id for relation in relations for memory_id in relation.evidence]
        visible = await self._gatekeeper.visible_memories(evidence)
        for relation in relations:
            if not visible.issuperset(relation.evidence) and relation.id not in self._refolded:
                self._refolded[relation.id] = await self._refold(relation)
        refolded = self._refolded
        return [refolded.get(relation.id, relation) for relation in relations] if refolded else list(relations)

    async def _refold(self, relation: Relation) -> Relation:
        visible = await self._gatekeeper.visible_memories(relation.evidence)
        claims = await self._store.list_claims(relation_ids=[relation.id])
        occurred = {memory.id: memory.occurred_at for memory in await self._store.get_memories(sorted(visible))}
        dated = [DatedClaim(claim, occurred[claim.memory_id]) for claim in claims if claim.memory_id in visible]
        seen = attrs.evolve(relation, evidence=[memory_id for memory_id in relation.evidence if memory_id in visible])
        return _reproven(seen, fold(dated, self._type_of(relation.type)), self._view)

    def _passes(self, relation: Relation) -> bool:
        sure = relation.confidence >= self._view.min_edge_confidence
        return sure and self._view.holds(relation.valid_from, relation.valid_to)


def supported_since(relation: Relation) -> float:
    """What the freshness of a relation counts from, in seconds since the epoch."""
    moment = relation.supported_at or relation.valid_from or relation.created_at
    return moment.timestamp() if moment else 0.0


def _reproven(relation: Relation, folded: Sequence[Relation], view: View) -> Relation:
    """The relation as folded from what is visible, under the id it is stored by, so that feedback finds it."""
    if not folded:  # written with evidence but without claims: its confidence is as given
        return relation
    holding = [candidate for candidate in folded if view.holds(candidate.valid_from, candidate.valid_to)]
    return attrs.evolve(
        (holding or folded)[-1],
        id=relation.id,
        labels=relation.labels,
        attributes=relation.attributes,
        feedback_weight=relation.feedback_weight,
        created_at=relation.created_at,
        retracted_at=relation.retracted_at,
    )

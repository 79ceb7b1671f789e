"""Why a relation was, or was not, among the triplets shown."""

from __future__ import annotations

from uuid import UUID

import numpy as np

from graphsearch.errors import UnknownElementError
from graphsearch.model import Relation, Triplet
from graphsearch.modes.findings import Findings, best_triplets
from graphsearch.modes.request import SearchRequest
from graphsearch.reading import Reader
from graphsearch.results import Explanation


async def explanation(relation_id: UUID, found: Findings, request: SearchRequest, reader: Reader) -> Explanation:
    """Rank and score of a relation among what was found, or what kept it out.

    Raises `UnknownElementError` when there is no such relation, or it may not be seen: which of the two is not told.
    """
    relation = await reader.relation(relation_id)
    if relation is None:
        raise UnknownElementError(f"no relation {relation_id} in {reader.store.scope}")
    rank, triplet = await _ranked(relation_id, found, reader)
    return Explanation(
        relation_id=relation_id,
        query=request.query,
        mode=request.mode,
        triplet=triplet,
        rank=rank,
        of=len(found.subgraph.relations),
        reason=_kept_out(relation, reader) if rank is None else _placed(rank, request.limit),
    )


async def _ranked(relation_id: UUID, found: Findings, reader: Reader) -> tuple[int | None, Triplet | None]:
    ids = reader.store.relation_ids(found.subgraph.relations)
    if relation_id not in ids:
        return None, None
    values = found.scores.value
    at_least_as_good = int(np.count_nonzero(values >= values[ids.index(relation_id)]))
    triplets = await best_triplets(found, at_least_as_good, reader)
    rank = [triplet.relation.id for triplet in triplets].index(relation_id) + 1
    return rank, triplets[rank - 1]


def _placed(rank: int, limit: int) -> str:
    if rank <= limit:
        return f"shown: rank {rank} of the {limit} asked for"
    return f"scored, but rank {rank} lies beyond the {limit} asked for"


def _kept_out(relation: Relation, reader: Reader) -> str:
    """The first filter of design 5.1 that the relation fails, else that nothing led to it."""
    view = reader.view
    if not view.known(relation.created_at, relation.retracted_at):
        life = f"created {relation.created_at}, retracted {relation.retracted_at}"
        return f"not known at {view.known_at.isoformat()}: {life}"
    if not view.holds(relation.valid_from, relation.valid_to):
        return f"does not hold at {view.as_of.isoformat()}: from {relation.valid_from} to {relation.valid_to}"
    if relation.confidence < view.min_edge_confidence:
        return f"confidence {relation.confidence:g} is below the least asked for, {view.min_edge_confidence:g}"
    if relation.type in view.skipped_types:
        return f"relations of type {relation.type!r} are skipped in searches"
    return "not reached: no seed leads to it within the hops and the fan-out allowed"

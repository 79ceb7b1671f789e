"""Communities for questions that name nothing: the choice of those to summarise, and the best triplets in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.access.searches import lexical
from graphsearch.columns import NONE, Subgraph
from graphsearch.columns.key_index import Places
from graphsearch.model import Community, ElementKind, Triplet
from graphsearch.modes.findings import best_triplets
from graphsearch.modes.mode import Question
from graphsearch.modes.neighborhood import scored_by_hops
from graphsearch.relevance.candidates import with_relations

LOOKED_AT: Final = 50
"""Most relevant communities among which visible ones are searched for."""
MEMBERS: Final = 500
"""Most important members of a community whose relations are read."""
FAN_OUT: Final = 25
WORDED: Final = 20
"""Most entities found by the words of a question that found nothing else."""
PAGE: Final = 1_000


@attrs.frozen(kw_only=True)
class Inside:
    """A community of which all members are visible, and the best triplets between its members."""

    community: Community
    triplets: Sequence[Triplet]


async def relevant_communities(
    question: Question, triplets: Sequence[Triplet], most: int, reader: Reader
) -> list[Inside]:
    """The communities most relevant to a question, of which every member is visible.

    First those whose members have the best of the ``triplets`` that were found; if there are none, those whose members
    share words with the question; then the largest.
    """
    weights = _weights_of(triplets) or await _worded(question, reader)
    near = await reader.store.communities(entity_ids=sorted(weights), limit=LOOKED_AT) if weights else ()
    known = {each.id: each for each in (*near, *await reader.store.communities(limit=LOOKED_AT))}

    def standing(community: Community) -> tuple[float, int, UUID]:
        return -sum(weights.get(member, 0.0) for member in community.members), -community.size, community.id

    ranked = sorted(known.values(), key=standing)
    found: list[Inside] = []
    for community in ranked[:LOOKED_AT]:
        if len(found) == most:
            break
        if await _visible(community, reader) and (inside := await _inside(community, question, reader)):
            found.append(Inside(community=community, triplets=inside))
    return found


def _weights_of(triplets: Sequence[Triplet]) -> Mapping[UUID, float]:
    """The share of the scores of triplets of each entity."""
    weights: dict[UUID, float] = {}
    for triplet in triplets:
        for end in (triplet.source.id, triplet.target.id):
            weights[end] = weights.get(end, 0.0) + triplet.score
    return weights


async def _worded(question: Question, reader: Reader) -> Mapping[UUID, float]:
    hits = await lexical(ElementKind.ENTITY, question.request.query, WORDED, reader)
    return dict(zip(reader.store.entity_ids(hits.keys), hits.values.tolist(), strict=True))


async def _visible(community: Community, reader: Reader) -> bool:
    """Whether every member is visible."""
    if not reader.gatekeeper.hides:
        return True
    for start in range(0, community.size, PAGE):
        members = await reader.store.get_entities(community.members[start : start + PAGE])
        if not all(await reader.gatekeeper.admits(members)):
            return False
    return True


async def _inside(community: Community, question: Question, reader: Reader) -> list[Triplet]:
    """The best triplets between members that hold in the view."""
    members = await reader.locate(community.members)
    chief = members.keep(np.sort(np.lexsort((members.keys, -members.importance))[:MEMBERS]))
    rows = (await reader.expand(chief.keys, FAN_OUT)).rows
    among = np.unique(rows.relations[Places(chief.keys).of(rows.far) != NONE])
    subgraph = await with_relations(Subgraph.none(among), among, reader)
    return await best_triplets(scored_by_hops(subgraph, question, reader), question.request.limit, reader)

"""The communities that a question is about, and what is known of each: its best triplets and its stored summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.columns import Subgraph
from graphsearch.model import Community, ElementKind, Triplet
from graphsearch.modes.community_content import CommunityContent, content_of, relations_among
from graphsearch.modes.mode import Question
from graphsearch.ranking.triplets.candidates import with_relations
from graphsearch.ranking.triplets.findings import best_triplets
from graphsearch.ranking.triplets.scoring import score_by_hops

LOOKED_AT: Final = 50
"""Most relevant communities among which those with triplets that hold are searched for."""
WORDED: Final = 20
"""Most entities found by the words of a question that found nothing else."""


@attrs.frozen(kw_only=True)
class Inside:
    """A community, the best triplets between its members, and its content if a summary of that is stored."""

    community: Community
    triplets: Sequence[Triplet]
    content: CommunityContent | None


async def relevant_communities(
    question: Question, triplets: Sequence[Triplet], most: int, reader: Reader
) -> list[Inside]:
    """The communities most relevant to a question; none where anything may be hidden: see `Reader.communities`.

    First those whose members have the best of the ``triplets`` that were found; if there are none, those whose members
    share words with the question; then the largest.
    """
    weights = _weights_of(triplets) or await _worded(question, reader)
    near = await reader.communities(entity_ids=sorted(weights), limit=LOOKED_AT) if weights else ()
    known = {each.id: each for each in (*near, *await reader.communities(limit=LOOKED_AT))}

    def standing(community: Community) -> tuple[float, int, UUID]:
        return -sum(weights.get(member, 0.0) for member in community.members), -community.size, community.id

    ranked = sorted(known.values(), key=standing)
    found: list[Inside] = []
    for community in ranked[:LOOKED_AT]:
        if len(found) == most:
            break
        if inside := await _inside(community, question, reader):
            content = await _summarised(community, reader)
            found.append(Inside(community=community, triplets=inside, content=content))
    return found


async def summarised_communities(entity_ids: Iterable[UUID], most: int, reader: Reader) -> list[CommunityContent]:
    """The largest communities of some entities that have a summary of their content in this view."""
    stored = await reader.communities(entity_ids=sorted(set(entity_ids)), limit=most)
    return [content for each in stored if (content := await _summarised(each, reader))]


async def _summarised(community: Community, reader: Reader) -> CommunityContent | None:
    """The content of a community in this view, if its stored summary is one of it."""
    content = None if community.summary is None else await content_of(community, reader)
    return content if content is not None and content.summary is not None else None


def _weights_of(triplets: Sequence[Triplet]) -> Mapping[UUID, float]:
    """The share of the scores of triplets of each entity."""
    weights: dict[UUID, float] = {}
    for triplet in triplets:
        for end in (triplet.source.id, triplet.target.id):
            weights[end] = weights.get(end, 0.0) + triplet.score
    return weights


async def _worded(question: Question, reader: Reader) -> Mapping[UUID, float]:
    hits = await reader.lexical(ElementKind.ENTITY, question.request.query, WORDED)
    return dict(zip(reader.entity_ids(hits.keys), hits.values.tolist(), strict=True))


async def _inside(community: Community, question: Question, reader: Reader) -> list[Triplet]:
    """The best triplets between members that hold in the view."""
    among = await relations_among(community, reader)
    subgraph = await with_relations(Subgraph.none(among), among, reader)
    return await best_triplets(score_by_hops(subgraph, question.parts.scoring, reader), question.request.limit, reader)

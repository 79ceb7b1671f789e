"""Communities: their content as numbered lines that a language model is shown; and those that a question is about."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Keys, Subgraph
from graphsearch.columns.key_index import KeyIndex
from graphsearch.model import Community, CommunitySummary, ElementKind, Triplet
from graphsearch.modes.mode import Question
from graphsearch.modes.result import Sentence, Source
from graphsearch.modes.summary_writer import MEMORIES, Line, Numbered
from graphsearch.ranking.triplets.candidates import with_relations
from graphsearch.ranking.triplets.findings import best_triplets
from graphsearch.ranking.triplets.scoring import score_by_hops
from graphsearch.text.rendering import relation_line, safe_text

MEMBERS: Final = 500
"""Most important members of a community whose relations are read."""
FAN_OUT: Final = 25
"""Strongest relations that are read of each, in either direction."""
RELATIONS: Final = 200
"""Most relations that are shown, those between the best connected members first."""
_FORM: Final = "community/1"
"""The form of the content; with another one, every community is summarised again."""


@attrs.frozen(kw_only=True)
class CommunityContent:
    """What a summary of a community is made of."""

    community: Community
    sources: Sequence[Source]
    fingerprint: str

    @property
    def summary(self) -> CommunitySummary | None:
        """The stored summary, if it is one of this content."""
        stored = self.community.summary
        return stored if stored is not None and stored.fingerprint == self.fingerprint else None

    def summary_lines(self, numbers: Numbered) -> list[Line]:
        """The sentences of its `summary`, with the sources that they cite, numbered with all others of an answer."""
        lines = {source.element: source_text(source) for source in self.sources}
        found = []
        for each in self.summary.sentences if self.summary else ():
            cited = [numbers.of(ref, lines[ref]) for ref in dict.fromkeys(each.cites) if ref in lines]
            if cited and (text := safe_text(each.text)):
                sources = tuple(sorted(cited, key=attrgetter("number")))
                found.append(Line.of_sentence(Sentence(text=text, sources=sources)))
        return found


async def content_of(community: Community, reader: Reader) -> CommunityContent | None:
    """The content of a community in a view: relations, each with the memories behind it; None if none holds."""
    relations = await reader.relations(await relations_among(community, reader))
    degrees = Counter(end for each in relations for end in (each.source_id, each.target_id))
    relations.sort(key=lambda each: (-degrees[each.source_id] - degrees[each.target_id], each.id))
    relations = relations[:RELATIONS]
    ends = sorted({end for each in relations for end in (each.source_id, each.target_id)})
    entities = {each.id: each for each in await reader.get_entities(ends)}
    cited = sorted({key for each in relations for key in each.evidence[:MEMORIES]})
    memories = {each.id: each for each in await reader.get_memories(cited)}
    numbers = Numbered()
    for each in relations:
        line = relation_line(entities[each.source_id], each, entities[each.target_id])
        numbers.of_relation(each.id, line, [memories[key] for key in each.evidence[:MEMORIES] if key in memories])
    if not numbers.sources:
        return None
    shown = sorted((*each.element, source_text(each)) for each in numbers.sources)
    content = json.dumps([_FORM, list(map(str, community.members)), shown], ensure_ascii=False)
    digest = hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()
    return CommunityContent(community=community, sources=numbers.sources, fingerprint=digest)


async def relations_among(community: Community, reader: Reader) -> Keys:
    """Relations that hold between the most important members of a community."""
    members = await reader.locate(community.members)
    chief = members.keep(np.sort(np.lexsort((members.keys, -members.importance))[:MEMBERS]))
    rows = (await reader.expand(chief.keys, FAN_OUT)).rows
    return np.unique(rows.relations[KeyIndex(chief.keys).of(rows.far) != NONE])


def source_text(source: Source) -> str:
    """The line without its number, which depends on the order."""
    return source.line.partition(" ")[2]


# -- those that a question is about ------------------------------------------------------------------------------------

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

    found: list[Inside] = []
    for community in sorted(known.values(), key=standing)[:LOOKED_AT]:
        if len(found) == most:
            break
        among = await relations_among(community, reader)
        subgraph = await with_relations(Subgraph.none(among), among, reader)
        scored = score_by_hops(subgraph, question.parts.scoring, reader)
        if inside := await best_triplets(scored, question.request.limit, reader):
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

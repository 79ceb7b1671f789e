"""SUMMARY: the findings of a retrieval, summarised by a language model in sentences that cite them.

A question that names nothing is answered from communities: the most relevant ones, and the best triplets in each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.concurrency import in_order
from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Subgraph
from graphsearch.columns.key_index import KeyIndex
from graphsearch.llms.budgets import ByteCounter
from graphsearch.model import Community, ElementKind, Triplet
from graphsearch.model import validation as check
from graphsearch.modes.findings import best_triplets
from graphsearch.modes.mode import Answer, Part, Question, require
from graphsearch.modes.result import SearchResult, Summary
from graphsearch.modes.retrieval import GraphCompletion, Neighborhood
from graphsearch.modes.steps import scored_by_hops, understood
from graphsearch.modes.summary_writer import (
    REPORTED,
    Line,
    Numbered,
    WrittenSummary,
    numbered,
    visible_memories,
    write_summary,
)
from graphsearch.protocols import TokenCounter
from graphsearch.relevance.candidates import with_relations

PROMPT_TOKENS: Final = 12_000
ANSWER_TOKENS: Final = 2_000
COMMUNITIES: Final = 5
AT_ONCE: Final = 4

_UNDETECTED: Final = "no communities are there to be summarised: see Curator.detect_communities"


@attrs.frozen(kw_only=True)
class Summarising:
    """Retrieves as GRAPH_COMPLETION, or as NEIGHBORHOOD without an embedder; the result has a `Summary`.

    A question that names an entity is answered from what was found around it, by one prompt. One that names none is
    answered from communities too: the ``communities`` most relevant are summarised, at most ``at_once`` concurrently,
    then their summaries together.

    ``prompt_tokens`` bounds each prompt, and ``answer_tokens`` each answer, by ``counter``. The default counter counts
    bytes: more than there are tokens, about four times as many in English.
    """

    counter: TokenCounter = attrs.field(factory=ByteCounter)
    prompt_tokens: int = PROMPT_TOKENS
    answer_tokens: int = ANSWER_TOKENS
    communities: int = COMMUNITIES
    at_once: int = AT_ONCE

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "summary",
            check.number("prompt_tokens", self.prompt_tokens, 1),
            check.number("answer_tokens", self.answer_tokens, 1),
            check.number("communities", self.communities, 0),
            check.number("at_once", self.at_once, 1),
        )

    @property
    def needs(self) -> frozenset[Part]:
        """A language model."""
        return frozenset({"llm"})

    async def prepare(self, question: Question) -> Question:
        """The question with its interpretation, and its embedding if there is an embedder."""
        return await understood(question, embedding=question.embedder is not None)

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Retrieve, and find what the question names."""
        if question.embedder is None:
            return await Neighborhood().find(question, reader)
        return await GraphCompletion().find(question, reader)

    async def conclude(self, found: SearchResult, question: Question) -> SearchResult:
        """The result with its summary, if there is anything to summarise; no snapshot is open during the calls."""
        if not question.request.query.strip():
            return found
        with question.stopwatch.stage("sources"):
            material = await self._material(found, question)
        if not material.groups:
            return attrs.evolve(found, reason="; ".join(filter(None, (found.reason, material.note))))
        with question.stopwatch.stage("llm"):
            return attrs.evolve(found, summary=await self._summary(material, question))

    async def _material(self, found: SearchResult, question: Question) -> _Material:
        moments = attrs.evolve(question.request, as_of=found.as_of, known_at=found.known_at)
        async with question.open(moments) as reader:
            inside: Sequence[Inside] = ()
            if not found.anchors:
                inside = await relevant_communities(question, found.triplets, self.communities, reader)
            groups = [found.triplets, *(each.triplets for each in inside)]
            memories = await visible_memories(list(chain.from_iterable(groups)), reader)
        numbers = Numbered()
        lines = [tuple(map(Line.of_source, numbered(group, memories, numbers))) for group in groups]
        note = "" if found.anchors or inside or not self.communities else _UNDETECTED
        return _Material(
            groups=[group for group in lines if group],
            numbers=numbers,
            communities=tuple(each.community.id for each in inside),
            note=note,
        )

    async def _summary(self, material: _Material, question: Question) -> Summary:
        """One prompt for one group; else one for each (map), and one for their summaries (reduce)."""
        write = partial(
            write_summary,
            question.request.query,
            llm=require("llm", question.llm, question.request.mode),
            counter=self.counter,
            prompt_tokens=self.prompt_tokens,
            answer_tokens=self.answer_tokens,
        )
        written_parts = await in_order(write, material.groups, limit=self.at_once)
        sentences = [sentence for each in written_parts for sentence in each.written.sentences]
        if len(written_parts) > 1 and sentences:
            written_parts.append(await write(list(map(Line.of_sentence, sentences))))
        return _summed(written_parts, material)


@attrs.frozen(kw_only=True)
class _Material:
    """The sources of a summary: lines by group, the first group being those of the retrieval."""

    groups: Sequence[tuple[Line, ...]]
    numbers: Numbered
    communities: tuple[UUID, ...]
    note: str


def _summed(written_parts: Sequence[WrittenSummary], material: _Material) -> Summary:
    """The last summary written, with the faults of all."""
    *_, last = written = [each.written for each in written_parts]
    shown = {source.number for each in written_parts for line in each.lines for source in line.sources}
    return Summary(
        sentences=last.sentences,
        sources=tuple(source for source in material.numbers.sources if source.number in shown),
        unknown_citations=tuple(sorted({number for each in written for number in each.unknown})[:REPORTED]),
        uncited=tuple(chain.from_iterable(each.uncited for each in written))[:REPORTED],
        beyond=sum(each.beyond for each in written),
        communities=material.communities,
        note=material.note,
        calls=len(written_parts),
        prompt_tokens=sum(each.prompt_tokens for each in written_parts),
        answer_tokens=sum(each.tokens for each in written),
    )


LOOKED_AT: Final = 50
"""Most relevant communities among which those with triplets that hold are searched for."""
MEMBERS: Final = 500
"""Most important members of a community whose relations are read."""
FAN_OUT: Final = 25
WORDED: Final = 20
"""Most entities found by the words of a question that found nothing else."""


@attrs.frozen(kw_only=True)
class Inside:
    """A community, and the best triplets between its members."""

    community: Community
    triplets: Sequence[Triplet]


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
    hits = await reader.lexical(ElementKind.ENTITY, question.request.query, WORDED)
    return dict(zip(reader.entity_ids(hits.keys), hits.values.tolist(), strict=True))


async def _inside(community: Community, question: Question, reader: Reader) -> list[Triplet]:
    """The best triplets between members that hold in the view."""
    members = await reader.locate(community.members)
    chief = members.keep(np.sort(np.lexsort((members.keys, -members.importance))[:MEMBERS]))
    rows = (await reader.expand(chief.keys, FAN_OUT)).rows
    among = np.unique(rows.relations[KeyIndex(chief.keys).of(rows.far) != NONE])
    subgraph = await with_relations(Subgraph.none(among), among, reader)
    return await best_triplets(scored_by_hops(subgraph, question, reader), question.request.limit, reader)

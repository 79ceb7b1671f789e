"""GRAPH_COMPLETION: named entities, what surrounds them, and matching facts, ranked by the meaning of the question."""

from __future__ import annotations

import attrs

from graphsearch._support.concurrency import both
from graphsearch.access.reader import Reader
from graphsearch.columns import Hits, Subgraph
from graphsearch.model import ElementKind, Vector
from graphsearch.modes.findings import Findings, Reliability, findings, proximity_of_seeds
from graphsearch.modes.mode import Answer, Part, Question
from graphsearch.modes.question import (
    anchors,
    certain,
    described_by,
    located,
    nothing_asked,
    scored_by_relevance,
    subjects,
    understood,
    why_nothing,
)
from graphsearch.relevance.candidates import FACTS, Facts, by_facts
from graphsearch.relevance.entity_relevance import Alike, together
from graphsearch.understanding.understood import Understanding


@attrs.frozen
class GraphCompletion:
    """Candidates around named and nearest entities and by facts, scored by relevance.

    A traversal that ranks entities, such as PageRank, scores what it reaches itself.
    """

    @property
    def needs(self) -> frozenset[Part]:
        """An embedder."""
        return frozenset({"embedder"})

    async def prepare(self, question: Question) -> Question:
        """The question with its interpretation."""
        return await understood(question, embedding=True)

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score candidates."""
        meant = question.understanding
        if meant is None or meant.vector is None:  # blank question
            return Answer(findings=await nothing_asked(question, reader))
        walking = _walked(question, meant, meant.vector, reader)
        limit = max(question.request.limit, FACTS)
        walked, facts = await both(walking, by_facts(question.request.query, meant.vector, limit, reader))
        found, left_out = await both(
            _scored(question, meant, walked, facts, reader), reader.left_out(walked.subgraph.seeds())
        )
        return Answer(
            findings=found,
            anchors=anchors(meant),
            subjects=subjects(meant, walked.alike),
            seeds=walked.subgraph.seeds(),
            left_out=left_out,
            nothing=why_nothing(meant),
        )


@attrs.frozen(eq=False)
class _Walked:
    """The subgraph around the entities that a question names, and around those that it describes or is near to."""

    subgraph: Subgraph
    named: Hits
    alike: Alike


async def _walked(question: Question, meant: Understanding, vector: Vector, reader: Reader) -> _Walked:
    request = question.request
    with question.stopwatch.stage("seeds"):
        named, near = await both(located(meant, reader), reader.nearest(ElementKind.ENTITY, vector, request.seeds))
        meant_by_words, alike = await described_by(question, named, reader)
        seeds = together(named, together(near, meant_by_words))
    with question.stopwatch.stage("traversal"):
        subgraph = await question.traversal.traverse(seeds, depth=request.depth, reader=reader)
    return _Walked(subgraph, named, alike)


async def _scored(question: Question, meant: Understanding, walked: _Walked, facts: Facts, reader: Reader) -> Findings:
    subgraph = walked.subgraph
    if subgraph.rank is not None:
        reliability = Reliability.of(subgraph, question.scoring)
        return findings(subgraph, reliability, proximity_of_seeds(subgraph, question.scoring), question.scoring)
    sure = certain(walked.named, meant, reader)
    return await scored_by_relevance(subgraph, sure, facts, meant, question, reader, walked.alike)

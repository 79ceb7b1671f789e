"""GRAPH_COMPLETION: what the question names, what lies near it, and facts that say it, ranked by what it means."""

from __future__ import annotations

import attrs

from graphsearch.finding import nearest
from graphsearch.model import ElementKind
from graphsearch.modes.findings import Reliability, findings, proximity_of_seeds
from graphsearch.modes.mode import Answer, Part, Question
from graphsearch.modes.understanding import (
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
from graphsearch.reading import Reader
from graphsearch.relevance.candidates import FACTS, by_facts
from graphsearch.relevance.entities import together


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
        """The question with what it means."""
        return await understood(question, embedding=True)

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score."""
        meant, request = question.understanding, question.request
        with question.stopwatch.stage("seeds"):
            if meant is None or meant.vector is None:  # nothing was asked
                return Answer(findings=await nothing_asked(question, reader))
            named = await located(meant, reader)
            near = await nearest(ElementKind.ENTITY, meant.vector, request.top_k, reader)
            meant_by_words, alike = await described_by(question, named, reader)
            seeds = together(named, together(near, meant_by_words))
            facts = await by_facts(request.query, meant.vector, max(request.limit, FACTS), reader)
        with question.stopwatch.stage("traversal"):
            subgraph = await question.traversal.traverse(seeds, depth=request.depth, reader=reader)
        if subgraph.rank is not None:
            reliability = Reliability.of(subgraph, question.scoring)
            proximity = proximity_of_seeds(subgraph, question.scoring)
            found = findings(subgraph, reliability, proximity, question.scoring)
        else:
            sure = certain(named, meant, reader)
            found = await scored_by_relevance(subgraph, sure, facts, meant, question, reader, alike)
        return Answer(
            findings=found,
            anchors=anchors(meant),
            subjects=subjects(meant, alike),
            seeds=subgraph.seeds(),
            nothing=why_nothing(meant),
        )

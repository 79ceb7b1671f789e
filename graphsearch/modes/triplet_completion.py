"""TRIPLET_COMPLETION: the question against the sentences of relations, dense and lexical, without a walk."""

from __future__ import annotations

import attrs

from graphsearch.access.reader import Reader
from graphsearch.columns import Subgraph
from graphsearch.modes.mode import Answer, Part, Question
from graphsearch.modes.question import (
    anchors,
    nothing_asked,
    scored_by_relevance,
    subjects,
    understood,
    why_nothing,
)
from graphsearch.relevance.candidates import FACTS, by_facts, with_relations


@attrs.frozen
class TripletCompletion:
    """Relations by their facts: near in meaning or in words, each scored independently.

    Facts are found by meaning only if they were embedded: see `graphsearch.ingest.Ingestor`.
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
        meant, nobody = question.understanding, await reader.locate([])
        if meant is None:
            return Answer(findings=await nothing_asked(question, reader))
        with question.stopwatch.stage("seeds"):
            limit = max(question.request.limit, FACTS)
            facts = await by_facts(question.request.query, meant.vector, limit, reader)
        with question.stopwatch.stage("traversal"):
            subgraph = await with_relations(Subgraph.none(nobody.keys), facts.keys, reader)
        found = await scored_by_relevance(subgraph, nobody.keys, facts, meant, question, reader)
        return Answer(
            findings=found,
            anchors=anchors(meant),
            subjects=subjects(meant),
            seeds=nobody.keys,
            nothing=why_nothing(meant),
        )

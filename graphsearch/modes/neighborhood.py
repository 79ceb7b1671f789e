"""NEIGHBORHOOD: what surrounds the entities that the question names. Needs no model."""

from __future__ import annotations

import attrs

from graphsearch.access.reader import Reader
from graphsearch.columns import Hits, Subgraph
from graphsearch.modes.connections import connected
from graphsearch.modes.findings import Findings, Reliability, findings, proximity_of_hops
from graphsearch.modes.mode import Answer, Part, Question
from graphsearch.modes.question import (
    anchors,
    certain,
    located,
    nothing_asked,
    scored_by_relevance,
    subjects,
    understood,
    why_nothing,
)
from graphsearch.relevance.candidates import Facts


@attrs.frozen
class Neighborhood:
    """Named entities as anchors, then the traversal, then scores by relevance, and connections."""

    @property
    def needs(self) -> frozenset[Part]:
        """Nothing."""
        return frozenset()

    async def prepare(self, question: Question) -> Question:
        """The question with its interpretation."""
        return await understood(question, embedding=False)

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score candidates."""
        meant, depth = question.understanding, question.request.max_hops
        if meant is None:
            return Answer(findings=await nothing_asked(question, reader))
        with question.stopwatch.stage("seeds"):
            named, seeds = anchors(meant), await located(meant, reader)
        with question.stopwatch.stage("traversal"):
            subgraph = await question.traversal.traverse(seeds, depth=depth, reader=reader)
        if subgraph.rank is None and meant.terms:
            sure, facts = certain(seeds, meant, reader), Facts.none(seeds.keys)
            found = await scored_by_relevance(subgraph, sure, facts, meant, question, reader)
        else:
            found = scored_by_hops(subgraph, question, reader)
        with question.stopwatch.stage("connections"):
            joint = connected(subgraph, named, seeds, depth=depth, options=question.scoring, reader=reader)
        nothing = why_nothing(meant) if named else "the question names nothing known"
        return Answer(findings=found, anchors=named, subjects=subjects(meant), connected=joint, nothing=nothing)


async def around(seeds: Hits, depth: int, question: Question, reader: Reader) -> Findings:
    """The subgraph within ``depth`` hops of some seeds, scored by hops."""
    with question.stopwatch.stage("traversal"):
        subgraph = await question.traversal.traverse(seeds, depth=depth, reader=reader)
    with question.stopwatch.stage("scoring"):
        return scored_by_hops(subgraph, question, reader)


def scored_by_hops(subgraph: Subgraph, question: Question, reader: Reader) -> Findings:
    """The relations of a subgraph, scored by hops, or by PageRank if there is one."""
    reliability = Reliability.of(subgraph, question.scoring)
    proximity = proximity_of_hops(subgraph, reliability, question.scoring, reader)
    return findings(subgraph, reliability, proximity, question.scoring)

"""NEIGHBORHOOD: what surrounds the entities that the question names, scored by hops. Needs no model at all."""

from __future__ import annotations

import attrs

from graphsearch.anchoring import find_anchors
from graphsearch.columns import Hits, Subgraph
from graphsearch.modes.connections import connected
from graphsearch.modes.findings import Findings, Reliability, findings, proximity_of_hops
from graphsearch.modes.mode import Answer, Part, Question
from graphsearch.reading import Reader


@attrs.frozen
class Neighborhood:
    """Named entities as anchors, then the traversal, then the score by hops, and what connects them (design 4, 5.1)."""

    @property
    def needs(self) -> frozenset[Part]:
        """Nothing."""
        return frozenset()

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score."""
        depth = question.request.max_hops
        with question.stopwatch.stage("seeds"):
            named = await find_anchors(question.request.query, reader)
            seeds = await reader.locate([anchor.entity_id for anchor in named])
        found = await around(seeds, depth, question, reader)
        with question.stopwatch.stage("connections"):
            joint = connected(found.subgraph, named, seeds, depth=depth, options=question.scoring, reader=reader)
        nothing = "nothing is known around what the question names" if named else "the question names nothing known"
        return Answer(findings=found, anchors=named, connected=joint, nothing=nothing)


async def around(seeds: Hits, depth: int, question: Question, reader: Reader) -> Findings:
    """What lies within ``depth`` hops of some seeds, scored by hops."""
    with question.stopwatch.stage("traversal"):
        subgraph = await question.traversal.traverse(seeds, depth=depth, reader=reader)
    with question.stopwatch.stage("scoring"):
        return scored_by_hops(subgraph, question, reader)


def scored_by_hops(subgraph: Subgraph, question: Question, reader: Reader) -> Findings:
    """The relations of a subgraph, scored by hops, or by PageRank where there is one."""
    reliability = Reliability.of(subgraph, question.scoring)
    proximity = proximity_of_hops(subgraph, reliability, question.scoring, reader)
    return findings(subgraph, reliability, proximity, question.scoring)

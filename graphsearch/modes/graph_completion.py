"""GRAPH_COMPLETION: the entities nearest to the question, what surrounds them, scored by distance."""

from __future__ import annotations

import attrs

from graphsearch.finding import nearest
from graphsearch.model import ElementKind
from graphsearch.modes.findings import Reliability, findings, proximity_of_seeds
from graphsearch.modes.mode import Answer, Part, Question
from graphsearch.reading import Reader


@attrs.frozen
class GraphCompletion:
    """Nearest entities as seeds, then the traversal, then the score by embedding (design 4, 5.1)."""

    @property
    def needs(self) -> frozenset[Part]:
        """An embedder."""
        return frozenset({"embedder"})

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score."""
        with question.stopwatch.stage("seeds"):
            if question.vector is None:  # nothing was asked
                seeds = await reader.locate([])
            else:
                seeds = await nearest(ElementKind.ENTITY, question.vector, question.request.top_k, reader)
        with question.stopwatch.stage("traversal"):
            subgraph = await question.traversal.traverse(seeds, depth=question.request.depth, reader=reader)
        with question.stopwatch.stage("scoring"):
            reliability = Reliability.of(subgraph, question.scoring)
            proximity = proximity_of_seeds(subgraph, question.scoring)
            found = findings(subgraph, reliability, proximity, question.scoring)
        return Answer(findings=found, nothing="nothing is known around what lies near the question")

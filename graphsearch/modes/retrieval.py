"""The modes that call no language model.

* GRAPH_COMPLETION: named and nearest entities, what surrounds them, and matching facts.
* TRIPLET_COMPLETION: the question against the sentences of relations, dense and lexical, without a walk.
* NEIGHBORHOOD: what surrounds the entities that the question names. Needs no model at all.
"""

from __future__ import annotations

from typing import ClassVar

from graphsearch.access.reader import Reader
from graphsearch.modes.mode import Mode, Part, Question
from graphsearch.ranking.triplets.retrieval import Answer, find_around, find_facts


class GraphCompletion(Mode):
    """Candidates around named and nearest entities and by facts, scored by relevance.

    Of a traversal that ranks entities, such as PageRank, the ranks count as well, and nothing else is a candidate.
    """

    needs: ClassVar[frozenset[Part]] = frozenset({"embedder"})

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score candidates."""
        asked = question.request
        return await find_around(
            question.meaning, question.parts, reader, limit=asked.limit, seeds=asked.seeds, depth=asked.depth
        )


class TripletCompletion(Mode):
    """Relations by their facts: near in meaning or in words, each scored independently.

    Facts are found by meaning only if they were embedded: see `graphsearch.ingest.Ingestor`.
    """

    needs: ClassVar[frozenset[Part]] = frozenset({"embedder"})

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score candidates."""
        return await find_facts(question.meaning, question.parts, reader, limit=question.request.limit)


class Neighborhood(Mode):
    """Named entities as anchors, then the traversal, then scores by relevance, and connections."""

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score candidates."""
        asked = question.request
        return await find_around(
            question.meaning, question.parts, reader, limit=asked.limit, seeds=0, depth=asked.max_hops
        )

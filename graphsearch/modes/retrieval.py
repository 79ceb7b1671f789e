"""The modes that call no language model.

* GRAPH_COMPLETION: named and nearest entities, what surrounds them, and matching facts.
* TRIPLET_COMPLETION: the question against the sentences of relations, dense and lexical, without a walk.
* NEIGHBORHOOD: what surrounds the entities that the question names. Needs no model at all.
"""

from __future__ import annotations

import attrs

from graphsearch._support.concurrency import both
from graphsearch.access.reader import Reader
from graphsearch.columns import Hits, Subgraph
from graphsearch.model import ElementKind, Vector
from graphsearch.modes.mode import Answer, Part, Question
from graphsearch.modes.steps import (
    anchors,
    described_by,
    nothing_asked,
    subjects,
    understood,
    why_nothing,
)
from graphsearch.question.interpreting import Understanding
from graphsearch.ranking.triplets.candidates import FACTS, by_facts, with_relations
from graphsearch.ranking.triplets.connections import Connected, connected
from graphsearch.ranking.triplets.entity_relevance import Alike, together
from graphsearch.ranking.triplets.findings import Findings
from graphsearch.ranking.triplets.scoring import Clues, located, score_by_hops, score_by_rank, score_by_relevance


@attrs.frozen
class GraphCompletion:
    """Candidates around named and nearest entities and by facts, scored by relevance.

    Of a traversal that ranks entities, such as PageRank, the ranks count as well, and nothing else is a candidate.
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
        limit = max(question.request.limit, FACTS)
        (subgraph, named, described), facts = await both(
            _walked(question, meant, meant.vector, reader),
            by_facts(question.request.query, meant.vector, limit, reader),
        )
        seeds = subgraph.seeds()
        scoring = _scored(subgraph, Clues(meant=meant, named=named, described=described, facts=facts), question, reader)
        (found, joint), left_out = await both(scoring, reader.left_out(seeds))
        return Answer(
            findings=found,
            anchors=anchors(meant),
            subjects=subjects(meant, described),
            connected=joint,
            seeds=seeds,
            left_out=left_out,
            nothing=why_nothing(meant),
        )


async def _walked(
    question: Question, meant: Understanding, vector: Vector, reader: Reader
) -> tuple[Subgraph, Hits, Alike]:
    """The subgraph around the entities that a question names, describes or is near to; the named; the described."""
    request = question.request
    with question.stopwatch.stage("seeds"):
        named, near = await both(located(meant, reader), reader.nearest(ElementKind.ENTITY, vector, request.seeds))
        meant_by_words, alike = await described_by(question, named, reader)
        seeds = together(named, together(near, meant_by_words))
    with question.stopwatch.stage("traversal"):
        subgraph = await question.traversal.traverse(seeds, depth=request.depth, reader=reader)
    return subgraph, named, alike


async def _scored(
    subgraph: Subgraph, clues: Clues, question: Question, reader: Reader, *, depth: int | None = None
) -> tuple[Findings, Connected]:
    """The relations of a subgraph, scored; and what all names lead to within ``depth`` hops, or the request's."""
    depth = question.request.depth if depth is None else depth
    options, limit, line_terms = question.scoring, question.request.limit, question.line_terms
    with question.stopwatch.stage("scoring"):
        if subgraph.rank is None:
            return await score_by_relevance(
                subgraph, clues, reader, depth=depth, limit=limit, options=options, line_terms=line_terms
            )
        joint = connected(subgraph, anchors(clues.meant), clues.named, depth=depth, options=options, reader=reader)
        return await score_by_rank(subgraph, clues, reader, limit=limit, options=options, line_terms=line_terms), joint


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
        found, _ = await _scored(subgraph, Clues(meant=meant, named=nobody, facts=facts), question, reader, depth=1)
        return Answer(
            findings=found,
            anchors=anchors(meant),
            subjects=subjects(meant),
            seeds=nobody.keys,
            nothing=why_nothing(meant),
        )


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
        clues = Clues(meant=meant, named=seeds)
        if meant.terms or meant.stated >= 0:
            found, joint = await _scored(subgraph, clues, question, reader, depth=depth)
        else:
            with question.stopwatch.stage("scoring"):
                found = score_by_hops(subgraph, question.scoring, reader)
                joint = connected(subgraph, named, seeds, depth=depth, options=question.scoring, reader=reader)
        nothing = why_nothing(meant) if named else "the question names nothing visible"
        return Answer(findings=found, anchors=named, subjects=subjects(meant), connected=joint, nothing=nothing)

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
from graphsearch.modes.connections import Connected, connected
from graphsearch.modes.findings import Findings
from graphsearch.modes.mode import Answer, Part, Question
from graphsearch.modes.steps import (
    anchors,
    described_by,
    located,
    nothing_asked,
    scored_by_rank,
    scored_by_relevance,
    subjects,
    understood,
    why_nothing,
)
from graphsearch.question.interpreting import Understanding
from graphsearch.ranking.triplets.candidates import FACTS, Facts, by_facts, with_relations
from graphsearch.ranking.triplets.entity_relevance import Alike, together


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
        scoring = _scored(subgraph, named, described, facts, meant, question, reader)
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
    subgraph: Subgraph,
    named: Hits,
    described: Alike,
    facts: Facts,
    meant: Understanding,
    question: Question,
    reader: Reader,
) -> tuple[Findings, Connected]:
    depth = question.request.depth
    if subgraph.rank is not None:
        joint = connected(subgraph, anchors(meant), named, depth=depth, options=question.scoring, reader=reader)
        return await scored_by_rank(subgraph, facts, meant, question, reader, described), joint
    return await scored_by_relevance(subgraph, named, facts, meant, question, reader, depth=depth, described=described)


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
        found, _ = await scored_by_relevance(subgraph, nobody, facts, meant, question, reader, depth=1)
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
        if subgraph.rank is None and (meant.terms or meant.stated >= 0):
            none = Facts.none(seeds.keys)
            found, joint = await scored_by_relevance(subgraph, seeds, none, meant, question, reader, depth=depth)
        else:
            found = await scored_by_rank(subgraph, Facts.none(seeds.keys), meant, question, reader)
            joint = connected(subgraph, named, seeds, depth=depth, options=question.scoring, reader=reader)
        nothing = why_nothing(meant) if named else "the question names nothing visible"
        return Answer(findings=found, anchors=named, subjects=subjects(meant), connected=joint, nothing=nothing)

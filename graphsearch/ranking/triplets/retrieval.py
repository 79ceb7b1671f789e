"""Find what answers a question: around the entities that it names, near its meaning, and by the facts of relations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.concurrency import both
from graphsearch.access.reader import Reader
from graphsearch.columns import Hits, Subgraph
from graphsearch.model import ElementKind
from graphsearch.question.question_names import Anchor
from graphsearch.question.understanding import Understanding
from graphsearch.ranking.triplets.connections import NOTHING, Connected
from graphsearch.ranking.triplets.entity_relevance import described, together
from graphsearch.ranking.triplets.parts import Parts
from graphsearch.ranking.triplets.scoring import FACTS, Clues, by_facts, names_alone, score_by_hops, score_relations
from graphsearch.ranking.triplets.triplet_relevance import CERTAIN
from graphsearch.ranking.triplets.triplet_score import Findings, score_triplets

DESCRIBED: Final = 100
"""Entities returned by each search for what a question describes."""


@attrs.frozen(eq=False, kw_only=True)
class Answer:
    """What was found for a question.

    * ``findings``: scored relations. ``anchors``: the entities that the question names, if the search started there.
    * ``connected``: what several names lead to.
    * ``subjects``: the ids of the entities that the question is itself about, best first: those that it describes, or
      those that it names without asking for anything else.
    * ``left_out``: how many relations of the seeds of the subgraph the view left out, by reason; None if they were not
      counted yet.
    * ``nothing``: the reason if no relation was found. It must not distinguish hidden from absent elements.
    """

    findings: Findings
    anchors: tuple[Anchor, ...] = ()
    subjects: tuple[UUID, ...] = ()
    connected: Connected = NOTHING
    left_out: Mapping[str, int] | None = None
    nothing: str = "nothing was found"


async def find_around(
    meaning: Understanding | None, parts: Parts, reader: Reader, *, limit: int, seeds: int, depth: int
) -> Answer:
    """Find relations around the entities that a question names; with its vector also around what it is near to.

    That are the ``seeds`` nearest entities, those that it describes if it names none for certain, and the relations
    whose facts match it. A traversal that ranks entities, such as PageRank, has no candidates but its own.
    """
    if meaning is None:
        return await nothing_asked(parts, reader)
    clues = Clues.of(meaning, reader)
    if meaning.vector is None:
        subgraph, clues = await _walked(clues, parts, reader, seeds=seeds, depth=depth)
    else:
        (subgraph, clues), facts = await both(
            _walked(clues, parts, reader, seeds=seeds, depth=depth),
            by_facts(meaning.question, meaning.vector, max(limit, FACTS), reader),
        )
        clues = attrs.evolve(clues, facts=facts)
    with parts.stopwatch.stage("scoring"):
        (found, joint), left_out = await both(
            score_relations(subgraph, clues, parts, reader, limit=limit, depth=depth),
            reader.left_out(subgraph.seeds()),
        )
    visible = meaning.vector is not None or clues.anchors
    return Answer(
        findings=found,
        anchors=clues.anchors,
        subjects=subjects(clues),
        connected=joint,
        left_out=left_out,
        nothing=why_nothing(meaning) if visible else "the question names nothing visible",
    )


async def find_facts(meaning: Understanding | None, parts: Parts, reader: Reader, *, limit: int) -> Answer:
    """Find relations by their facts alone, near in meaning or in words, without a walk."""
    if meaning is None:
        return await nothing_asked(parts, reader)
    clues = Clues.of(meaning, reader)
    with parts.stopwatch.stage("seeds"):
        facts = await by_facts(meaning.question, meaning.vector, max(limit, FACTS), reader)
    clues = attrs.evolve(clues, facts=facts)
    with parts.stopwatch.stage("scoring"):
        found, _ = await score_relations(Subgraph.none(facts.keys), clues, parts, reader, limit=limit, depth=0)
    return Answer(
        findings=found,
        anchors=clues.anchors,
        subjects=subjects(clues),
        left_out=await reader.left_out(clues.named.keys[:0]),
        nothing=why_nothing(meaning),
    )


async def _walked(clues: Clues, parts: Parts, reader: Reader, *, seeds: int, depth: int) -> tuple[Subgraph, Clues]:
    """The subgraph around the entities that a question names, describes or is near to."""
    meaning, start = clues.meant, clues.named
    with parts.stopwatch.stage("seeds"):
        if meaning.vector is not None:
            near = await reader.nearest(ElementKind.ENTITY, meaning.vector, seeds)
            if not len(clues.certain):
                found = await described(meaning, DESCRIBED, parts.caches.lexicon, reader)
                found = found.keep(np.arange(min(seeds, len(found.ids))))
                clues, start = attrs.evolve(clues, described=found), together(start, near, found.hits)
            else:
                start = together(start, near)
    with parts.stopwatch.stage("traversal"):
        return await parts.traversal.traverse(start, depth=depth, reader=reader), clues


async def find_nearby(seeds: Hits, depth: int, parts: Parts, reader: Reader) -> Findings:
    """The subgraph within ``depth`` hops of some entities, scored by hops."""
    with parts.stopwatch.stage("traversal"):
        subgraph = await parts.traversal.traverse(seeds, depth=depth, reader=reader)
    with parts.stopwatch.stage("scoring"):
        return score_by_hops(subgraph, parts.scoring, reader)


async def nothing_asked(parts: Parts, reader: Reader) -> Answer:
    """The answer to a blank question: no relation."""
    subgraph = Subgraph.none((await reader.locate([])).keys)
    return Answer(findings=score_triplets(subgraph, proximity=np.empty(0), options=parts.scoring))


def subjects(clues: Clues) -> tuple[UUID, ...]:
    """The entities that a question is itself about, best first: described ones, or named ones without further words."""
    if clues.described is not None and clues.described.ids:
        return tuple(clues.described.ids)
    if not names_alone(clues.meant):
        return ()
    return tuple(each.entity_id for each in clues.anchors if each.confidence > CERTAIN)


def why_nothing(meaning: Understanding) -> str:
    """The reason why no relation answers, which does not distinguish hidden from absent elements."""
    if meaning.linked.links:
        names = ", ".join(dict.fromkeys(meaning.question[each.start : each.end] for each in meaning.linked.links))
        return f"nothing visible of {names} answers what is asked"
    if meaning.unknown:
        return f"nothing visible is known of {', '.join(each.text for each in meaning.unknown)}"
    return "nothing visible has to do with the question"

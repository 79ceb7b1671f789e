"""Steps that modes share: interpret a question in a snapshot of its own, locate what it names, and score relations."""

from __future__ import annotations

from itertools import pairwise
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Hits, Keys, Subgraph
from graphsearch.modes.connections import Connected, connected
from graphsearch.modes.findings import Findings, findings, proximity_of_hops
from graphsearch.modes.mode import Question
from graphsearch.question.asked_time import PRESENT, beginning
from graphsearch.question.interpreting import Understanding, read, understand
from graphsearch.question.linking import anchors_of
from graphsearch.question.name_lookup import time_asked
from graphsearch.question.question_names import Anchor
from graphsearch.ranking.triplets.candidates import Facts, of_types, with_relations
from graphsearch.ranking.triplets.entity_relevance import Alike, alike, nobody
from graphsearch.ranking.triplets.entity_relevance import described as described_entities
from graphsearch.ranking.triplets.ranked import ranked
from graphsearch.ranking.triplets.subgraph_scores import Reliability
from graphsearch.ranking.triplets.triplet_relevance import CERTAIN

DESCRIBED: Final = 100
"""Entities returned by each search for what a question describes."""
ASKED_TYPES: Final = 3
"""Number of best relation types of which all relations of a hub are read."""


async def understood(question: Question, *, embedding: bool) -> Question:
    """The question with its interpretation, and at the time it asks about, unless the caller gives one."""
    request = question.request
    if not request.query.strip():
        return question
    time = PRESENT
    if request.since is None:
        time = await time_asked(request.query, request.as_of or question.now, question.reading)
        if request.as_of is not None and not time.history:
            time = PRESENT
    since = beginning(question.now) if time.history else time.since
    at_time = attrs.evolve(request, as_of=time.as_of or request.as_of, since=since or request.since)
    with question.stopwatch.stage("understanding"):
        async with question.open(at_time) as reader:
            profile = await question.profiles.profile(reader, request.gate, request.known_at)
            found = await read(request.query, time, profile, reader)
    with question.stopwatch.stage("embedding"):
        meant = await understand(found, question.phrases if embedding else None)
    return attrs.evolve(question, request=at_time, understanding=meant, vector=meant.vector)


async def located(meant: Understanding, reader: Reader) -> Hits:
    """The entities that a question names and that hold at its time, in order of key.

    All entities that it may name are located, so that those that the gate hides are counted as denied.
    """
    hits, named = await reader.locate(meant.candidates), meant.linked.probabilities
    return hits.keep(np.array([each in named for each in reader.entity_ids(hits.keys)], np.bool_))


def anchors(meant: Understanding) -> tuple[Anchor, ...]:
    """The distinct entities that a question names, in the order in which it names them first."""
    return anchors_of(meant.question, meant.linked.links)


def names_alone(meant: Understanding) -> bool:
    """Whether a question consists of names and numbers only: then it asks for what it names."""
    return meant.stated < 0 and all(term.isdigit() for term in meant.terms)


def subjects(meant: Understanding, described: Alike | None = None) -> tuple[UUID, ...]:
    """The entities that a question is itself about, best first: described ones, or named ones without further words."""
    if described is not None and described.ids:
        return described.ids
    if not names_alone(meant):
        return ()
    return tuple(each.entity_id for each in anchors(meant) if each.confidence > CERTAIN)


async def described_by(question: Question, named: Hits, reader: Reader) -> tuple[Hits, Alike]:
    """The entities that a question describes by words and meaning, if it names none for certain."""
    meant, request = question.understanding, question.request
    if meant is None or meant.vector is None or len(certain(named, meant, reader)):
        return named.keep(np.empty(0, np.intp)), nobody(named.keys)
    found = await described_entities(meant, DESCRIBED, question.lexicon, reader)
    first = alike(found, request.seeds)
    return found.hits.keep(np.arange(len(first.keys))), first


async def scored_by_relevance(
    subgraph: Subgraph,
    named: Hits,
    facts: Facts,
    meant: Understanding,
    question: Question,
    reader: Reader,
    *,
    depth: int,
    described: Alike | None = None,
) -> tuple[Findings, Connected]:
    """The relations of a subgraph, of facts, and of requested types at named hubs, scored by relevance.

    ``described`` are the entities that the question describes if it names none. With them what several names lead to
    within ``depth`` hops: that answers if nothing else does, and names are joined ("what do Ann and Bea share?").
    """
    with question.stopwatch.stage("candidates"):
        types = frozenset(each.type for each in meant.relations(ASKED_TYPES))
        near = await of_types(subgraph, certain(named, meant, reader), types, reader)
        every = await with_relations(near, facts.keys, reader)
    with question.stopwatch.stage("scoring"):
        alike = nobody(every.entities) if described is None else described
        relevant = await ranked(every, facts, meant, alike, question.request.limit, question.line_terms, reader)
        reliability = Reliability.of(every, question.scoring)
        found = findings(every, reliability, relevant.relevance.value, question.scoring)
    with question.stopwatch.stage("connections"):
        joint = connected(every, anchors(meant), named, depth=depth, options=question.scoring, reader=reader)
        answers = np.zeros(len(every.relations), np.bool_) if relevant.foreign else None
        if answers is not None and not relevant.worded and _joined(meant):
            answers[joint.relations()] = True
    return attrs.evolve(found, relevance=relevant.relevance, answers=answers), joint


async def scored_by_rank(
    subgraph: Subgraph,
    facts: Facts,
    meant: Understanding,
    question: Question,
    reader: Reader,
    described: Alike | None = None,
) -> Findings:
    """The relations of a subgraph by hops or PageRank alone, if nothing is asked; else times their relevance."""
    found = scored_by_hops(subgraph, question, reader)
    if subgraph.rank is None or not (meant.terms or meant.stated >= 0):
        return found
    alike = nobody(subgraph.entities) if described is None else described
    relevant = await ranked(subgraph, facts, meant, alike, question.request.limit, question.line_terms, reader)
    proximity = found.proximity * relevant.relevance.value
    answers = np.zeros(len(subgraph.relations), np.bool_) if relevant.foreign else None
    return attrs.evolve(findings(subgraph, found.reliability, proximity, question.scoring), answers=answers)


_JOINING: Final = frozenset({"and", "or", "to", "with"})


def _joined(meant: Understanding) -> bool:
    """Whether a word joins two names of a question."""
    spans = sorted(span for anchor in anchors(meant) for span in anchor.spans)
    between = (meant.question[one[1] : other[0]] for one, other in pairwise(spans))
    return any(not _JOINING.isdisjoint(text.casefold().split()) for text in between)


def certain(hits: Hits, meant: Understanding, reader: Reader) -> Keys:
    """The entities that the question names for certain."""
    named = meant.linked.probabilities
    sure = [named.get(each, 0.0) > CERTAIN for each in reader.entity_ids(hits.keys)]
    keys: Keys = hits.keys[np.array(sure, np.bool_)]
    return keys


async def nothing_asked(question: Question, reader: Reader) -> Findings:
    """The findings of a blank question: no relation."""
    subgraph = Subgraph.none((await reader.locate([])).keys)
    return findings(subgraph, Reliability.of(subgraph, question.scoring), np.empty(0), question.scoring)


def why_nothing(meant: Understanding) -> str:
    """The reason why no relation answers, which does not distinguish hidden from absent elements."""
    if meant.linked.links:
        names = ", ".join(dict.fromkeys(meant.question[each.start : each.end] for each in meant.linked.links))
        return f"nothing visible of {names} answers what is asked"
    if meant.unknown:
        return f"nothing visible is known of {', '.join(each.text for each in meant.unknown)}"
    return "nothing visible has to do with the question"


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

"""Steps that modes share: interpret a question in a snapshot of its own, and find what it describes."""

from __future__ import annotations

from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Hits, Subgraph
from graphsearch.modes.mode import Question
from graphsearch.question.asked_time import PRESENT, beginning
from graphsearch.question.interpreting import Understanding, read, understand
from graphsearch.question.linking import anchors_of
from graphsearch.question.name_lookup import time_asked
from graphsearch.question.question_names import Anchor
from graphsearch.ranking.triplets.entity_relevance import Alike, alike, nobody
from graphsearch.ranking.triplets.entity_relevance import described as described_entities
from graphsearch.ranking.triplets.findings import Findings, findings
from graphsearch.ranking.triplets.scoring import certain, names_alone, score_by_hops
from graphsearch.ranking.triplets.subgraph_scores import Reliability
from graphsearch.ranking.triplets.triplet_relevance import CERTAIN

DESCRIBED: Final = 100
"""Entities returned by each search for what a question describes."""


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


def anchors(meant: Understanding) -> tuple[Anchor, ...]:
    """The distinct entities that a question names, in the order in which it names them first."""
    return anchors_of(meant.question, meant.linked.links)


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
        return score_by_hops(subgraph, question.scoring, reader)

"""Hydration: from the findings of a mode to the result of an engine, with the best read whole or a reason for none.

Triplets of a PageRank are printed with causes before effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import TopologicalSorter
from typing import Final

import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Floats, Rows
from graphsearch.model import Triplet
from graphsearch.modes.histories import order_by_time
from graphsearch.modes.mode import Question
from graphsearch.modes.options import SearchRequest
from graphsearch.modes.result import SearchResult
from graphsearch.question.asked_time import History
from graphsearch.ranking.diversity import diverse_rows
from graphsearch.ranking.triplets.connections import read_connections
from graphsearch.ranking.triplets.findings import Findings, best_triplets
from graphsearch.ranking.triplets.retrieval import Answer
from graphsearch.text.rendering import triplet_line

READ: Final = 4
"""The factor by which more triplets than requested are read, at least `LEAST_READ`, to pick diverse ones."""
LEAST_READ: Final = 50


async def hydrate(answer: Answer, question: Question, reader: Reader) -> SearchResult:
    """Read the best of what was found whole, in the order in which it is shown."""
    request, meant, found = question.request, question.meaning, answer.findings
    with question.parts.stopwatch.stage("hydration"):
        triplets = await _chosen(answer, question, reader)
        order = printed_order(found, triplets, reader)
        connections = await read_connections(answer.connected, found.subgraph, request.limit, request.floor, reader)
        left_out = answer.left_out
        if left_out is None:
            left_out = await reader.left_out(found.subgraph.seeds())
    scores = found.answering
    scored = len(scores)
    return SearchResult(
        query=request.query,
        mode=request.mode,
        triplets=tuple(triplets),
        anchors=answer.anchors,
        connections=connections,
        as_of=reader.view.as_of,
        known_at=reader.view.known_at,
        found=scored,
        below_floor=int(np.count_nonzero(scores < request.floor)),
        denied=reader.denied,
        denied_by=await reader.denied_by(),
        left_out=left_out,
        reason="" if triplets else why_nothing(answer, request, scored),
        timings=question.parts.stopwatch.milliseconds,
        prompt_order=order,
        subjects=answer.subjects if triplets else (),
        interpretation=None if meant is None else meant.interpretation,
    )


async def _chosen(answer: Answer, question: Question, reader: Reader) -> list[Triplet]:
    """The best triplets, in the order of time where a history is asked for.

    With ``diversity`` they are those that repeat the earlier ones least, in the order of the picks.
    """
    request, found, meant = question.request, answer.findings, question.meaning
    history = meant is not None and meant.time.history not in (History.NONE, History.DONE)
    wide = request.limit if not history else max(LEAST_READ, request.limit)
    if request.diversity:
        wide = max(LEAST_READ, READ * request.limit)
    triplets = await best_triplets(found, wide, reader, min_score=request.floor)
    if request.diversity:
        scores, lines = [each.score for each in triplets], [triplet_line(each) for each in triplets]
        rows = diverse_rows(scores, lines, diversity=request.diversity, limit=request.limit)
        triplets = [triplets[row] for row in rows]
    if meant is not None and history:
        triplets = order_by_time(triplets, meant.time, answer.anchors, reader.view.as_of)
    return triplets[: request.limit]


def why_nothing(answer: Answer, request: SearchRequest, scored: int) -> str:
    """The reason why no triplet is shown, which does not distinguish hidden from absent elements."""
    if not request.query.strip():
        return "nothing was asked"
    if scored:
        return f"none of {scored} relations scores {request.floor:g} or more"
    return answer.nothing


def printed_order(found: Findings, triplets: Sequence[Triplet], reader: Reader) -> tuple[int, ...] | None:
    """Indexes of the triplets, causes before effects, if PageRank found them; None to keep the order of scores.

    The order follows from all relations of the subgraph whose type is causal, shown or not.
    """
    graph = found.subgraph
    if graph.rank is None:
        return None
    types = [reader.signatures.types[row] for row in graph.signatures.tolist()]
    causal = np.array([each.causal for each in types], dtype=np.bool_)
    effect_first = np.array([each.effect_first for each in types], dtype=np.bool_)
    causes = np.where(effect_first, graph.target, graph.source)[causal]
    effects = np.where(effect_first, graph.source, graph.target)[causal]
    ranks = topological_ranks(len(graph.entities), causes, effects, graph.confidence[causal])
    row_of = {id_: row for row, id_ in enumerate(reader.entity_ids(graph.entities))}
    ends = [(row_of[triplet.source.id], row_of[triplet.target.id]) for triplet in triplets]
    links = [
        (target, source) if reader.type_of(triplet.relation.type).effect_first else (source, target)
        for triplet, (source, target) in zip(triplets, ends, strict=True)
    ]
    return prompt_order(links, ranks)


Link = tuple[int, int]
"""From a cause to its effect, both rows."""


def topological_ranks(entities: int, causes: Rows, effects: Rows, confidence: Floats) -> list[int]:
    """For each of ``entities`` rows, the length of the longest chain of causes that leads to it; 0 without one.

    Column i is a causal relation from row ``causes[i]`` to row ``effects[i]``. Every cycle is broken at its relation of
    the lowest confidence; of equal ones, at the one from, then to, the later row.
    """
    before: list[list[int]] = [[] for _ in range(entities)]
    for cause, effect in _acyclic(causes, effects, confidence):
        before[effect].append(cause)
    ranks = [0] * entities
    for entity in TopologicalSorter(dict(enumerate(before))).static_order():
        ranks[entity] = max((ranks[cause] + 1 for cause in before[entity]), default=0)
    return ranks


def prompt_order(links: Iterable[Link], ranks: Sequence[int]) -> tuple[int, ...]:
    """The links in order of the topological rank of their source, ties by row, then likewise of their target.

    As indexes into ``links``; rows are by descending PageRank. Links between the same entities keep their order.
    """
    place = [(rank, row) for row, rank in enumerate(ranks)]
    given = list(links)
    return tuple(sorted(range(len(given)), key=lambda index: tuple(place[row] for row in given[index])))


def _acyclic(causes: Rows, effects: Rows, confidence: Floats) -> list[Link]:
    """The most confident links first, each unless it closes a cycle: so a cycle loses its least confident link."""
    surest = sorted(zip((-confidence).tolist(), causes.tolist(), effects.tolist(), strict=True))
    kept: dict[Link, None] = {}
    after: dict[int, list[int]] = {}
    for _, cause, effect in surest:
        if (cause, effect) not in kept and not _leads(effect, cause, after):
            kept[cause, effect] = None
            after.setdefault(cause, []).append(effect)
    return list(kept)


def _leads(start: int, goal: int, after: dict[int, list[int]]) -> bool:
    """Whether one entity can be reached from another, or they are the same."""
    seen, waiting = {start}, [start]
    while waiting and goal not in seen:
        further = [each for each in after.get(waiting.pop(), ()) if each not in seen]
        seen.update(further)
        waiting += further
    return goal in seen

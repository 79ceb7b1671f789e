"""Hydration: from the findings of a mode to the result of an engine, with the best read whole or a reason for none."""

from __future__ import annotations

from typing import Final

import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.model import Triplet
from graphsearch.modes.connections import read_connections
from graphsearch.modes.findings import Findings, best_triplets
from graphsearch.modes.mode import Answer, Question
from graphsearch.modes.options import SearchRequest
from graphsearch.modes.print_order import printed_order
from graphsearch.modes.result import SearchResult
from graphsearch.scoring.similarity import alike_in_terms, maximal_marginal_relevance
from graphsearch.text.rendering import triplet_line

READ: Final = 4
"""The factor by which more triplets than requested are read, at least `LEAST_READ`, to pick diverse ones."""
LEAST_READ: Final = 50


async def shown(answer: Answer, question: Question, reader: Reader) -> SearchResult:
    """The answer to a question, before it is hydrated."""
    request, stopwatch, found = question.request, question.stopwatch, answer.findings
    with stopwatch.stage("hydration"):
        triplets = await _chosen(found, request, reader)
        order = printed_order(found, triplets, reader)
        connections = await read_connections(answer.connected, found.subgraph, request.limit, request.min_score, reader)
        left_out = answer.left_out
        if left_out is None:
            left_out = await reader.left_out(found.subgraph.seeds() if answer.seeds is None else answer.seeds)
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
        below_floor=int(np.count_nonzero(scores < request.min_score)) if request.min_score else 0,
        denied=reader.gatekeeper.denied,
        left_out=left_out,
        reason="" if triplets else why_nothing(answer, request, scored),
        timings=stopwatch.milliseconds,
        prompt_order=order,
        subjects=answer.subjects if triplets else (),
        asked=None if question.understanding is None else question.understanding.asked,
        graph_query=question.graph_query,
    )


async def _chosen(found: Findings, request: SearchRequest, reader: Reader) -> list[Triplet]:
    """The best triplets; with ``diversity`` those that repeat the earlier ones least, in the order of the picks."""
    if not request.diversity:
        return await best_triplets(found, request.limit, reader, min_score=request.min_score)
    wide = max(LEAST_READ, READ * request.limit)
    triplets = await best_triplets(found, wide, reader, min_score=request.min_score)
    picks = maximal_marginal_relevance(
        [triplet.score for triplet in triplets],
        alike_in_terms([triplet_line(triplet) for triplet in triplets]),
        balance=1.0 - request.diversity,
        limit=request.limit,
    )
    return [triplets[pick.row] for pick in picks]


def why_nothing(answer: Answer, request: SearchRequest, scored: int) -> str:
    """The reason why no triplet is shown, which does not distinguish hidden from absent elements."""
    if not request.query.strip():
        return "nothing was asked"
    if scored:
        return f"none of {scored} relations scores {request.min_score:g} or more"
    return answer.nothing

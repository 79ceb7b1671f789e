"""Recall: query the channels, score by text, walk from the hits, fuse both, and read the best memories whole.

    score = (1 − λ) · text + λ · rank · (1 + β · text) / (1 + β)        λ = influence_of(weight of the graph, 1)

The walk starts from the text scores, so words and meaning are fused before the walk; in measurements that beats fusing
one more ranking after it. With λ = 0 only the text counts. The best memories by text keep a share of the first places,
whatever the walk adds.

A search learns from the facts of a scope which words are names. A recall learns it from the memories, which are more:
here every word may be a name, and `graphsearch.ranking.memories.walk` keeps those that are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import attrs
import numpy as np

from graphsearch._support.concurrency import both
from graphsearch._support.timing import Stopwatch
from graphsearch.access.reader import Reader
from graphsearch.columns import Floats, Hits, Keys, Rows
from graphsearch.model import ElementKind, Vector
from graphsearch.question.analysis import Analysis, Intent, analyse, channel_weights
from graphsearch.question.linking import anchors_of, link_names
from graphsearch.question.question_names import Anchor
from graphsearch.ranking.memories.result import SEMANTIC_WEIGHT, RecallRequest, RecallResult, RecallScoring
from graphsearch.ranking.memories.selection import Best, best_memories
from graphsearch.ranking.memories.text import FLOORS, by_passages, by_text
from graphsearch.ranking.memories.walk import LOOKED_AT, Leads, Walked, leads, memories_of, walk
from graphsearch.ranking.scores import RRF_K, Board, best_first, rows_among, standard_scores

UNREACHED: Final = 1e-6
"""The rank of memories that a walk does not reach: among them the text decides."""
KEPT: Final = 20
"""Number of best memories by text that keep their places: those of a result of ten, and as many more to choose from."""
_ROUNDING: Final = 1e-9


async def recall(
    request: RecallRequest, vector: Vector | None, scoring: RecallScoring, reader: Reader, stopwatch: Stopwatch
) -> RecallResult:
    """The memories that answer a question best; ``vector`` is its embedding, if there is an embedder."""
    with stopwatch.stage("searches"):
        searching = _searched(request, vector, scoring, reader)
        anchors, found = await both(named_in(request.query, reader), searching)
    with stopwatch.stage("analysis"):
        analysis = analyse(request.query, as_of=reader.view.as_of, anchors=anchors)
        if request.health is None:
            request = attrs.evolve(request, health=await reader.health())
        weights = weights_of(analysis, request, scoring, dense=vector is not None)
    with stopwatch.stage("text"):
        asked = anchors if weights["graph"] else ()
        board, mentions = await both(
            by_text(found, analysis, weights, scoring, reader), memories_of([each.entity_id for each in asked], reader)
        )
        lead, named = await leads(asked, analysis, mentions, board.first(LOOKED_AT), reader)
    way: Walked | None = None
    if weights["graph"]:
        with stopwatch.stage("graph"):
            way = await walk(named, board.keys, board.total, weights["graph"], scoring, reader)
    with stopwatch.stage("fusion"):
        trust = trusted(way, lead, scoring, reader)
        ranked = with_graph(board, found, way, weights, scoring, trust)
    with stopwatch.stage("hydration"):
        best = await best_memories(ranked, found, way, request, weights, lead, scoring, reader)
    return RecallResult(
        query=request.query,
        memories=best.memories,
        analysis=analysis,
        weights=weights,
        as_of=reader.view.as_of,
        known_at=reader.view.known_at,
        found=len(ranked.keys),
        relevance=best.relevance,
        denied=reader.denied,
        denied_by=await reader.denied_by(),
        health=request.health,
        reason="" if best.memories else _why_nothing(request, len(ranked.keys), best),
        timings=stopwatch.milliseconds,
        rarity=lead.rarity,
        floor=best.floor,
        stating=best.stating,
    )


async def named_in(question: str, reader: Reader) -> tuple[Anchor, ...]:
    """The visible entities that hold and are named in whole or in part, in the order of the question."""
    return anchors_of(question, (await link_names(question, reader)).links)


async def _searched(
    request: RecallRequest, vector: Vector | None, scoring: RecallScoring, reader: Reader
) -> Mapping[str, Hits]:
    """The hits by words and by meaning; scores, higher is better."""
    kind, limit = ElementKind.MEMORY, scoring.candidates
    worded = reader.lexical(kind, request.query, limit if "lexical" in request.channels else 0)
    if vector is None or not _meaning(scoring) or "semantic" not in request.channels:
        return {"lexical": await by_passages(await worded, request.query, scoring.passage, reader)}
    hits, near = await both(worded, reader.nearest(kind, vector, limit))
    hits = await by_passages(hits, request.query, scoring.passage, reader)
    return {"lexical": hits, "semantic": attrs.evolve(near, values=1.0 - near.values / 2.0)}


def _meaning(scoring: RecallScoring) -> float:
    """The weight of meaning next to words."""
    return SEMANTIC_WEIGHT if scoring.semantic_weight is None else scoring.semantic_weight


def weights_of(
    analysis: Analysis, request: RecallRequest, scoring: RecallScoring, *, dense: bool
) -> Mapping[str, float]:
    """The weight of each channel for a question; 0 for those that were not requested."""
    intent = analysis.intent if scoring.by_intent else Intent.WHAT
    health = 1.0 if request.health is None else request.health
    deployment = scoring.deployment if request.workload is None else request.workload.graph_weight
    by_intent = channel_weights(intent, deployment=deployment, health=health)
    every = {
        "lexical": by_intent.lexical,
        "semantic": by_intent.semantic * _meaning(scoring) if dense else 0.0,
        "graph": by_intent.graph,
        "temporal": scoring.temporal_weight if analysis.periods else 0.0,
    }
    return {name: weight if name in request.channels else 0.0 for name, weight in every.items()}


def trusted(way: Walked | None, lead: Leads, scoring: RecallScoring, reader: Reader) -> float:
    """The trust in a walk, in [0, 1]: in full if rare names are enough of the question."""
    if way is None:
        return 0.0
    share = min(1.0, lead.covered(way.rare(reader)) / scoring.anchored)
    return max(scoring.unanchored, share**2)


def influence_of(weight: float, trust: float) -> float:
    """The influence λ of the walk, in [0, 1], for any weight of the graph: above 1 as if it were asked that often."""
    return weight * trust if weight <= 1.0 else 1.0 - (1.0 - trust) ** weight


def with_graph(
    board: Board,
    found: Mapping[str, Hits],
    way: Walked | None,
    weights: Mapping[str, float],
    scoring: RecallScoring,
    trust: float,
) -> Board:
    """The scores with those of the walk; by rankings alone if ``scoring`` fuses by these.

    ``trust``: the weight of the walk, in [0, 1]. Whatever it is, the best by text keep a share of the first places.
    """
    if scoring.fusion != "walk":
        return _by_rankings(board, found, way, weights, scoring)
    if way is None:
        return board
    first = board.first(KEPT)
    first = first[board.of(first) > 0]
    reached = board.add("graph", way.graph.memories, np.zeros(len(way.graph.memories)))
    influence = influence_of(weights["graph"], trust)
    boost = scoring.text_boost / (1.0 + scoring.text_boost)
    ranks = np.full(len(board.keys), UNREACHED)
    ranks[reached] = np.maximum(way.ranks, UNREACHED)
    board.scale(1.0 - influence + influence * boost * ranks)
    board.add("graph", board.keys, influence * (1.0 - boost) * ranks)
    if scoring.text_share > 0:
        kept = rows_among(board.keys, first)
        board.add("place", board.keys, raised(board.total, board.keys, kept, scoring.text_share))
    return board


def _by_rankings(
    board: Board, found: Mapping[str, Hits], way: Walked | None, weights: Mapping[str, float], scoring: RecallScoring
) -> Board:
    """The channels as rankings of equal standing: RRF, with the graph channel graded by its ranks, or z-scores."""
    lists = {name: (hits.keys, hits.values) for name, hits in found.items()}
    if "temporal" in board.parts:
        inside = board.keys[board.parts["temporal"] > 0]
        lists["temporal"] = (inside, np.ones(len(inside)))
    if way is not None:
        order = best_first(way.ranks, way.graph.memories, len(way.ranks))
        order = order[way.ranks[order] > 0]
        lists["graph"] = (way.graph.memories[order], way.ranks[order])
    ranked = Board(np.unique(np.concatenate([keys for keys, _ in lists.values()])))
    for name, (keys, scores) in lists.items():
        if scoring.fusion == "rrf":
            grades = scores if name == "graph" else np.ones(len(keys))
            contributions = grades / (RRF_K + np.arange(1, len(keys) + 1))
        else:
            contributions = standard_scores(scores, len(ranked.keys), FLOORS[name])
        ranked.add(name, keys, weights[name] * contributions)
    ranked.best_is_one()
    return ranked


def raised(scores: Floats, keys: Keys, first: Rows, share: float) -> Floats:
    """The increments of scores after which the i-th of the rows ``first`` is at place ⌈i / ``share``⌉ or better.

    ``share`` in (0, 1]. A raised row gets the mean of the two scores around its place; the others keep their scores and
    their order.
    """
    places = [math.ceil(number / share - _ROUNDING) for number in range(1, len(first) + 1)]
    ranked = best_first(scores, keys, places[-1]).tolist() if places else []
    now = scores.copy()
    for row, place in zip(first.tolist(), places, strict=True):
        if place > len(ranked) or row in ranked[:place]:
            continue
        above = now[ranked[place - 2]] if place > 1 else now[ranked[0]]
        now[row] = (above + now[ranked[place - 1]]) / 2.0
        ranked = [*ranked[: place - 1], row, *(each for each in ranked[place - 1 :] if each != row)]
    added: Floats = now - scores
    return added


def _why_nothing(request: RecallRequest, scored: int, best: Best) -> str:
    if not request.query.strip():
        return "nothing was asked"
    if best.with_text and best.relevance < best.floor:
        return f"nothing relevant: what is found comes to {best.relevance:.2f}, less than {best.floor:g}"
    if best.with_text:
        return f"none of {scored} memories scores {request.min_score:g} or more"
    if scored:
        return f"none of {scored} memories found has a text to show"
    return "no visible memory shares a word, a meaning or an entity with the question"

"""Scores of memories: words and meaning, the time, the conversation around, and where the walk arrives (design 5.2).

    text  = z-scored BM25 + 0.5 · z-scored cosine, then what the turns around give; the best is 1
    score = (1 − λ) · text + λ · rank · (1 + β · text) / (1 + β)        λ = min(1, weight of the graph)

The ranks are those of a walk that starts from the text scores, so both are fused before the walk; measured, that beats
a list more after it (docs/recall.md). With λ = 0 only the text counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

import numpy as np

from graphsearch.columns import Floats, Hits, Keys, Rows
from graphsearch.places import Places
from graphsearch.query.analysis import Analysis
from graphsearch.query.periods import AskedPeriod
from graphsearch.reading import Reader
from graphsearch.recall.board import Board
from graphsearch.recall.conversation import around, beside, together
from graphsearch.recall.graph import Walked
from graphsearch.recall.request import RecallScoring
from graphsearch.scoring.fusion import Channel, reciprocal_rank, z_score

UNREACHED: Final = 1e-6
"""The rank of memories that a walk does not reach: among them the text decides."""
CONVERSED: Final = 100
"""How many of the best memories are looked at with their time and the turns around them."""


async def by_text(
    found: Mapping[str, Hits],
    analysis: Analysis,
    weights: Mapping[str, float],
    scoring: RecallScoring,
    reader: Reader,
) -> Board:
    """The scores of words and meaning, of when it was, and of the conversation around; the best is 1."""
    keys = np.unique(np.concatenate([hits.keys for hits in found.values()]))
    board = Board(keys)
    _add_lists(board, keys, found, weights)
    board.best_is_one()
    if weights["temporal"]:
        best = _first(board, CONVERSED)
        board.add("temporal", best, weights["temporal"] * await _inside(best, analysis.periods, reader))
    best = _first(board, CONVERSED)
    turns = await around(best, reader)
    if len(turns.keys):
        own = board.of(turns.keys) * np.isin(turns.keys, best)
        board.add("conversation", turns.keys, beside(turns, own, scoring))
        board.best_is_one()
        board.add("conversation", turns.keys, together(turns, own, analysis.question, scoring))
    board.best_is_one()
    return board


def with_graph(
    board: Board, found: Mapping[str, Hits], way: Walked | None, weights: Mapping[str, float], scoring: RecallScoring
) -> Board:
    """The scores with those of the walk; by rankings alone where ``scoring`` fuses by these."""
    if scoring.fusion != "walk":
        return _by_rankings(board, found, way, weights, scoring)
    if way is None:
        return board
    board.add("graph", way.graph.memories, np.zeros(len(way.graph.memories)))
    influence = min(1.0, weights["graph"])
    ranks = np.maximum(np.append(way.ranks, 0.0)[Places(way.graph.memories).of(board.keys)], UNREACHED)
    boost = scoring.text_boost / (1.0 + scoring.text_boost)
    board.scale(1.0 - influence + influence * boost * ranks)
    board.add("graph", board.keys, influence * (1.0 - boost) * ranks)
    return board


def _by_rankings(
    board: Board, found: Mapping[str, Hits], way: Walked | None, weights: Mapping[str, float], scoring: RecallScoring
) -> Board:
    """The channels as rankings of equal standing: RRF, where the graph's is graded by its ranks, or z-scores."""
    keys = board.keys if way is None else np.union1d(board.keys, way.graph.memories)
    places = Places(keys)
    channels = {name: _channel(places.of(hits.keys), hits.values, weights[name]) for name, hits in found.items()}
    if "temporal" in board.parts:
        dated = np.flatnonzero(board.parts["temporal"])
        channels["temporal"] = _channel(places.of(board.keys[dated]), np.ones(len(dated)), weights["temporal"])
    if way is not None:
        order = np.argsort(-way.ranks, kind="stable")
        channels["graph"] = _channel(
            places.of(way.graph.memories[order]), way.ranks[order], weights["graph"], graded=scoring.fusion == "rrf"
        )
    fused = reciprocal_rank(channels, k=scoring.rrf_k) if scoring.fusion == "rrf" else z_score(channels)
    ranked = Board(keys)
    for name in channels:
        parts = [(each.key, each.parts[name].contribution) for each in fused if name in each.parts]
        ranked.add(name, keys[[key for key, _ in parts]], np.array([part for _, part in parts]))
    ranked.best_is_one()
    return ranked


def _add_lists(board: Board, keys: Keys, found: Mapping[str, Hits], weights: Mapping[str, float]) -> None:
    """Words and meaning by z-scores."""
    places = Places(keys)
    channels = {name: _channel(places.of(hits.keys), hits.values, weights[name]) for name, hits in found.items()}
    fused = z_score(channels)
    for name in channels:
        parts = [(each.key, each.parts[name].contribution) for each in fused if name in each.parts]
        board.add(name, keys[[key for key, _ in parts]], np.array([part for _, part in parts]))


def _channel(rows: Rows, scores: Floats, weight: float, *, graded: bool = False) -> Channel[int]:
    return Channel(keys=rows.tolist(), scores=scores.tolist(), weight=weight, graded=graded)


def _first(board: Board, count: int) -> Keys:
    """The best memories so far, ties by row."""
    first: Keys = board.keys[np.argsort(-board.total, kind="stable")[:count]]
    return first


async def _inside(keys: Keys, periods: tuple[AskedPeriod, ...], reader: Reader) -> Floats:
    """1 for memories of a time that the question names, else 0."""
    ids = reader.store.memory_ids(keys)
    occurred = {memory.id: memory.occurred_at for memory in await reader.store.get_memories(ids)}
    return np.array([any(_within(occurred[id_], period) for period in periods) for id_ in ids], np.float64)


def _within(moment: datetime | None, period: AskedPeriod) -> bool:
    if moment is None:
        return False
    begun = period.valid_from is None or period.valid_from <= moment
    return begun and (period.valid_to is None or moment < period.valid_to)

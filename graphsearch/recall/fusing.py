"""Scores of memories: words and meaning, time, conversation, and the ranks of the walk.

    text  = z-scored BM25 + 0.5 · z-scored cosine, then the scores of adjacent turns; the best is 1
    score = (1 − λ) · text + λ · rank · (1 + β · text) / (1 + β)        λ = min(1, weight of the graph)

The walk starts from the text scores, so both are fused before the walk; in measurements that beats fusing one more
ranking after it. With λ = 0 only the text counts. The best memories by text keep a share of the first
places, whatever the walk adds.

A turn is hardly understood alone: the answer to a question is next to it, and both are in a session about one subject.
A long turn states its subject itself, and takes less: as in smoothing by Dirichlet's prior, where the context of a text
counts in inverse proportion to its length.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Floats, Hits, Keys, Rows
from graphsearch.columns.key_index import KeyIndex
from graphsearch.model import Memory
from graphsearch.query.analysis import Analysis
from graphsearch.query.asked_time import AskedPeriod
from graphsearch.recall.answerability import holding, rarity
from graphsearch.recall.graph_channel import Walked
from graphsearch.recall.options import RecallScoring
from graphsearch.recall.scoreboard import Board, best_first, rows_among
from graphsearch.scoring.fusion import Channel, reciprocal_rank, standard_scores, z_score
from graphsearch.text.analyser import terms
from graphsearch.text.bm25 import searchable_text

UNREACHED: Final = 1e-6
"""The rank of memories that a walk does not reach: among them the text decides."""
KEPT: Final = 20
"""Number of best memories by text that keep their places: those of a result of ten, and as many more to choose from."""
CONVERSED: Final = 50
"""Number of best memories that are scored by time and adjacent turns."""
_FLOORS: Final[Mapping[str, float | None]] = {"lexical": 0.0, "semantic": None, "temporal": 0.0, "graph": 0.0}
"""The score of a memory that a channel did not find: 0; by meaning, the least found."""


async def by_text(
    found: Mapping[str, Hits],
    analysis: Analysis,
    weights: Mapping[str, float],
    scoring: RecallScoring,
    reader: Reader,
) -> Board:
    """The scores of words and meaning, of time, and of the conversation; the best is 1."""
    board = _of_searches(found, weights)
    if weights["temporal"]:
        best = board.first(CONVERSED)
        board.add("temporal", best, weights["temporal"] * await _inside(best, analysis.periods, reader))
    best = board.first(CONVERSED)
    turns = await around(best, reader)
    if len(turns.keys):
        own = board.of(turns.keys) * np.isin(turns.keys, best)
        board.add("conversation", turns.keys, beside(turns, own, scoring))
        board.best_is_one()
        board.add("conversation", turns.keys, together(turns, own, analysis.question, scoring))
    board.best_is_one()
    return board


def with_graph(
    board: Board,
    found: Mapping[str, Hits],
    way: Walked | None,
    weights: Mapping[str, float],
    scoring: RecallScoring,
    trust: float = 1.0,
) -> Board:
    """The scores with those of the walk; by rankings alone if ``scoring`` fuses by these.

    ``trust``: the weight of the walk, in [0, 1]. Whatever it is, the best by text keep a share of the first places.
    """
    if scoring.fusion != "walk":
        return _by_rankings(board, found, way, weights, scoring)
    if way is None:
        return board
    reached = board.add("graph", way.graph.memories, np.zeros(len(way.graph.memories)))
    influence = min(1.0, weights["graph"]) * trust
    first = board.first(KEPT)
    first = first[board.of(first) > 0]
    boost = scoring.text_boost / (1.0 + scoring.text_boost)
    ranks = np.full(len(board.keys), UNREACHED)
    ranks[reached] = np.maximum(way.ranks, UNREACHED)
    board.scale(1.0 - influence + influence * boost * ranks)
    board.add_to_all("graph", influence * (1.0 - boost) * ranks)
    if scoring.text_share > 0:
        kept = rows_among(board.keys, first)
        board.add_to_all("place", raised(board.total, board.keys, kept, scoring.text_share))
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
        lists["graph"] = way.ranking()
    places = KeyIndex(np.unique(np.concatenate([keys for keys, _ in lists.values()])))
    channels = {
        name: Channel(
            keys=places.of(keys).tolist(),
            scores=scores.tolist(),
            weight=weights[name],
            floor=_FLOORS[name],
            graded=name == "graph" and scoring.fusion == "rrf",
        )
        for name, (keys, scores) in lists.items()
    }
    fused = reciprocal_rank(channels, rrf_k=scoring.rrf_k) if scoring.fusion == "rrf" else z_score(channels)
    ranked = Board(places.keys)
    for name in channels:
        parts = {each.key: each.parts[name].contribution for each in fused if name in each.parts}
        ranked.add(name, places.keys[list(parts)], np.array(list(parts.values())))
    ranked.best_is_one()
    return ranked


def _of_searches(found: Mapping[str, Hits], weights: Mapping[str, float]) -> Board:
    """Words and meaning by z-scores over all that either found; the best is 1."""
    keys = np.unique(np.concatenate([hits.keys for hits in found.values()]))
    board = Board(keys)
    for name, hits in found.items():
        board.add(name, hits.keys, weights[name] * standard_scores(hits.values, len(keys), _FLOORS[name]))
    if not board.total.any():  # all equal, for instance a single one
        for name, hits in found.items():
            board.add(name, hits.keys, np.full(len(hits), weights[name]))
    board.best_is_one()
    return board


async def _inside(keys: Keys, periods: tuple[AskedPeriod, ...], reader: Reader) -> Floats:
    """1 for memories of a time that the question names, else 0."""
    occurred = [memory.occurred_at for memory in await reader.memories(keys)]
    return np.array([any(_within(moment, period) for period in periods) for moment in occurred], np.float64)


def _within(moment: datetime | None, period: AskedPeriod) -> bool:
    if moment is None:
        return False
    begun = period.valid_from is None or period.valid_from <= moment
    return begun and (period.valid_to is None or moment < period.valid_to)


_ROUNDING = 1e-9


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


_PLAIN: Final = re.compile(r"\w+")


@attrs.frozen(eq=False, kw_only=True)
class Conversation:
    """Turns, and the rows of those before and after each, `NONE` if not found."""

    keys: Keys
    before: Rows
    after: Rows
    memories: Sequence[Memory]


async def around(keys: Keys, reader: Reader) -> Conversation:
    """The memories that have others next to them in their session, with up to two turns before and after each."""
    first = await reader.turns(keys)
    places = KeyIndex(np.unique(np.concatenate((first.near, first.far))))
    second = await reader.turns(np.setdiff1d(places.keys, first.near))
    near, far = np.concatenate((first.near, second.near)), np.concatenate((first.far, second.far))
    later = np.concatenate((first.later, second.later))
    places.number(far)
    before, after = (np.full(len(places), NONE, np.intp) for _ in range(2))
    one, other = places.of(near), places.of(far)
    for earlier, following in ((other[~later], one[~later]), (one[later], other[later])):
        before[following], after[earlier] = earlier, following
    return Conversation(keys=places.keys, before=before, after=after, memories=await reader.memories(places.keys))


def beside(turn: Conversation, scores: Floats, scoring: RecallScoring) -> Floats:
    """The scores that turns take from those around them; ``scores`` are 0 for turns only read as neighbours."""
    before, after = _take(scores, turn.before), _take(scores, turn.after)
    asks = np.array([memory.text.rstrip().endswith("?") for memory in turn.memories], np.bool_)
    asked = np.append(asks, False)[turn.before]
    taken = np.where(asked, scoring.answer, scoring.neighbour) * before + scoring.neighbour * after
    taken += scoring.second_neighbour * (_take(before, turn.before) + _take(after, turn.after))
    words = np.array([len(memory.text.split()) for memory in turn.memories], np.float64)
    short: Floats = np.minimum(1.0, scoring.context_words / words.clip(1.0))
    return short * taken


def together(turn: Conversation, scores: Floats, query: str, scoring: RecallScoring) -> Floats:
    """The scores that turns take from their session as a whole, and for the one speaker that a question names."""
    there, number = np.unique([memory.session_id for memory in turn.memories], return_inverse=True)
    covered = _coverage(turn, np.flatnonzero(scores), query, number, len(there))
    said = _said_by(query, [memory.speaker for memory in turn.memories])
    return scoring.session * covered[number] + scoring.speaker * said


def _coverage(turn: Conversation, found: Rows, query: str, session: Rows, sessions: int) -> Floats:
    """The share of the question that the found turns of each session cover together, by idf; the best is 1."""
    holds = holding(set(terms(query)), [_words(searchable_text(turn.memories[row])) for row in found.tolist()])
    held = np.zeros((sessions, holds.shape[1]), np.bool_)
    np.logical_or.at(held, session[found], holds)
    covered: Floats = held @ rarity(holds)
    best = covered.max(initial=0.0)
    return covered / best if best > 0 else covered


def _words(text: str) -> set[str]:
    """The terms of a text; of plain ASCII its words, which are several times faster and as good here."""
    return set(_PLAIN.findall(text.lower())) if text.isascii() else set(terms(text))


def _take(values: Floats, rows: Rows) -> Floats:
    """Values by row, 0 where there is none."""
    return np.append(values, 0.0)[rows]


def _said_by(query: str, speakers: Sequence[str]) -> Floats:
    """1 for turns of the speaker that the question names, if it names exactly one of them."""
    asked = set(terms(query))
    words = {speaker: set(terms(speaker)) for speaker in dict.fromkeys(speakers)}
    named = {speaker for speaker, said in words.items() if said and not said.isdisjoint(asked)}
    return np.array([len(named) == 1 and speaker in named for speaker in speakers], np.float64)

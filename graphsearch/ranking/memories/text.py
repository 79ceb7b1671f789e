"""Scores of memories by their text: words and meaning, passages, time, and conversation.

    text = z-scored BM25 + 0.5 · z-scored cosine, then the scores of adjacent turns; the best is 1

A long text contains words of any question, scattered. Where they are close together it is about them: so a part of a
long memory's BM25 counts only by the share of its matching words that one passage contains (Kaszkiel and Zobel,
*Effective Ranking with Arbitrary Passages*, 2001).

A turn is hardly understood alone: the answer to a question is next to it, and both are in a session about one subject.
A long turn states its subject itself, and takes less: as in smoothing by Dirichlet's prior, where the context of a text
counts in inverse proportion to its length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Floats, Hits, Keys, Mask, Rows, Turns
from graphsearch.columns.key_index import KeyIndex
from graphsearch.model import Memory
from graphsearch.question.analysis import Analysis
from graphsearch.question.asked_time import AskedPeriod
from graphsearch.ranking.memories.result import RecallScoring
from graphsearch.ranking.scores import Board, compared, standard_scores
from graphsearch.text.analyser import terms
from graphsearch.text.bm25 import searchable_text

Terms = Callable[[str], Iterable[str]]
Place = tuple[int, str]
"""An occurrence of a term of the question in a text: its first character, and the term."""

LENGTH: Final = 480
"""Characters of a passage, of 60 to 80 words. 350 to 700 are as good."""
LOOKED_AT: Final = 20
"""Number of best memories by words that are examined: 50 are no better, and cost more than twice the time."""
LONGEST: Final = 20_000
"""Most characters of a memory that are examined."""
_KEPT: Final = 3
"""Least letters of the common prefix of all forms of a term: of a longer one all but its last, which may differ."""
CONVERSED: Final = 50
"""Number of best memories that are scored by time and adjacent turns."""
_PLAIN: Final = re.compile(r"\w+")
FLOORS: Final[Mapping[str, float | None]] = {"lexical": 0.0, "semantic": None, "temporal": 0.0, "graph": 0.0}
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
    turn = await _around(best, reader)
    if len(turn.keys):
        own = board.of(turn.keys) * np.isin(turn.keys, best)
        board.add("conversation", turn.keys, _from_neighbours(turn, own, scoring))
        board.best_is_one()
        board.add("conversation", turn.keys, _together(turn, own, analysis.question, scoring))
    board.best_is_one()
    return board


def _of_searches(found: Mapping[str, Hits], weights: Mapping[str, float]) -> Board:
    """Words and meaning by z-scores over all that either found; the best is 1."""
    board = Board(np.unique(np.concatenate([hits.keys for hits in found.values()])))
    for name, hits in found.items():
        board.add(name, hits.keys, weights[name] * standard_scores(hits.values, len(board.keys), FLOORS[name]))
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


@attrs.frozen(eq=False, kw_only=True)
class _Conversation:
    """Turns, and the rows of those before and after each, `NONE` if not found."""

    keys: Keys
    before: Rows
    after: Rows
    memories: Sequence[Memory]


async def _around(keys: Keys, reader: Reader) -> _Conversation:
    """The memories that have others next to them in their session, with up to two turns before and after each."""
    first = await reader.turns(keys)
    places = KeyIndex(np.unique(np.concatenate((first.near, first.far))))
    second = await reader.turns(np.setdiff1d(places.keys, first.near))
    turns = Turns.concatenate([first, second])
    places.number(turns.far)
    near, far = places.of(turns.near), places.of(turns.far)
    before, after = (np.full(len(places), NONE, np.intp) for _ in range(2))
    for earlier, following, rows in ((far, near, ~turns.later), (near, far, turns.later)):
        before[following[rows]], after[earlier[rows]] = earlier[rows], following[rows]
    return _Conversation(keys=places.keys, before=before, after=after, memories=await reader.memories(places.keys))


def _from_neighbours(turn: _Conversation, scores: Floats, scoring: RecallScoring) -> Floats:
    """The scores that turns take from those around them; ``scores`` are 0 for turns only read as neighbours."""
    before, after = _take(scores, turn.before), _take(scores, turn.after)
    asks = np.zeros(len(scores) + 1, np.bool_)
    for row in np.flatnonzero(scores).tolist():  # others give nothing, whatever they ask
        asks[row] = turn.memories[row].text.rstrip().endswith("?")
    taken = np.where(asks[turn.before], scoring.answer, scoring.neighbour) * before + scoring.neighbour * after
    taken += scoring.second_neighbour * (_take(before, turn.before) + _take(after, turn.after))
    words = np.array([len(memory.text.split()) for memory in turn.memories], np.float64)
    short: Floats = np.minimum(1.0, scoring.context_words / words.clip(1.0))
    return short * taken


def _take(values: Floats, rows: Rows) -> Floats:
    """Values by row, 0 where there is none."""
    return np.append(values, 0.0)[rows]


def _together(turn: _Conversation, scores: Floats, query: str, scoring: RecallScoring) -> Floats:
    """The scores that turns take from their session as a whole, and for the one speaker that a question names.

    A session's is the share of the question that its found turns cover together, by idf; the best is 1.
    """
    wanted, (found,) = frozenset(terms(query)), scores.nonzero()
    sessions = dict[str, int]()
    session = np.array([sessions.setdefault(memory.session_id, len(sessions)) for memory in turn.memories], np.intp)
    holds = _holding(wanted, [_terms_in(searchable_text(turn.memories[row]), wanted) for row in found.tolist()])
    held = np.zeros((len(sessions), holds.shape[1]), np.bool_)
    np.logical_or.at(held, session[found], holds)
    covered = held @ _rarity(holds)
    speakers = [memory.speaker for memory in turn.memories]
    named = {speaker for speaker in dict.fromkeys(speakers) if not wanted.isdisjoint(terms(speaker))}
    spoken = np.array([len(named) == 1 and speaker in named for speaker in speakers], np.float64)
    best = covered.max(initial=0.0) or 1.0
    return scoring.session * covered[session] / best + scoring.speaker * spoken


def _terms_in(text: str, wanted: frozenset[str]) -> frozenset[str]:
    """The wanted terms of a text; of plain ASCII its words, which are several times faster and as good here."""
    if not text.isascii():
        return wanted.intersection(terms(text))
    text = text.lower()
    near = [term for term in wanted if term in text]  # most of a question is in no turn
    return wanted.intersection(_PLAIN.findall(text)) if near else frozenset()


async def by_passages(hits: Hits, question: str, share: float, reader: Reader) -> Hits:
    """The hits of words, with ``share`` of the scores of the best weighted by their best passage; best first."""
    if not share or not len(hits):
        return hits
    texts = [memory.text for memory in await reader.memories(hits.keys[:LOOKED_AT])]
    values = hits.values.copy()
    values[: len(texts)] *= 1.0 - share + share * np.array(passage_shares(texts, question, reader.analyser.terms))
    return attrs.evolve(hits, values=values).keep(np.lexsort((hits.keys, -compared(values))))


def passage_shares(texts: Sequence[str], question: str, terms: Terms) -> list[float]:
    """For each text, the share of its matching terms that its best passage contains, in (0, 1].

    Terms are weighted by rarity among the texts. 1 for a text that is no longer than a passage, or has no match.
    """
    if all(len(text) <= LENGTH for text in texts):
        return [1.0] * len(texts)
    wanted = frozenset(terms(question))
    find = _finder(wanted, terms)
    places = [find(text[:LONGEST].lower()) for text in texts]
    rare = _rarity(_holding(wanted, [{term for _, term in found} for found in places])).tolist()
    weights = dict(zip(sorted(wanted), rare, strict=True))
    return [
        best_passage(found, weights) if found and len(text) > LENGTH else 1.0
        for text, found in zip(texts, places, strict=True)
    ]


def best_passage(places: Sequence[Place], weights: Mapping[str, float]) -> float:
    """The greatest share of a text's matches, at sorted ``places``, within `LENGTH` characters."""
    held: Counter[str] = Counter()
    best = now = 0.0
    first = 0
    for start, term in places:
        now += 0.0 if held[term] else weights[term]
        held[term] += 1
        while places[first][0] <= start - LENGTH:
            passed = places[first][1]
            held[passed] -= 1
            now -= 0.0 if held[passed] else weights[passed]
            first += 1
        best = max(best, now)
    return min(1.0, best / sum(weights[term] for term in sorted(held)))


def _finder(wanted: frozenset[str], terms: Terms) -> Callable[[str], list[Place]]:
    """A pattern that finds the given terms in a lower-case text, by the prefix of their words.

    This is several times faster than to compute all of its terms. In scripts without spaces it finds none.
    """
    begins = sorted({re.escape(term[: max(_KEPT, len(term) - 1)]) for term in wanted}, reverse=True)
    word = re.compile(rf"(?:{'|'.join(begins)})\w*")
    terms_of = cache(lambda written: [term for term in terms(written) if term in wanted])

    def find(text: str) -> list[Place]:
        words = (each for each in word.finditer(text) if not text[max(0, each.start() - 1) : each.start()].isalnum())
        return list(chain.from_iterable(((each.start(), term) for term in terms_of(each[0])) for each in words))

    return find


def _holding(question: AbstractSet[str], texts: Sequence[AbstractSet[str]]) -> Mask:
    """Which texts have which terms of a question, of shape (texts, terms in order)."""
    ordered = sorted(question)
    return np.array([[term in each for term in ordered] for each in texts], np.bool_).reshape(len(texts), len(ordered))


def _rarity(holds: Mask) -> Floats:
    """The idf of each term among n texts of which m have it: ln(1 + (n − m + 0.5) / (m + 0.5)), above 0."""
    count = holds.sum(axis=0)
    rare: Floats = np.log1p((len(holds) - count + 0.5) / (count + 0.5))
    return rare

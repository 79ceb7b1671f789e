"""Adjacent turns: the scores that turns of a conversation take from those around them.

A turn is hardly understood alone: the answer to a question is next to it, and both are in a session about one subject.
A long turn states its subject itself, and takes less: as in smoothing by Dirichlet's prior, where the context of a text
counts in inverse proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.access.searches import turns
from graphsearch.columns import NONE, Floats, Keys, Rows
from graphsearch.columns.key_index import Places
from graphsearch.model import Memory
from graphsearch.recall.answerability import holding, rarity
from graphsearch.recall.options import RecallScoring
from graphsearch.text.bm25 import searchable_text
from graphsearch.text.terms import terms

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
    first = await turns(keys, reader)
    places = Places(np.unique(np.concatenate((first.near, first.far))))
    second = await turns(np.setdiff1d(places.keys, first.near), reader)
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

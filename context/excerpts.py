"""Excerpts of long memories: the sentences that answer a question, so that more memories fit. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs

REPEATED: Final = 0.3
"""The weight of a term that an earlier chosen sentence holds, relative to a new one."""
ADJACENT: Final = 0.02
"""The weight of being adjacent to a chosen sentence, as a share of the rarest term's: a tie-breaker."""
FIRST: Final = 0.01
"""The weight of being the first sentence, which introduces the topic; also as a share of the rarest term's."""
CUT: Final = "…"
_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*\s+|\s*\n+\s*")
_CHARACTERS: Final = 8
"""The least characters of a word with its space, so that scripts without spaces have a size."""

Terms = Callable[[str], Sequence[str]]


def size(text: str) -> int:
    """Words of a text; an eighth of its characters if it has no spaces or very long words."""
    return max(len(text.split()), len(text) // _CHARACTERS)


@attrs.frozen(eq=False)
class _Sentence:
    text: str
    size: int
    held: frozenset[str]


def excerpt(text: str, weights: Mapping[str, float], terms: Terms, words: int) -> str:
    """Shorten a text to at most about ``words`` words: the sentences that hold most of the question, in their order.

    Other sentences are included if they are adjacent to one that holds some of it, or begin the text; if none holds
    any, all sentences are eligible. ``weights`` are the weights of the question's terms, as made by ``terms``. An
    omission is marked by "…". A text that is short enough is returned unchanged.
    """
    if size(text) <= words:
        return text
    sentences = [_Sentence(each, size(each), frozenset(terms(each)) & weights.keys()) for each in _split(text, words)]
    taken = _chosen(sentences, weights, words)
    parts = [sentences[row].text if row == 0 or row - 1 in taken else f"{CUT} {sentences[row].text}" for row in taken]
    return " ".join([*parts, CUT] if taken[-1] != len(sentences) - 1 else parts)


def _split(text: str, words: int) -> list[str]:
    """The sentences of a text; those longer than ``words`` are cut into pieces of that many."""
    pieces: list[str] = []
    for sentence in filter(None, map(str.strip, _SENTENCE.split(text))):
        pieces += _pieces(sentence, words) if size(sentence) > words else [sentence]
    return pieces


def _pieces(sentence: str, words: int) -> list[str]:
    parts = sentence.split()
    if size(sentence) > len(parts):  # hardly any spaces
        length = words * _CHARACTERS
        return [sentence[start : start + length] for start in range(0, len(sentence), length)]
    return [" ".join(parts[start : start + words]) for start in range(0, len(parts), words)]


def _chosen(sentences: Sequence[_Sentence], weights: Mapping[str, float], words: int) -> list[int]:
    """Choose greedily the rows of the sentences that add most of the question, as long as they fit."""
    rarest = max(weights.values(), default=1.0)
    taken: set[int] = set()
    known: set[str] = set()
    left = words
    open_ = _worth_showing(sentences)
    while True:
        gains = {
            row: _gain(each, known, weights)
            + rarest * (ADJACENT * bool({row - 1, row + 1} & taken) + FIRST * (row == 0))
            for row, each in enumerate(sentences)
            if row not in taken and row in open_ and each.size <= left
        }
        if not gains:
            return sorted(taken)
        best = max(gains, key=lambda row: (gains[row], -row))
        taken.add(best)
        known |= sentences[best].held
        left -= sentences[best].size


def _worth_showing(sentences: Sequence[_Sentence]) -> set[int]:
    """The rows of the sentences that hold some of the question, their neighbours, and the first; if none does, all."""
    around = {row + step for row, each in enumerate(sentences) if each.held for step in (-1, 0, 1)}
    return around | {0} if around else set(range(len(sentences)))


def _gain(sentence: _Sentence, known: set[str], weights: Mapping[str, float]) -> float:
    return sum(weights[term] * (REPEATED if term in known else 1.0) for term in sorted(sentence.held))

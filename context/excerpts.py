"""What of a long memory answers a question: whole sentences of it, so that more memories have room. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs

AGAIN: Final = 0.3
"""What a term of the question counts for once another sentence holds it: less, and still more than no term."""
BESIDE: Final = 0.02
"""What a sentence counts for standing beside one that was taken, in shares of the rarest term: it breaks ties."""
FIRST: Final = 0.01
"""And for being the first, which tells what the text is about."""
CUT: Final = "…"
_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*\s+|\s*\n+\s*")
_CHARACTERS: Final = 8
"""A word and its space, in scripts that write spaces, and some more: so that one that writes none has a size."""

Terms = Callable[[str], Sequence[str]]


def size(text: str) -> int:
    """Words of a text; where it writes no spaces, or has very long words, an eighth of its characters."""
    return max(len(text.split()), len(text) // _CHARACTERS)


@attrs.frozen(eq=False)
class _Sentence:
    text: str
    size: int
    held: frozenset[str]


def excerpt(text: str, weights: Mapping[str, float], terms: Terms, words: int) -> str:
    """At most about ``words`` words of a text: the sentences that hold most of a question, in their order.

    Others have room where they stand beside one that holds some of it, or begin the text; all have where none holds
    any. ``weights``: how telling each term of the question is, made by ``terms``. Where something is left out stands
    "…". A text that is short enough is returned as it is.
    """
    if size(text) <= words:
        return text
    sentences = [_Sentence(each, size(each), frozenset(terms(each)) & weights.keys()) for each in _split(text, words)]
    taken = _chosen(sentences, weights, words)
    parts = [sentences[row].text if row == 0 or row - 1 in taken else f"{CUT} {sentences[row].text}" for row in taken]
    return " ".join([*parts, CUT] if taken[-1] != len(sentences) - 1 else parts)


def _split(text: str, words: int) -> list[str]:
    """The sentences of a text; of one that is longer than ``words``, pieces of so many."""
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
    """The rows of the sentences that add most of the question, one after the other, as long as there is room."""
    rarest = max(weights.values(), default=1.0)
    taken: set[int] = set()
    known: set[str] = set()
    left = words
    open_ = _worth_showing(sentences)
    while True:
        gains = {
            row: _gain(each, known, weights) + rarest * (BESIDE * bool({row - 1, row + 1} & taken) + FIRST * (row == 0))
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
    """The rows of the sentences that hold some of the question, of those beside them, and the first; else all."""
    around = {row + step for row, each in enumerate(sentences) if each.held for step in (-1, 0, 1)}
    return around | {0} if around else set(range(len(sentences)))


def _gain(sentence: _Sentence, known: set[str], weights: Mapping[str, float]) -> float:
    return sum(weights[term] * (AGAIN if term in known else 1.0) for term in sorted(sentence.held))

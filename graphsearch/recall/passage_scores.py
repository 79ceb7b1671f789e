"""Scores of long memories by their best passage as well as by the whole text.

A long text contains words of any question, scattered. Where they are close together it is about them: so a part of a
long memory's BM25 counts only by the share of its matching words that one passage contains (Kaszkiel and Zobel,
*Effective Ranking with Arbitrary Passages*, 2001).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Hits
from graphsearch.recall.answerability import holding, rarity
from graphsearch.recall.scoreboard import compared

LENGTH: Final = 480
"""Characters of a passage, of 60 to 80 words. 350 to 700 are as good."""
LOOKED_AT: Final = 20
"""Number of best memories by words that are examined: 50 are no better, and cost more than twice the time."""
LONGEST: Final = 20_000
"""Most characters of a memory that are examined."""
_KEPT: Final = 3
"""Least letters of the common prefix of all forms of a term: of a longer one all but its last, which may differ."""

Terms = Callable[[str], Iterable[str]]
Place = tuple[int, str]
"""The occurrences of terms of the question in a text, in characters."""


async def by_passages(hits: Hits, question: str, share: float, reader: Reader) -> Hits:
    """The hits of words, with ``share`` of the scores of the best weighted by their best passage; best first."""
    if not share or not len(hits):
        return hits
    texts = [memory.text for memory in await reader.memories(hits.keys[:LOOKED_AT])]
    values = hits.values.copy()
    values[: len(texts)] *= 1.0 - share + share * np.array(together(texts, question, reader.analyser.terms))
    return attrs.evolve(hits, values=values).keep(np.lexsort((hits.keys, -compared(values))))


def together(texts: Sequence[str], question: str, terms: Terms) -> list[float]:
    """For each text, the share of its matching terms that its best passage contains, in (0, 1].

    Terms are weighted by rarity among the texts. 1 for a text that is no longer than a passage, or has no match.
    """
    if all(len(text) <= LENGTH for text in texts):
        return [1.0] * len(texts)
    asked = frozenset(terms(question))
    find = _finder(asked, terms)
    places = [find(text[:LONGEST].lower()) for text in texts]
    rare = rarity(holding(asked, [{term for _, term in found} for found in places])).tolist()
    weights = dict(zip(sorted(asked), rare, strict=True))
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


def _finder(asked: frozenset[str], terms: Terms) -> Callable[[str], list[Place]]:
    """A pattern that finds the given terms in a lower-case text, by the prefix of their words.

    This is several times faster than to compute all of its terms. In scripts without spaces it finds none.
    """
    begins = sorted({re.escape(term[: max(_KEPT, len(term) - 1)]) for term in asked}, reverse=True)
    word = re.compile(rf"(?:{'|'.join(begins)})\w*")
    terms_of = cache(lambda written: [term for term in terms(written) if term in asked])

    def find(text: str) -> list[Place]:
        words = (each for each in word.finditer(text) if not text[max(0, each.start() - 1) : each.start()].isalnum())
        return list(chain.from_iterable(((each.start(), term) for term in terms_of(each[0])) for each in words))

    return find

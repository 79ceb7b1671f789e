"""What the words of a question ask for: relation types, and a kind of answer.

    affinity = z( z(words of the type, its ends and its facts) + z(meaning of the type) + z(meaning of "kind type kind")
                  + z(mean meaning of its best facts) )

The affinity of a question to each type is computed without the question's names. Each z-score is over the types, so
that different scales add up. Types are few: this costs microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from graphsearch.columns import Floats
from graphsearch.columns.formulas import cosines
from graphsearch.model import Vector
from graphsearch.question.type_profile import TypeProfile
from graphsearch.text.analyser import STOP_WORDS
from graphsearch.text.bm25 import idf

BEST_FACTS: Final = 3
"""Nearest examples of a type whose mean counts: a single one may be near by chance."""


def standardised(values: Floats) -> Floats:
    """Values in standard deviations from their mean, by row; zeros if all of a row are equal."""
    if not values.shape[-1]:
        return values
    apart = values - values.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((apart * apart).mean(axis=-1, keepdims=True))
    scaled: Floats = np.divide(apart, deviation, out=np.zeros_like(apart), where=deviation > 1e-9)  # noqa: PLR2004
    return scaled


def by_words(profile: TypeProfile, terms: Iterable[str]) -> Floats:
    """The BM25 of the types' documents for the terms of a question without its names."""
    scores = np.zeros(len(profile.types))
    for term in dict.fromkeys(terms):
        if term in profile.postings:
            rows, weights = profile.postings[term]
            scores[rows] += weights
    return scores


def worded(profile: TypeProfile, terms: Iterable[str], row: int) -> float:
    """The share of the terms' idf that a type's document contains, in [0, 1].

    A term counts by its weight in the type's document, relative to its greatest weight in any.
    """
    held = whole = 0.0
    for term in dict.fromkeys(terms):
        rows, weights = profile.postings.get(term, (np.empty(0, np.intp), np.empty(0)))
        rarity = idf(len(profile.types), len(rows))
        whole += rarity
        if (at := np.flatnonzero(rows == row)).size:
            held += rarity * float(weights[at[0]] / weights.max())
    return held / whole if whole else 0.0


def by_facts(profile: TypeProfile, vector: Vector) -> Floats:
    """The mean cosine of each type's nearest examples to a question."""
    near = np.append(cosines(profile.vectors, vector), -np.inf)
    best = np.sort(near[profile.example_rows], axis=1)[:, -BEST_FACTS:]
    there = np.isfinite(best)
    return np.asarray(np.where(there, best, 0.0).sum(axis=1) / there.sum(axis=1))


def affinities(
    profile: TypeProfile, terms: Iterable[str], vector: Vector | None, phrases: Vector | None, typed: Vector | None
) -> Floats:
    """The affinity of each type, in standard deviations over all types: 0 on average.

    ``vector`` is the embedding of the question without its names, ``phrases`` and ``typed`` are those of the profile's
    texts, one row per type; without an embedder only words count.
    """
    parts = [by_words(profile, terms)]
    if vector is not None and phrases is not None and typed is not None:
        parts += [cosines(phrases, vector), cosines(typed, vector)]
        if profile.vectors.shape[1] == len(vector):
            parts.append(by_facts(profile, vector))
    return standardised(standardised(np.array(parts, np.float64)).sum(axis=0))


_PRONOUNS: Final[Mapping[str, str]] = {
    "who": "person human individual",
    "whom": "person human individual",
    "whose": "person human individual",
    "where": "place location site",
    "when": "date time",
}
_DETERMINERS: Final = frozenset({"which", "what"})


def asked_kind(words: Sequence[str], is_kind: Callable[[str], bool]) -> str:
    """The kind that the first question word asks for, in words: "which backup vault …" wants a "backup vault".

    ``words`` are the folded words of a question. The noun phrase ends after a word that ``is_kind``: "which inspector
    looks after …" wants an "inspector". Empty if there is none: "what runs there?".
    """
    for place, word in enumerate(words):
        if word in _PRONOUNS:
            return _PRONOUNS[word]
        if word in _DETERMINERS:
            noun = [each for each in words[place + 1 : place + 3] if each not in STOP_WORDS]
            first = words[place + 1 : place + 2]
            if first and first[0] not in STOP_WORDS:
                return first[0] if is_kind(first[0]) else " ".join(noun)
    return ""

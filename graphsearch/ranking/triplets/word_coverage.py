"""The share of a question's words that the words of entities cover.

An entity covers a word by its own form, or else by its word of the nearest meaning: "give up" by "cancel". The weights
of an entity's words are in `graphsearch.question.words`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Rows
from graphsearch.columns.formulas import cosines
from graphsearch.model import Vector
from graphsearch.protocols import Embedder, WordVectors
from graphsearch.question.words import EntityTerms

# -- entities ----------------------------------------------------------------------------------------------------------

SATURATION: Final = 0.6
"""K1 of BM25, lower than for texts: fields are short and weighted, so that the first occurrence counts most."""
ALIKE: Final = 0.2
"""Cosine of two words from which on one replaces the other, with that weight; most pairs of words are below."""


@attrs.frozen(eq=False)
class Held:
    """The terms of some entities: a row for every entity and term, in order of entity, with its weight there.

    ``terms`` are the distinct ones, each in ``forms`` as most of the entities write it.
    """

    terms: tuple[str, ...]
    forms: tuple[str, ...]
    entity: Rows
    term: Rows
    weight: Floats
    entities: int

    def having(self, terms: Sequence[str]) -> tuple[int, list[int]]:
        """The number of entities with any of some terms, and with each of them."""
        place = {term: row for row, term in enumerate(self.terms)}
        rows = [place.get(term, -1) for term in terms]
        counts = np.bincount(self.term, minlength=len(self.terms))
        return len(np.unique(self.entity[np.isin(self.term, rows)])), [
            int(counts[row]) if row >= 0 else 0 for row in rows
        ]


def held(entities: Sequence[EntityTerms]) -> Held:
    """The terms of entities, in one numbering."""
    rows: dict[str, int] = {}
    written: list[Counter[str]] = []
    for each in entities:
        for term, form in each.forms.items():
            if term not in rows:
                rows[term] = len(rows)
                written.append(Counter())
            written[rows[term]][form] += 1
    counts = [len(each.weights) for each in entities]
    return Held(
        terms=tuple(rows),
        forms=tuple(min(each, key=lambda form: (-each[form], form)) for each in written),
        entity=np.repeat(np.arange(len(entities)), counts),
        term=np.array([rows[term] for each in entities for term in each.weights], np.intp),
        weight=np.array([weight for each in entities for weight in each.weights.values()]),
        entities=len(entities),
    )


def shares(held: Held, rarity: Mapping[str, float], likeness: Floats) -> Floats:
    """The share of a question's idf that each entity covers, 1 if it has each word once; ``rarity`` is the idf by term.

    ``likeness`` has the cosine of each term of the question, a row, with each of ``held``; zeros if unknown.
    """
    whole = sum(rarity.values())
    if not whole or not len(held.entity):
        return np.zeros(held.entities)
    credit = np.where(likeness >= ALIKE, likeness, 0.0)
    place = {term: row for row, term in enumerate(held.terms)}
    for row, term in enumerate(rarity):
        if term in place:
            credit[row, place[term]] = 1.0
    saturated = (SATURATION + 1.0) * held.weight / (held.weight + SATURATION)
    starts = np.flatnonzero(np.diff(held.entity, prepend=-1))
    best = np.maximum.reduceat(credit[:, held.term] * saturated, starts, axis=1)
    found = np.zeros(held.entities)
    found[held.entity[starts]] = np.einsum("i,ij->j", np.array(list(rarity.values())), best) / whole
    return found


def likeness(query: Vector, forms: Vector) -> Floats:
    """Cosines of the words of a question, one row each, with others; both normalised, or zeros if unknown."""
    return np.array([cosines(forms, word) for word in query]).reshape(len(query), len(forms))


# -- word vectors ------------------------------------------------------------------------------------------------------

SEMANTIC_WEIGHT: Final = 0.5
"""For embedders that state no weight: right for static embeddings, and safe for better ones."""
KEPT_WORDS: Final = 32_768
"""Most words whose vectors are cached: a scope of code has some ten thousand."""


class Lexicon:
    """The word vectors of an engine's embedder, each looked up once; the words themselves are not kept.

    An embedder without word vectors (`WordVectors`) returns none: then words match only themselves.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder = embedder
        self._words = embedder if isinstance(embedder, WordVectors) else None
        self._rows: dict[int, Vector] = {}

    @property
    def weight(self) -> float:
        """The weight of meaning relative to words: the embedder's ``semantic_weight``, or `SEMANTIC_WEIGHT`."""
        return float(getattr(self.embedder, "semantic_weight", SEMANTIC_WEIGHT))

    def likeness(self, words: Sequence[str], forms: Sequence[str]) -> Floats:
        """The cosines of the words of a question, one row each, with the forms of terms; zeros without word vectors."""
        one, other = self.vectors(words), self.vectors(forms)
        return np.zeros((len(words), len(forms))) if one is None or other is None else likeness(one, other)

    def vectors(self, words: Sequence[str]) -> Vector | None:
        """The vectors of some words, one row each; None without an embedder that has any."""
        if self._words is None or not words:
            return None
        keys = [hash(word) for word in words]
        missing = {key: word for key, word in zip(keys, words, strict=True) if key not in self._rows}
        if missing:
            if len(self._rows) + len(missing) > KEPT_WORDS:
                self._rows.clear()
                missing = dict(zip(keys, words, strict=True))
            made = self._words.word_vectors(list(missing.values()))
            self._rows.update(zip(missing, made, strict=True))
        return np.array([self._rows[key] for key in keys], np.float32)

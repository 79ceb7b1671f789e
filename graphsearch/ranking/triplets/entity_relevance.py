"""The entities that a question describes, by words and meaning, on one scale for every question.

    relevance = share + 2 · weight · cosine + 0.3 · importance + 0.6 · named

``share`` is the share of the question's idf that the entity's words cover (`entity_words`), the
cosine is that of its embedding, and the weight is the embedder's. Both mean the same for every question, so that they
add up as they are: z-scores over candidates, which depend on what else was found, and reciprocal ranks, which lose the
distances, rank no better. Importance separates entities of the same description: public from private ones. Code is
named if its name and its class hold all that the question says: "where is the table rendered?" means Table.render.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import islice
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.concurrency import aside, both
from graphsearch.access.gatekeeper import widest
from graphsearch.access.reader import Reader
from graphsearch.columns import Floats, Hits, Mask, Rows
from graphsearch.columns.formulas import cosines
from graphsearch.columns.key_index import first_rows
from graphsearch.model import ElementKind, Vector
from graphsearch.question.question_names import MAX_TOKENS
from graphsearch.question.relation_words import DEFINES, place_verbs
from graphsearch.question.understanding import Understanding
from graphsearch.ranking.triplets.words import EntityTerms, Held, KeptTerms, Lexicon, read_terms
from graphsearch.text.analyser import Analyser, identifier_words, words
from graphsearch.text.bm25 import idf

MEANING: Final = 2.0
"""Of a cosine, times the embedder's weight."""
IMPORTANCE: Final = 0.3
"""Of the importance weight: at most as much as a few words."""
NAMED: Final = 0.6
"""Of a name of code that says all of the question."""
MOST: Final = 0.5
"""The share of the idf of a name's words from which on a text is about that name."""
ANCHORED_AT_MOST: Final = 0.8
"""The weight of an entity that is certainly described, relative to 1.0 for one that is named."""
SHARPNESS: Final = 3.0
"""Decay of the weight behind the best: exp(SHARPNESS · (relevance − the best))."""
UNRELATED: Final = 1.0
"""The cosine distance of unrelated texts: the vector search returns nothing this far away."""


@attrs.frozen(eq=False, kw_only=True)
class Described:
    """Entities, best first, ties by id, with the parts of their relevance; ``meaning`` is the weighted cosine."""

    hits: Hits
    ids: Sequence[UUID]
    share: Floats
    cosine: Floats
    exact: Floats
    """The share covered by the question's own words."""
    named: Mask
    called: Mask
    """Whether the entity may be what the question names: see `_called`."""
    weight: float

    @property
    def relevance(self) -> Floats:
        """The sum of the parts."""
        return self.share + self.weight * self.cosine + IMPORTANCE * self.hits.importance + NAMED * self.named

    @property
    def sure(self) -> Floats:
        """The probability that each is meant, in [0, 1]: share plus cosine, at most 1."""
        return np.minimum(self.share + self.cosine, 1.0)

    @property
    def anchor(self) -> Floats:
        """The weight of each as an anchor, in [0, `ANCHORED_AT_MOST`]: of the best by its probability, then less."""
        relevance = self.relevance
        return ANCHORED_AT_MOST * self.sure[:1] * np.exp(SHARPNESS * (relevance - relevance[:1]))

    @property
    def covered(self) -> float:
        """The greatest probability by the question's own words: synonyms do not count, since any word has some."""
        exact = np.where(self.called, np.minimum(self.exact + self.cosine, 1.0), 0.0)
        return float(exact.max(initial=0.0))

    def keep(self, rows: Rows) -> Described:
        """Some rows, in this order."""
        columns = {name: getattr(self, name)[rows] for name in ("share", "cosine", "exact", "named", "called")}
        return attrs.evolve(self, hits=self.hits.keep(rows), ids=[self.ids[row] for row in rows.tolist()], **columns)


async def described(
    meant: Understanding, limit: int, lexicon: Lexicon, reader: Reader, also: Sequence[UUID] = ()
) -> Described:
    """The entities that a question describes; each search returns ``limit``.

    Entities in ``also`` are among them, whatever they share with the question. The ``lexicon`` keeps the terms of
    entities that were read, and the vectors of words.
    """
    query, vector, kept = meant.question, meant.vector, lexicon.entities_of(meant.profile)
    hits = await _found(query, vector, limit, also, kept, reader)
    ids = reader.entity_ids(hits.keys)
    forms = dict(islice(forms_of_query(query, reader.analyser).items(), MAX_TOKENS))
    if meant.profile.row_of(DEFINES) >= 0:  # of code
        forms = {term: form for term, form in forms.items() if form not in place_verbs()} or forms
    held = Held.of(await read_terms(hits.keys, kept, reader))
    rarity = await _rarity(held, list(forms), limit, reader)
    exact = share = held.shares(rarity)
    likeness = lexicon.likeness(list(forms.values()), held)
    if likeness is not None:
        share = await aside(lambda: held.shares(rarity, likeness), likeness.size // 1_000)
    cosine = np.zeros(len(ids))
    if vector is not None:
        vectors = await reader.vectors(ElementKind.ENTITY, hits.keys)
        if vectors.shape[1] == len(vector):
            norm = float(np.linalg.norm(vector)) or 1.0
            cosine = np.maximum(cosines(vectors, vector) / norm, 0.0)
    found = Described(
        hits=hits,
        ids=ids,
        share=share,
        cosine=cosine,
        exact=exact,
        named=np.array([bool(forms) and forms.keys() <= each.called for each in held.entities], np.bool_),
        called=_called(meant, held.entities),
        weight=MEANING * lexicon.weight if vector is not None else 0.0,
    )
    wanted = set(also)
    touched = (share > 0) | (cosine > 0) | np.array([id_ in wanted for id_ in ids], np.bool_)
    (rows,) = touched.nonzero()  # in order of id
    return found.keep(rows[np.argsort(-found.relevance[rows], kind="stable")])


def _called(meant: Understanding, entities: Sequence[EntityTerms]) -> Mask:
    """The entities that cover most of a name which the question writes and no entity has; all if there is no such name.

    All code passes: questions describe what code is for, in words that need not occur in it.
    """
    names = [name for name in meant.strange_names if name]
    if not names:
        return np.ones(len(entities), np.bool_)
    return np.array(
        [each.code or any(_share_of(name, each.document) >= MOST for name in names) for each in entities], np.bool_
    )


def _share_of(rarity: Mapping[str, float], document: Container[str]) -> float:
    return sum(value for term, value in rarity.items() if term in document) / sum(rarity.values())


def forms_of_query(query: str, analyser: Analyser) -> Mapping[str, str]:
    """The distinct terms of a question in order, each with the word it was first written as."""
    found: dict[str, str] = {}
    for word in words(identifier_words(query)):
        for term in analyser.terms(word):
            found.setdefault(term, word)
    return found


async def _found(
    query: str,
    vector: Vector | None,
    limit: int,
    also: Sequence[UUID],
    kept: KeptTerms,
    reader: Reader,
) -> Hits:
    """The hits of either search, and others, in order of key."""
    worded = _worded(query, limit, kept, reader)
    if vector is None:
        lists = [await worded]
    else:
        hits, dense = await both(worded, reader.nearest(ElementKind.ENTITY, vector, limit))
        lists = [hits, dense.keep(dense.values < UNRELATED)]
    if also:
        lists.append(await reader.locate(also))
    every = Hits.concatenate(lists)
    return every.keep(np.unique(every.keys, return_index=True)[1])


def together(*lists: Hits) -> Hits:
    """The distinct elements of several lists, in order; of common ones the first row."""
    every = Hits.concatenate([each for each in lists if len(each)] or [lists[0]])
    once, _ = first_rows(every.keys)
    return every if len(once) == len(every) else every.keep(np.sort(once))


async def _worded(query: str, limit: int, kept: KeptTerms, reader: Reader) -> Hits:
    """The entities that share a term with the question, by their visible texts.

    Documents contain all aliases, including those that only hidden memories prove. If anything is hidden, entities
    that share no term without these are left out, and the search is widened if too few remain.
    """
    wanted, wide = set(reader.analyser.terms(query)), limit
    while True:
        hits = await reader.lexical(ElementKind.ENTITY, query, wide)
        if not reader.hides:
            return hits
        terms = await read_terms(hits.keys, kept, reader)
        (sharing,) = np.array([not wanted.isdisjoint(each.document) for each in terms], np.bool_).nonzero()
        if len(sharing) >= limit or len(hits) < wide or wide == widest(limit):
            return hits.keep(sharing[:limit])
        wide *= 2


async def _rarity(held: Held, terms: Sequence[str], limit: int, reader: Reader) -> dict[str, float]:
    """The idf of terms: among the entities that have any of them, if all of these were found.

    So hidden entities do not affect any number. If there may be more than ``limit``, the scope's statistics are used.
    """
    documents, containing = held.having(terms)
    if documents >= limit:
        documents = await reader.document_count(ElementKind.ENTITY)
        containing = [*await reader.document_frequencies(ElementKind.ENTITY, [[term] for term in terms])]
    return {term: idf(documents, min(each, documents)) for term, each in zip(terms, containing, strict=True)}

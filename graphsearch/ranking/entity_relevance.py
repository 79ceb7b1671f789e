"""The entities that a question describes, by words and meaning, on one scale for every question.

    relevance = share + 2 · weight · cosine + 0.3 · importance + 0.6 · named

``share`` is the share of the question's idf that the entity's words cover (`Held.shares`), the
cosine is that of its embedding, and the weight is the embedder's. Both mean the same for every question, so that they
add up as they are: z-scores over candidates, which depend on what else was found, and reciprocal ranks, which lose the
distances, rank no better. Importance separates entities of the same description: public from private ones. Code is
named if its name and its class hold all that the question says: "where is the table rendered?" means Table.render.

Of the words of an entity, a term of a name or an alias counts 1, one of a description the less the longer the
description is, and its additional words count by their stored weight (`graphsearch.model.Batch.words`). An entity
covers a word by its own form, or else by its word of the nearest meaning: "give up" by "cancel".

The words of lines of triplets are here too. Of a line, "source type target fact":

    coverage = Σ idf · (K1 + 1) · f / (f + K1 · normal length) / Σ idf, at most 1

That is BM25 as a share: a line of average length covers a term in full that it has once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, repeat
from typing import Final
from uuid import UUID
from weakref import WeakKeyDictionary

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch._support.concurrency import aside, both
from graphsearch.access.gatekeeper import widest
from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Floats, Hits, Keys, Mask, Rows, Subgraph
from graphsearch.columns.formulas import cosines
from graphsearch.columns.key_index import first_rows, occurring
from graphsearch.model import ElementKind, Entity, Vector
from graphsearch.model.identity import CASE_SENSITIVE_TYPES
from graphsearch.protocols import Embedder, WordVectors
from graphsearch.question.analysis import MAX_TOKENS, spread
from graphsearch.question.type_profile import DEFINES, TypeProfile, place_verbs
from graphsearch.question.understanding import Understanding
from graphsearch.text.analyser import Analyser, identifier_words, words
from graphsearch.text.bm25 import K1, idf, normal_length, searchable_text

USUAL: Final = 8.0
"""Number of words of a typical description."""
SATURATION: Final = 0.6
"""K1 of BM25, lower than for texts: fields are short and weighted, so that the first occurrence counts most."""
ALIKE: Final = 0.2
"""Cosine of two words from which on one replaces the other, with that weight; most pairs of words are below."""
KEPT: Final = 8_192
"""Most entities whose terms are cached."""

Terms = Callable[[str], Sequence[str]]
Hashes = NDArray[np.int64]

# -- the terms of entities ---------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class EntityTerms:
    """The terms of one entity, by their hashes in this process, with their weights above 0.

    * ``forms``: the commonest written form of each. ``document``: all terms by which lexical search finds the entity,
      including whole identifiers.
    * ``code``: whether it is code, and ``called`` the terms of the last two parts of its path then, such as a method
      with its class.
    """

    terms: Hashes
    weights: Floats
    forms: Sequence[str]
    document: frozenset[str]
    code: bool
    called: frozenset[str] = frozenset()


def entity_terms(entity: Entity, extra: Mapping[str, float], terms: Terms) -> EntityTerms:
    """The terms of an entity and of its additional words ``extra``; ``terms`` are those of a text."""
    named = words(identifier_words("\n".join((entity.name, *entity.aliases))))
    described = words(identifier_words(entity.description))
    weights = {term: 1.0 for word in named for term in terms(word)}
    share = 1.0 / normal_length(sum(len(terms(word)) for word in described), USUAL)
    for word, weight in (*((word, share) for word in described), *extra.items()):
        for term in terms(word):
            weights[term] = weights.get(term, 0.0) + weight
    forms: dict[str, str] = {}
    counted = Counter([*named, *described, *extra])
    for word in sorted(counted, key=lambda word: (-counted[word], word)):
        for term in terms(word):
            forms.setdefault(term, word)
    code = entity.type in CASE_SENSITIVE_TYPES
    called = words(identifier_words(" ".join(entity.name.split(".")[-2:]))) if code else ()
    return EntityTerms(
        terms=np.array(list(map(hash, weights)), np.int64),
        weights=np.array(list(weights.values()), np.float64),
        forms=[forms[term] for term in weights],
        document=frozenset(weights.keys() | set(terms(searchable_text(entity)))),
        code=code,
        called=frozenset(term for word in called for term in terms(word)),
    )


KeptTerms = dict[int, EntityTerms]
"""By the number of an entity's id."""


async def read_terms(keys: Keys, kept: KeptTerms, reader: Reader) -> list[EntityTerms]:
    """The terms of entities as visible; those that are not in ``kept`` are read, and kept."""
    ids = reader.entity_ids(keys)
    numbers = [id_.int for id_ in ids]
    if missing := [row for row, number in enumerate(numbers) if number not in kept]:
        entities, extra = await both(reader.entities(keys[missing]), reader.words([ids[row] for row in missing]))
        terms, size = lru_cache(maxsize=None)(reader.analyser.terms), sum(1 + len(each.aliases) for each in entities)
        made = await aside(lambda: [entity_terms(each, extra.get(each.id, {}), terms) for each in entities], size)
        kept.update(zip([numbers[row] for row in missing], made, strict=True))
    return [kept[number] for number in numbers]


@attrs.frozen(eq=False)
class Held:
    """The terms of some entities: a row for every entity and term, in order of entity, with its weight there.

    ``term`` is the place of the row's term in ``distinct``.
    """

    entities: Sequence[EntityTerms]
    entity: Rows
    term: Rows
    weight: Floats
    distinct: Hashes

    @classmethod
    def of(cls, entities: Sequence[EntityTerms]) -> Held:
        """The terms of entities, in their order."""
        distinct, term = np.unique(
            np.concatenate([np.empty(0, np.int64), *(each.terms for each in entities)]), return_inverse=True
        )
        entity = np.repeat(np.arange(len(entities)), [len(each.terms) for each in entities])
        return cls(
            entities, entity, term, np.concatenate([np.empty(0), *(each.weights for each in entities)]), distinct
        )

    def having(self, terms: Sequence[str]) -> tuple[int, list[int]]:
        """The number of entities with any of some terms, and with each of them."""
        rows = self._matching(terms)
        return len(np.unique(self.entity[rows.any(axis=0)])), rows.sum(axis=1).tolist()

    def forms(self) -> list[str]:
        """Each of the distinct terms as most of the entities write it; of several forms the first by name."""
        counted = Counter(
            zip(self.term.tolist(), chain.from_iterable(each.forms for each in self.entities), strict=True)
        )
        best: dict[int, tuple[int, str]] = {}
        for (term, text), often in counted.items():
            if term not in best or (-often, text) < best[term]:
                best[term] = -often, text
        return [best[term][1] for term in range(len(self.distinct))]

    def shares(self, rarity: Mapping[str, float], likeness: Floats | None = None) -> Floats:
        """The share of a question's idf that each entity covers, 1 if it has each word once; ``rarity`` is the idf.

        ``likeness`` has the cosine of each term of the question, a row, with each of the `forms`.
        """
        whole, found = sum(rarity.values()), np.zeros(len(self.entities))
        if not whole or not len(self.term):
            return found
        credit = self._matching(list(rarity)).astype(np.float64)
        if likeness is not None:
            credit = np.maximum(credit, np.where(likeness >= ALIKE, likeness, 0.0)[:, self.term])
        starts = np.flatnonzero(np.diff(self.entity, prepend=NONE))
        saturated = (SATURATION + 1.0) * self.weight / (self.weight + SATURATION)
        best = np.maximum.reduceat(credit * saturated, starts, axis=1)
        found[self.entity[starts]] = np.einsum("i,ij->j", np.array(list(rarity.values())), best) / whole
        return found

    def _matching(self, terms: Sequence[str]) -> Mask:
        """For each of some terms, the rows that have it."""
        asked = np.array(list(map(hash, terms)), np.int64)
        found: Mask = self.distinct[self.term] == asked[:, np.newaxis]
        return found


# -- word vectors ------------------------------------------------------------------------------------------------------

SEMANTIC_WEIGHT: Final = 0.5
"""For embedders that state no weight: right for static embeddings, and safe for better ones."""
KEPT_WORDS: Final = 32_768
"""Most words whose vectors are cached: a scope of code has some ten thousand."""


class Lexicon:
    """The words of entities, by profile, and the vectors of words; the latter by hash: no text is kept.

    An embedder without word vectors (`WordVectors`) returns none: then words match only themselves.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder = embedder
        self._words = embedder if isinstance(embedder, WordVectors) else None
        self._rows: dict[int, int] = {}
        self._vectors: Vector = np.empty((0, 0), np.float32)
        self._entities: WeakKeyDictionary[TypeProfile, KeptTerms] = WeakKeyDictionary()

    @property
    def weight(self) -> float:
        """The weight of meaning relative to words: the embedder's ``semantic_weight``, or `SEMANTIC_WEIGHT`."""
        return float(getattr(self.embedder, "semantic_weight", SEMANTIC_WEIGHT))

    def entities_of(self, profile: TypeProfile) -> KeptTerms:
        """The terms of the entities that a profile's gate shows, by id, kept as long as the profile."""
        found = self._entities.get(profile)
        if found is None or len(found) > KEPT:
            found = self._entities[profile] = {}
        return found

    def likeness(self, words: Sequence[str], held: Held) -> Floats | None:
        """The cosines of the words of a question, one row each, with held terms as written; None without vectors."""
        own = self.vectors(words)
        others = None if own is None else self.vectors(held.forms())
        return None if own is None or others is None else np.array([cosines(others, word) for word in own])

    def vectors(self, words: Sequence[str]) -> Vector | None:
        """The vectors of some words, one row each; None without an embedder that has any."""
        if self._words is None or not words:
            return None
        keys = list(map(hash, words))
        missing = {key: word for key, word in zip(keys, words, strict=True) if key not in self._rows}
        if missing:
            if len(self._rows) + len(missing) > KEPT_WORDS:
                self._rows.clear()
                missing = dict(zip(keys, words, strict=True))
            self._add(missing, self._words.word_vectors(list(missing.values())))
        return self._vectors[[self._rows[key] for key in keys]]

    def _add(self, words: Mapping[int, str], vectors: Vector) -> None:
        size, needed = len(self._rows), len(self._rows) + len(words)
        if needed > len(self._vectors):  # twice as many rows each time: few copies
            grown = np.empty((2 * needed, vectors.shape[1]), np.float32)
            if size:
                grown[:size] = self._vectors[:size]
            self._vectors = grown
        self._vectors[size:needed] = vectors
        self._rows.update(zip(words, range(size, needed), strict=True))


KEPT_LINES: Final = 8_192
"""Most lines whose terms are cached: those of some hundred questions on different subjects."""

Texts = tuple[str, str, str, str]
"""The source, type, target and fact of a relation."""
Counts = dict[int, int]
"""How often a line has each term, by the term's hash in this process."""


class LineTerms:
    """The terms of recently read lines, and of the names and types in them, by hashes alone: no text is kept."""

    def __init__(self) -> None:
        self._lines: dict[int, tuple[int, Counts]] = {}
        self._names: dict[int, list[int]] = {}

    def count(self, lines: Sequence[Texts], analyser: Analyser) -> CountedLines:
        """Count the terms of lines; those that were read before are not analysed again, nor are names."""
        if len(self._lines) > KEPT_LINES:
            self._lines.clear()
            self._names.clear()
        known, keys = self._lines, list(map(hash, lines))
        for key, line in zip(keys, lines, strict=True):
            if key not in known:
                terms = self._terms(line, analyser)
                known[key] = len(terms), Counter(terms)
        found = [known[key] for key in keys]
        return CountedLines(np.array([length for length, _ in found], np.float64), [counts for _, counts in found])

    def _terms(self, line: Texts, analyser: Analyser) -> list[int]:
        source, type_, target, fact = line
        terms: list[int] = []
        for name in (source, spread(type_), target):
            key = hash(name)
            if key not in self._names:
                self._names[key] = list(map(hash, analyser.terms(name)))
            terms += self._names[key]
        return [*terms, *map(hash, analyser.terms(fact))]


@attrs.frozen(eq=False)
class CountedLines:
    """The number of terms of each line, and the counts of these."""

    lengths: Floats
    counts: Sequence[Counts]

    def coverage(self, rarity: Mapping[str, float]) -> Floats:
        """The share of a question's idf that each line covers, in [0, 1]; ``rarity`` is the idf by term."""
        whole, covered = sum(rarity.values()), np.zeros(len(self.counts))
        if not len(covered) or not whole:
            return covered
        normal = K1 * normal_length(self.lengths, max(self.lengths.mean(), 1.0))
        for term, rare in rarity.items():
            often = self._often(term)
            covered += rare * often / (often + normal)
        return np.minimum((K1 + 1.0) * covered / whole, 1.0)

    def shares(self, rarity: Mapping[str, float]) -> Floats:
        """The share of some terms' idf that occurs in each line, in [0, 1], whatever its length; 0 without terms."""
        found = np.zeros(len(self.counts))
        for term, rare in rarity.items():
            found[self._often(term) > 0] += rare
        return found / (sum(rarity.values()) or 1.0)

    def _often(self, term: str) -> Floats:
        often = map(dict.get, self.counts, repeat(hash(term)), repeat(0))  # no call of Python for each line
        return np.fromiter(often, np.float64, len(self.counts))


@attrs.frozen(eq=False, kw_only=True)
class Lines:
    """Some relations of a subgraph, read whole: their terms, which of them have ended, and the types of their ends."""

    terms: CountedLines
    past: Mask
    ends: Rows
    """Rows of entities, distinct, with the type of each in ``types``."""
    types: Sequence[str]

    def kinds(self, profile: TypeProfile, entities: int) -> Rows:
        """The row in a profile of the kind of each of so many entities; `NONE` for those that were not read."""
        row_of = {type_: profile.kind_of(type_) for type_ in set(self.types)}
        kinds = np.full(entities, NONE)
        kinds[self.ends] = [row_of[type_] for type_ in self.types]
        return kinds


async def read_lines(graph: Subgraph, rows: Rows, kept: LineTerms, reader: Reader) -> Lines:
    """Read some relations of a subgraph, with their ends, as visible."""
    source, target = graph.source[rows], graph.target[rows]
    ends = occurring(np.concatenate((source, target)), len(graph.entities))
    relations = await reader.relations(graph.relations[rows])
    entities = await reader.entities(graph.entities[ends])
    names = dict(zip(ends.tolist(), [each.name for each in entities], strict=True))
    columns = zip(source.tolist(), relations, target.tolist(), strict=True)
    lines = [(names[one], each.type, names[other], each.fact) for one, each, other in columns]
    until = reader.view.as_of
    return Lines(
        terms=kept.count(lines, reader.analyser),
        past=np.array([each.valid_to is not None and each.valid_to <= until for each in relations], np.bool_),
        ends=ends,
        types=[each.type for each in entities],
    )


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

"""Profiles of the relation types and of the words of a scope, learned from its facts, and the affinity of questions.

A type has a document and a few examples; a word is a name or an ordinary one.

The document of a type has its name, the kinds of its ends, and the facts of some of its relations without the names of
their ends. Terms are weighted by BM25 over these documents: a word shared by few types distinguishes them.

    affinity = z( z(words of the type, its ends and its facts) + z(meaning of the type) + z(meaning of "kind type kind")
                  + z(mean meaning of its best facts) )

The affinity of a question to each type is computed without the question's names. Each z-score is over the types, so
that different scales add up. Types are few: this costs microseconds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Floats, Mask, Rows
from graphsearch.model import Vector
from graphsearch.scoring.similarity import cosines
from graphsearch.text.analyser import Analyser
from graphsearch.text.bm25 import grid, idf, saturated
from graphsearch.understanding.direction import Verb, verb_of
from graphsearch.understanding.entity_terms import EntityTerms
from graphsearch.understanding.question_tokens import name_tokens, spread

EXAMPLES: Final = 32
"""Relations of a type in its document: enough to include the rarer ways in which the type is worded."""
NAMED: Final = 3
"""Repetitions of the name of a type and the kinds of its ends in its document: they are the most specific words."""


@attrs.frozen(kw_only=True)
class Example:
    """A relation as visible: its type, the kinds and all names of its ends, its line and its fact."""

    type: str
    source_kind: str
    target_kind: str
    names: tuple[str, ...]
    line: str
    fact: str


@attrs.frozen(eq=False, kw_only=True)
class TypeProfile:
    """The relation types of a scope, by row, and what distinguishes them.

    * ``types``: their names in order; ``phrases``: these in words; ``typed``: with the kinds of their ends,
      "service owned by team". ``verbs``: the verbs in their names, which distinguish the ends.
    * ``kinds``: the types of entities in order, ``kind_phrases``: these in words, with the terms of the last word in
      ``kind_terms``, and ``meets``, one row each: the relation types that such entities have.
    * ``postings``: for each term the rows of the types that have it, and its weight there.
    * ``vectors``, of shape (examples, dimensions): the facts' embeddings, and ``example_type`` the row of their type.
    * ``wording``: which words are names. ``containing``: the number of ``examples`` lines that contain a term.
    * ``entity_terms``: those of entities read since: cached as long as the profile, with the same visibility.
    """

    types: tuple[str, ...]
    phrases: tuple[str, ...]
    typed: tuple[str, ...]
    verbs: tuple[Verb | None, ...]
    kinds: tuple[str, ...]
    kind_phrases: tuple[str, ...]
    kind_terms: tuple[frozenset[str], ...]
    meets: Mask
    postings: Mapping[str, tuple[Rows, Floats]]
    vectors: Vector
    example_type: Rows
    wording: Wording
    examples: int
    containing: Mapping[str, int]
    entity_terms: MutableMapping[UUID, EntityTerms] = attrs.field(factory=dict)

    def rarities(self, terms: Iterable[str]) -> dict[str, float]:
        """The idf of terms among the examples' lines, the only visible lines if there are no more."""
        return {term: idf(self.examples, self.containing.get(term, 0)) for term in terms}

    def row_of(self, type_: str) -> int:
        """The row of a type, -1 if unknown."""
        return self._rows.get(type_, -1)

    def kind_of(self, kind: str) -> int:
        """The row of a kind of entities, -1 if unknown."""
        return self._kinds.get(kind, -1)

    _rows: Mapping[str, int] = attrs.field(init=False, default=attrs.Factory(lambda self: _numbered(self.types), True))
    _kinds: Mapping[str, int] = attrs.field(init=False, default=attrs.Factory(lambda self: _numbered(self.kinds), True))


def _numbered(names: Sequence[str]) -> Mapping[str, int]:
    return {name: row for row, name in enumerate(names)}


def type_profile(examples: Sequence[Example], vectors: Vector, analyser: Analyser) -> TypeProfile:
    """The profile of some examples, at most `EXAMPLES` per type; ``vectors`` are those of their facts, one row each."""
    types = tuple(sorted({each.type for each in examples}))
    row_of = {name: row for row, name in enumerate(types)}
    of_type: dict[str, list[Example]] = defaultdict(list)
    for each in examples:
        of_type[each.type].append(each)
    phrases = tuple(map(spread, types))
    ends = {name: _usual_ends(of_type[name]) for name in types}
    typed = tuple(
        f"{spread(ends[name][0])} {phrase} {spread(ends[name][1])}" for name, phrase in zip(types, phrases, strict=True)
    )
    kinds = tuple(sorted({kind for each in examples for kind in (each.source_kind, each.target_kind)}))
    kind_phrases = tuple(map(spread, kinds))
    return TypeProfile(
        types=types,
        phrases=phrases,
        typed=typed,
        verbs=tuple(verb_of(phrase, analyser.terms) for phrase in phrases),
        kinds=kinds,
        kind_phrases=kind_phrases,
        kind_terms=tuple(frozenset(analyser.terms(phrase)[-1:]) for phrase in kind_phrases),
        meets=_meets(examples, kinds, row_of),
        postings=_postings([_document(line, of_type[name], analyser) for name, line in zip(types, typed, strict=True)]),
        vectors=vectors,
        example_type=np.array([row_of[each.type] for each in examples], np.intp),
        wording=_wording(examples, [*phrases, *kind_phrases], analyser),
        examples=len(examples),
        containing=Counter(term for each in examples for term in set(analyser.terms(each.line))),
    )


def masked(example: Example) -> list[str]:
    """The words of a fact without those of the names of its ends, folded."""
    names = {word for name in example.names for word in name_tokens(name)}
    return [word for word in name_tokens(example.fact) if word not in names]


def _usual_ends(examples: Iterable[Example]) -> tuple[str, str]:
    counted = Counter((each.source_kind, each.target_kind) for each in examples)
    return min(counted, key=lambda ends: (-counted[ends], ends))


def _meets(examples: Iterable[Example], kinds: Sequence[str], row_of: Mapping[str, int]) -> Mask:
    place = {kind: row for row, kind in enumerate(kinds)}
    meets = np.zeros((len(kinds), len(row_of)), np.bool_)
    for each in examples:
        meets[[place[each.source_kind], place[each.target_kind]], row_of[each.type]] = True
    return meets


def _document(line: str, examples: Iterable[Example], analyser: Analyser) -> Counter[str]:
    counts = Counter({term: NAMED * number for term, number in Counter(analyser.terms(line)).items()})
    for each in examples:
        counts.update(analyser.terms(" ".join(masked(each))))
    return counts


def _postings(documents: Sequence[Counter[str]]) -> Mapping[str, tuple[Rows, Floats]]:
    """BM25 as `graphsearch.text.bm25`, with the idf in it."""
    lengths = [document.total() for document in documents]
    average = grid(sum(lengths) / max(len(documents), 1))
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row, (document, length) in enumerate(zip(documents, lengths, strict=True)):
        for term, weight in saturated(document, length, average).items():
            found[term].append((row, weight))
    return {
        term: (
            np.array([row for row, _ in rows], np.intp),
            idf(len(documents), len(rows)) * np.array([weight for _, weight in rows]),
        )
        for term, rows in found.items()
    }


def _wording(examples: Iterable[Example], type_names: Iterable[str], analyser: Analyser) -> Wording:
    naming: Counter[str] = Counter()
    telling: Counter[str] = Counter()
    for each in examples:
        naming.update({word for name in each.names for word in name_tokens(name)})
        telling.update(set(masked(each)))
    return Wording(
        naming=naming,
        telling=telling,
        type_terms=frozenset(term for name in type_names for term in analyser.terms(name)),
    )


ORDINARY: Final = 0.5
"""A word that is part of a name in a smaller share of its occurrences is an ordinary word."""


@attrs.frozen(kw_only=True)
class Wording:
    """The usage of words in a scope.

    * ``naming``: the number of facts in which a word is part of the name of an end; ``telling``: in which it is not.
    * ``type_terms``: the terms of the names of relation types and entity types; such a word alone names nothing.
    """

    naming: Mapping[str, int]
    telling: Mapping[str, int]
    type_terms: frozenset[str]

    def nameness(self, word: str, terms: Iterable[str]) -> float:
        """The share of its facts in which a word is part of a name, in [0, 1]; 1 for a word of no fact.

        ``terms`` are the word's terms: one that is a term of a type's name is never part of a name by itself.
        """
        if not self.type_terms.isdisjoint(terms):
            return 0.0
        return self.usage(word)

    def usage(self, word: str) -> float:
        """Like `nameness`, whether the word is in a type's name or not."""
        naming, telling = self.naming.get(word, 0), self.telling.get(word, 0)
        return naming / (naming + telling) if naming + telling else 1.0


BEST_FACTS: Final = 3
"""Nearest examples of a type whose mean counts: a single one may be near by chance."""


def standardised(values: Floats) -> Floats:
    """Values in standard deviations from their mean; zeros if all are equal."""
    deviation = values.std() if len(values) else 0.0
    return (values - values.mean()) / deviation if deviation > 1e-9 else np.zeros(len(values))  # noqa: PLR2004


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
    near = cosines(profile.vectors, vector)
    order = np.lexsort((-near, profile.example_type))
    types = profile.example_type[order]
    first = np.searchsorted(types, np.arange(len(profile.types)))
    best = np.arange(len(order)) - first[types] < BEST_FACTS
    total = np.bincount(types[best], near[order][best], minlength=len(profile.types))
    return np.asarray(total / np.bincount(types[best], minlength=len(profile.types)))


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
    return standardised(np.sum([standardised(part) for part in parts], axis=0))

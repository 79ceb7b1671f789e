"""Candidates ranked by the meaning of a question: scored in columns, then the best again by their whole lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.concurrency import both
from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Floats, Keys, Mask, Rows, Subgraph
from graphsearch.columns.formulas import cosines
from graphsearch.columns.key_index import KeyIndex, distinct
from graphsearch.model import ElementKind, Entity, Relation, Vector
from graphsearch.question.relation_words import DEFINES
from graphsearch.question.understanding import Understanding
from graphsearch.question.words import relation_line
from graphsearch.ranking.triplets.candidates import Facts
from graphsearch.ranking.triplets.entity_relevance import MOST, Alike
from graphsearch.ranking.triplets.silence import Standing, foreign
from graphsearch.ranking.triplets.triplet_relevance import CERTAIN, TEMPERATURE, Edges, Evidence, Relevance, relevance
from graphsearch.ranking.triplets.word_coverage import LineTerms, coverage, line_shares

READ: Final = 64
"""Candidates that are read whole: the best by everything that is known without reading them."""
TRUSTED: Final = 9
"""Number of types from which on their affinities count in full: of two types, each is always one deviation off."""
TINY: Final = 1e-12
"""Least reliability, so that its logarithm is finite."""


@attrs.frozen(eq=False, kw_only=True)
class Ranked:
    """The relevance of relations, and whether none of them answers.

    ``worded``: whether the question's words belong to a type of relations, at least in part.
    """

    relevance: Relevance
    foreign: bool
    worded: bool


async def ranked(
    subgraph: Subgraph,
    facts: Facts,
    understood: Understanding,
    alike: Alike,
    shown: int,
    line_terms: LineTerms,
    reader: Reader,
) -> Ranked:
    """The relevance of every relation of a subgraph; exact for the `READ` best, and at least for as many as ``shown``.

    ``alike`` are the entities that the question describes if it names none. For the other relations, the words of a
    line are those of its fact as found by the search over facts, and the kinds of its ends do not count.
    """
    named = anchors_of(subgraph, understood, reader)
    terms = list(dict.fromkeys(understood.terms))
    rarity = understood.profile.rarities(terms)
    rough = _evidence(subgraph, facts, understood, named, sum(rarity.values()), reader)
    likely = KeyIndex(subgraph.entities).of(alike.keys)
    there = likely != NONE
    rough = attrs.evolve(rough, described=likely[there], likely=alike.anchor[there], sure=alike.sure)
    first = relevance(rough)
    reliable = np.maximum(subgraph.confidence * subgraph.freshness * subgraph.prior, TINY)
    rows = _best(first.evidence + TEMPERATURE * np.log(reliable), max(READ, shown))
    keys = subgraph.relations[rows]
    lines, vectors = await both(_lines(subgraph, rows, reader), _vectors(keys, understood, reader))
    words, meaning = rough.words.copy(), rough.meaning.copy()
    texts = [line.text for line in lines]
    words[rows] = coverage(texts, rarity, reader.analyser, line_terms)
    meaning[rows] = _cosines(vectors, understood)
    kinds = _kinds(subgraph, rows, lines, understood)
    past = rough.past.copy()
    past[rows] = [_ended(line.relation, reader) for line in lines]
    known = attrs.evolve(
        rough,
        words=words,
        meaning=meaning,
        past=past,
        kind=np.append(understood.kind, 0.0)[kinds],
        between=np.isin(kinds, list(understood.between)),
    )
    covered = float(words[rows][_about(texts, understood, line_terms, reader)].max(initial=0.0))
    # Without meaning, only possible names remain as evidence.
    certain = named > (CERTAIN if understood.vector is not None else 0.0)
    standing = _standing(known, certain, kinds, covered, alike, understood)
    silent = bool(understood.terms) and foreign(standing)
    return Ranked(relevance=relevance(known), foreign=silent, worded=standing.worded > 0)


def _about(lines: Sequence[str], understood: Understanding, kept: LineTerms, reader: Reader) -> Mask:
    """The lines that cover most of a name which the question writes and no entity has; all if there is no such name."""
    names = [line_shares(lines, name, reader.analyser, kept) for name in understood.strange_names if name]
    about: Mask = np.max(names, axis=0) >= MOST if names else np.ones(len(lines), np.bool_)
    return about


def _standing(
    known: Evidence, named: Mask, kinds: Rows, covered: float, alike: Alike, understood: Understanding
) -> Standing:
    certain = {link.kind for link in understood.linked.links if link.probability > CERTAIN}
    return Standing(
        affinity=understood.affinity,
        meets=understood.profile.meets,
        edges=known.edges,
        wrong=known.wrong,
        named=named,
        kinds=sorted({understood.profile.kind_of(kind) for kind in certain} - {-1}),
        between=understood.between,
        kind=kinds,
        worded=understood.worded,
        covered=covered,
        described=alike.covered,
        ours=understood.ours and bool(np.isin(known.edges.type, sorted(understood.meant)).any()),
    )


def anchors_of(subgraph: Subgraph, understood: Understanding, reader: Reader) -> Floats:
    """The probability that the question names each entity of a subgraph."""
    anchor = np.zeros(len(subgraph.entities))
    named = understood.linked.probabilities
    if named:
        (rows,) = (subgraph.hops == 0).nonzero()
        ids: Sequence[UUID] = reader.entity_ids(subgraph.entities[rows])
        anchor[rows] = [named.get(each, 0.0) for each in ids]
    return anchor


def _evidence(
    subgraph: Subgraph, facts: Facts, understood: Understanding, anchor: Floats, whole: float, reader: Reader
) -> Evidence:
    """The properties of all relations of a subgraph that are known without reading them."""
    types = _types(subgraph, understood, reader)
    affinity = np.append(understood.affinity * _trust(len(understood.affinity)), 0.0)[types]
    wrong = _wrong(subgraph, types, anchor, understood)
    if understood.stated >= 0:
        affinity = np.where(wrong & (types == understood.stated), 0.0, affinity)
    places = KeyIndex(facts.keys).of(subgraph.relations)
    words = np.append(facts.words, 0.0)[places] / whole if whole else np.zeros(len(places))
    return Evidence(
        edges=Edges(source=subgraph.source, target=subgraph.target, type=types),
        anchor=anchor,
        kind=np.zeros(len(subgraph.entities)),
        affinity=affinity,
        wrong=wrong,
        past=np.zeros(len(types), np.bool_),
        between=np.zeros(len(subgraph.entities), np.bool_),
        words=np.minimum(words, 1.0),
        meaning=np.append(facts.meaning, 0.0)[places],
        definition=understood.profile.row_of(DEFINES),
    )


def _trust(types: int) -> float:
    """The weight of a deviation among some number of types, in [0, 1]."""
    return min(1.0, max(types - 1, 0) / (TRUSTED - 1))


def _types(subgraph: Subgraph, understood: Understanding, reader: Reader) -> Rows:
    """The row of each relation's type in the profile, -1 for a type that is not in it."""
    signatures, which = distinct(subgraph.signatures)
    known = list(map(understood.profile.row_of, reader.signatures.type_names(signatures.tolist())))
    return np.array(known, np.intp)[which] if len(which) else np.empty(0, np.intp)


def _wrong(subgraph: Subgraph, types: Rows, anchor: Floats, understood: Understanding) -> Mask:
    """Relations whose named end is not the one that the question's words require."""
    wrong = np.zeros(len(types), np.bool_)
    for row, end in understood.direction.items():
        right, other = (subgraph.source, subgraph.target) if end > 0 else (subgraph.target, subgraph.source)
        wrong |= (types == row) & (anchor[other] > CERTAIN) & (anchor[right] <= CERTAIN)
    return wrong


def _ended(relation: Relation, reader: Reader) -> bool:
    """Whether a relation that held at some moment of the period does not hold at its end."""
    return relation.valid_to is not None and relation.valid_to <= reader.view.as_of


def _best(evidence: Floats, count: int) -> Rows:
    if len(evidence) <= count:
        return np.arange(len(evidence))
    return np.sort(np.argsort(-evidence, kind="stable")[:count])


@attrs.frozen
class _Line:
    """A relation as shown, with its ends, as one text."""

    source: Entity
    relation: Relation
    target: Entity

    @property
    def text(self) -> str:
        return relation_line(self.source.name, self.relation.type, self.target.name, self.relation.fact)


async def _lines(subgraph: Subgraph, rows: Rows, reader: Reader) -> list[_Line]:
    ends = np.unique(np.concatenate((subgraph.source[rows], subgraph.target[rows])))
    relations, read = await both(reader.relations(subgraph.relations[rows]), reader.entities(subgraph.entities[ends]))
    entities = dict(zip(ends.tolist(), read, strict=True))
    columns = (subgraph.source[rows].tolist(), relations, subgraph.target[rows].tolist())
    return [_Line(entities[source], each, entities[target]) for source, each, target in zip(*columns, strict=True)]


async def _vectors(keys: Keys, understood: Understanding, reader: Reader) -> Vector:
    """The vectors of facts; none if the question has no vector to compare with."""
    if understood.vector is None:
        return np.empty((len(keys), 0), np.float32)
    return await reader.vectors(ElementKind.RELATION, keys)


def _cosines(vectors: Vector, understood: Understanding) -> Floats:
    """The cosine of each fact to the question; 0 if it has no vector, or another sentence was embedded."""
    vector = understood.vector
    if vector is None or vectors.shape[1] != len(vector):
        return np.zeros(len(vectors))
    return cosines(vectors, vector)


def _kinds(subgraph: Subgraph, rows: Rows, lines: Sequence[_Line], understood: Understanding) -> Rows:
    """The row of each entity's kind in the profile, for those that were read; -1 for the others."""
    kinds = np.full(len(subgraph.entities), NONE)
    for row, line in zip(rows.tolist(), lines, strict=True):
        kinds[subgraph.source[row]] = understood.profile.kind_of(line.source.type)
        kinds[subgraph.target[row]] = understood.profile.kind_of(line.target.type)
    return kinds

"""The relevance of triplets: evidence in named parts that add up, on one scale for every question.

    evidence  = 10 · anchors + described + 1.25 · affinity + 0.4 · kind
                + 4.5 · words + 2.5 · meaning − 2 · wrong direction − 0.5 · past
    relevance = exp((evidence − ideal) / TEMPERATURE)

The ideal is the evidence of an ideal answer: the relation is at the entity that the question names with the greatest
probability, has the requested type, and shares half of the question's words. If the best relation has more, that is
the ideal. Each missing part divides the relevance by a factor. The strength of a relation multiplies its relevance: it
orders relations of equal relevance, and lifts no others. Random settings of the weights around these rank almost
equally well: the structure matters, not the constants.

A named entity is an anchor with the probability of its link. A relation has the more probable anchor of its ends, and
a quarter of the other's. An entity that a relation of a requested type leads to from an anchor passes the weight of
the anchor on to its other relations, the less the less that type is requested: so "who leads the team that owns X" is
followed from X.

A question without names asks for things, not for everything known about one of them. So each of the entities that it
describes best is introduced by one of its relations, and its other relations come later: ten lines show ten entities.
The more probable it is that a thing itself is requested, the less the content of the line matters: then the relation is
preferably the one that defines it, if it is code, which says where it is and what it is for; else one to an entity
shown already or to another described one, so that the line shows how they are related; otherwise one that starts at it.
The less probable, the more the line itself is the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs
import numpy as np

from graphsearch.columns import NONE, Floats, Mask, Rows

# -- anchors -----------------------------------------------------------------------------------------------------------

LESSER: Final = 0.25
"""The share of the less probable of two anchors."""
CERTAIN: Final = 0.3
"""A less probable link passes nothing on, and a more probable entity receives nothing."""
LENT: Final = 0.85
"""The factor of a hop, unless the question names the kind of entity that it leads to: then 1."""
SHARPNESS: Final = 0.25
"""Decay of a hop with the affinity of its type: exp(SHARPNESS · (affinity − the best))."""


AnchorWeights = tuple[Floats, Floats, Floats]
"""Of each relation: at its source, at its target, and from one hop away."""


@attrs.frozen(eq=False, kw_only=True)
class Edges:
    """Relations by the rows of their ends and of their types."""

    source: Rows
    target: Rows
    type: Rows

    def __len__(self) -> int:
        return len(self.source)

    def keep(self, rows: Rows) -> Edges:
        """Some of the relations, in this order."""
        return Edges(source=self.source[rows], target=self.target[rows], type=self.type[rows])


def direct(anchor: Floats, edges: Edges) -> tuple[Floats, Floats]:
    """The anchor weight at each end of a relation: at its source, at its target."""
    source, target = anchor[edges.source], anchor[edges.target]
    surer = source >= target
    return np.where(surer, source, LESSER * source), np.where(surer, LESSER * target, target)


def lent(anchor: Floats, edges: Edges, affinity: Floats, between: Mask) -> Floats:
    """The weight of each relation for an anchor one hop beyond one of its ends; ``affinity`` is its type's affinity.

    ``between``: whether each entity is of a kind that the question mentions besides the requested one.

    The relation by which the hop was made gets nothing, and neither do others of the same type and direction: they
    state the same of other entities. Of equally good hops that by the first type counts, which no order of relations
    moves.
    """
    found = np.zeros(len(edges))
    sure = anchor > CERTAIN
    at_source, at_target = sure[edges.source], sure[edges.target]
    (out,), (back,) = (at_source & ~at_target).nonzero(), (at_target & ~at_source).nonzero()
    relation = np.concatenate((out, back))
    if not len(relation):
        return found
    near = np.concatenate((edges.source[out], edges.target[back]))
    far = np.concatenate((edges.target[out], edges.source[back]))
    to_source = np.arange(len(relation)) >= len(out)
    worth = np.exp(SHARPNESS * (affinity[relation] - affinity.max()))
    given = anchor[near] * worth * np.where(between[far], 1.0, LENT)
    way = 2 * edges.type[relation] + to_source
    order = np.lexsort((way, -given))[::-1]  # the best comes last, and remains
    best, by = np.zeros(len(anchor)), np.full(len(anchor), NONE)
    best[far[order]], by[far[order]] = given[order], order
    for ends, is_source in ((edges.source, True), (edges.target, False)):
        (reached,) = (by[ends] != NONE).nonzero()
        step = by[ends[reached]]
        sibling = (edges.type[relation[step]] == edges.type[reached]) & (to_source[step] == is_source)
        kept = reached[(relation[step] != reached) & ~sibling]
        found[kept] = np.maximum(found[kept], best[ends[kept]])
    return found


def anchor_weights(anchor: Floats, edges: Edges, affinity: Floats, between: Mask) -> AnchorWeights:
    """The weights of the anchors for each relation: at its source, at its target, and passed on from one hop away."""
    source, target = direct(anchor, edges)
    return source, target, np.maximum(lent(anchor, edges, affinity, between) - source - target, 0.0)


# -- the sum of the evidence -------------------------------------------------------------------------------------------

ANCHORS: Final = 10.0
AFFINITY: Final = 1.25
KIND: Final = 0.4
WORDS: Final = 4.5
MEANING: Final = 2.5
WRONG: Final = 2.0
PAST: Final = 0.5
"""For relations that no longer hold: just enough to rank them below a current one of the same relevance."""
IDEAL: Final = 7.0
"""The evidence of an ideal answer besides that of its anchor."""
TEMPERATURE: Final = 3.0
"""Evidence by which relevance falls to 1 / e. From 1.5 to 3 four graphs are ranked alike; above 4, confidence begins to
lift less relevant relations.
"""

PARTS: Final = (
    *("source", "target", "hops", "described"),
    *("relation_type", "answer_kind", "fact_words", "fact_meaning", "direction", "past"),
)
"""The names of the parts, in the order of the formula. Anchors count as source, as target, or from hops away."""


@attrs.frozen(eq=False, kw_only=True)
class Evidence:
    """Properties of relations, one row each.

    * ``anchor``: by entity, the probability that the question names it, and the ``weights`` that follow from it
      (`anchor_weights`). ``kind``: by entity, how much its type is requested.
    * ``affinity``: of the relation's type. ``wrong``: whether its direction differs from the question's; ``past``:
      whether it has ended.
    * ``definition``: the type by which a scope of code defines what is in it.
    * ``described``: the rows of the described entities, best first, and ``likely``: the weight of each, relative to a
      named one; ``sure``: the probability that one of them is meant.
    * ``words``: the share of the question's idf that its line covers, in [0, 1]. ``meaning``: the cosine of its fact.
    """

    edges: Edges
    anchor: Floats
    weights: AnchorWeights
    kind: Floats
    affinity: Floats
    wrong: Mask
    past: Mask
    words: Floats
    meaning: Floats
    definition: int = NONE
    described: Rows = attrs.field(factory=lambda: np.empty(0, np.intp))
    likely: Floats = attrs.field(factory=lambda: np.empty(0))
    sure: float = 0.0


@attrs.frozen(eq=False, kw_only=True)
class Relevance:
    """The relevance of relations in [0, 1], and the evidence by part, which adds up to ``evidence``."""

    value: Floats
    evidence: Floats
    parts: Mapping[str, Floats]

    def shares(self, rows: Rows) -> list[Mapping[str, float]]:
        """For each of some relations, what each part of the evidence contributes to the relevance: these add up to it.

        Parts that add up to nothing share it evenly.
        """
        parts, total = np.array([part[rows] for part in self.parts.values()]), self.evidence[rows]
        there = abs(total) > 1e-9  # noqa: PLR2004 - nothing to divide
        share = np.divide(parts, total, out=np.full(parts.shape, 1.0 / len(PARTS)), where=there)
        return [dict(zip(self.parts, each, strict=True)) for each in (share * self.value[rows]).T.tolist()]


def relevance(known: Evidence) -> Relevance:
    """Add up the evidence."""
    edges, anchor = known.edges, known.anchor
    answer = np.where(anchor[edges.source] >= anchor[edges.target], edges.target, edges.source)
    own = (
        AFFINITY * known.affinity,
        KIND * known.kind[answer],
        WORDS * known.words,
        MEANING * known.meaning,
        np.where(known.wrong, -WRONG, 0.0),
        np.where(known.past, -PAST, 0.0),
    )
    described = counted(
        known.described, ANCHORS * known.likely, edges, np.sum(own, axis=0), known.sure, known.definition
    )
    parts = (*(ANCHORS * weight for weight in known.weights), described, *own)
    total: Floats = np.sum(parts, axis=0)
    ideal = ANCHORS * anchor.max(initial=0.0) + IDEAL
    return Relevance(
        value=np.exp((total - total.max(initial=ideal)) / TEMPERATURE),
        evidence=total,
        parts=dict(zip(PARTS, parts, strict=True)),
    )


# -- described entities -----------------------------------------------------------------------------------------------

LATER: Final = 0.75
"""The weight of further relations of a described entity, relative to the one that introduces it."""
ONWARD: Final = 0.75
"""The share of it that a hop leaves, as in distances by traversal: what lies farther is less near, without a cliff."""
REACH: Final = 3
PREFERRED: Final = 12.0
"""Evidence that makes a relation preferred for introducing a certain entity: more than any line has by itself."""
DEFINED: Final = 1.05
SHOWN: Final = 1.0
BOTH: Final = 0.95
TO_IT: Final = 0.9
FROM_IT: Final = 0.8
TO_FIRST: Final = 0.7
"""The parts of it that a relation has: that defines the entity; with an entity already shown; between two described
ones, or starting at the first of these; starting at the entity.
"""


def introductions(described: Rows, edges: Edges, own: Floats, sure: float, definition: int = NONE) -> Rows:
    """For each described entity, best first, the row of the relation that introduces it; of equal ones the first.

    `NONE` if it has none, or an earlier line already shows it. ``own`` is the evidence of each relation without the
    described entities, and ``sure`` the probability that one of these is meant.
    """
    found = np.full(len(described), NONE)
    shown = np.zeros(_entities(described, edges), np.bool_)
    likely: Mask = np.zeros_like(shown)
    likely[described] = True
    for place, entity in enumerate(described.tolist()):
        rows = np.flatnonzero((edges.source == entity) | (edges.target == entity))
        if shown[entity] or not len(rows):
            continue
        from_it = edges.source[rows] == entity
        other = np.where(from_it, edges.target[rows], edges.source[rows])
        to_it = TO_IT if place else TO_FIRST
        defined = ~from_it & (edges.type[rows] == definition) & (definition != NONE)
        preferred = np.select(
            [defined, shown[other], from_it & likely[other], likely[other], from_it],
            [DEFINED, SHOWN, BOTH, to_it, FROM_IT],
            0.0,
        )
        found[place] = row = rows[np.argmax(own[rows] + PREFERRED * sure * preferred)]
        shown[[edges.source[row], edges.target[row]]] = True
    return found


def counted(described: Rows, worth: Floats, edges: Edges, own: Floats, sure: float, definition: int = NONE) -> Floats:
    """The weight of each relation for the described entities at its ends; ``worth`` is the evidence of each of them.

    The relation that introduces an entity counts as the best relation of that entity; and, in proportion to ``sure``,
    as the best that introduces any. So entities are in the order of their worth if things are requested, and in the
    order of their lines otherwise.
    """
    if not len(described) or not len(edges):
        return np.zeros(len(edges))
    every = np.zeros(_entities(described, edges))
    every[described] = 1.0
    (near,) = ((every[edges.source] + every[edges.target]) > 0.0).nonzero()
    every[described] = worth
    passed_on(every, edges)
    counts = LATER * np.maximum(every[edges.source], every[edges.target])
    around, content = edges.keep(near), own[near]
    found = introductions(described, around, content, sure, definition)
    (there,) = (found != NONE).nonzero()
    if not len(there):
        return counts
    best = np.array([content[(around.source == one) | (around.target == one)].max() for one in described[there]])
    introduced = sure * best.max() + (1.0 - sure) * best
    rows = near[found[there]]
    counts[rows] = np.maximum(counts[rows], worth[there] + introduced - own[rows])
    return counts


def passed_on(every: Floats, edges: Edges) -> None:
    """Give what lies around described entities `ONWARD` of their worth with each hop, up to `REACH` hops, in place."""
    for _ in range(REACH):
        before = every.copy()
        np.maximum.at(every, edges.target, ONWARD * before[edges.source])
        np.maximum.at(every, edges.source, ONWARD * before[edges.target])


def _entities(described: Rows, edges: Edges) -> int:
    return 1 + int(max(column.max(initial=0) for column in (described, edges.source, edges.target)))

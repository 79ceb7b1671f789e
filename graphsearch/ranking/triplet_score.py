"""The score of a triplet, over numbers or columns of numbers alike; and the entities that triplets are about.

    score = strength × nearness × [ (1 − φ) · ((1 − ι) + ι · importance) + φ · feedback ]
    nearness = proximity ^ (1 + φ / (2 + φ) · (1 − 2 · feedback))

Convex inside the brackets, so it stays in [0, 1] and rises with every input; its three parts add up to it. Importance
and feedback order what is near the question; they cannot lift what is not. Feedback also counts as a little nearer or
farther: so what is loved overtakes what is rejected a hop nearer. Without feedback (0.5) nearness is the proximity; the
exponent is the greatest by which one session, which moves feedback by at most α, moves no score by more than φ · α.

Of the entities of an answer, a thing that the question describes, or that is all it names, comes first. If it asks for
something about what it names, the answer is at the other end of a relation: for "Priya reports_to Sarah", the asker
already knew Priya.

Connections are the other entities that all named entities of a question lead to. They are found among the relations
that the traversal found for all names together: so every path is visible, passes the view, and consists of relations
that are scored as triplets too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, islice, pairwise, permutations
from typing import Final, Literal
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import ArrayLike

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Codes, Floats, Hits, Mask, Rows, Subgraph
from graphsearch.columns.key_index import KeyIndex, best_rows, distinct
from graphsearch.model import EdgeKind, Entity, RelationType, Triplet, TripletScore
from graphsearch.model import validation as check
from graphsearch.question.analysis import Anchor
from graphsearch.ranking.triplet_relevance import CERTAIN, Relevance
from graphsearch.traversal.paths import GraphPath

LEAST_SHOWN: Final = 1e-6
"""A relation that scores less is not shown anywhere."""


Numbers = Floats | float
Hops = Codes | int


@attrs.frozen(kw_only=True)
@check.checked("scoring options", traversal_penalty=check.within(0.0, 2.0))
class ScoringOptions:
    """The constants of the score.

    * ``feedback_influence`` φ and ``importance_influence`` ι: in [0, 1].
    * ``traversal_penalty``: what a hop adds to the distance of an entity not found by its embedding, in [0, 2].
    * ``path_confidence``: the confidence of a path is that of its weakest relation ("minimum"), or the product of all
      ("product").
    * ``combine``: strength is confidence × freshness × prior ("product"), or the score is limited by the worst of
      proximity, confidence × freshness, and prior ("worst").
    * ``hop_table``: hop scores "by_type" of the relation (`RelationType.hop_scores`), or "by_confidence": 1.0 up to one
      hop, 0.5 × confidence for two, then 0.
    """

    feedback_influence: float = 0.3
    importance_influence: float = 0.2
    traversal_penalty: float = 0.25
    path_confidence: Literal["minimum", "product"] = "minimum"
    combine: Literal["product", "worst"] = "product"
    hop_table: Literal["by_type", "by_confidence"] = "by_type"


@attrs.frozen(eq=False, kw_only=True)
class ScoreColumns:
    """Scores of many triplets and the parts that add up to them."""

    value: Floats
    strength: Floats
    proximity_part: Floats
    importance_part: Floats
    feedback_part: Floats


def proximity_by_hops(hops: Hops, table: tuple[float, ...]) -> Floats:
    """The hop score of the farther endpoint, n hops from an anchor: ``table[n]``, and 0 beyond the table."""
    scores = np.array((*table, 0.0))
    return np.asarray(scores[np.minimum(np.asarray(hops), len(table))])


def proximity_by_confidence(hops: Hops, confidence: Numbers) -> Floats:
    """1.0 up to one hop, 0.5 × confidence for two, then 0."""
    return np.select([np.asarray(hops) <= 1, np.asarray(hops) == 2], [1.0, 0.5 * confidence], 0.0)  # noqa: PLR2004


def proximity_by_distance(source: Numbers, target: Numbers) -> Floats:
    """1 − (both distances) / 4, for cosine distances in [0, 2]."""
    return np.asarray(1.0 - (np.asarray(source) + target) / 4.0)


def proximity_by_rank(source: Numbers, target: Numbers, greatest: float) -> Floats:
    """The harmonic mean of both entities' PageRank, divided by the greatest of all.

    What a hub is related to like everything else has hardly any rank of its own, so that the hub's does not lift it.
    """
    source, target = np.asarray(source), np.asarray(target)
    both = source + target
    return np.asarray(np.divide(2.0 * source * target, both * greatest, out=np.zeros_like(both), where=both > 0))


def score(
    *,
    proximity: Numbers,
    importance: Numbers,
    feedback: Numbers,
    confidence: Numbers,
    freshness: Numbers,
    prior: Numbers,
    options: ScoringOptions,
) -> ScoreColumns:
    """Scores and their parts, from values in [0, 1] of one shape (or single numbers)."""
    reliable = np.asarray(confidence) * freshness
    phi, iota = options.feedback_influence, options.importance_influence
    near = np.asarray(proximity) ** (1.0 + phi / (2.0 + phi) * (1.0 - 2.0 * np.asarray(feedback)))
    if options.combine == "worst":
        strength = np.minimum(reliable, prior)
        nearness = np.minimum(near, strength)
    else:
        strength = reliable * prior
        nearness = near * strength
    proximity_part = (1.0 - phi) * (1.0 - iota) * nearness
    importance_part = (1.0 - phi) * iota * importance * nearness
    feedback_part = phi * feedback * nearness
    return ScoreColumns(
        value=proximity_part + importance_part + feedback_part,
        strength=strength,
        proximity_part=proximity_part,
        importance_part=importance_part,
        feedback_part=feedback_part,
    )


NEARER: Final = 0.5
"""The weight of the nearer end of a relation that is one hop away from a name: it is on the way to the answer."""


def ends(triplets: Sequence[Triplet], *, named: Collection[UUID], subjects: Sequence[UUID]) -> tuple[Entity, ...]:
    """The distinct ends of triplets: ``subjects`` in their order, then the others by how far they answer.

    An end has the score of the best triplet that ends there: in full; by half if the other end is farther from what is
    ``named``; not at all if it is named and the other end is not. Equal ends are in reading order.
    """
    entities = {end.id: end for each in triplets for end in (each.source, each.target)}
    hops = _hops(triplets, named)
    worth = dict.fromkeys(entities, 0.0)
    for each in triplets:
        for end, other in ((each.source.id, each.target.id), (each.target.id, each.source.id)):
            counted = _counted(hops[end], hops[other]) * each.score
            worth[end] = max(worth[end], counted)
    first = {id_: place for place, id_ in enumerate(subjects)}
    order = sorted(entities, key=lambda id_: (first.get(id_, len(first)), -worth[id_]))
    return tuple(entities[id_] for id_ in order)


def _counted(hops: int, hops_of_other: int) -> float:
    if hops >= hops_of_other:
        return 1.0
    return NEARER if hops else 0.0


def _hops(triplets: Sequence[Triplet], named: Collection[UUID]) -> dict[UUID, int]:
    """The distance in hops of each end from the nearest named one, over the triplets; unreached ends are farthest."""
    steps = [step for each in triplets for step in permutations((each.source.id, each.target.id))]
    reached = {end: 0 for end, _ in steps if end in named}
    while fresh := {far for near, far in steps if near in reached and far not in reached}:
        reached |= dict.fromkeys(fresh, max(reached.values()) + 1)
    return {end: reached.get(end, len(steps) + 1) for end, _ in steps}


_KINDS: Final = tuple(EdgeKind)


@attrs.frozen(eq=False, kw_only=True)
class Reliability:
    """The reliability of each relation of a subgraph: the least along the path to it and its own."""

    confidence: Floats
    freshness: Floats
    prior: Floats
    nearer: Rows
    """The row of the endpoint that the path leads to."""

    @classmethod
    def of(cls, subgraph: Subgraph, options: ScoringOptions) -> Reliability:
        """The minimum over the path of the nearer endpoint and the relation itself.

        The nearer endpoint is the one of fewer hops, then of the stronger path, then the source.
        """
        own = np.array((subgraph.confidence, subgraph.freshness, subgraph.prior))
        along = subgraph.along_paths(own, np.minimum)
        product = options.path_confidence == "product"
        if product:
            along[0] = subgraph.along_paths(own[0], np.multiply)
        remote = subgraph.hops - 0.5 * along.prod(axis=0)  # strength, in [0, 1], only breaks ties between equal hops
        is_source = remote.take(subgraph.source) <= remote.take(subgraph.target)
        nearer = np.where(is_source, subgraph.source, subgraph.target)
        path = along.take(nearer, axis=1)
        confidence, freshness, prior = np.minimum(path, own)
        if product:
            confidence = path[0] * own[0]
        return cls(confidence=confidence, freshness=freshness, prior=prior, nearer=nearer)


@attrs.frozen(eq=False, kw_only=True)
class Findings:
    """The relations of a subgraph, scored, one row each: what answers a question, and what only leads to it."""

    subgraph: Subgraph
    reliability: Reliability
    proximity: Floats
    importance: Floats
    scores: ScoreColumns
    answers: Mask | None = None
    """None if all relations answer."""
    relevance: Relevance | None = None
    """The parts of the proximity, if it has more than one."""

    @property
    def answering(self) -> Floats:
        """The scores of the relations that answer."""
        return self.scores.value if self.answers is None else self.scores.value[self.answers]

    def rows(self) -> Rows:
        """The relations that answer."""
        return np.arange(len(self.scores.value)) if self.answers is None else np.flatnonzero(self.answers)


def score_triplets(
    subgraph: Subgraph,
    *,
    distance: ArrayLike | None = None,
    proximity: Floats | None = None,
    reliability: Reliability | None = None,
    options: ScoringOptions | None = None,
) -> Findings:
    """Score every relation of a subgraph by the distance of its entities, their importance, and feedback.

    * ``distance``: the cosine distance to the question, in [0, 2], of each entity that was found by its embedding, NaN
      for one that was reached by traversal alone: see `node_distances`. Without it, proximity is that of PageRank where
      there is one, else of hops, by the hop scores of relation types that state none.
    * ``proximity`` in [0, 1] of each relation in place of these: that of the engine's modes is their relevance to the
      question. ``reliability``: that of the paths, if it is known already.

    Raises `InvalidInputError` for distances of another shape or range.
    """
    options = options or ScoringOptions()
    reliability = reliability or Reliability.of(subgraph, options)
    if distance is not None:
        nodes = node_distances(subgraph, distance, options.traversal_penalty)
        proximity = proximity_by_distance(nodes[subgraph.source], nodes[subgraph.target])
    elif proximity is None:
        proximity = proximity_of_hops(subgraph, reliability, options)
    importance = (subgraph.importance.take(subgraph.source) + subgraph.importance.take(subgraph.target)) / 2.0
    scores = score(
        proximity=proximity,
        importance=importance,
        feedback=subgraph.feedback,
        confidence=reliability.confidence,
        freshness=reliability.freshness,
        prior=reliability.prior,
        options=options,
    )
    return Findings(
        subgraph=subgraph, reliability=reliability, proximity=proximity, importance=importance, scores=scores
    )


# -- proximity ---------------------------------------------------------------------------------------------------------


def proximity_of_hops(
    subgraph: Subgraph, reliability: Reliability, options: ScoringOptions, reader: Reader | None = None
) -> Floats:
    """Proximity of each relation by PageRank if there is one, else by the hop score of its farther endpoint.

    Hop scores are those of relation types as a reader knows them; without one those of types that state none.
    """
    source, target = subgraph.source, subgraph.target
    if (rank := subgraph.rank) is not None:
        return proximity_by_rank(rank[source], rank[target], rank.max(initial=0.0))
    hops = np.maximum(subgraph.hops[source], subgraph.hops[target])
    if reader is None:
        return proximity_by_hops(hops, RelationType(name="any").hop_scores)
    return hop_scores(hops, subgraph.signatures, reliability.confidence, options, reader)


def hop_scores(hops: Codes, relations: Rows, confidence: Floats, options: ScoringOptions, reader: Reader) -> Floats:
    """The hop score of each number of hops, from the table of the type of a relation with a signature."""
    if options.hop_table == "by_confidence":
        return proximity_by_confidence(hops, confidence)
    if not len(hops):
        return np.empty(0)
    counted = np.arange(hops.max() + 1)
    signatures, which = distinct(relations)
    types = [reader.signatures.types[row] for row in signatures.tolist()]
    proximity: Floats = np.array([proximity_by_hops(counted, known.hop_scores) for known in types])[which, hops]
    return proximity


def node_distances(subgraph: Subgraph, found: ArrayLike, penalty: float) -> Floats:
    """The distance of each entity from the question: as ``found`` by its embedding, or by a ``penalty`` a hop.

    An entity of which none was found (NaN) is as far as the one before it on its path, and the penalty, at most 2; a
    seed without one was named, and is at 0.
    """
    distance = np.array(found, np.float64)
    fits, of = distance.shape == subgraph.hops.shape, len(subgraph.hops)
    check.refuse(
        "distances",
        None if fits else f"must have one number for each of {of} entities",
        None if not ((distance < 0) | (distance > 2)).any() else "must be in [0, 2], or NaN",  # noqa: PLR2004
    )
    unknown = np.isnan(distance)
    distance[unknown & (subgraph.hops == 0)] = 0.0
    for start, end in pairwise(np.bincount(subgraph.hops).cumsum().tolist()):  # earlier hops are already known
        walked = distance[subgraph.previous[start:end]] + penalty
        distance[start:end] = np.where(unknown[start:end], np.minimum(walked, 2.0), distance[start:end])
    return distance


# -- the best, read whole ----------------------------------------------------------------------------------------------


async def best_triplets(
    found: Findings, limit: int, reader: Reader, *, min_score: float = LEAST_SHOWN
) -> list[Triplet]:
    """The ``limit`` best, in order of score, then structural > semantic > lifecycle, then names and id.

    Those with a score below ``min_score`` are left out.
    """
    rows, values = found.rows(), found.answering
    if len(values) > limit:  # all that tie with the last one may be among the best
        rows = rows[values >= np.partition(values, -limit)[-limit]]
    if min_score:
        rows = rows[found.scores.value[rows] >= min_score]
    return sorted(await _read(found, rows, reader), key=_place)[:limit]


def _place(triplet: Triplet) -> tuple[float, int, str, str, str, UUID]:
    relation = triplet.relation
    # the kind as shown: that of a stored signature says whether something hidden ended the relation
    kind = _KINDS.index(relation.kind)
    return (-triplet.score, kind, triplet.source.name, relation.type, triplet.target.name, relation.id)


async def _read(found: Findings, rows: Rows, reader: Reader) -> list[Triplet]:
    graph = found.subgraph
    relations = await reader.relations(graph.relations.take(rows))
    sources, targets = graph.source.take(rows).tolist(), graph.target.take(rows).tolist()
    ends = sorted({*sources, *targets})
    entities = dict(zip(ends, await reader.entities(graph.entities.take(ends)), strict=True))
    columns = (relations, sources, targets, _scores(found, rows), _paths(found, rows, reader))
    return [
        Triplet(source=entities[source], relation=relation, target=entities[target], breakdown=score, path=path)
        for relation, source, target, score, path in zip(*columns, strict=True)
    ]


def _paths(found: Findings, rows: Rows, reader: Reader) -> list[tuple[UUID, ...]]:
    graph = found.subgraph
    paths = [graph.path_to(entity) for entity in found.reliability.nearer[rows].tolist()]
    ids = iter(reader.relation_ids(graph.relations[list(chain.from_iterable(paths))]))
    return [tuple(islice(ids, len(path))) for path in paths]


def _scores(found: Findings, rows: Rows) -> list[TripletScore]:
    scores, reliability, graph = found.scores, found.reliability, found.subgraph
    columns = (  # in the order of the fields, except for the last
        scores.value,
        scores.strength,
        reliability.confidence,
        reliability.freshness,
        reliability.prior,
        found.proximity,
        found.importance,
        graph.feedback,
        scores.proximity_part,
        scores.importance_part,
        scores.feedback_part,
    )
    hops = graph.hops.take(reliability.nearer.take(rows)).tolist()
    parts = [{} for _ in hops] if found.relevance is None else found.relevance.shares(rows)
    return list(map(TripletScore, *(column.take(rows).tolist() for column in columns), hops, parts))


# -- connections -------------------------------------------------------------------------------------------------------

MAX_NAMES: Final = 8
"""Most names of a question for which connections are computed; with more, nobody asks for what they share."""
NAMES: Final = 2
"""Least number of names."""


@attrs.frozen(kw_only=True)
class Connection:
    """An entity that every name in a question leads to.

    ``score``, in [0, 1], is the least strength of the paths × the hop score of the longest. ``paths`` lead to it from
    an entity of each name, by the id of that entity.
    """

    entity: Entity
    score: float
    paths: Mapping[UUID, GraphPath]


@attrs.frozen(eq=False, kw_only=True)
class Reach:
    """The paths from one name to each entity: by fewest hops, then the most reliable last relation, then key."""

    hops: Codes
    """`NONE` if it does not."""
    previous: Rows
    via: Rows
    along: Floats
    """Confidence, freshness and prior of the whole path, a row each."""

    def way_to(self, entity: int) -> tuple[list[int], list[int]]:
        """Rows of the entities from the name's own to another that it leads to, and of the relations between them."""
        entities, relations = [entity], []
        while (via := int(self.via[entity])) != NONE:
            relations.append(via)
            entity = int(self.previous[entity])
            entities.append(entity)
        return entities[::-1], relations[::-1]


@attrs.frozen(eq=False, kw_only=True)
class Connected:
    """The entities that all names lead to, best first: by score, then fewest hops in total, then key."""

    rows: Rows
    scores: Floats
    reaches: tuple[Reach, ...]

    def relations(self) -> Rows:
        """The rows of the relations on the paths to the best, of which there may be several."""
        best = self.rows[self.scores == self.scores.max(initial=0.0)].tolist()
        walked = {row for entity in best for reach in self.reaches for row in reach.way_to(entity)[1]}
        return np.array(sorted(walked), np.intp)


NOTHING: Final = Connected(rows=np.empty(0, dtype=np.intp), scores=np.empty(0), reaches=())


def connected(
    subgraph: Subgraph,
    anchors: Sequence[Anchor],
    seeds: Hits,
    *,
    depth: int,
    options: ScoringOptions,
    reader: Reader,
) -> Connected:
    """Score = min over names(strength of the path) × hop score of the longest path, in [0, 1].

    A name shared by several entities leads where any of them leads. Named entities are not connections: relations
    between them are among the triplets. The hop score is that of the type of each path's last relation.
    """
    ids: dict[str, list[UUID]] = {}
    for anchor in anchors:
        if anchor.confidence > CERTAIN:
            ids.setdefault(anchor.name.casefold(), []).append(anchor.entity_id)
    if not NAMES <= len(ids) <= MAX_NAMES:
        return NOTHING
    row_of = dict(zip(reader.entity_ids(seeds.keys), KeyIndex(subgraph.entities).of(seeds.keys).tolist(), strict=True))
    starts = [[row for id_ in each if (row := row_of.get(id_, NONE)) != NONE] for each in ids.values()]
    reaches = tuple(_reach(subgraph, rows, depth, options) for rows in starts)
    hops = np.array([reach.hops for reach in reaches])
    rows = np.flatnonzero((hops > 0).all(axis=0))
    if not len(rows):
        return NOTHING
    longest = hops[:, rows].max(axis=0)
    scores = np.min([_strength(subgraph, reach, rows, longest, options, reader) for reach in reaches], axis=0)
    order = np.lexsort((subgraph.entities[rows], hops[:, rows].sum(axis=0), -scores))
    order = order[scores[order] > 0.0]
    return Connected(rows=rows[order], scores=scores[order], reaches=reaches)


def _reach(subgraph: Subgraph, starts: Sequence[int], depth: int, options: ScoringOptions) -> Reach:
    size = len(subgraph.entities)
    own = np.array((subgraph.confidence, subgraph.freshness, subgraph.prior))
    near = np.concatenate((subgraph.source, subgraph.target))
    far = np.concatenate((subgraph.target, subgraph.source))
    relation = np.tile(np.arange(len(subgraph.relations)), 2)
    reliability, keys = own.prod(axis=0)[relation], subgraph.relations[relation]
    hops, previous, via = (np.full(size, NONE) for _ in range(3))
    along = np.ones((3, size))
    hops[list(starts)] = 0
    for hop in range(1, depth + 1):
        (steps,) = ((hops[near] == hop - 1) & (hops[far] == NONE)).nonzero()
        if not len(steps):
            break
        ends, groups = distinct(far[steps])
        best = steps[best_rows(groups, len(ends), reliability[steps], keys[steps])]
        hops[ends], previous[ends], via[ends] = hop, near[best], relation[best]
        along[:, ends] = np.minimum(along[:, near[best]], own[:, relation[best]])
        if options.path_confidence == "product":
            along[0, ends] = along[0, near[best]] * own[0, relation[best]]
    return Reach(hops=hops, previous=previous, via=via, along=along)


def _strength(
    subgraph: Subgraph, reach: Reach, rows: Rows, longest: Codes, options: ScoringOptions, reader: Reader
) -> Floats:
    """The score if this were the weakest of the paths."""
    confidence, freshness, prior = reach.along[:, rows]
    return score(
        proximity=hop_scores(longest, subgraph.signatures[reach.via[rows]], confidence, options, reader),
        importance=0.0,
        feedback=0.0,
        confidence=confidence,
        freshness=freshness,
        prior=prior,
        options=attrs.evolve(options, feedback_influence=0.0, importance_influence=0.0),
    ).value


async def read_connections(
    found: Connected, subgraph: Subgraph, limit: int, min_score: float, reader: Reader
) -> tuple[Connection, ...]:
    """The best connections with at least ``min_score``, read whole, with the path from each name."""
    best = [row for row, score in zip(found.rows[:limit].tolist(), found.scores, strict=False) if score >= min_score]
    ways = {row: [reach.way_to(row) for reach in found.reaches] for row in best}
    if not ways:
        return ()
    walked = [way for each in ways.values() for way in each]
    entity_rows = sorted({row for entities, _ in walked for row in entities})
    relation_rows = sorted({row for _, relations in walked for row in relations})
    entities = dict(zip(entity_rows, await reader.entities(subgraph.entities[entity_rows]), strict=True))
    relations = dict(zip(relation_rows, await reader.relations(subgraph.relations[relation_rows]), strict=True))

    def path(reach: Reach, row: int, way: tuple[list[int], list[int]]) -> GraphPath:
        return GraphPath(
            entities=tuple(entities[each] for each in way[0]),
            relations=tuple(relations[each] for each in way[1]),
            strength=float(reach.along[:, row].prod()),
        )

    connections = []
    for row, value in zip(best, found.scores.tolist(), strict=False):  # these are the first of all
        paths = [path(reach, row, way) for reach, way in zip(found.reaches, ways[row], strict=True)]
        by_start = {each.entities[0].id: each for each in paths}
        connections.append(Connection(entity=entities[row], score=value, paths=by_start))
    return tuple(connections)

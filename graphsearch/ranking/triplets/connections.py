"""Connections: the other entities that all named entities of a question lead to.

They are found among the relations that the traversal found for all names together: so every path is visible, passes
the view, and consists of relations that are scored as triplets too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Codes, Floats, Hits, Rows, Subgraph
from graphsearch.columns.key_index import KeyIndex, best_rows, distinct
from graphsearch.model import Entity
from graphsearch.question.question_names import Anchor
from graphsearch.ranking.triplets.triplet_relevance import CERTAIN
from graphsearch.ranking.triplets.triplet_score import ScoringOptions, hop_scores, score
from graphsearch.traversal.paths import GraphPath

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

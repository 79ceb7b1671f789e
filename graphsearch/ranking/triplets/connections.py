"""Connections: the other entities that all named entities of a question lead to.

They are found among the relations that the traversal found for all names together: so every path is visible, passes
the view, and consists of relations that are scored as triplets too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Codes, Floats, Hits, Rows, Subgraph
from graphsearch.columns.key_index import KeyIndex, best_rows, distinct
from graphsearch.model import Entity
from graphsearch.question.question_names import Anchor
from graphsearch.ranking.triplets.findings import hop_scores
from graphsearch.ranking.triplets.triplet_relevance import CERTAIN
from graphsearch.ranking.triplets.triplet_score import ScoringOptions, score
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


class Way(NamedTuple):
    """Rows of the entities from the name's own to another, and of the relations between them."""

    entities: list[int]
    relations: list[int]


@attrs.frozen(eq=False, kw_only=True)
class Reach:
    """The paths from one name to each entity: by fewest hops, then the most reliable last relation, then key."""

    hops: Codes
    """`NONE` if it does not."""
    previous: Rows
    via: Rows
    confidence: Floats
    """Of the whole path, as are freshness and prior."""
    freshness: Floats
    prior: Floats

    @property
    def strength(self) -> Floats:
        """Confidence × freshness × prior."""
        return self.confidence * self.freshness * self.prior

    def way_to(self, entity: int) -> Way:
        """The path to an entity that the name leads to."""
        entities, relations = [entity], []
        while (via := int(self.via[entity])) != NONE:
            relations.append(via)
            entity = int(self.previous[entity])
            entities.append(entity)
        return Way(entities[::-1], relations[::-1])


@attrs.frozen(eq=False, kw_only=True)
class Connected:
    """The entities that all names lead to, best first: by score, then fewest hops in total, then key."""

    rows: Rows
    scores: Floats
    reaches: tuple[Reach, ...]

    def relations(self) -> Rows:
        """The rows of the relations on the paths to the best, of which there may be several."""
        best = self.rows[self.scores == self.scores.max(initial=0.0)].tolist()
        ways = [reach.way_to(row) for row in best for reach in self.reaches]
        return np.array(sorted({row for way in ways for row in way.relations}), np.intp)


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
    names = _names(subgraph, anchors, seeds, reader)
    if not NAMES <= len(names) <= MAX_NAMES:
        return NOTHING
    reaches = tuple(_reach(subgraph, rows, depth, options) for rows in names)
    hops = np.array([reach.hops for reach in reaches])
    rows = np.flatnonzero((hops > 0).all(axis=0))
    if not len(rows):
        return NOTHING
    longest = hops[:, rows].max(axis=0)
    scores = np.min([_strength(subgraph, reach, rows, longest, options, reader) for reach in reaches], axis=0)
    order = np.lexsort((subgraph.entities[rows], hops[:, rows].sum(axis=0), -scores))
    order = order[scores[order] > 0.0]
    return Connected(rows=rows[order], scores=scores[order], reaches=reaches)


def _names(subgraph: Subgraph, anchors: Sequence[Anchor], seeds: Hits, reader: Reader) -> list[Rows]:
    """For each certain name in the question, the entities of the subgraph that have it."""
    row_of = dict(zip(reader.entity_ids(seeds.keys), KeyIndex(subgraph.entities).of(seeds.keys).tolist(), strict=True))
    names: dict[str, list[int]] = {}
    for anchor in anchors:
        if anchor.confidence <= CERTAIN:
            continue
        row = row_of.get(anchor.entity_id, NONE)
        names.setdefault(anchor.name.casefold(), []).extend([] if row == NONE else [row])
    return [np.array(rows, dtype=np.intp) for rows in names.values()]


def _reach(subgraph: Subgraph, starts: Rows, depth: int, options: ScoringOptions) -> Reach:
    size = len(subgraph.entities)
    own = np.array((subgraph.confidence, subgraph.freshness, subgraph.prior))
    near = np.concatenate((subgraph.source, subgraph.target))
    far = np.concatenate((subgraph.target, subgraph.source))
    relation = np.tile(np.arange(len(subgraph.relations)), 2)
    reliability, keys = own.prod(axis=0)[relation], subgraph.relations[relation]
    hops, previous, via = (np.full(size, NONE) for _ in range(3))
    along = np.ones((3, size))
    hops[starts] = 0
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
    confidence, freshness, prior = along
    return Reach(hops=hops, previous=previous, via=via, confidence=confidence, freshness=freshness, prior=prior)


def _strength(
    subgraph: Subgraph, reach: Reach, rows: Rows, longest: Codes, options: ScoringOptions, reader: Reader
) -> Floats:
    """The score if this were the weakest of the paths."""
    confidence = reach.confidence[rows]
    return score(
        proximity=hop_scores(longest, subgraph.signatures[reach.via[rows]], confidence, options, reader),
        importance=0.0,
        feedback=0.0,
        confidence=confidence,
        freshness=reach.freshness[rows],
        prior=reach.prior[rows],
        options=attrs.evolve(options, feedback_influence=0.0, importance_influence=0.0),
    ).value


async def read_connections(
    found: Connected, subgraph: Subgraph, limit: int, min_score: float, reader: Reader
) -> tuple[Connection, ...]:
    """The best connections with at least ``min_score``, read whole, with the path from each name."""
    best = [row for row in range(len(found.rows))[:limit] if found.scores[row] >= min_score]
    if not best:
        return ()
    ways = {row: [reach.way_to(int(found.rows[row])) for reach in found.reaches] for row in best}
    walked = [way for each in ways.values() for way in each]
    entity_rows = sorted({row for way in walked for row in way.entities})
    relation_rows = sorted({row for way in walked for row in way.relations})
    entities = dict(zip(entity_rows, await reader.entities(subgraph.entities[entity_rows]), strict=True))
    relations = dict(zip(relation_rows, await reader.relations(subgraph.relations[relation_rows]), strict=True))
    connections = []
    for row in best:
        paths = [
            GraphPath(
                entities=tuple(entities[each] for each in way.entities),
                relations=tuple(relations[each] for each in way.relations),
                strength=float(reach.strength[found.rows[row]]),
            )
            for reach, way in zip(found.reaches, ways[row], strict=True)
        ]
        connections.append(
            Connection(
                entity=entities[int(found.rows[row])],
                score=float(found.scores[row]),
                paths={path.entities[0].id: path for path in paths},
            )
        )
    return tuple(connections)

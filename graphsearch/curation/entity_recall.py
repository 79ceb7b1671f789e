"""What is known about one entity, and about the entities around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.access.references import EntityRef, known
from graphsearch.columns import Floats, Subgraph
from graphsearch.curation.backlinks import mentioning
from graphsearch.curation.community_partition import communities
from graphsearch.curation.permissions import Access
from graphsearch.model import Community, Entity, Memory, Relation, Triplet
from graphsearch.model import validation as check

_ROLE: Final = "works_at"
_LOCATION: Final = "lives_in"
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max.replace(tzinfo=UTC)


@attrs.frozen(kw_only=True)
class Standing:
    """A relation of an entity, which may have ended, and the entity at its other end."""

    relation: Relation
    entity: Entity


@attrs.frozen(kw_only=True)
class EntityRecall:
    """What is known about one entity.

    * ``triplets``: its current relations, best first. * ``memories``: those that mention it, newest first.
    * ``most_recent_role``, ``most_recent_location``: where it last worked, and lived, even if that has ended.
    """

    entity: Entity
    triplets: tuple[Triplet, ...]
    memories: tuple[Memory, ...]
    most_recent_role: Standing | None
    most_recent_location: Standing | None
    community: Community | None


@attrs.frozen(kw_only=True)
class Related:
    """An entity that is reachable from another.

    ``path`` are the relations of the path to it, in order, ``hops`` their number; ``strength`` is least confidence ×
    least freshness × least prior along the path, in [0, 1].
    """

    entity: Entity
    hops: int
    strength: float
    path: tuple[Relation, ...]


async def recall_entity(entity: EntityRef, access: Access, *, limit: int = 10) -> EntityRecall:
    """See `graphsearch.curation.Curator.recall_entity`."""
    check.refuse("recall", check.number("limit", limit, 0))
    async with access.reading() as reader:
        stored = await known(entity, reader)
        around = await reader.shown(await access.stored_relations(stored.id))
        return EntityRecall(
            entity=stored,
            triplets=await _triplets(stored, access, reader, limit),
            memories=tuple(each.memory for each in await mentioning(stored, reader, limit)),
            most_recent_role=await _standing(_ROLE, stored, around, reader),
            most_recent_location=await _standing(_LOCATION, stored, around, reader),
            community=next(iter(await communities(access, entity=stored.id, limit=1)), None),
        )


async def recall_related(
    entity: EntityRef, access: Access, *, max_hops: int = 2, limit: int = 20
) -> tuple[Related, ...]:
    """See `graphsearch.curation.Curator.recall_related`."""
    check.refuse("recall", check.number("max_hops", max_hops, 0), check.number("limit", limit, 0))
    async with access.reading() as reader:
        start = await known(entity, reader)
        graph = await access.engine.traversal.traverse(await reader.locate([start.id]), depth=max_hops, reader=reader)
        strength = strengths(graph)
        rows = [row for row in nearest(graph, strength) if graph.hops[row]][:limit]
        ids = reader.entity_ids(graph.entities[rows])
        entities = {each.id: each for each in await reader.get_entities(ids)}
        return tuple(
            [
                Related(
                    entity=entities[id_],
                    hops=int(graph.hops[row]),
                    strength=float(strength[row]),
                    path=tuple(await reader.relations(graph.relations[graph.path_to(row)])),
                )
                for id_, row in zip(ids, rows, strict=True)
            ]
        )


def strengths(graph: Subgraph) -> Floats:
    """Least confidence × least freshness × least prior along the path to each entity."""
    along = graph.along_paths(np.stack((graph.confidence, graph.freshness, graph.prior)), np.minimum)
    product: Floats = along[0] * along[1] * along[2]
    return product


def nearest(graph: Subgraph, strength: Floats) -> list[int]:
    """Rows of the entities by hops, then by strength, then by key."""
    order: list[int] = np.lexsort((graph.entities, -strength, graph.hops)).tolist()
    return order


async def _triplets(entity: Entity, access: Access, reader: Reader, limit: int) -> tuple[Triplet, ...]:
    """The best triplets around an entity; none if it does not hold now."""
    if not limit or not len(await reader.locate([entity.id])):
        return ()
    found = await access.engine.neighbors(entity.id, limit=limit, gate=access.gate)
    ends = {end.id: end for triplet in found for end in (triplet.source, triplet.target)}
    seen = {end.id: end for end in await reader.get_entities(sorted(ends))}
    return tuple(
        attrs.evolve(triplet, source=seen[triplet.source.id], target=seen[triplet.target.id]) for triplet in found
    )


async def _standing(type_: str, entity: Entity, around: Sequence[Relation], reader: Reader) -> Standing | None:
    last = _most_recent(around, source_id=entity.id, type=type_, as_of=reader.view.as_of)
    if last is None:
        return None
    [other] = await reader.get_entities([last.target_id])
    return Standing(relation=last, entity=other)


def _most_recent(relations: Iterable[Relation], *, source_id: UUID, type: str, as_of: datetime) -> Relation | None:
    """The relation of a type that most recently began by ``as_of``, whether it still holds or not.

    Ties go to the later end, then to the higher confidence, then to the lower id.
    """
    entered = [
        relation
        for relation in relations
        if relation.source_id == source_id
        and relation.type == type
        and (relation.valid_from is None or relation.valid_from <= as_of)
    ]

    def place(relation: Relation) -> tuple[datetime, datetime, float, int]:
        start, end = relation.valid_from or _EARLIEST, relation.valid_to or _LATEST
        return start, end, relation.confidence, -relation.id.int

    return max(entered, key=place, default=None)

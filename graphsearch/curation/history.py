"""All relations of an entity, past ones included, and the most recent of a type."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from graphsearch.curation.permissions import PAGE
from graphsearch.model import Relation
from graphsearch.protocols import GraphStore

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max.replace(tzinfo=UTC)


async def relations_around(entity_id: UUID, store: GraphStore) -> list[Relation]:
    """Every unretracted relation of an entity, in either direction, by id; not yet filtered by a gate."""
    found: list[Relation] = []
    while page := await store.list_relations(entity_id=entity_id, after=found[-1].id if found else None, limit=PAGE):
        found += page
    return found


def most_recent(relations: Iterable[Relation], *, source_id: UUID, type: str, as_of: datetime) -> Relation | None:
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

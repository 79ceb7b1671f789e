"""Episodes: the years in which the memories of entities occurred, which mention them or prove their relations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.model import ElementKind
from graphsearch.ranking.entities.strategies import Years

MENTIONED: Final = 500
"""Most mentions of an entity of which the years are read; one with more is of every year."""
RELATIONS: Final = 25
"""Most relations of an entity and direction of which the evidence is read."""


async def episodes(entity_ids: Sequence[UUID], reader: Reader) -> Mapping[UUID, tuple[Years, ...]]:
    """The years of the visible memories of entities that hold, by entity, in order."""
    found = defaultdict[UUID, set[int]](set)
    keys = (await reader.locate(sorted(entity_ids))).keys
    mentioned = await reader.mentioned(ElementKind.ENTITY, keys, MENTIONED)
    memories, places = np.unique(mentioned.far, return_inverse=True)
    occurred = [memory.occurred_at for memory in await reader.memories(memories)]
    for id_, place in zip(reader.entity_ids(mentioned.near), places.tolist(), strict=True):
        if time := occurred[place]:
            found[id_].add(time.year)
    rows = (await reader.expand(keys, RELATIONS)).rows
    relations = await reader.relations(rows.relations)
    cited = sorted({memory for relation in relations for memory in relation.evidence})
    times = {memory.id: memory.occurred_at for memory in await reader.get_memories(cited)}
    for id_, relation in zip(reader.entity_ids(rows.near), relations, strict=True):
        found[id_].update(time.year for memory in relation.evidence if (time := times.get(memory)))
    return {id_: tuple(Years(year, year) for year in sorted(years)) for id_, years in found.items()}

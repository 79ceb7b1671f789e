"""What is read of candidates: their connections, and the years in which their memories occurred."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, TypedDict
from uuid import UUID

import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Rows, Steps
from graphsearch.columns.key_index import KeyIndex
from graphsearch.model import ElementKind
from graphsearch.ranking.entities.result import Years

COUNTED: Final = 100
"""Most relations of an entity that are counted in each direction: a hub costs no more than other entities."""
SHOWN_NAMES: Final = 10
MENTIONED: Final = 500
"""Most mentions of an entity of which the years are read; one with more is of every year."""
RELATIONS: Final = 25
"""Most relations of an entity and direction of which the evidence is read."""


class Connections(TypedDict):
    """The number of relations of one entity, names at the other ends, and their types: see `FoundEntity`."""

    connections: int
    connected_names: tuple[str, ...]
    relation_types: tuple[str, ...]


UNCONNECTED: Final = Connections(connections=0, connected_names=(), relation_types=())


async def connections(entity_ids: Sequence[UUID], reader: Reader) -> Mapping[UUID, Connections]:
    """The connections of visible entities, by id; none of those that do not hold.

    Relations count in both directions, each once, if they pass the view and are visible, with their visible ends.
    """
    near = KeyIndex((await reader.locate(entity_ids)).keys)
    steps = await reader.expand(near.keys, COUNTED)
    rows = steps.rows.keep(kept := _each_once(steps))
    far, others = np.unique(rows.far, return_inverse=True)
    contents = [reader.signatures.contents[row] for row in steps.signatures[kept].tolist()]
    types: list[Counter[str]] = [Counter() for _ in range(len(near))]
    connected: list[dict[int, None]] = [{} for _ in range(len(near))]
    columns = (near.of(rows.near).tolist(), others.tolist(), (rows.near == rows.far).tolist(), contents)
    for owner, other, itself, content in zip(*columns, strict=True):
        types[owner][content.type if content else ""] += 1
        if not itself and len(connected[owner]) < SHOWN_NAMES:
            connected[owner][other] = None
    wanted = sorted({row for rows in connected for row in rows})
    names = {row: entity.name for row, entity in zip(wanted, await reader.entities(far[wanted]), strict=True)}
    return {
        id_: Connections(
            connections=counted.total(),
            connected_names=tuple(names[other] for other in ends),
            relation_types=tuple(kind for kind, _ in sorted(counted.items(), key=lambda each: (-each[1], each[0]))),
        )
        for id_, counted, ends in zip(reader.entity_ids(near.keys), types, connected, strict=True)
    }


def _each_once(steps: Steps) -> Rows:
    """Rows by entity, the most reliable first, ties by relation; loops only once."""
    rows = steps.rows
    order = np.lexsort((rows.relations, -steps.reliability, rows.near))
    near, relations = rows.near[order], rows.relations[order]
    again = np.zeros(len(order), np.bool_)
    again[1:] = (near[1:] == near[:-1]) & (relations[1:] == relations[:-1])
    kept: Rows = order[~again]
    return kept


async def episodes(entity_ids: Sequence[UUID], reader: Reader) -> Mapping[UUID, tuple[Years, ...]]:
    """The years of the visible memories that mention entities or prove their relations, by entity, in order."""
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

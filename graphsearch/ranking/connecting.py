"""The visible connections of entities: hidden ones do not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Rows, Steps
from graphsearch.columns.key_index import KeyIndex
from graphsearch.ranking.strategies import SHOWN_NAMES

COUNTED: Final = 100
"""Most relations of an entity that are counted in each direction: a hub costs no more than other entities."""


@attrs.frozen(kw_only=True)
class Connections:
    """The relations of one entity.

    * ``count``: in both directions, distinct.
    * ``names``: of at most ten neighbours, by the most reliable relations (confidence × freshness × prior) first.
    * ``types``: of the relations, the most frequent first, then by name.
    """

    count: int = 0
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


async def connections(entity_ids: Sequence[UUID], reader: Reader) -> Mapping[UUID, Connections]:
    """The connections of visible entities, by id; see `COUNTED`.

    Relations count if they pass the view and are visible, with their visible ends.
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
            count=types[row].total(),
            names=tuple(names[other] for other in connected[row]),
            types=tuple(kind for kind, _ in sorted(types[row].items(), key=_by_frequency)),
        )
        for row, id_ in enumerate(reader.entity_ids(near.keys))
    }


def _by_frequency(counted: tuple[str, int]) -> tuple[int, str]:
    kind, number = counted
    return -number, kind


def _each_once(steps: Steps) -> Rows:
    """Rows by entity, the most reliable first, ties by relation; loops only once."""
    rows = steps.rows
    order = np.lexsort((rows.relations, -steps.reliability, rows.near))
    near, relations = rows.near[order], rows.relations[order]
    again = np.zeros(len(order), np.bool_)
    again[1:] = (near[1:] == near[:-1]) & (relations[1:] == relations[:-1])
    kept: Rows = order[~again]
    return kept

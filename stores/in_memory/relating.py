"""Relations that a search found, as steps from source to target; and those whose facts no vector finds yet."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Expansion, Keys
from graphsearch.model import Relation, View, validation
from graphsearch.stores.in_memory.index import Rows, Table
from graphsearch.stores.in_memory.reading import Ground
from graphsearch.stores.in_memory.state import State


@attrs.frozen(eq=False)
class Ends:
    """The rows of both ends of every relation."""

    source: Rows
    target: Rows

    @classmethod
    def build(cls, entities: Table, table: Table) -> Ends:
        """Of all relations."""
        relations: Sequence[Relation] = table.items
        size = len(relations)
        return cls(
            source=np.fromiter((entities.row_of[relation.source_id] for relation in relations), np.int64, size),
            target=np.fromiter((entities.row_of[relation.target_id] for relation in relations), np.int64, size),
        )


def related(state: State, keys: Keys, view: View) -> Expansion:
    """Relations as steps, in the order of their keys."""
    ground = state.once(Ground.of)
    ends = state.derive(Ends.build, ground.entities, ground.relations)
    found = np.asarray(keys, np.int64)
    source, target = ends.source.take(found), ends.target.take(found)
    outgoing = np.ones(len(found), np.bool_)
    return ground.steps(found, target, view, starts=ground.ends.keys, start=source, outgoing=outgoing)


def unembedded_facts(state: State, after: UUID | None, limit: int) -> list[Relation]:
    """The next page, in order of id, of unretracted relations with a fact that has no vector."""
    validation.refuse("page", validation.number("limit", limit, 0))
    waiting = state.derive(_waiting, state.relations.items, state.relations.vectors)
    start = 0 if after is None else bisect_right(waiting, after)
    return [relation for key in islice(waiting, start, start + limit) if (relation := state.relations.get(key))]


def _waiting(items: Mapping[UUID, Relation], vectors: Mapping[UUID, Any]) -> list[UUID]:
    without = items.keys() - vectors.keys()  # told at once: most facts have one, where any has
    return sorted(key for key in without if items[key].fact and items[key].retracted_at is None)

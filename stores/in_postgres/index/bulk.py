"""Bulk transfer into temporary tables, and vectors carried in rows of entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.model import ElementKind, Entity, Relation, Vector
from graphsearch.stores.in_postgres.index.incoming import Columns, Incoming
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.shared.vectors import read_matrix

NUMBER: Final = attrgetter("id.int")
"""An element's id as a number, which compares and sorts ten times as fast."""


async def copy_in(session: Session, table: Incoming, columns: Columns) -> None:
    """Fill a temporary table with columns and nothing else."""
    values = [columns[name] for name in table.columns]
    lists = [each.tolist() if isinstance(each, np.ndarray) and each.ndim == 1 else each for each in values]
    await session.fill(table.name, table.columns, zip(*lists, strict=True))


async def all_new(session: Session, kind: ElementKind, elements: Sequence[Entity | Relation]) -> bool:
    """Whether none of the elements is stored, so that all may be inserted directly."""
    (none,) = await session.row(statement("none existing", kind), ids=[each.id for each in elements])
    return bool(none)


@attrs.frozen(eq=False)
class Carried:
    """The vectors of new entities, written in the entities' own rows: another row would cost as much again."""

    vectors: Mapping[UUID, Vector] = attrs.field(factory=dict)
    faults: list[str] = attrs.field(factory=list)
    """The faults of the vectors read so far."""

    @classmethod
    def of(cls, entities: Sequence[Entity], vectors: Mapping[Any, Vector], length: int) -> Carried:
        """None unless every one of the entities has a vector of this length."""
        if {getattr(vectors.get(each.id), "shape", None) for each in entities} != {(length,)}:
            return cls()
        return cls({each.id: vectors[each.id] for each in entities})

    def __len__(self) -> int:
        return len(self.vectors)

    def others(self, vectors: Mapping[Any, Vector]) -> Mapping[Any, Vector]:
        """The vectors that are not written in the entities' rows."""
        return {key: each for key, each in vectors.items() if key not in self.vectors}

    def read(self, entities: Sequence[Entity]) -> NDArray[np.float16] | None:
        """A row for each of some of the entities, or None if there are none."""
        if not self.vectors:
            return None
        ids = [each.id for each in entities]
        matrix, wrong = read_matrix(ids, [self.vectors[key] for key in ids])
        if wrong:
            self.faults.extend(wrong)
            np.nan_to_num(matrix.rows, copy=False)  # or the server would refuse these before the other faults are found
        return matrix.rows

"""The vectors of elements, and the copies of those that are in the vector index of a large scope."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphsearch.model import ElementKind
from graphsearch.stores.in_postgres.session.rows import real_array
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement

HalfMatrix: TypeAlias = NDArray[np.float16]
TOGETHER: Final = 2_000
"""The most vectors of one statement."""


async def put_vectors(
    session: Session, kind: ElementKind, keys: Sequence[Any], rows: HalfMatrix, *, fresh: bool = False
) -> None:
    """Store vectors of elements, a row each; ``fresh`` states that none of them has one yet."""
    index, there = session.vector_index(kind), 0
    for at in range(0, len(keys), TOGETHER):
        ids, numbers = keys[at : at + TOGETHER], real_array(rows[at : at + TOGETHER])
        values = {"ids": list(ids), "numbers": numbers, "length": session.dimensions}
        if session.tally(kind).vectors and not fresh:
            there += (await session.row(statement("vectors there", kind), ids=list(ids)))[0]
        if there and index.part is not None:
            changed = await session.column(statement("changed vectors", kind), **values)
            session.run_later(statement("drop copies", kind), ids=changed, part=index.part)
        session.run_later(statement("put vectors", kind), **values, generation=index.generation)
        if len(keys) > TOGETHER:
            await session.flush()
    if len(keys) > there:
        session.run_later(statement("count vectors", kind), step=len(keys) - there)


async def drop_vectors(session: Session, kind: ElementKind, ids: Collection[Any]) -> None:
    """Drop vectors and their copies."""
    deleted = (await session.run(statement("drop vectors", kind), ids=list(ids))).count
    part = session.vector_index(kind).part
    if part is not None:
        session.run_later(statement("drop copies", kind), ids=list(ids), part=part)
    if deleted:
        session.run_later(statement("count vectors", kind), step=-deleted)

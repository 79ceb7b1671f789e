"""The nearest vectors of a scope: by its part of the vector index where it has one, else exactly.

The index returns candidates, which are ranked by their exact distance, together with the vectors that are not in it.
How many candidates it takes to find the ten nearest depends on the vectors, and is measured when the index is built
(`index.vector_index`). An answer is only taken from the index if it is safe:

* The part returned as many candidates as requested. A part that was dropped since the transaction began, or whose graph
  does not lead to enough vectors, returns fewer.
* The view hides few of the candidates. Otherwise the last hit is far down among them, where the index misses more, and
  proportionally more candidates are requested.

In all other cases, and where so many candidates would take as long, the scope is searched exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from graphsearch.columns import Hits
from graphsearch.model import ElementKind, View
from graphsearch.stores.in_postgres import rows
from graphsearch.stores.in_postgres.session.sessions import Session, VectorIndex
from graphsearch.stores.in_postgres.session.statements import statement

PER_CANDIDATE: Final = 50
"""An exact search computes half as many distances in the time in which the index finds one candidate."""
_PER_HIT: Final = 4
"""The fewest candidates requested for each hit."""
_MORE: Final = 4
"""The factor by which more candidates are requested."""


def affordable(candidates: int, vectors: int) -> bool:
    """Whether the index finds so many candidates in half of the time that an exact search takes, or less."""
    return candidates * PER_CANDIDATE <= vectors


async def nearest(
    session: Session, kind: ElementKind, vector: str, *, limit: int, view: View, exact: bool = False
) -> Hits:
    """The elements of a kind with the nearest vectors, nearest first; exactly these if ``exact``."""
    values = {"vector": vector, "limit": limit, **rows.view_values(view)}
    index = session.vector_index(kind)
    if not exact and index.part is not None and limit:
        hits = await _by_index(session, kind, index, values)
        if hits is not None:
            return hits
    candidates: int | None = _PER_HIT * limit + 10
    while True:
        *columns, found = await _run(session, kind, "nearest exactly", **values, candidates=candidates)
        hits = hits_of(kind, columns)
        if candidates is None or len(hits) >= limit or found < candidates:
            return hits
        candidates = None  # the view hides most of them


async def _by_index(session: Session, kind: ElementKind, index: VectorIndex, values: dict[str, Any]) -> Hits | None:
    """The hits, or None where the index does not answer."""
    limit = values["limit"]
    candidates = max(index.candidates, _PER_HIT * limit)
    while affordable(candidates, session.tally(kind).vectors):
        *columns, found, depth = await _run(
            session,
            kind,
            "nearest by index",
            **values,
            dimensions=session.dimensions,
            part=index.part,
            generation=index.generation,
            candidates=candidates,
        )
        if found < candidates:
            return None
        hits = hits_of(kind, columns)
        if len(hits) == limit and depth * index.candidates <= 2 * limit * candidates:
            return hits
        candidates *= _MORE
    return None


async def _run(session: Session, kind: ElementKind, name: str, **values: Any) -> tuple[Any, ...]:
    unmoved = kind is ElementKind.ENTITY and session.tally(kind).behind
    query = statement(name, kind, unsettled=unmoved)
    (row,) = await session.rows_kept(query, **values)
    return row


def hits_of(kind: ElementKind, columns: Sequence[bytes]) -> Hits:
    """The hits of a statement that returns keys, signatures, values and importance as byte strings."""
    ids, signatures, values, importance = columns
    return Hits(
        keys=rows.keys_of(kind, ids),
        signatures=rows.codes(signatures),
        values=rows.floats(values),
        importance=rows.floats(importance),
    )


def literal_vector(vector: np.ndarray[Any, np.dtype[np.float32]]) -> str:
    """A vector as the server reads it, with all digits of its numbers."""
    return "[" + ",".join([f"{number:.9g}" for number in vector.tolist()]) + "]"

"""The nearest vectors of a scope: by its part of the vector index where it has one, else exactly.

The index returns candidates, which are ranked by their exact distance, together with the vectors that are not in it. A
few are enough where the nearest stand out from the others, as they do from most questions; both is measured when the
index is built (`index.vector_index`). An answer is only taken from the index if it is safe:

* The part returned as many candidates as requested. A part that was dropped since the transaction began, or whose graph
  does not lead to enough vectors, returns fewer.
* The nearest in view stand out, or the candidates are as many as are enough from anywhere. If the view hides many, the
  last hit is far down among them, where the index misses more, and more are requested.

In all other cases, and where so many candidates would take longer, the scope is searched exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from graphsearch.columns import Hits
from graphsearch.model import ElementKind, View
from graphsearch.stores.in_postgres.session import rows
from graphsearch.stores.in_postgres.session.sessions import Session, VectorIndex
from graphsearch.stores.in_postgres.session.statements import statement

FEW: Final = 200
"""The number of candidates that the index is asked for first."""
NEAREST: Final = 10
"""The number of neighbours that are to be found."""
PER_CANDIDATE: Final = 40
"""An exact search compares so many vectors in the time in which the index finds one candidate."""
_PER_HIT: Final = 2
"""The fewest candidates requested of the index for each hit."""
_MORE: Final = 4
"""The candidates of an exact search for each hit, and the factor by which more are requested of the index."""


def affordable(candidates: int, vectors: int) -> bool:
    """Whether the index finds so many candidates sooner than an exact search."""
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
    candidates: int | None = _MORE * limit + 10
    while True:
        *columns, found = await _run(session, kind, "nearest exactly", **values, candidates=candidates)
        hits = hits_of(kind, columns)
        if candidates is None or len(hits) >= limit or found < candidates:
            return hits
        candidates = None  # the view hides most of them


async def _by_index(session: Session, kind: ElementKind, index: VectorIndex, values: dict[str, Any]) -> Hits | None:
    """The hits, or None where the index does not answer."""
    limit, sure = values["limit"], index.candidates
    candidates = max(min(FEW, sure or FEW), _PER_HIT * limit)
    indexed = {"dimensions": session.dimensions, "part": index.part, "generation": index.generation}
    while affordable(candidates, session.tally(kind).vectors):
        answer = await _run(session, kind, "nearest by index", **values, **indexed, candidates=candidates)
        *columns, found, last, depth = answer
        if found < candidates:
            return None
        hits = hits_of(kind, columns)
        enough = sure and depth * sure <= 2 * limit * candidates
        if len(hits) == limit and (enough or hits.values[:NEAREST][-1] <= index.bound * last):
            return hits
        if not sure:
            return None
        candidates = sure if candidates < sure else _MORE * candidates
    return None


async def _run(session: Session, kind: ElementKind, name: str, **values: Any) -> tuple[Any, ...]:
    (row,) = await session.rows_kept(statement(name, kind), **values)
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

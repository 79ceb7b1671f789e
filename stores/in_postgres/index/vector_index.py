"""The vectors of elements, the nearest of them, and the vector index of a large scope.

A scope of up to `EXACT_UNTIL` vectors of a kind is searched exactly. A larger one gets an HNSW index that holds nothing
but its vectors, in a part of a partitioned table: in an index that scopes share, a search finds the vectors of others
first. The functions that the database runs for this are in ``migrations/0001_initial.sql``.

The index returns candidates, which are ranked by their exact distance, together with the vectors that are not in it. A
few are enough where the nearest stand out from the others, as they do from most questions. An answer is only taken from
the index if it is safe:

* The part returned as many candidates as requested. A part that was dropped since the transaction began, or whose graph
  does not lead to enough vectors, returns fewer.
* The nearest in view stand out, or the candidates are as many as are enough from anywhere. If the view hides many, the
  last hit is far down among them, where the index misses more, and more are requested.

In all other cases, and where so many candidates would take longer, the scope is searched exactly.

How many candidates an index must return to find the ten nearest vectors depends on how the vectors lie and where the
question does. So each new index is calibrated: searched from sample points near vectors, between them and far from all,
to find how far the nearest must stand out for `FEW` candidates to be enough, and how many are enough from anywhere. An
index that would seldom answer sooner than an exact search is discarded, and tried again when the scope has doubled.

On a cluster every scope is searched exactly: a part would be made on every node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Hits
from graphsearch.model import ElementKind, View
from graphsearch.stores.in_postgres.session import rows
from graphsearch.stores.in_postgres.session.sessions import Session, VectorIndex
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.session.watching import answered_within

TOGETHER: Final = 2_000
"""The most vectors of one statement."""


async def put_vectors(
    session: Session, kind: ElementKind, keys: Sequence[Any], matrix: NDArray[np.float16], *, fresh: bool
) -> None:
    """Store vectors of elements, a row each; ``fresh`` states that none of them has one yet."""
    index, there = session.vector_index(kind), 0
    for at in range(0, len(keys), TOGETHER):
        ids, numbers = keys[at : at + TOGETHER], rows.real_array(matrix[at : at + TOGETHER])
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
    query = statement("remove rows", kind, table=f"{kind}_embedding", column="id")
    deleted = (await session.run(query, ids=list(ids))).count
    part = session.vector_index(kind).part
    if part is not None:
        session.run_later(statement("drop copies", kind), ids=list(ids), part=part)
    if deleted:
        session.run_later(statement("count vectors", kind), step=-deleted)


# -- the nearest ---------------------------------------------------------------------------------------------------

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


async def nearest(session: Session, kind: ElementKind, vector: str, *, limit: int, view: View, exact: bool) -> Hits:
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


# -- the index of a large scope ------------------------------------------------------------------------------------

EXACT_UNTIL: Final = 5_000
"""The number of vectors of a kind up to which a scope has no index."""
MOST_DIMENSIONS: Final = 4_000
"""The longest vectors that an HNSW index holds as float16."""
_EXTENDED: Final = 8
"""An index that one vector in this many would be added to is built anew: adding one costs as much as building eight."""
_OUTGROWN: Final = 2
"""The factor of growth by which an index, or the finding that none is worth having, is out of date."""

CANDIDATES: Final = (100, FEW, 400, 800, 1_600, 3_200)
"""The numbers of candidates that an index is calibrated with."""
BOUNDS: Final = (0.9, 0.85, 0.8, 0.75, 0.7)
"""The distances of the tenth, as shares of the last candidate's, up to which the nearest may be found to stand out."""
RECALL: Final = 0.98
"""The least recall from sample points; a search promises 0.95."""
_MOST: Final = 0.75
"""The least share of the points near and between vectors from which the nearest must stand out."""
_SAMPLES: Final = 20
"""The sample points of each kind."""
_ROUNDING: Final = 1e-6


async def settle_vectors(session: Session, kind: ElementKind) -> int:
    """Bring the vector index of a scope up to date; return the number of vectors added to it."""
    if session.distributed:
        return 0
    vectors, index = session.tally(kind).vectors, session.vector_index(kind)
    if vectors <= EXACT_UNTIL or (session.dimensions or 0) > MOST_DIMENSIONS:
        await forget_vector_indexes(session, [kind])
        return 0
    if index.part is None:
        return await _build(session, kind) if vectors > _OUTGROWN * index.built else 0
    (new,) = await session.row(statement("count new vectors", kind), generation=index.generation)
    if new * _EXTENDED > vectors - new or vectors > _OUTGROWN * index.built:
        return new if await _build(session, kind) else 0
    if new:
        await session.run(statement("extend vector index", kind))
    return int(new)


async def forget_vector_indexes(session: Session, kinds: Iterable[ElementKind] = ElementKind) -> None:
    """Let a scope be searched exactly until its vectors are settled."""
    for kind in kinds:
        if session.vector_index(kind).built:
            await session.run(statement("keep vector index", kind), candidates=None, bound=0.0)


async def _build(session: Session, kind: ElementKind) -> int:
    """Build and calibrate an index; return the number of vectors in it, 0 if it is not worth having."""
    vectors = session.tally(kind).vectors
    with answered_within(session.connection, None):  # as long as it takes
        (part,) = await session.row(statement("build vector index", kind))
    candidates, bound = await _calibrate(session, kind, part, vectors)
    await session.run(statement("keep vector index", kind), candidates=candidates, bound=bound)
    return vectors if candidates is not None else 0


async def _calibrate(session: Session, kind: ElementKind, part: int, vectors: int) -> tuple[int | None, float]:
    """How many candidates are enough from anywhere, and the bound at which few are.

    The number is 0 if the index finds none that is enough, None if few are seldom enough either.
    """
    sample = await session.rows(statement("sample of vectors", kind), limit=2 * _SAMPLES)
    points = [literal_vector(point) for point in sample_points(np.array([row for (row,) in sample], np.float32))]
    exact = await session.column(statement("nearest distances", kind), vectors=points, limit=NEAREST)
    values = {"vectors": points, "farthest": [most + _ROUNDING for most in exact], "dimensions": session.dimensions}
    kept, bound = None, 0.0
    await session.run(statement("by index alone"))
    for candidates in CANDIDATES:
        if not affordable(candidates, vectors):
            break
        query = statement("indexed distances", kind)
        found = await session.rows_kept(query, **values, part=part, candidates=candidates)
        if len(found) < len(points):
            continue
        near, tenth, last = np.array(found, np.float64).T
        if candidates == FEW:
            shares = tenth / np.maximum(last, _ROUNDING)
            bound = bound_of(shares, near / NEAREST)
            kept = 0 if np.mean(shares[: len(points) // 2] <= bound) >= _MOST else None
        if (near.reshape(4, -1).mean(axis=1) >= RECALL * NEAREST).all():
            return candidates, bound
    return kept, bound


def bound_of(shares: NDArray[np.float64], recalls: NDArray[np.float64]) -> float:
    """The greatest share of the last distance that the tenth may have for few candidates to be enough; 0 if none is."""
    taken = ((bound, recalls[shares <= bound]) for bound in BOUNDS)
    return next((bound for bound, found in taken if len(found) and found.mean() >= RECALL), 0.0)


def sample_points(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit vectors near some of these, between two of them, opposite to them, and in any direction: as many of each."""
    random = np.random.default_rng(1_733)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    half = max(1, len(units) // 2)
    some, others = units[:half], units[-half:]
    noise = random.standard_normal((2, *some.shape)).astype(np.float32)
    noise /= np.linalg.norm(noise, axis=2, keepdims=True)
    near, far = some + 0.3 * noise[0], noise[1]
    points = np.concatenate([near, some + others + 1e-3 * noise[0], -some + 0.1 * noise[0], far])
    directions: NDArray[np.float32] = points / np.linalg.norm(points, axis=1, keepdims=True)
    return directions

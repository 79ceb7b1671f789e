"""The vector index of a large scope: when it is built, extended, calibrated and dropped.

A scope of up to `EXACT_UNTIL` vectors of a kind is searched exactly. A larger one gets an HNSW index that holds nothing
but its vectors, in a part of a partitioned table: in an index that scopes share, a search finds the vectors of others
first. The functions that the database runs for this are in ``migrations/0002_vector_index.sql``.

How many candidates an index must return to find the ten nearest vectors depends on how the vectors lie: 40 are enough
for most embeddings, 800 for 20,000 random directions, and hardly any number for one tight cluster. So each new index is
calibrated: searched from sample points near vectors, between them and far from all, with more and more candidates until
it finds what an exact search finds. An index that does not, or not sooner than an exact search, is discarded, and the
scope is searched exactly until it has doubled.

On a cluster every scope is searched exactly. A part would be made on every node, and an index that the scopes of a
shard share would not find what a search promises.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphsearch.model import ElementKind
from graphsearch.stores.in_postgres.index.nearest import affordable, literal_vector
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.session.watching import answered_within

EXACT_UNTIL: Final = 5_000
"""The number of vectors of a kind up to which a scope has no index."""
MOST_DIMENSIONS: Final = 4_000
"""The longest vectors that an HNSW index holds as float16."""
_EXTENDED: Final = 8
"""An index that one vector in this many would be added to is built anew: adding one costs as much as building eight."""
_OUTGROWN: Final = 2
"""The factor of growth by which an index, or the finding that none is worth having, is out of date."""

CANDIDATES: Final = (40, 100, 200, 400, 800, 1_600, 3_200)
"""The numbers of candidates that an index is calibrated with."""
NEAREST: Final = 10
"""The number of neighbours by which recall is measured."""
RECALL: Final = 0.99
"""The least recall of each kind of sample point; a search promises 0.95."""
_SAMPLES: Final = 12
"""The sample points of each kind."""
_ROUNDING: Final = 1e-6


async def settle_vectors(session: Session, kind: ElementKind) -> int:
    """Bring the vector index of a scope up to date; return the number of vectors added to it."""
    if session.distributed:
        return 0
    vectors, index = session.tally(kind).vectors, session.vector_index(kind)
    if vectors <= EXACT_UNTIL or (session.dimensions or 0) > MOST_DIMENSIONS:
        await _drop(session, kind)
        return 0
    if session.tally(kind).behind:  # a bulk write came in between, with vectors in rows of entities
        return 0
    if index.part is None:
        return await _build(session, kind) if vectors > _OUTGROWN * index.built else 0
    (new,) = await session.row(statement("count new vectors", kind), generation=index.generation)
    if new * _EXTENDED > vectors - new or vectors > _OUTGROWN * index.built:
        return new if await _build(session, kind) else 0
    if new:
        await session.run(statement("extend vector index", kind))
    return int(new)


async def drop_vector_indexes(session: Session) -> None:
    """Let a scope be searched exactly."""
    for kind in ElementKind:
        await _drop(session, kind)


async def forget_vector_indexes(session: Session) -> None:
    """Let a scope be searched exactly until its vectors, which are about to be replaced, are settled."""
    for kind in ElementKind if not session.distributed else ():
        if kind.value in session.vector_indexes:
            await session.run(statement("forget vector index", kind))


async def _drop(session: Session, kind: ElementKind) -> None:
    if session.vector_index(kind).part is not None:
        await session.run(statement("keep vector index", kind), candidates=None)


async def _build(session: Session, kind: ElementKind) -> int:
    """Build and calibrate an index; return the number of vectors in it, 0 if it is not worth having."""
    vectors = session.tally(kind).vectors
    with answered_within(session.connection, None):  # as long as it takes
        (part,) = await session.row(statement("build vector index", kind))
    candidates = await _calibrate(session, kind, part, vectors)
    await session.run(statement("keep vector index", kind), candidates=candidates)
    return vectors if candidates is not None else 0


async def _calibrate(session: Session, kind: ElementKind, part: int, vectors: int) -> int | None:
    """The fewest candidates with which the index finds enough from every kind of sample point; None if it does not."""
    sample = await session.rows(statement("sample of vectors", kind), limit=2 * _SAMPLES)
    points = [literal_vector(point) for point in sample_points(np.array([row for (row,) in sample], np.float32))]
    exact = await session.rows(statement("nearest distances", kind), vectors=points, limit=NEAREST)
    farthest = np.array([distances[-1] for (distances,) in exact]) + _ROUNDING
    await session.run(statement("by index alone"))
    for candidates in CANDIDATES:
        if not affordable(candidates, vectors):
            break
        values = {"vectors": points, "part": part, "dimensions": session.dimensions, "candidates": candidates}
        found = await session.rows_kept(statement("indexed distances", kind), **values)
        if len(found) < len(points):
            continue
        met = [np.sum(np.array(each[:NEAREST]) <= most) for (each,), most in zip(found, farthest, strict=True)]
        if (np.reshape(met, (4, -1)).mean(axis=1) >= RECALL * NEAREST).all():
            return candidates
    return None


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

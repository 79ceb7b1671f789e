"""The vectors of elements, and the copies of those that are in the vector index of a large scope."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from graphsearch.model import ElementKind
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.writer.vectors import Matrix


async def put_vectors(session: Session, kind: ElementKind, vectors: Matrix, *, fresh: bool = False) -> None:
    """Store vectors of elements; ``fresh`` states that none of them has one yet."""
    if not len(vectors):
        return
    columns = {"id": "text" if kind is ElementKind.MEMORY else "uuid", "embedding": "halfvec"}
    await session.fill(f"incoming_{kind}_embedding", columns, zip(vectors.keys, vectors.rows, strict=True))
    index = session.vector_index(kind)
    there = 0
    if not fresh and session.tally(kind).vectors:
        (there,) = await session.row(statement("vectors there", kind))
    if there and index.part is not None:
        session.run_later(statement("delete copies of changed vectors", kind), part=index.part)
    name = "upsert vectors" if there else "insert vectors"
    session.run_later(statement(name, kind), dimensions=session.dimensions, generation=index.generation)
    if len(vectors) > there:
        session.run_later(statement("count vectors", kind), step=len(vectors) - there)


async def drop_vectors(session: Session, kind: ElementKind, ids: Collection[Any]) -> None:
    """Drop vectors and their copies."""
    values = {"ids": list(ids)}
    deleted = (await session.run(statement("delete rows", kind, table=f"{kind}_embedding", key="id"), **values)).count
    part = session.vector_index(kind).part
    if part is not None:
        session.run_later(statement("delete copies", kind), **values, part=part)
    if deleted:
        session.run_later(statement("count vectors", kind), step=-deleted)

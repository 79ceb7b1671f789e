"""Writing elements as if all of them were new: to look for each first takes a third of a write into a large scope."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from psycopg.errors import UniqueViolation

from graphsearch.model import ElementKind, Entity, Relation
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement

Written = TypeVar("Written")

LOOKED_FOR: Final = 1_000
"""Of many elements, how many are looked for before all are taken for new."""


async def as_new(
    session: Session,
    kind: ElementKind,
    elements: Sequence[Entity | Relation],
    put: Callable[[bool], Awaitable[Written]],
) -> Written:
    """What ``put`` gives when it is told whether all the elements are new, and so may be inserted as they are.

    Where it was told so in vain the server refuses the first that is not, and all is put again.
    """
    some = elements[:: max(1, len(elements) // LOOKED_FOR)]
    empty, none = await session.columns(statement("none existing", kind), ids=[each.id for each in some])
    if empty or not none or len(some) == len(elements):
        return await put(bool(none))
    filled = set(session.filled)
    try:
        async with session.connection.transaction():
            return await put(True)
    except UniqueViolation as error:
        if error.diag.constraint_name != f"{kind}_pkey":
            raise
        session.filled = filled
    return await put(False)

"""What relations tell of their ends, so that a walk need not look at each entity that it leads to.

The traits of an entity are its signature and its importance. A relation has those of both ends once it is settled, but
of an end that not every view shows, or that is younger than the relation: such an entity is looked at.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement


async def tell(session: Session, entity_ids: Collection[UUID]) -> None:
    """Let relations tell what some of their ends are by now."""
    if entity_ids:
        for name in ("tell of sources", "tell of targets"):
            await session.run(statement(name), ids=list(entity_ids))

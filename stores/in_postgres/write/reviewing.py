"""Proposals in Postgres."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from graphsearch.model import validation
from graphsearch.model.codec import decode, encode
from graphsearch.model.proposals import Proposal, ProposalState
from graphsearch.protocols import Reviewing
from graphsearch.stores.in_postgres.base import PostgresScope
from graphsearch.stores.in_postgres.session.statements import statement


class PostgresReviewing(PostgresScope, Reviewing):
    """A row for each proposal, which writers of the graph do not wait for."""

    async def propose(self, proposal: Proposal) -> None:
        async with self._writing(create=True, alone=False) as session:
            await session.run(statement("propose"), **_row(proposal))

    async def proposals(
        self,
        ids: Sequence[UUID] | None = None,
        *,
        state: ProposalState | None = None,
        after: UUID | None = None,
        limit: int = 1_000,
    ) -> Sequence[Proposal]:
        async with self._reading() as session:
            validation.refuse("page", validation.number("limit", limit, 0))
            wanted = {"ids": None if ids is None else list(ids), "state": state, "after": after, "limit": limit}
            rows = await session.rows(statement("proposals"), **wanted)
            return [decode(Proposal, content) for (content,) in rows]

    async def decide(self, before: Proposal, after: Proposal) -> bool:
        async with self._writing(alone=False) as session:
            was = {"was": before.state, "since": before.decided_at}
            values = {**_row(after), "id": before.id}
            return (await session.run(statement("decide"), **values, **was)).count == 1


def _row(proposal: Proposal) -> dict[str, Any]:
    """A proposal as a row; the columns beside the content are those that it is found by."""
    found_by = {name: getattr(proposal, name) for name in ("id", "created_at", "state", "decided_at")}
    return {**found_by, "content": json.dumps(encode(proposal))}

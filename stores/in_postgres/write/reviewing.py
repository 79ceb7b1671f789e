"""Proposals in Postgres."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import attrs

from graphsearch.model import Principal, Scope, validation
from graphsearch.model.proposals import Proposal, ProposalState
from graphsearch.protocols import Reviewing
from graphsearch.stores.in_postgres.base import PostgresScope
from graphsearch.stores.in_postgres.session.statements import statement

_COLUMNS = ("id", "created_at", "state", "decided_at")


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
            return [_proposal_of(row) for row in await session.dicts(statement("proposals"), **wanted)]

    async def decide(self, before: Proposal, after: Proposal) -> bool:
        async with self._writing(alone=False) as session:
            was = {"was": before.state, "since": before.decided_at}
            values = {**_row(after), "id": before.id}
            return (await session.run(statement("decide"), **values, **was)).rowcount == 1


def _row(proposal: Proposal) -> dict[str, Any]:
    fields = attrs.asdict(proposal)
    content = {name: fields.pop(name) for name in list(fields) if name not in _COLUMNS}
    return {**fields, "content": json.dumps(content, default=dict)}


def _proposal_of(row: dict[str, Any]) -> Proposal:
    fields = {**row.pop("content"), **row, "state": ProposalState(row["state"])}
    who = fields["principal"]
    principal = Principal(**{**who, "projects": [Scope(**each) for each in who["projects"]]})
    return Proposal(**{**fields, "principal": principal})

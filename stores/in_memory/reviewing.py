"""Proposals in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from graphsearch.model import validation
from graphsearch.model.proposals import Proposal, ProposalState
from graphsearch.protocols import Reviewing
from graphsearch.stores.in_memory.base import InMemoryScope


class InMemoryReviewing(InMemoryScope, Reviewing):
    """Proposals by id, in the state of the scope."""

    async def propose(self, proposal: Proposal) -> None:
        async with self._draft(create=True) as draft:
            if proposal.id not in draft.proposals:
                draft.proposals.set(proposal.id, proposal)

    async def proposals(
        self,
        ids: Sequence[UUID] | None = None,
        *,
        state: ProposalState | None = None,
        after: UUID | None = None,
        limit: int = 1_000,
    ) -> Sequence[Proposal]:
        validation.refuse("page", validation.number("limit", limit, 0))
        stored = sorted(self._state.proposals.values(), key=_age)
        last = None if after is None else self._state.proposals.get(after)
        found = [each for each in stored if state in (None, each.state) and (ids is None or each.id in ids)]
        if after is not None:
            found = [each for each in found if last is not None and _age(each) > _age(last)]
        return found[:limit]

    async def decide(self, before: Proposal, after: Proposal) -> bool:
        async with self._draft() as draft:
            stored = draft.proposals.get(before.id)
            if stored is None or (stored.state, stored.decided_at) != (before.state, before.decided_at):
                return False
            draft.proposals.set(before.id, after)
            return True


def _age(proposal: Proposal) -> tuple[datetime, UUID]:
    return proposal.created_at, proposal.id

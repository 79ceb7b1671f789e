"""Proposals: calls of operations that wait for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from graphsearch.model.proposals import Proposal, ProposalState
from graphsearch.protocols.effects import changes, reads


class Reviewing(Protocol):
    """Proposals lie beside the graph: no other read shows or counts them, and `records` leaves them out.

    They are removed with their scope alone; forgetting does not reach the request of one that waits.
    """

    @changes("proposals")
    async def propose(self, proposal: Proposal) -> None:
        """Store a new proposal, in a scope that is created if it does not exist; one of a known id changes nothing."""

    @reads
    async def proposals(
        self,
        ids: Sequence[UUID] | None = None,
        *,
        state: ProposalState | None = None,
        after: UUID | None = None,
        limit: int = 1_000,
    ) -> Sequence[Proposal]:
        """Proposals, the oldest first: of some ids, in a state, and after the one with the id ``after``."""
        ...

    @changes("proposals")
    async def decide(self, before: Proposal, after: Proposal) -> bool:
        """Put ``after`` in the place of ``before``, if that is still in its state of the same time; return whether.

        Of several who decide at once one does.
        """
        ...

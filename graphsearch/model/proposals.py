"""Calls of operations that wait for a person, who accepts or rejects them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import attrs

from graphsearch.model import validation as check
from graphsearch.model.validation import NOTHING, checked, read_only, sorted_distinct
from graphsearch.model.views import Principal


class ProposalState(StrEnum):
    """What became of a proposal."""

    WAITING = "waiting"
    RUNNING = "running"
    """Accepted by somebody, and being run; for long only where the process ended in the middle."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@attrs.frozen(kw_only=True)
@checked(
    "proposal {0.id}",
    lambda each: "what has ended must have no request" if each.has_ended and (each.request or each.labels) else None,
    operation=check.name,
    principal=Principal,
    state=partial(check.one_of, choices=tuple(ProposalState)),
    comment=check.line,
)
class Proposal:
    """A call of an operation: who proposed it, and what was decided.

    ``request`` is the JSON of its arguments, and ``labels`` are those in it; both are empty once it has ended, so that
    nothing of a rejected text is kept. ``outcome`` has ids and numbers, never text of the graph. ``decided_by`` is a
    `Principal.qualified_id`, and ``comment`` the words of that principal.
    """

    id: UUID = attrs.field(factory=uuid4)
    operation: str
    request: Mapping[str, Any] = attrs.field(default=NOTHING, converter=read_only, hash=False)
    labels: tuple[str, ...] = attrs.field(default=(), converter=sorted_distinct)
    had_labels: bool = attrs.field(default=attrs.Factory(lambda self: bool(self.labels), takes_self=True))
    principal: Principal
    created_at: datetime
    state: ProposalState = ProposalState.WAITING
    decided_by: str = ""
    decided_at: datetime | None = None
    comment: str = ""
    outcome: Mapping[str, Any] = attrs.field(default=NOTHING, converter=read_only, hash=False)

    @property
    def proposed_by(self) -> str:
        """`Principal.qualified_id` of whoever proposed it."""
        return self.principal.qualified_id

    @property
    def has_ended(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.state in (ProposalState.ACCEPTED, ProposalState.REJECTED)

    def end(self, state: ProposalState, outcome: Mapping[str, Any] = NOTHING) -> Proposal:
        """The proposal once it has ended, of whose request nothing is kept."""
        return attrs.evolve(self, state=state, request={}, labels=(), outcome=outcome)


@attrs.frozen(kw_only=True)
class Proposed:
    """What is answered to a call that waits for review, in place of its result."""

    proposed: UUID
    waits_for: str = "review"

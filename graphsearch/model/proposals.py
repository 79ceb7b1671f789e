"""Calls of operations that wait for a person, who accepts or rejects them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

import attrs

from graphsearch.model import validation as check
from graphsearch.model.validation import NOTHING, read_only
from graphsearch.model.views import Principal


class ProposalState(StrEnum):
    """What became of a proposal."""

    WAITING = "waiting"
    RUNNING = "running"
    """Accepted by somebody, and being run; for long only where the process ended in the middle."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"


ENDED = (ProposalState.ACCEPTED, ProposalState.REJECTED)


def _as_stored(value: Any) -> Any:
    """JSON as every store gives it back; what is none stays, for a validator to report."""
    try:
        return read_only(json.loads(json.dumps(value, default=dict)))
    except (TypeError, ValueError, RecursionError):
        return value


@attrs.frozen(kw_only=True)
class Proposal:
    """A call of an operation: who proposed it, and what was decided.

    ``request`` is what the client gave, validated by the operation; it is empty once the proposal has ended, so that
    nothing of a rejected text is kept. ``outcome`` has ids and numbers, never text of the graph. ``decided_by`` is a
    `Principal.qualified_id`, and ``reason`` the words of that principal.
    """

    id: UUID = attrs.field(factory=uuid4)
    operation: str
    request: Mapping[str, Any] = attrs.field(default=NOTHING, converter=_as_stored, hash=False)
    principal: Principal
    created_at: datetime
    state: ProposalState = ProposalState.WAITING
    decided_by: str = ""
    decided_at: datetime | None = None
    reason: str = ""
    outcome: Mapping[str, Any] = attrs.field(default=NOTHING, converter=_as_stored, hash=False)

    def __attrs_post_init__(self) -> None:
        check.refuse(
            f"proposal {self.id}",
            check.identifier("id", self.id),
            check.name("operation", self.operation),
            check.json_object("request", self.request),
            None if isinstance(self.principal, Principal) else "principal must be a Principal",
            check.moment("created_at", self.created_at),
            check.one_of("state", self.state, tuple(ProposalState)),
            check.text("decided_by", self.decided_by, empty=True),
            check.instant("decided_at", self.decided_at),
            check.text("reason", self.reason, empty=True, longest=check.LONGEST_LINE),
            check.json_object("outcome", self.outcome),
            "the request of what has ended must be empty" if self.request and self.state in ENDED else None,
        )

"""Learning from use: what was surfaced to sessions, their outcomes, and the health that weights the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from graphsearch.model import ElementRef, FeedbackReport, HealthRecord, Injection, Outcome, OutcomeRecord
from graphsearch.protocols.effects import changes, reads

HEALTH_RECORDS: Final = 16
"""Most records of health that a scope keeps."""


class Learning(Protocol):
    """What weights answers: outcomes of sessions and a log of what these were shown, and the health of the graph."""

    @changes("injections")
    async def log_injection(self, injection: Injection) -> None:
        """Record the elements surfaced to a session; recording the same id again changes nothing.

        The first injection of a session opens it for its principal: of several principals who try at the same moment,
        one does. Raises `ForeignSessionError` for an injection of another principal, and records nothing of it. A
        session keeps its owner until the scope is removed, even when all that was surfaced to it is forgotten.
        """

    @reads
    async def injections(self, session_id: str) -> Sequence[Injection]:
        """The recorded injections of a session, oldest first; all are of the principal who opened it."""
        ...

    @changes("entities", "relations", "memories", only="elements")
    async def apply_outcome(
        self, session_id: str, outcome: Outcome, elements: Sequence[ElementRef], *, logged: Sequence[str] = ()
    ) -> FeedbackReport:
        """Move the feedback weights of elements, exactly once per (session, element).

        A first outcome y changes the weight w to α·y + (1 − α)·w, an exponentially weighted mean with α = 0.1. A later
        outcome of the same session replaces the first, as if it had been the only one.

        ``logged`` are the ids of the injections that surfaced them. Where one of these is not in the session's log, the
        scope was removed and made anew since the log was read: nothing moves, and all elements are missing.
        """
        ...

    @reads
    async def outcomes(self, elements: Sequence[ElementRef]) -> Sequence[OutcomeRecord]:
        """The outcomes that moved the weights of elements, by (element, seq)."""
        ...

    @reads
    async def health_history(self) -> Sequence[HealthRecord]:
        """What `record_health` has stored, the oldest first; the last one is the present health."""
        ...

    @changes("health")
    async def record_health(self, record: HealthRecord) -> None:
        """Store the health that a graph has now.

        At most `HEALTH_RECORDS` are kept, each of at least 1.25 times as many memories as the one before, or fewer; the
        last one is replaced until it is.
        """

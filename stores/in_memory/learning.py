"""Injections, and feedback weights moved by outcomes, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from graphsearch.errors import ForeignSessionError
from graphsearch.model import ALPHA, ElementRef, FeedbackReport, HealthRecord, Injection, Outcome, OutcomeRecord
from graphsearch.protocols import Learning
from graphsearch.stores.in_memory.base import InMemoryScope
from graphsearch.stores.shared.answers import with_record


class InMemoryLearning(InMemoryScope, Learning):
    """A log of injections, the owners of sessions, and the outcomes of each element with their sequence numbers."""

    async def log_injection(self, injection: Injection) -> None:
        async with self._draft() as draft:
            owner = draft.owners.get(injection.session_id)
            if owner is not None and owner != injection.principal:
                raise ForeignSessionError(injection.session_id)
            if injection.id in draft.injections:
                return
            if owner is None:
                draft.owners.set(injection.session_id, injection.principal)
            draft.injections.set(injection.id, injection)

    async def injections(self, session_id: str) -> Sequence[Injection]:
        logged = [each for each in self._state.injections.values() if each.session_id == session_id]
        return sorted(logged, key=lambda injection: (injection.created_at, injection.id))

    async def apply_outcome(
        self, session_id: str, outcome: Outcome, elements: Sequence[ElementRef], *, logged: Sequence[str] = ()
    ) -> FeedbackReport:
        found: dict[str, list[ElementRef]] = {"applied": [], "replaced": [], "repeated": [], "missing": []}
        async with self._draft() as draft:
            known = (draft.injections.get(key) for key in logged)
            if not all(each is not None and each.session_id == session_id for each in known):
                return FeedbackReport(missing=tuple(sorted(set(elements))))
            for ref in sorted(set(elements)):
                kind, key = draft.of_kind[ref.kind], ref.key
                element = kind.items.get(key)
                if element is None:
                    found["missing"].append(ref)
                    continue
                past = draft.history.get(ref) or {}
                seq, before = past.get(session_id, (len(past) + 1, None))
                if before is outcome:
                    found["repeated"].append(ref)
                    continue
                stored = kind.weights.get(key)
                weight = element.feedback_weight if stored is None else stored
                if before is None:
                    found["applied"].append(ref)
                    weight = ALPHA * outcome.value + (1 - ALPHA) * weight
                else:
                    found["replaced"].append(ref)
                    weight += ALPHA * (1 - ALPHA) ** (len(past) - seq) * (outcome.value - before.value)
                kind.weights.set(key, min(max(weight, 0.0), 1.0))  # rounding may exceed the bounds
                draft.history.set(ref, {**past, session_id: (seq, outcome)})
        applied, replaced, repeated, missing = (tuple(refs) for refs in found.values())
        return FeedbackReport(applied=applied, replaced=replaced, repeated=repeated, missing=missing)

    async def outcomes(self, elements: Sequence[ElementRef]) -> Sequence[OutcomeRecord]:
        history = self._state.history
        return [
            OutcomeRecord(element=ref, session_id=session_id, seq=seq, outcome=outcome)
            for ref in sorted(set(elements))
            for session_id, (seq, outcome) in sorted(history.get(ref, {}).items(), key=lambda item: item[1][0])
        ]

    async def health_history(self) -> Sequence[HealthRecord]:
        return self._state.health

    async def record_health(self, record: HealthRecord) -> None:
        async with self._draft() as draft:
            draft.health = with_record(draft.health, record)

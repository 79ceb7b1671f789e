"""Feedback weights moved by outcomes, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from graphsearch.model import ElementRef, FeedbackReport, Outcome
from graphsearch.model.stored import StoredOutcome
from graphsearch.protocols.rows import Entry
from graphsearch.stores.in_memory.base import InMemoryScope


class InMemoryLearning(InMemoryScope):
    """The outcomes of each element with their numbers, and the weights that they moved."""

    async def apply_outcome(
        self, session_id: str, outcome: Outcome, elements: Sequence[ElementRef], *, logged: Sequence[str] = ()
    ) -> FeedbackReport:
        found: dict[str, list[ElementRef]] = {"applied": [], "replaced": [], "repeated": [], "missing": []}
        async with self.writing() as port:
            alpha, wanted = port.scope.alpha, sorted(set(elements))
            log = {row.key for row in await port.rows("injection", logged) if row.value.session_id == session_id}
            if not log.issuperset(logged):
                return FeedbackReport(missing=tuple(wanted))
            for ref in wanted:
                [row] = await port.rows(ref.kind, [ref.key]) or [None]
                if row is None:
                    found["missing"].append(ref)
                    continue
                past = {each.key[2]: each.value for each in await port.rows_by("outcome", "element", [_key(ref)])}
                before = past.get(session_id)
                if before is not None and before.outcome is outcome:
                    found["repeated"].append(ref)
                    continue
                seq, weight = before.seq if before else len(past) + 1, getattr(row, ref.kind).feedback_weight
                if before is None:
                    found["applied"].append(ref)
                    weight = alpha * outcome.value + (1 - alpha) * weight
                else:
                    found["replaced"].append(ref)
                    weight += alpha * (1 - alpha) ** (len(past) - seq) * (outcome.value - before.outcome.value)
                stored = StoredOutcome(session_id=session_id, seq=seq, outcome=outcome)
                await port.put("outcome", [Entry((*_key(ref), session_id), stored)], {})
                port.weigh(ref.kind, row, min(max(weight, 0.0), 1.0))  # rounding may exceed the bounds
        applied, replaced, repeated, missing = (tuple(refs) for refs in found.values())
        return FeedbackReport(applied=applied, replaced=replaced, repeated=repeated, missing=missing)


def _key(ref: ElementRef) -> tuple[str, str]:
    return (str(ref.kind), str(ref.id))

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
            keys = {ref: (str(ref.kind), str(ref.id)) for ref in wanted}
            given = {
                row.key: row.value for row in await port.rows("outcome", [(*key, session_id) for key in keys.values()])
            }
            past = await port.keys_of(port.before, "outcome", "element", keys.values())
            for ref, key in keys.items():
                row, old, number = port.before.get(ref.kind, ref.key), given.get((*key, session_id)), len(past[key])
                if row is None:
                    found["missing"].append(ref)
                    continue
                if old is not None and old.outcome is outcome:
                    found["repeated"].append(ref)
                    continue
                seq, weight = old.seq if old else number + 1, getattr(row, ref.kind).feedback_weight
                if old is None:
                    found["applied"].append(ref)
                    weight = alpha * outcome.value + (1 - alpha) * weight
                else:
                    found["replaced"].append(ref)
                    weight += alpha * (1 - alpha) ** (number - seq) * (outcome.value - old.outcome.value)
                stored = StoredOutcome(session_id=session_id, seq=seq, outcome=outcome)
                await port.put("outcome", [Entry((*key, session_id), stored)], {})
                port.weigh(ref.kind, row, min(max(weight, 0.0), 1.0))  # rounding may exceed the bounds
        applied, replaced, repeated, missing = (tuple(refs) for refs in found.values())
        return FeedbackReport(applied=applied, replaced=replaced, repeated=repeated, missing=missing)

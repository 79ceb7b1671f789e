"""Feedback weights moved by outcomes, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from graphsearch.model import ElementRef, FeedbackReport, Outcome
from graphsearch.model.stored import StoredOutcome
from graphsearch.model.validation import revised
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
            outcomes = dict[tuple[str, str, str], StoredOutcome]()
            index = await port.index(port.before, "outcome", "element")
            valid = StoredOutcome(session_id=session_id, seq=1, outcome=outcome)
            for ref in wanted:
                kind, key = str(ref.kind), (str(ref.kind), str(ref.id), session_id)
                row, given = port.before.get(kind, ref.key), port.before.get("outcome", key)
                if row is None:
                    found["missing"].append(ref)
                    continue
                weight, number = getattr(row, kind).feedback_weight, index.number(key[:2])
                if given is None:
                    found["applied"].append(ref)
                    outcomes[key] = revised(valid, seq=number + 1)
                    weight = alpha * outcome.value + (1 - alpha) * weight
                elif (old := given.value).outcome is outcome:
                    found["repeated"].append(ref)
                    continue
                else:
                    found["replaced"].append(ref)
                    outcomes[key] = revised(valid, seq=old.seq)
                    weight += alpha * (1 - alpha) ** (number - old.seq) * (outcome.value - old.outcome.value)
                port.weigh(kind, row, min(max(weight, 0.0), 1.0))  # rounding may exceed the bounds
            await port.put("outcome", [Entry(key, value) for key, value in outcomes.items()], {})
        applied, replaced, repeated, missing = (tuple(refs) for refs in found.values())
        return FeedbackReport(applied=applied, replaced=replaced, repeated=repeated, missing=missing)

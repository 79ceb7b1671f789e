"""Outcomes to feedback weights in memory (design 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from graphsearch.model import ElementKind, ElementRef, FeedbackReport, Outcome, OutcomeRecord
from graphsearch.stores.in_memory.state import State

ALPHA: Final = 0.1


def apply_outcome(
    state: State, session_id: str, outcome: Outcome, elements: Iterable[ElementRef]
) -> tuple[State, FeedbackReport]:
    """With a session's outcome in the weights of what was surfaced to it."""
    history = dict(state.history)
    weights = {kind: dict(state.elements(kind).weights) for kind in ElementKind}
    found: dict[str, list[ElementRef]] = {"applied": [], "replaced": [], "repeated": [], "missing": []}
    for ref in sorted(set(elements)):
        key = ref.key
        element = state.elements(ref.kind).items.get(key)
        if element is None:
            found["missing"].append(ref)
            continue
        past = history.get(ref, {})
        seq, before = past.get(session_id, (len(past) + 1, None))
        if before is outcome:
            found["repeated"].append(ref)
            continue
        weight = weights[ref.kind].get(key, element.feedback_weight)
        if before is None:
            found["applied"].append(ref)
            weight = ALPHA * outcome.value + (1 - ALPHA) * weight
        else:
            found["replaced"].append(ref)
            weight += ALPHA * (1 - ALPHA) ** (len(past) - seq) * (outcome.value - before.value)
        weights[ref.kind][key] = min(max(weight, 0.0), 1.0)  # what rounding may add beyond the bounds
        history[ref] = {**past, session_id: (seq, outcome)}
    report = FeedbackReport(
        applied=tuple(found["applied"]),
        replaced=tuple(found["replaced"]),
        repeated=tuple(found["repeated"]),
        missing=tuple(found["missing"]),
    )
    if not report.applied and not report.replaced:
        return state, report
    moved = {ref.kind for ref in (*report.applied, *report.replaced)}
    changes = {
        name: attrs.evolve(getattr(state, name), weights=weights[kind])
        for kind, name in (
            (ElementKind.ENTITY, "entities"),
            (ElementKind.RELATION, "relations"),
            (ElementKind.MEMORY, "memories"),
        )
        if kind in moved
    }
    return state.successor(history=history, **changes), report


def outcomes(state: State, elements: Sequence[ElementRef]) -> list[OutcomeRecord]:
    """The history of elements, by (element, seq)."""
    return [
        OutcomeRecord(element=ref, session_id=session_id, seq=seq, outcome=outcome)
        for ref in sorted(set(elements))
        for session_id, (seq, outcome) in sorted(state.history.get(ref, {}).items(), key=lambda item: item[1][0])
    ]

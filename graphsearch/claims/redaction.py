"""Redaction: the fold of relations restricted to visible claims, as if the others did not exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphsearch.claims.folding import DatedClaim, Period, PeriodKey, periods_of
from graphsearch.model import RelationType


def redacted_fold(
    claims: Sequence[DatedClaim], visible: Sequence[DatedClaim], relation_type: RelationType
) -> Mapping[PeriodKey, Sequence[Period]]:
    """Map each relation of a group of claims to the periods that the visible claims prove for it.

    The visible claims may prove fewer or different periods than all claims. Each is assigned to the relation with the
    same start, else to one with the same target and a common memory, preferably one without a period yet. Several
    periods share a relation only if hidden claims joined them. A relation without periods is not visible.
    """
    whole = {period.key: period.memories for period in periods_of(claims, relation_type)}
    assigned: dict[PeriodKey, list[Period]] = {key: [] for key in whole}
    for period in sorted(periods_of(visible, relation_type), key=lambda period: period.key not in whole):
        proof, own = period.memories, period.key
        akin = [key for key, memories in whole.items() if key[0] == period.target_id and proof & memories]
        assigned[own if own in akin else min(akin, key=lambda key: len(assigned[key]))].append(period)
    return assigned

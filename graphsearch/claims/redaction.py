"""What relations say by some of their claims alone: as if the others had never been made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphsearch.claims.folding import DatedClaim, Period, PeriodKey, periods_of
from graphsearch.model import RelationType


def retold(
    claims: Sequence[DatedClaim], visible: Sequence[DatedClaim], relation_type: RelationType
) -> Mapping[PeriodKey, Sequence[Period]]:
    """By relation that the claims of one group amount to: the periods that it stands for by those that are visible.

    Without the other claims there may be fewer periods, and others. Each stands under the relation of its own start,
    else under the first that has one of its memories and stands for none yet; only where what is not visible made one
    of several do two stand under one. A relation that stands for none is not there.
    """
    whole = {period.key: period.memories for period in periods_of(claims, relation_type)}
    told: dict[PeriodKey, list[Period]] = {key: [] for key in whole}
    for period in sorted(periods_of(visible, relation_type), key=lambda period: period.key not in whole):
        proof, own = period.memories, period.key
        akin = [key for key, memories in whole.items() if key[0] == period.target_id and proof & memories]
        told[own if own in akin else min(akin, key=lambda key: len(told[key]))].append(period)
    return told

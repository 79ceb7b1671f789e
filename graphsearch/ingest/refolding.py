"""What relations say by some of their claims alone: as if the others had never been made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from graphsearch.ingest.folding import DatedClaim, fold
from graphsearch.model import Relation, RelationType


def retold(
    claims: Sequence[DatedClaim], visible: Sequence[DatedClaim], relation_type: RelationType
) -> Mapping[UUID, Sequence[Relation]]:
    """By relation that the claims of one group amount to: the periods that it stands for by those that are visible.

    Without the other claims there may be fewer periods, and others. Each stands under the relation that has its id,
    else under the first that has one of its memories and stands for none yet; only where what is not visible made one
    of several do two stand under one. A relation that stands for none is not there.
    """
    whole = fold(claims, relation_type)
    told: dict[UUID, list[Relation]] = {relation.id: [] for relation in whole}
    for period in sorted(fold(visible, relation_type), key=lambda period: period.id not in told):
        proof = set(period.evidence)
        akin = [each for each in whole if each.target_id == period.target_id and not proof.isdisjoint(each.evidence)]
        stored = min(akin, key=lambda each: (each.id != period.id, len(told[each.id])))
        told[stored.id].append(period)
    return told

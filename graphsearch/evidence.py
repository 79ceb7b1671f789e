"""Relations of which only part of the evidence may be seen, told from that part alone.

A relation is the fold of its claims. Where a gate hides some of the memories behind one, or something that they were
folded together with, what is left is folded again, so that its confidence, its period and its sentence are what they
would be had the hidden never been stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import compress
from uuid import UUID

import attrs
import numpy as np

from graphsearch.gatekeeper import Gatekeeper, Judged
from graphsearch.ingest.folding import DatedClaim, Period, Types, group_of
from graphsearch.ingest.refolding import retold
from graphsearch.judges import DENIED, PARTLY
from graphsearch.model import Relation, RelationType, View
from graphsearch.protocols import GraphStore
from graphsearch.records import Group


@attrs.frozen
class _Told:
    """What a stored relation says by what may be seen."""

    stored: Relation
    seen: Sequence[str]
    """Of the memories that it cites."""
    periods: Sequence[Period] | None
    """Those that it stands for; None for one that was given with evidence, or retracted since: it says what it said."""

    @property
    def there(self) -> bool:
        """Whether it says anything."""
        return bool(self.seen if self.periods is None else self.periods)

    def confidence(self, view: View) -> float:
        """Of the period in view."""
        return self.stored.confidence if self.periods is None else self._period(self.periods, view).confidence

    def since(self, view: View) -> float:
        """What its freshness counts from, as `Expansion.since`."""
        if self.periods is None:
            return supported_since(self.stored)
        period = self._period(self.periods, view)
        moment = period.supported_at(view.as_of) or period.valid_from or self.stored.created_at
        return moment.timestamp() if moment else 0.0

    def passes(self, view: View) -> bool:
        """Whether it holds in the view, and is sure enough."""
        if not self.there:
            return False
        said = self.stored if self.periods is None else self._period(self.periods, view)
        return view.holds(said.valid_from, said.valid_to) and said.confidence >= view.min_edge_confidence

    def relation(self, view: View) -> Relation:
        """The whole of it, under the id it is stored by, so that feedback finds it."""
        if self.periods is None:
            return attrs.evolve(self.stored, evidence=self.seen)
        own = {name: getattr(self.stored, name) for name in _OWN}
        return attrs.evolve(self._period(self.periods, view).relation, **own)

    @staticmethod
    def _period(periods: Sequence[Period], view: View) -> Period:
        """The last that holds, else the last."""
        return ([each for each in periods if view.holds(each.valid_from, each.valid_to)] or periods)[-1]


_OWN = ("id", "labels", "attributes", "feedback_weight", "created_at", "retracted_at")
"""What claims do not speak of."""


class VisibleEvidence:
    """What the visible memories prove, for one question."""

    def __init__(self, store: GraphStore, gatekeeper: Gatekeeper, types: Types) -> None:
        self._store = store
        self._gatekeeper = gatekeeper
        self._types = types
        self._told: dict[UUID, _Told] = {}

    async def correct(self, found: Judged, view: View) -> Judged:
        """The rows with confidence and age as the visible evidence has them; what it does not carry is denied."""
        partly = found.partly
        if found.verdicts is None or partly is None:
            return found
        rows, verdicts = found.rows, found.verdicts.copy()
        ids = self._store.relation_ids(rows.relations[partly])
        unread = [id_ for id_ in dict.fromkeys(ids) if id_ not in self._told]
        await self._tell(await self._store.get_relations(unread))
        told = [self._told[id_] for id_ in ids]
        passing = np.array([each.passes(view) for each in told], dtype=np.bool_)
        verdicts[partly] = np.where(passing, PARTLY, DENIED)
        confidence, since, kept = rows.confidence.copy(), rows.since.copy(), np.flatnonzero(partly)[passing]
        confidence[kept] = [each.confidence(view) for each in compress(told, passing)]
        since[kept] = [each.since(view) for each in compress(told, passing)]
        return attrs.evolve(found, rows=attrs.evolve(rows, confidence=confidence, since=since), verdicts=verdicts)

    async def show(self, relations: Sequence[Relation], view: View) -> list[Relation | None]:
        """Relations with the evidence that may be seen, and what follows from it; None where nothing does."""
        unread = [each for each in relations if each.evidence and each.id not in self._told]
        if self._gatekeeper.hides and unread:
            await self._tell(unread)
        told = self._told
        return [None if each.id in told and not told[each.id].there else self._known(each, view) for each in relations]

    def known(self, relations: Sequence[Relation], view: View) -> list[Relation]:
        """The same for relations that `correct` kept, or that may be seen with all that they were folded from."""
        return [self._known(each, view) for each in relations] if self._told else list(relations)

    def _known(self, relation: Relation, view: View) -> Relation:
        return self._told[relation.id].relation(view) if relation.id in self._told else relation

    async def _tell(self, relations: Sequence[Relation]) -> None:
        """Find what relations say by the memories that may be seen."""
        groups = {relation.id: group_of(relation, self._types) for relation in relations}
        claims = await self._store.list_claims(groups=list(dict.fromkeys(groups.values())))
        cited = {memory for relation in relations for memory in relation.evidence}
        memories = sorted(cited.union(claim.memory_id for claim in claims))
        visible = await self._gatekeeper.visible_memories(memories)
        occurred = {memory.id: memory.occurred_at for memory in await self._store.get_memories(memories)}
        hidden = await self._hidden({claim.target_id for claim in claims})
        said, seen = defaultdict[Group, list[DatedClaim]](list), defaultdict[Group, list[DatedClaim]](list)
        for claim in claims:
            dated, group = DatedClaim(claim, occurred[claim.memory_id]), group_of(claim, self._types)
            said[group].append(dated)
            if claim.memory_id in visible and claim.target_id not in hidden:
                seen[group].append(dated)
        told = {
            group: retold(said[group], seen[group], self._types.get(group[1]) or RelationType(name=group[1]))
            for group in set(groups.values())
        }
        for relation in relations:
            own = [memory for memory in relation.evidence if memory in visible]
            self._told[relation.id] = _Told(
                relation, own, told[groups[relation.id]].get((relation.target_id, relation.valid_from))
            )

    async def _hidden(self, ids: Collection[UUID]) -> set[UUID]:
        """Those entities that may not be seen."""
        found = await self._store.get_entities(sorted(ids))
        return {each.id for each, allow in zip(found, await self._gatekeeper.admits(found), strict=True) if not allow}


def supported_since(relation: Relation) -> float:
    """What the freshness of a relation counts from, in seconds since the epoch."""
    moment = relation.supported_at or relation.valid_from or relation.created_at
    return moment.timestamp() if moment else 0.0

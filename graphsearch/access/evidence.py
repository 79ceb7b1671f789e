"""Relations with partly hidden evidence, folded again from the visible part.

A relation is the fold of its claims. If a gate hides some of the memories behind it, or something that they were
folded together with, the visible rest is folded again, so that its confidence, its period and its sentence are what
they would be if the hidden elements had never been stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.decisions import DENIED, PARTIAL
from graphsearch.access.gatekeeper import Decided, Gatekeeper
from graphsearch.claims.folding import DatedClaim, Period, RelationTypes, group_of, redacted_fold, type_named
from graphsearch.model import Group, Relation, View
from graphsearch.protocols import GraphStore


@attrs.frozen
class _VisibleRelation:
    """A stored relation as proved by the visible memories."""

    stored: Relation
    seen: Sequence[str]
    """The visible memories that it cites."""
    periods: Sequence[Period] | None
    """Its periods; None for a relation that was asserted with evidence, or retracted since: it keeps what is stored."""

    def stated(self, view: View) -> Period | Relation | None:
        """Of its periods the last that holds, else the last; None without any."""
        if self.periods is None:
            return self.stored if self.seen else None
        holding = [each for each in self.periods if view.holds(each.valid_from, each.valid_to)]
        return next(reversed(holding or self.periods), None)

    def standing(self, view: View) -> tuple[float, float] | None:
        """Its confidence, and the start of its ageing (`Expansion.since`); None if it fails the view."""
        stated = self.stated(view)
        if stated is None or not view.holds(stated.valid_from, stated.valid_to):
            return None
        if (confidence := stated.confidence) < view.min_edge_confidence:
            return None
        if isinstance(stated, Relation):
            return confidence, supported_since(stated)
        moment = stated.supported_at(view.as_of) or stated.valid_from or self.stored.created_at
        return confidence, moment.timestamp() if moment else 0.0

    def relation(self, view: View) -> Relation | None:
        """The whole relation, under its stored id, so that feedback finds it; None if nothing is proved."""
        stated = self.stated(view)
        if isinstance(stated, Period):
            return attrs.evolve(stated.relation, **{name: getattr(self.stored, name) for name in _OWN})
        return stated and attrs.evolve(stated, evidence=self.seen)


_OWN = ("id", "labels", "attributes", "feedback_weight", "created_at", "retracted_at")
"""The attributes that claims do not determine."""


class VisibleEvidence:
    """The evidence of visible memories, for one question."""

    def __init__(self, store: GraphStore, gatekeeper: Gatekeeper, types: RelationTypes) -> None:
        self._store = store
        self._gatekeeper = gatekeeper
        self._types = types
        self._relations: dict[UUID, _VisibleRelation] = {}

    async def correct(self, found: Decided, view: View) -> Decided:
        """The rows with confidence and age by the visible evidence; rows without any are denied."""
        partial = found.partial
        if found.verdicts is None or partial is None:
            return found
        rows, verdicts = found.rows, found.verdicts.copy()
        ids = self._store.relation_ids(rows.relations[partial])
        unread = [id_ for id_ in dict.fromkeys(ids) if id_ not in self._relations]
        await self._load(await self._store.get_relations(unread))
        standing = [self._relations[id_].standing(view) for id_ in ids]
        passing = np.array([each is not None for each in standing], dtype=np.bool_)
        verdicts[partial] = np.where(passing, PARTIAL, DENIED)
        columns = np.array([each for each in standing if each is not None]).reshape(-1, 2)
        confidence, since, kept = rows.confidence.copy(), rows.since.copy(), np.flatnonzero(partial)[passing]
        confidence[kept], since[kept] = columns.T
        return attrs.evolve(found, rows=attrs.evolve(rows, confidence=confidence, since=since), verdicts=verdicts)

    async def show(self, relations: Sequence[Relation], view: View) -> list[Relation]:
        """Any relations as `stated`, without those of which nothing is proved."""
        unread = [each for each in relations if each.evidence and each.id not in self._relations]
        if self._gatekeeper.hides and unread:
            await self._load(unread)
        return [relation for relation in self.stated(relations, view) if relation]

    def stated(self, relations: Sequence[Relation], view: View) -> list[Relation | None]:
        """Relations as their visible evidence proves them, one for each; None if nothing is proved.

        Each was kept by `correct`, or is visible with everything it was folded from.
        """
        return [self._relations[each.id].relation(view) if each.id in self._relations else each for each in relations]

    async def _load(self, relations: Sequence[Relation]) -> None:
        """Compute what relations state by the visible memories."""
        groups = {relation.id: group_of(relation, self._types) for relation in relations}
        claims = await self._store.list_claims(groups=list(dict.fromkeys(groups.values())))
        cited = {memory for relation in relations for memory in relation.evidence}
        memories = sorted(cited.union(claim.memory_id for claim in claims))
        visible = await self._gatekeeper.visible_memories(memories)
        occurred = {memory.id: memory.occurred_at for memory in await self._store.get_memories(memories)}
        hidden = await self._hidden({claim.target_id for claim in claims})
        stated, seen = defaultdict[Group, list[DatedClaim]](list), defaultdict[Group, list[DatedClaim]](list)
        for claim in claims:
            dated, group = DatedClaim(claim, occurred[claim.memory_id]), group_of(claim, self._types)
            stated[group].append(dated)
            if claim.memory_id in visible and claim.target_id not in hidden:
                seen[group].append(dated)
        periods_of = {
            group: redacted_fold(stated[group], seen[group], type_named(group[1], self._types))
            for group in set(groups.values())
        }
        for relation in relations:
            own = [memory for memory in relation.evidence if memory in visible]
            self._relations[relation.id] = _VisibleRelation(
                relation, own, periods_of[groups[relation.id]].get((relation.target_id, relation.valid_from))
            )

    async def _hidden(self, ids: Collection[UUID]) -> set[UUID]:
        """The entities that are hidden."""
        found = await self._store.get_entities(sorted(ids))
        return {each.id for each in found}.difference(each.id for each in await self._gatekeeper.entities.shown(found))


def supported_since(relation: Relation) -> float:
    """The start of the ageing of a relation, in seconds since the epoch."""
    moment = relation.supported_at or relation.valid_from or relation.created_at
    return moment.timestamp() if moment else 0.0

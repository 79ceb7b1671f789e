"""Relations with partly hidden evidence, folded again from the visible part.

A relation is the fold of its claims. If a gate hides some of the memories behind it, or something that they were
folded together with, the visible rest is folded again, so that its confidence, its period and its sentence are what
they would be if the hidden elements had never been stored. In a view of the past, so is what later memories prove: see
`Period.as_of`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.gatekeeper import DENIED, PARTIAL, Decided, Gatekeeper, each_allowed
from graphsearch.claims.folding import DatedClaim, Period, RelationTypes, group_of, redacted_fold, type_named
from graphsearch.model import Group, Relation, View
from graphsearch.model.identity import relation_id
from graphsearch.stores.graph import GraphStore


@attrs.frozen
class _VisibleRelation:
    """A stored relation as proved by the visible memories."""

    stored: Relation
    seen: Mapping[str, datetime | None]
    """The visible memories that it cites, and when each occurred."""
    periods: Sequence[Period] | None
    """Its periods; None for a relation that was asserted with evidence, or retracted since: it keeps what is stored."""
    present: datetime
    written: Mapping[str, datetime]
    """When the memories behind its periods were written."""
    hidden: Collection[str]
    """The hidden memories that state it."""
    replaced: bool
    """Whether it is retracted, and of the visible memories a relation that is not proves the same."""

    def stated(self, view: View) -> Period | Relation | None:
        """Of its periods the last that holds, else the last, as of the view's time; None without any."""
        past = view.as_of < self.present
        if self.replaced:
            return None
        if self.periods is None:
            return self._cited(view.as_of if past else None)
        holding = [each for each in self.periods if view.holds(each.valid_from, each.valid_to)]
        found = next(reversed(holding or self.periods), None)
        return found.as_of(view.earliest, view.as_of) if found and past else found

    def _cited(self, until: datetime | None) -> Relation | None:
        """The stored relation with its visible evidence, of the past with what had occurred by then."""
        if not self.seen:
            return None
        shown = {id_: time for id_, time in self.seen.items() if until is None or time is None or time <= until}
        if len(shown) == len(self.stored.evidence):
            return self.stored
        times = [time for time in shown.values() if time is not None]
        newest = max(times, default=None) if self.stored.supported_at else None
        return attrs.evolve(self.stored, evidence=tuple(shown), supported_at=newest)

    def standing(self, view: View) -> tuple[float, float] | None:
        """Its confidence, and the start of its ageing (`Expansion.since`); None if it fails the view."""
        stated = self.stated(view)
        if stated is None or not view.holds(stated.valid_from, stated.valid_to):
            return None
        created = self._created(stated) if isinstance(stated, Period) else stated.created_at
        if not view.known(created, None):  # a store lets later relations through that are folded again
            return None
        if (confidence := stated.confidence) < view.min_edge_confidence:
            return None
        supported = stated.supported_at(view.as_of) if isinstance(stated, Period) else stated.supported_at
        moment = supported or stated.valid_from or created
        return confidence, moment.timestamp() if moment else 0.0

    def relation(self, view: View) -> Relation | None:
        """The whole relation, under its stored id, so that feedback finds it; None if nothing is proved."""
        stated = self.stated(view)
        return self._of(stated) if isinstance(stated, Period) else stated

    def relations(self, view: View) -> list[Relation]:
        """The relations of all of its periods, in order: several if something hidden joined them.

        The one that is stated in the view has the stored id, the others those that they have in a graph without what is
        hidden.
        """
        stated = self.stated(view)
        if not isinstance(stated, Period):
            return [stated] if stated else []
        past = view.as_of < self.present
        return [
            self._of(stated)
            if each.key == stated.key
            else attrs.evolve(self._of(each.as_of(view.earliest, view.as_of) if past else each), id=self._id_of(each))
            for each in self.periods or ()
        ]

    def visible_id(self, view: View) -> UUID:
        """The id that it has in a graph without what is hidden: claims that begin at another time prove another id."""
        stated = self.stated(view)
        if not isinstance(stated, Period) or stated.valid_from == self.stored.valid_from:
            return self.stored.id
        return self._id_of(stated)

    def _of(self, period: Period) -> Relation:
        own = {name: getattr(self.stored, name) for name in _OWN}
        return attrs.evolve(period.relation, **own, created_at=self._created(period))

    def _id_of(self, period: Period) -> UUID:
        return relation_id(self.stored.source_id, self.stored.type, period.target_id, period.valid_from)

    def _created(self, period: Period) -> datetime | None:
        """When it was first stored, or if only something hidden may have stated it then, its first visible memory."""
        stored, moved = self.stored.created_at, period.valid_from != self.stored.valid_from
        before = (written for id_ in self.hidden if (written := self.written.get(id_)))
        if stored is None or not (moved or any(each <= stored for each in before)):
            return stored
        first = min((self.written[id_] for id_ in period.openers if id_ in self.written), default=stored)
        return first if moved else max(first, stored)


_OWN = ("id", "labels", "attributes", "feedback_weight", "retracted_at")
"""The attributes that claims do not determine."""


class VisibleEvidence:
    """The evidence of visible memories, for one question; of the past, that of memories which had occurred by then."""

    def __init__(self, store: GraphStore, gatekeeper: Gatekeeper, types: RelationTypes, present: datetime) -> None:
        self._store = store
        self._gatekeeper = gatekeeper
        self._types = types
        self._present = present
        self._relations: dict[UUID, _VisibleRelation] = {}

    def is_past(self, view: View) -> bool:
        """Whether a view is of the past, so that what later memories prove does not count."""
        return view.as_of < self._present

    def dated(self, found: Decided, view: View) -> Decided:
        """The same rows; in a view of the past, those with evidence are partial at most."""
        if not self.is_past(view):
            return found
        proved = self._gatekeeper.book.table.attested.take(found.signatures)
        if not proved.any():
            return found
        verdicts = each_allowed(len(found.rows)) if found.verdicts is None else found.verdicts
        return attrs.evolve(found, verdicts=np.where(proved, np.minimum(verdicts, PARTIAL), verdicts))

    async def correct(self, found: Decided, view: View) -> Decided:
        """The rows with confidence and age by the visible evidence; rows without any are denied."""
        partial = found.partial
        if found.verdicts is None or partial is None:
            return found
        ids = self._store.relation_ids(found.rows.relations[partial])
        await self._read(await self._store.get_relations(self._unread(ids)), view)
        rows, verdicts, places = found.rows, found.verdicts.copy(), np.flatnonzero(partial)
        folded = np.array([id_ in self._relations for id_ in ids], np.bool_)
        if not folded.any():
            return found
        standing = [self._relations[id_].standing(view) for id_ in ids if id_ in self._relations]
        passing = np.array([each is not None for each in standing], dtype=np.bool_)
        verdicts[places[folded]] = np.where(passing, PARTIAL, DENIED)
        columns = np.array([each for each in standing if each is not None]).reshape(-1, 2)
        confidence, since, kept = rows.confidence.copy(), rows.since.copy(), places[folded][passing]
        confidence[kept], since[kept] = columns.T
        return attrs.evolve(found, rows=attrs.evolve(rows, confidence=confidence, since=since), verdicts=verdicts)

    async def show(self, relations: Sequence[Relation], view: View) -> list[Relation]:
        """Any relations with all of their periods, without those of which nothing is proved."""
        if not self._gatekeeper.allows_all or self.is_past(view):
            unread = set(self._unread([each.id for each in relations if each.evidence]))
            await self._read([each for each in relations if each.id in unread], view)
        return [
            each
            for relation in relations
            for each in (self._relations[relation.id].relations(view) if relation.id in self._relations else [relation])
        ]

    def stated(self, relations: Sequence[Relation], view: View) -> list[Relation | None]:
        """Relations as their visible evidence proves them, one for each; None if nothing is proved.

        Each was kept by `correct`, or is visible with everything it was folded from.
        """
        if not (read := self._relations):
            return list(relations)
        return [read[each.id].relation(view) if each.id in read else each for each in relations]

    def visible_ids(self, ids: Sequence[UUID], view: View) -> Sequence[UUID]:
        """The ids that relations have in a graph without what is hidden, one for each; of those that `stated` shows."""
        read = self._relations
        return [read[id_].visible_id(view) if id_ in read else id_ for id_ in ids] if read else ids

    def _unread(self, ids: Iterable[UUID]) -> list[UUID]:
        """Those relations that are not folded yet."""
        return [id_ for id_ in dict.fromkeys(ids) if id_ not in self._relations]

    async def _read(self, relations: Sequence[Relation], view: View) -> None:
        """Fold relations that may state less than is stored: where nothing is hidden, those with later support."""
        if self._gatekeeper.allows_all:
            relations = [each for each in relations if not each.supported_at or each.supported_at > view.as_of]
        if relations:
            await self._load(relations)

    async def _load(self, relations: Sequence[Relation]) -> None:
        """Compute what relations state by the visible memories."""
        groups = {relation.id: group_of(relation, self._types) for relation in relations}
        claims = await self._store.list_claims(groups=list(dict.fromkeys(groups.values())))
        cited = {memory for relation in relations for memory in relation.evidence}
        memories = sorted(cited.union(claim.memory_id for claim in claims))
        visible = await self._gatekeeper.visible_memories(memories)
        stored = await self._store.get_memories(memories)
        occurred = {memory.id: memory.occurred_at for memory in stored}
        written = {memory.id: memory.created_at for memory in stored if memory.created_at}
        targets = await self._store.get_entities(sorted({claim.target_id for claim in claims}))
        hidden = {each.id for each in targets} - {each.id for each in await self._gatekeeper.entities.shown(targets)}
        stated, seen = defaultdict[Group, list[DatedClaim]](list), defaultdict[Group, list[DatedClaim]](list)
        unseen = defaultdict[Group, set[str]](set)
        for claim in claims:
            dated, group = DatedClaim(claim, occurred[claim.memory_id]), group_of(claim, self._types)
            stated[group].append(dated)
            if claim.memory_id not in visible:
                unseen[claim.source_id, claim.type, claim.target_id].add(claim.memory_id)
            if claim.memory_id in visible and claim.target_id not in hidden:
                seen[group].append(dated)
        periods_of = {
            group: redacted_fold(stated[group], seen[group], type_named(group[1], self._types))
            for group in set(groups.values())
        }
        for relation in relations:
            key, proved = (relation.target_id, relation.valid_from), periods_of[groups[relation.id]]
            self._relations[relation.id] = _VisibleRelation(
                relation,
                {memory: occurred[memory] for memory in relation.evidence if memory in visible},
                proved.get(key),
                self._present,
                written,
                unseen[relation.source_id, relation.type, relation.target_id],
                relation.retracted_at is not None and any(each.key == key for each in chain(*proved.values())),
            )

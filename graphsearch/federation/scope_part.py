"""The part of one scope in a joint question: its reader, behind its own gate, and joint keys for what it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Floats, Hits, Keys, Rows, Steps
from graphsearch.columns.elements import ColumnSet
from graphsearch.columns.key_index import distinct
from graphsearch.federation.joint_keys import KeyMap, joint_id, packed, unpacked
from graphsearch.model import ElementKind, Scope, View


@attrs.frozen(eq=False, kw_only=True)
class JointSteps(ColumnSet):
    """Steps of one scope or several, in joint keys; all of their far ends hold and are visible."""

    near: Keys
    relations: Keys
    far: Keys
    outgoing: Rows
    """1 for steps from the source of a relation, else 0."""
    importance: Floats
    confidence: Floats
    since: Floats
    feedback: Floats
    signatures: Rows
    freshness: Floats
    prior: Floats

    @staticmethod
    def none() -> JointSteps:
        """No steps."""
        numbers = ("importance", "confidence", "since", "feedback", "freshness", "prior")
        columns: dict[str, Any] = {
            **dict.fromkeys(("near", "relations", "far"), packed(())),
            **dict.fromkeys(("outgoing", "signatures"), np.empty(0, np.intp)),
            **dict.fromkeys(numbers, np.empty(0)),
        }
        return JointSteps(**columns)


class ScopePart:
    """One scope: what its own reader shows, translated to joint keys.

    ``number`` is that of the scope in the engine, ``place`` that among the ``of`` scopes that are read. ``known`` has
    the keys that the question has met in the scope, whatever the view.
    """

    def __init__(
        self,
        reader: Reader,
        *,
        number: int,
        place: int,
        of: int,
        known: Mapping[ElementKind, KeyMap] | None = None,
    ) -> None:
        self.reader = reader
        self.number = number
        self._place = place
        self._of = of
        self._known = known or {kind: KeyMap() for kind in ElementKind}
        self._here = {kind: KeyMap() for kind in ElementKind}
        """The keys that were met in this view."""
        self._looked_up = KeyMap()
        """Entities that were met or looked for in this view."""

    def viewing(self, view: View) -> ScopePart:
        """The same snapshot and gate, with the moments and types of another view."""
        mine = attrs.evolve(
            self.reader.view,
            as_of=view.as_of,
            known_at=view.known_at,
            since=view.since,
            min_edge_confidence=view.min_edge_confidence,
            skipped_types=view.skipped_types,
            only_types=view.only_types,
        )
        return ScopePart(
            self.reader.viewing(mine), number=self.number, place=self._place, of=self._of, known=self._known
        )

    @property
    def scope(self) -> Scope:
        """The scope."""
        return self.reader.scope

    # -- keys ----------------------------------------------------------------------------------------------------

    def joint(self, kind: ElementKind, own: Keys) -> Keys:
        """The joint keys of elements that this scope shows."""
        match kind:
            case ElementKind.MEMORY:
                ids = [joint_id(each, self.number) for each in self.reader.memory_ids(own)]
                joint = np.array(ids, np.str_)
            case ElementKind.ENTITY:
                joint = packed(self.reader.entity_ids(own))
            case _:
                joint = packed(self.reader.visible_relation_ids(own))
        self._known[kind].learn(joint, own)
        self._here[kind].learn(joint, own)
        return joint

    def met(self, kind: ElementKind, joint: Keys) -> tuple[Rows, Keys]:
        """The rows of the elements that the question has met in this view, and the scope's keys of these."""
        return self._here[kind].of(joint)

    def known(self, kind: ElementKind, joint: Keys) -> tuple[Rows, Keys]:
        """The same, in any view."""
        return self._known[kind].of(joint)

    async def holding(self, joint: Keys) -> tuple[Rows, Keys]:
        """The rows of the entities that hold and are visible in this scope, met or not, and the scope's keys."""
        unknown = joint[~(self._here[ElementKind.ENTITY].has(joint) | self._looked_up.has(joint))]
        if len(unknown):
            self._looked_up.learn(unknown, np.arange(len(unknown)))
            self.joint(ElementKind.ENTITY, (await self.reader.locate(sorted(unpacked(unknown)))).keys)
        return self.met(ElementKind.ENTITY, joint)

    def hits(self, kind: ElementKind, found: Hits) -> Hits:
        """Hits in joint keys. Their signatures are of no use beyond the scope, and 0."""
        joint = self.joint(kind, found.keys)
        return attrs.evolve(found, keys=joint, signatures=np.zeros(len(joint), np.int64))

    # -- steps ---------------------------------------------------------------------------------------------------

    def rows(self, signatures: Rows) -> Rows:
        """The rows of this scope's signatures in the joint table."""
        return signatures * self._of + self._place

    def steps(self, found: Steps) -> JointSteps:
        """Visible steps of this scope in joint keys."""
        rows = found.rows
        met, end = distinct(rows.end)
        far = self.joint(ElementKind.ENTITY, rows.ends.keys.take(met))
        near, start = distinct(rows.start)
        return JointSteps(
            near=self.joint(ElementKind.ENTITY, rows.starts.take(near))[start],
            relations=self.joint(ElementKind.RELATION, rows.relations),
            far=far[end],
            outgoing=rows.outgoing.astype(np.intp),
            importance=rows.ends.importance.take(met)[end],
            confidence=rows.confidence,
            since=rows.since,
            feedback=rows.feedback,
            signatures=self.rows(found.signatures),
            freshness=found.freshness,
            prior=found.prior,
        )

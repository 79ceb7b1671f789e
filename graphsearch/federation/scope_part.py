"""The part of one scope in a joint question: its reader, behind its own gate, and joint keys for what it shows.

Joint keys are those of the elements of several scopes in one order, with the scopes' own keys behind them. An entity or
a relation has one joint key in all scopes, the 16 bytes of its id: that is derived from what it is, so that the same id
means the same thing. Where something hidden began a relation, its scope has it under another id than what is visible
proves; its joint key is that of what is visible. Ids of memories are given by whoever writes them, and may mean another
memory in each scope: their joint key is the id followed by the number of the scope. Joint keys sort as ids do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar, cast
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, FarEnds, Hits, Keys, Mask, Rows, Steps
from graphsearch.columns.key_index import KeyIndex, distinct
from graphsearch.model import Claim, ElementKind, Memory, Relation, Scope, View


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
        reader = self.reader.viewing(mine)
        return ScopePart(reader, number=self.number, place=self._place, of=self._of, known=self._known)

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

    def steps(self, found: Steps) -> Steps:
        """Visible steps of this scope in joint keys, with the rows of their signatures in the joint table."""
        rows, signatures = found.rows, found.signatures * self._of + self._place
        met, end = distinct(rows.end)
        near, start = distinct(rows.start)
        far = self.joint(ElementKind.ENTITY, rows.ends.keys.take(met))
        no_codes = np.zeros(len(far), np.int64)
        joint = attrs.evolve(
            rows,
            starts=self.joint(ElementKind.ENTITY, rows.starts.take(near)),
            start=start,
            ends=FarEnds(keys=far, signatures=no_codes, importance=rows.ends.importance.take(met)),
            end=end,
            relations=self.joint(ElementKind.RELATION, rows.relations),
            signatures=signatures,
            far_holds=None,
            located=None,
        )
        return attrs.evolve(found, rows=joint, signatures=signatures)


SEPARATOR: Final = "\x1f"
"""Between the id of a memory and the number of its scope; sorts before whatever may continue an id."""


def packed(ids: Iterable[UUID]) -> Keys:
    """The joint keys of entities or relations."""
    return np.frombuffer(b"".join(id_.bytes for id_ in ids), "S16")


def unpacked(keys: Keys) -> list[UUID]:
    """The ids behind joint keys of entities or relations; numpy strips trailing zero bytes from single items."""
    column = np.asarray(keys, "S16").tobytes()
    return [UUID(bytes=column[at : at + 16]) for at in range(0, len(column), 16)]


def joint_id(memory_id: str, number: int) -> str:
    """The id of a memory of the scope with a number, as joint readers show it."""
    return f"{memory_id}{SEPARATOR}{number}"


def own_id(joint: str) -> str:
    """The id of a memory in its own scope."""
    return joint.rpartition(SEPARATOR)[0] or joint


def number_of(joint: str) -> int:
    """The number of the scope of a memory, -1 for an id that is of none."""
    number = joint.rpartition(SEPARATOR)[2]
    return int(number) if SEPARATOR in joint and number.isdecimal() else NONE


def joint_memory(memory: Memory, number: int) -> Memory:
    """A memory with joint ids: its own, and that of its session, which another scope may use for another session."""
    session = joint_id(memory.session_id, number) if memory.session_id else memory.session_id
    return _with(memory, id=joint_id(memory.id, number), session_id=session)


def own_memory(memory: Memory) -> Memory:
    """A memory as its own scope has it."""
    session = own_id(memory.session_id) if memory.session_id else memory.session_id
    return _with(memory, id=own_id(memory.id), session_id=session)


def joint_relation(relation: Relation, number: int, joint: UUID) -> Relation:
    """A relation with its joint id, and the joint ids of its evidence."""
    return _with(relation, id=joint, evidence=tuple(joint_id(each, number) for each in relation.evidence))


def own_relation(relation: Relation) -> Relation:
    """A relation with the ids of its evidence in their own scopes."""
    return _with(relation, evidence=tuple(dict.fromkeys(map(own_id, relation.evidence))))


def joint_claim(claim: Claim, number: int) -> Claim:
    """A claim with the joint id of its memory."""
    return _with(claim, memory_id=joint_id(claim.memory_id, number))


Stored = TypeVar("Stored", Memory, Relation, Claim)


def _with(element: Stored, **changes: Any) -> Stored:
    """A copy with other fields, which are valid: it was validated when it was written."""
    was: Any = element
    copy: Any = object.__new__(type(element))
    copy.__setstate__({**was.__getstate__(), **changes})
    return cast(Stored, copy)


class KeyMap:
    """The joint keys met in one scope, and the scope's own key behind each."""

    def __init__(self) -> None:
        self._joint: KeyIndex | None = None
        self._own: Keys | None = None

    def learn(self, joint: Keys, own: Keys) -> None:
        """Add keys, of which some may be known and some may be there several times."""
        if not len(joint):
            return
        if self._joint is None or self._own is None:
            self._joint, self._own = KeyIndex(joint[:0]), own[:0]
        known = len(self._joint)
        rows = self._joint.number(joint)
        added = np.empty(len(self._joint) - known, dtype=own.dtype)
        fresh = rows >= known
        added[rows[fresh] - known] = own[fresh]
        self._own = np.concatenate((self._own, added))

    def of(self, joint: Keys) -> tuple[Rows, Keys]:
        """The rows of the keys that are known, in their order, and the own key of each."""
        if self._joint is None or self._own is None or not len(joint):
            return np.empty(0, np.intp), np.empty(0, "S16")
        found = self._joint.of(joint)
        (rows,) = (found != NONE).nonzero()
        return rows, self._own[found[rows]]

    def has(self, joint: Keys) -> Mask:
        """Whether each key is known."""
        if self._joint is None:
            return np.zeros(len(joint), np.bool_)
        known: Mask = self._joint.of(joint) != NONE
        return known

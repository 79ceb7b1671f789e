"""Merged entities: mentions and claims keep the entities they were made with, and show those merged into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.model import Claim, Mention, Relation
from graphsearch.stores.in_memory.parts import Links, Part
from graphsearch.stores.shared.merging import Edge, Record, collapses, shown, stated

_EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})


@attrs.frozen
class Original:
    """The mentions and claims of a memory as they were written, in the order of those shown."""

    mentions: tuple[Mention, ...]
    claims: tuple[Claim, ...]


@attrs.frozen(eq=False, kw_only=True)
class Merging:
    """The merges of a scope, and what undoing them needs."""

    records: Mapping[UUID, Record] = _EMPTY
    into: Mapping[UUID, UUID] = _EMPTY
    """By entity merged away: the one that it was merged into."""
    absorbed: Mapping[UUID, frozenset[UUID]] = _EMPTY
    """By entity: those that were merged into it."""
    originals: Mapping[str, Original] = _EMPTY
    """By memory, where they differ from what is shown."""
    ends: Mapping[UUID, tuple[UUID, UUID]] = _EMPTY
    """By relation that was given and has moved: the source and the target it was given with."""
    revived: Mapping[UUID, datetime] = _EMPTY
    """Relations that a merge brought back, and when they had been retracted."""
    proved: Mapping[str, int] = _EMPTY
    """By memory: the merges there were when its mentions and claims were written, if any."""
    count: int = 0
    """Merges ever made."""


class MergingDraft:
    """A `Merging` in the making."""

    def __init__(self, before: Merging) -> None:
        self._before = before
        self.records = Part(before.records)
        self.into = Part(before.into)
        self.absorbed = Links(before.absorbed)
        self.originals = Part(before.originals)
        self.ends = Part(before.ends)
        self.revived = Part(before.revived)
        self.proved = Part(before.proved)
        self.count = before.count

    def root(self, key: UUID) -> UUID:
        """The entity that an entity was merged into in the end; itself where it was not."""
        while (above := self.into.get(key)) is not None:
            key = above
        return key

    def tree(self, key: UUID) -> tuple[UUID, ...]:
        """The entity, and all that it took in, in order of id."""
        if not self.into.result:
            return (key,)
        below = [each for child in sorted(self.absorbed.get(key)) for each in self.tree(child)]
        return (key, *sorted(below))

    def join(self, source: UUID, target: UUID) -> None:
        """Make one of two."""
        self.into.set(source, target)
        self.absorbed.add(target, source)

    def part(self, source: UUID) -> None:
        """Make two of one."""
        self.absorbed.discard(self.into[source], source)
        self.into.pop(source)

    def involves(self, key: UUID) -> bool:
        """Whether an entity was merged into another, or another into it."""
        return key in self.into or bool(self.absorbed.get(key))

    def shown(self, said: Edge) -> Edge:
        """A mention, claim or relation with its entities replaced by those they were merged into."""
        return shown(said, self.root) if self.into.result else said

    def collapses(self, said: Claim | Relation) -> bool:
        """Whether a claim or relation of two entities would lead from one to itself."""
        return collapses(said, self.root)

    def stated(self, had: Original, mentions: Sequence[Mention], claims: Sequence[Claim]) -> Original:
        """The mentions and claims to keep of a memory that had others (`graphsearch.stores.shared.merging.stated`)."""
        if not self.into.result:
            return Original(tuple(dict.fromkeys(mentions)), tuple(dict.fromkeys(claims)))
        known: set[Mention | Claim] = {*had.mentions, *had.claims}
        return Original(tuple(stated(mentions, known, self.root)), tuple(stated(claims, known, self.root)))

    @property
    def result(self) -> Merging:
        """The merges as they are now."""
        changes = {name: getattr(self, name).result for name in _PARTS}
        same = self.count == self._before.count
        same = same and all(value is getattr(self._before, name) for name, value in changes.items())
        return self._before if same else Merging(**changes, count=self.count)


_PARTS: Final = ("records", "into", "absorbed", "originals", "ends", "revived", "proved")


def folded_claims(claims: Sequence[Claim], said: Original | None) -> Iterable[Claim]:
    """The claims that relations are made of: those that merges have turned on themselves left out."""
    if said is None:
        return claims
    return (
        now
        for now, then in zip(claims, said.claims, strict=True)
        if now.source_id != now.target_id or then.source_id == then.target_id
    )

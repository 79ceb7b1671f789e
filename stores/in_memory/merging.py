"""Merged entities: mentions and claims keep the entities they were written with, and are shown with the merged ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.model import Claim, Mention, Relation
from graphsearch.stores.in_memory.parts import Links, Part, ValueDraft
from graphsearch.stores.shared.merging import Edge, Record, Tree, collapses, shown, stated

_EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})


def ends_of(edge: Relation | Claim) -> tuple[UUID, UUID]:
    """Source and target."""
    return (edge.source_id, edge.target_id)


@attrs.frozen
class Original:
    """The mentions and claims of a memory as they were written, in the order of the shown ones."""

    mentions: tuple[Mention, ...]
    claims: tuple[Claim, ...]

    @property
    def entities(self) -> set[UUID]:
        """The entities of all of them."""
        return {each.entity_id for each in self.mentions} | {end for each in self.claims for end in ends_of(each)}


@attrs.frozen(eq=False, kw_only=True)
class Merging:
    """The merges of a scope, and the data for undoing them."""

    records: Mapping[UUID, Record] = _EMPTY
    into: Mapping[UUID, UUID] = _EMPTY
    """The target of each merged entity."""
    absorbed: Mapping[UUID, frozenset[UUID]] = _EMPTY
    """The entities merged into each entity."""
    originals: Mapping[str, Original] = _EMPTY
    """Originals by memory, where they differ from what is shown."""
    ends: Mapping[UUID, tuple[UUID, UUID]] = _EMPTY
    """By moved asserted relation: its original source and target."""
    revived: Mapping[UUID, datetime] = _EMPTY
    """Relations that a merge revived, and when they had been retracted."""
    proved: Mapping[str, int] = _EMPTY
    """By memory: the number of merges when its mentions and claims were written, if any."""
    count: int = 0
    """Number of merges ever made."""


class MergingDraft(ValueDraft[Merging]):
    """A draft of `Merging`."""

    def __init__(self, before: Merging) -> None:
        self.before = before
        self.records = Part(before.records)
        self.into = Part(before.into)
        self.absorbed = Links(before.absorbed)
        self.originals = Part(before.originals)
        self.ends = Part(before.ends)
        self.revived = Part(before.revived)
        self.proved = Part(before.proved)
        self.count = before.count

    def root(self, key: UUID) -> UUID:
        """The entity that an entity was finally merged into; itself if it was not merged."""
        return Tree(self.into.result).root(key)

    def above(self, keys: Iterable[UUID]) -> list[UUID]:
        """Entities and everything that they were merged into, without repeats."""
        return Tree(self.into.result).above(keys)

    def tree(self, key: UUID) -> tuple[UUID, ...]:
        """The entity and everything merged into it, in order of id."""
        if not self.into.result:
            return (key,)
        below = [each for child in sorted(self.absorbed.get(key)) for each in self.tree(child)]
        return (key, *sorted(below))

    def join(self, source: UUID, target: UUID) -> None:
        """Record a merge."""
        self.into.set(source, target)
        self.absorbed.add(target, source)

    def part(self, source: UUID) -> None:
        """Remove a merge."""
        self.absorbed.discard(self.into[source], source)
        self.into.pop(source)

    def involves(self, key: UUID) -> bool:
        """Whether an entity takes part in a merge, on either side."""
        return key in self.into or bool(self.absorbed.get(key))

    def shown(self, edge: Edge) -> Edge:
        """A mention, claim or relation with its entities replaced by those they were merged into."""
        return shown(edge, self.root) if self.into.result else edge

    def collapses(self, edge: Claim | Relation) -> bool:
        """Whether merging turns a claim or relation of two entities into one of an entity about itself."""
        return collapses(edge, self.root)

    def stated(self, had: Original, mentions: Sequence[Mention], claims: Sequence[Claim]) -> Original:
        """The mentions and claims to keep of a rewritten memory (`graphsearch.stores.shared.merging.stated`)."""
        if not self.into.result:
            return Original(tuple(dict.fromkeys(mentions)), tuple(dict.fromkeys(claims)))
        mentioned, claimed = stated(mentions, claims, {*had.mentions, *had.claims}, self.root)
        return Original(tuple(mentioned), tuple(claimed))


def folded_claims(claims: Sequence[Claim], original: Original | None) -> Iterable[Claim]:
    """The claims to fold: without those that merges have turned on themselves."""
    if original is None:
        return claims
    return (
        now
        for now, then in zip(claims, original.claims, strict=True)
        if now.source_id != now.target_id or then.source_id == then.target_id
    )

"""Merged entities in all stores: validation, and the projection of mentions and claims onto merged entities."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID, uuid5

import attrs

from graphsearch.errors import UnknownElementError
from graphsearch.model import Claim, Entity, Mention, Merge, Relation, validation
from graphsearch.model.identity import keyed_id
from graphsearch.protocols import GraphStore

Edge = TypeVar("Edge", Mention, Claim, Relation)

_MERGE: Final = UUID("c9b1d1f5-6a53-5c0e-8a55-0d5e7c4b2f18")


@attrs.frozen
class Record:
    """A merge, its sequence number in the scope from 1, and how many of the mentions and claims it moved are its own.

    Those of entities merged into its source later are added, and subtracted when that is undone.
    """

    merge: Merge
    number: int
    held: int


def merge_id(source_id: UUID, target_id: UUID, merges: Iterable[Merge]) -> UUID:
    """UUIDv5 of the source, the target, and how often the one was merged into the other: it tells of no other merge."""
    before = sum((each.source_id, each.target_id) == (source_id, target_id) for each in merges)
    return uuid5(_MERGE, f"{source_id} {target_id} {before}")


def refuse_undo(key: UUID, record: Record | None) -> Record:
    """The record; raise `UnknownElementError` if it does not exist, `InvalidInputError` if it was undone."""
    if record is None:
        raise UnknownElementError(f"no merge {key} in this scope")
    undone_at = record.merge.undone_at
    validation.refuse(f"merge {key}", None if undone_at is None else f"it was undone at {undone_at}")
    return record


async def join_minted(store: GraphStore, written: Sequence[Entity]) -> None:
    """Merge what ingest minted into entities of the same types and names that were written later, once."""
    key = await store.id_key() if written else UUID(int=0)
    own = {keyed_id(each.id, key): each.id for each in written}
    for each in await store.get_entities(list(own)) if own else ():
        [target] = await store.get_entities([own[each.id]])
        if each.merged_into is None is target.merged_into and not await store.merges([each.id]):
            await store.merge(each.id, target.id, retype=True)


@attrs.frozen(eq=False)
class Tree:
    """The target of each merged entity."""

    into: Mapping[UUID, UUID]

    def root(self, key: UUID) -> UUID:
        """The entity that an entity was finally merged into; itself if it was not merged."""
        while (above := self.into.get(key)) is not None:
            key = above
        return key

    def above(self, keys: Iterable[UUID]) -> list[UUID]:
        """Entities and everything that they were merged into, without repeats."""
        found: dict[UUID, None] = {}
        for key in keys:
            each: UUID | None = key
            while each is not None and each not in found:
                found[each] = None
                each = self.into.get(each)
        return list(found)

    def below(self, key: UUID) -> tuple[UUID, ...]:
        """The entity, and everything merged into it."""
        return (key, *sorted(each for each in self.into if each != key and key in self.above([each])))


def shown(edge: Edge, root: Callable[[UUID], UUID]) -> Edge:
    """A mention, claim or relation with its entities replaced by those they were merged into."""
    names = ("entity_id",) if isinstance(edge, Mention) else ("source_id", "target_id")
    ends = {name: getattr(edge, name) for name in names}
    meant: dict[str, Any] = {name: root(end) for name, end in ends.items()}
    return edge if meant == ends else attrs.evolve(edge, **meant)


def collapses(edge: Claim | Relation, root: Callable[[UUID], UUID]) -> bool:
    """Whether merging turns a claim or relation of two entities into one of an entity about itself."""
    return edge.source_id != edge.target_id and root(edge.source_id) == root(edge.target_id)


def redirected(relation: Relation, given: tuple[UUID, UUID], root: Callable[[UUID], UUID], now: datetime) -> Relation:
    """An asserted relation, given with two ends, between the entities that these are merged into.

    It is retracted as long as merges turn it into one of an entity about itself.
    """
    original = attrs.evolve(relation, source_id=given[0], target_id=given[1])
    turned = relation.source_id == relation.target_id and given[0] != given[1]
    retracted_at = None if turned else relation.retracted_at
    if collapses(original, root):
        retracted_at = relation.retracted_at or now
    return attrs.evolve(shown(original, root), retracted_at=retracted_at)


def stated(
    mentions: Iterable[Mention],
    claims: Iterable[Claim],
    had: Collection[Mention | Claim],
    root: Callable[[UUID], UUID],
) -> tuple[list[Mention], list[Claim]]:
    """The mentions and claims to store for memories that are written, without repeats.

    Those they had before are kept as they were; new ones refer to the entities that are meant after the merges, except
    where that would make a claim of an entity about itself. What is stored as claimed of a merged entity keeps its
    mentions in that memory too: a later name of the entity is one of them.
    """
    claimed = [each if each in had or collapses(each, root) else shown(each, root) for each in claims]
    ends = {(each.memory_id, end) for each in claimed for end in (each.source_id, each.target_id)}
    mentioned = [
        each if each in had or (each.memory_id, each.entity_id) in ends else shown(each, root) for each in mentions
    ]
    return list(dict.fromkeys(mentioned)), list(dict.fromkeys(claimed))

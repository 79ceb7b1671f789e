"""What entities are called, in memory: kept apart by where it was learnt, folded into what they show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import attrs

from graphsearch.model import Entity, Mention
from graphsearch.naming import QUALIFIED_TYPES, fold_aliases, forgotten_name
from graphsearch.stores.in_memory.name_index import NameIndex, NameIndexDraft
from graphsearch.stores.in_memory.parts import Part

if TYPE_CHECKING:
    from graphsearch.stores.in_memory.draft import Draft

_EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


@attrs.frozen(eq=False, kw_only=True)
class Naming:
    """Where names come from, and the index of those that are shown."""

    given: Mapping[UUID, tuple[str, ...]] = _EMPTY
    """Aliases that entities were given, where there are some."""
    named: Mapping[UUID, None] = _EMPTY
    """Entities that exist through their mentions alone."""
    surfaces: Mapping[UUID, Mapping[str, int]] = _EMPTY
    """How often each surface was said of an entity, merged away or not."""
    index: NameIndex = attrs.field(factory=NameIndex)


class NamingDraft:
    """A `Naming` in the making."""

    def __init__(self, before: Naming) -> None:
        self._before = before
        self.given = Part(before.given)
        self.named = Part(before.named)
        self.surfaces = Part(before.surfaces)
        self.unsaid: dict[UUID, set[str]] = {}
        """Surfaces that were said of an entity before, some of which may still be."""
        self.touched = set[UUID]()
        """Entities that may be called something else than before."""

    def give(self, entity: Entity, *, named: bool) -> bool:
        """Keep the aliases that an entity is given, and whether it is only named; whether that was otherwise before."""
        other = self.given.get(entity.id) != (entity.aliases or None)
        if other and entity.aliases:
            self.given.set(entity.id, entity.aliases)
        elif other:
            self.given.pop(entity.id)
        turned = named is not (entity.id in self.named)
        if turned and named:
            self.named.set(entity.id, None)
        elif turned:
            self.named.pop(entity.id)
        self.touched.add(entity.id)
        return other or turned

    def say(self, mention: Mention) -> None:
        """Count the surface of a mention."""
        counts = self.surfaces.get(mention.entity_id) or {}
        self.surfaces.set(mention.entity_id, {**counts, mention.surface: counts.get(mention.surface, 0) + 1})
        self.touched.add(mention.entity_id)

    def unsay(self, mention: Mention) -> None:
        """Count the surface of a mention out."""
        counts = dict(self.surfaces[mention.entity_id])
        counts[mention.surface] -= 1
        if not counts[mention.surface]:
            del counts[mention.surface]
        if counts:
            self.surfaces.set(mention.entity_id, counts)
        else:
            self.surfaces.pop(mention.entity_id)
        self.unsaid.setdefault(mention.entity_id, set()).add(mention.surface)
        self.touched.add(mention.entity_id)

    def drop(self, key: UUID) -> None:
        """Give up what is known of an entity that goes."""
        for part in (self.given, self.named, self.surfaces):
            part.pop(key)
        self.touched.add(key)

    def result(self, draft: Draft) -> Naming:
        """What is known now; the names of the entities that were touched are indexed again."""
        index = NameIndexDraft(self._before.index)
        before, merged = draft.before.entities.items, draft.before.merging.into
        for key in _upwards(draft, self.touched):
            old = () if key in merged else _names(before.get(key))
            new = () if key in draft.merging.into else _names(draft.entities.items.get(key))
            if old != new:
                index.rename(key, old, new)
        parts = {name: getattr(self, name).result for name in ("given", "named", "surfaces")}
        parts["index"] = index.result
        same = all(value is getattr(self._before, name) for name, value in parts.items())
        return self._before if same else Naming(**parts)


def call_again(draft: Draft) -> None:
    """Fold the names of the entities that the draft touches."""
    touched = [key for key in _upwards(draft, draft.naming.touched) if key in draft.entities.items]
    for key in touched:
        entity, tree = draft.entities.items[key], draft.merging.tree(key)
        if key in draft.naming.named and entity.type not in QUALIFIED_TYPES:
            unsaid = [surface for each in tree for surface in draft.naming.unsaid.get(each, ())]
            if forgotten_name(entity.name, unsaid, _said(draft, tree)):
                draft.entities.put(attrs.evolve(entity, name=_first_said(draft, key)))
                draft.entities.vectors.pop(key)
    for key in touched:
        entity = draft.entities.items[key]
        draft.entities.put(attrs.evolve(entity, aliases=aliases_of(draft, entity)))


def aliases_of(draft: Draft, entity: Entity) -> tuple[str, ...]:
    """The aliases that an entity shows."""
    tree = draft.merging.tree(entity.id)
    others = [] if entity.type in QUALIFIED_TYPES else list(_said(draft, tree))
    for key in tree[1:]:
        others += [draft.entities.items[key].name, *(draft.naming.given.get(key) or ())]
    return fold_aliases(entity.name, draft.naming.given.get(entity.id) or (), others)


def _said(draft: Draft, tree: Iterable[UUID]) -> dict[str, int]:
    return {surface: 1 for key in tree for surface in draft.naming.surfaces.get(key) or ()}


def _first_said(draft: Draft, key: UUID) -> str:
    """The surface of the earliest mention of an entity."""
    tree = set(draft.merging.tree(key))
    mentions = [
        mention
        for memory in draft.mentioned.get(draft.merging.root(key))
        for mention in draft.merging.said_mentions(draft, memory)
        if mention.entity_id in tree
    ]

    def place(mention: Mention) -> tuple[datetime, str, tuple[int, int], str]:
        span = (mention.span.start, mention.span.end) if mention.span else (-1, -1)
        occurred_at = draft.memories.items[mention.memory_id].occurred_at
        return (occurred_at or _EARLIEST, mention.memory_id, span, mention.surface)

    return min(mentions, key=place).surface


def _names(entity: Entity | None) -> tuple[str, ...]:
    return () if entity is None else (entity.name, *entity.aliases)


def _upwards(draft: Draft, keys: Iterable[UUID]) -> Iterator[UUID]:
    """Entities and all that they were merged into, each once."""
    seen = set[UUID]()
    for key in keys:
        each: UUID | None = key
        while each is not None and each not in seen:
            seen.add(each)
            yield each
            each = draft.merging.into.get(each)

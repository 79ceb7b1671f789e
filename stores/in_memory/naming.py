"""What entities are called, in memory: kept apart by where it was learnt, folded into what they show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import attrs

from graphsearch.claims.naming import QUALIFIED_TYPES, fold_aliases, forgotten_name, is_typed_by_mentions, known_types
from graphsearch.model import Entity, Given, Mention
from graphsearch.model.signatures import entity_signature
from graphsearch.stores.in_memory.name_index import NameIndex, NameIndexDraft
from graphsearch.stores.in_memory.parts import Part

if TYPE_CHECKING:
    from graphsearch.stores.in_memory.draft import Draft

Spoken = tuple[str, str]
"""A surface, and the type that its text tells."""

_EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


@attrs.frozen(eq=False, kw_only=True)
class Naming:
    """Where names come from, and the index of those that are shown."""

    given: Mapping[UUID, tuple[str, ...]] = _EMPTY
    """Aliases that entities were given, where there are some."""
    named: Mapping[UUID, str] = _EMPTY
    """Entities that exist through their mentions alone, and the types they were given."""
    spoken: Mapping[UUID, Mapping[Spoken, int]] = _EMPTY
    """How often each surface was said of an entity, merged away or not, with which type."""
    index: NameIndex = attrs.field(factory=NameIndex)


def given(naming: Naming, entities: Iterable[Entity]) -> list[Given]:
    """Entities as they were given."""
    return [
        Given(
            entity=attrs.evolve(
                entity, type=naming.named.get(entity.id, entity.type), aliases=naming.given.get(entity.id, ())
            ),
            named=entity.id in naming.named,
        )
        for entity in entities
    ]


class NamingDraft:
    """A `Naming` in the making."""

    def __init__(self, before: Naming) -> None:
        self._before = before
        self.given = Part(before.given)
        self.named = Part(before.named)
        self.spoken = Part(before.spoken)
        self.unsaid: dict[UUID, set[str]] = {}
        """Surfaces that were said of an entity before, some of which may still be."""
        self.touched = set[UUID]()
        """Entities that may be called something else than before."""

    def give(self, entity: Entity, *, named: bool) -> bool:
        """Keep the aliases and type that an entity is given, and whether it is only named; whether these are news."""
        other = self.given.get(entity.id) != (entity.aliases or None)
        if other and entity.aliases:
            self.given.set(entity.id, entity.aliases)
        elif other:
            self.given.pop(entity.id)
        turned = self.named.get(entity.id) != (entity.type if named else None)
        if turned and named:
            self.named.set(entity.id, entity.type)
        elif turned:
            self.named.pop(entity.id)
        self.touched.add(entity.id)
        return other or turned

    def say(self, mention: Mention) -> None:
        """Count the surface of a mention."""
        counts, spoken = self.spoken.get(mention.entity_id) or {}, (mention.surface, mention.type)
        self.spoken.set(mention.entity_id, {**counts, spoken: counts.get(spoken, 0) + 1})
        self.touched.add(mention.entity_id)

    def unsay(self, mention: Mention) -> None:
        """Count the surface of a mention out."""
        counts, spoken = dict(self.spoken[mention.entity_id]), (mention.surface, mention.type)
        counts[spoken] -= 1
        if not counts[spoken]:
            del counts[spoken]
        if counts:
            self.spoken.set(mention.entity_id, counts)
        else:
            self.spoken.pop(mention.entity_id)
        self.unsaid.setdefault(mention.entity_id, set()).add(mention.surface)
        self.touched.add(mention.entity_id)

    def drop(self, key: UUID) -> None:
        """Give up what is known of an entity that goes."""
        for part in (self.given, self.named, self.spoken):
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
        parts = {name: getattr(self, name).result for name in ("given", "named", "spoken")}
        parts["index"] = index.result
        same = all(value is getattr(self._before, name) for name, value in parts.items())
        return self._before if same else Naming(**parts)


def call_again(draft: Draft) -> tuple[UUID, ...]:
    """Fold the names and types of the entities that the draft touches; those whose texts are others, in order of id."""
    touched = [key for key in _upwards(draft, draft.naming.touched) if key in draft.entities.items]
    reworded = []
    for key in touched:
        entity = draft.entities.items[key]
        told = _type_told(draft, entity)
        name = _name_told(draft, entity, told)
        if (told, name) != (entity.type, entity.name):
            worded = attrs.evolve(entity, type=told, name=name)
            draft.sign(draft.entities, key, entity_signature(worded))
            draft.entities.put(worded)
            draft.entities.vectors.pop(key)
            reworded.append(key)
    for key in touched:
        entity = draft.entities.items[key]
        draft.entities.put(attrs.evolve(entity, aliases=aliases_of(draft, entity)))
    return tuple(sorted(reworded))


def type_so_far(draft: Draft, entity: Entity) -> str:
    """The type that an entity shows which is named again: what mentions told of it is told for as long as they do."""
    given, stored = draft.naming.named.get(entity.id), draft.entities.items.get(entity.id)
    if given is None or stored is None or stored.type == given or not is_typed_by_mentions(entity.type, named=True):
        return entity.type
    return stored.type


def _type_told(draft: Draft, entity: Entity) -> str:
    """The type that an entity shows by what is said of it, and of what it took in that was given no type either."""
    named = draft.naming.named
    if entity.id not in named or not is_typed_by_mentions(named[entity.id], named=True):
        return entity.type
    tree = [
        key for key in draft.merging.tree(entity.id) if is_typed_by_mentions(named.get(key) or "", named=key in named)
    ]
    told = known_types(each for _, each in _spoken(draft, tree))
    if len(told) > 1:
        return next(mention.type for mention in _mentions_in_order(draft, tree) if mention.type in told)
    return next(iter(told), named[entity.id])


def _name_told(draft: Draft, entity: Entity, told: str) -> str:
    """The name of an entity of a type: another one if what told it is gone."""
    if entity.id in draft.naming.named and told not in QUALIFIED_TYPES:
        tree = draft.merging.tree(entity.id)
        unsaid = [surface for each in tree for surface in draft.naming.unsaid.get(each, ())]
        if forgotten_name(entity.name, unsaid, _said(draft, tree)):
            return _mentions_in_order(draft, tree)[0].surface
    return entity.name


def aliases_of(draft: Draft, entity: Entity) -> tuple[str, ...]:
    """The aliases that an entity shows."""
    tree = draft.merging.tree(entity.id)
    others = [] if entity.type in QUALIFIED_TYPES else list(_said(draft, tree))
    for key in tree[1:]:
        others += [draft.entities.items[key].name, *(draft.naming.given.get(key) or ())]
    return fold_aliases(entity.name, draft.naming.given.get(entity.id) or (), others)


def _spoken(draft: Draft, tree: Iterable[UUID]) -> Iterator[Spoken]:
    return (spoken for key in tree for spoken in draft.naming.spoken.get(key) or ())


def _said(draft: Draft, tree: Iterable[UUID]) -> frozenset[str]:
    return frozenset(surface for surface, _ in _spoken(draft, tree))


def _mentions_in_order(draft: Draft, tree: Sequence[UUID]) -> list[Mention]:
    """All that is said of entities that are one by now, the earliest first."""
    mentions = [
        mention
        for memory in draft.mentioned.get(draft.merging.root(tree[0]))
        for mention in draft.merging.said_mentions(draft, memory)
        if mention.entity_id in tree
    ]

    def place(mention: Mention) -> tuple[datetime, str, tuple[int, int], str, str]:
        span = (mention.span.start, mention.span.end) if mention.span else (-1, -1)
        occurred_at = draft.memories.items[mention.memory_id].occurred_at
        return (occurred_at or _EARLIEST, mention.memory_id, span, mention.surface, mention.type)

    return sorted(mentions, key=place)


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

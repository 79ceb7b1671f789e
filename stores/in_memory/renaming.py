"""Fold names, types and signatures of entities again after their mentions, merges or given names have changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import attrs

from graphsearch.claims.naming import QUALIFIED_TYPES, fold_aliases, forgotten_name, is_typed_by_mentions, known_types
from graphsearch.model import Entity, Mention
from graphsearch.model.signatures import Attested, entity_signature
from graphsearch.stores.in_memory.draft import Draft
from graphsearch.stores.in_memory.naming import TypedSurface

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


def rename_entities(draft: Draft) -> tuple[UUID, ...]:
    """Fold the names and types of the entities touched by the draft; return those whose text changed, by id."""
    touched = [key for key in draft.upwards(draft.naming.touched) if key in draft.entities.items]
    reworded = []
    for key in touched:
        entity = draft.entities.items[key]
        type_ = _stated_type(draft, entity)
        name = _stated_name(draft, entity, type_)
        if (type_, name) != (entity.type, entity.name):
            draft.entities.put(attrs.evolve(entity, type=type_, name=name))
            draft.entities.vectors.pop(key)
            reworded.append(key)
    for key in touched:
        entity = draft.entities.items[key]
        draft.entities.put(attrs.evolve(entity, aliases=aliases_of(draft, entity)))
    sign_entities(draft, touched)
    return tuple(sorted(reworded))


def sign_entities(draft: Draft, keys: Iterable[UUID]) -> None:
    """Renew the signatures of entities, first of those merged into others, whose signatures name them."""
    for key in sorted(keys, key=lambda key: key not in draft.merging.into):
        if key in draft.entities.items:
            draft.sign(draft.entities, key, entity_signature(draft.entities.items[key], _attested(draft, key)))


def _attested(draft: Draft, key: UUID) -> Attested:
    """What an entity depends on; one that was merged into another has left its mentions to it."""
    given = draft.naming.named.get(key)
    below = draft.merging.tree(key)[1:] if key not in draft.merging.into else ()
    codes, signed = draft.memories.codes, draft.entities.codes
    return Attested(
        mentions=frozenset([codes[memory] for memory in draft.mentioned.get(key)]),
        absorbed=frozenset([signed[each] for each in below]),
        named=given is not None,
        typed=given is not None and is_typed_by_mentions(given, named=True),
    )


def type_so_far(draft: Draft, entity: Entity) -> str:
    """The type of an only-named entity: a type stated by mentions stays while they do."""
    given, stored = draft.naming.named.get(entity.id), draft.entities.items.get(entity.id)
    if given is None or stored is None or stored.type == given or not is_typed_by_mentions(entity.type, named=True):
        return entity.type
    return stored.type


def _stated_type(draft: Draft, entity: Entity) -> str:
    """The type stated by the mentions of an entity and of those merged into it that were given no type either."""
    named = draft.naming.named
    if entity.id not in named or not is_typed_by_mentions(named[entity.id], named=True):
        return entity.type
    tree = [
        key for key in draft.merging.tree(entity.id) if is_typed_by_mentions(named.get(key) or "", named=key in named)
    ]
    stated = known_types(each for _, each in _forms(draft, tree))
    if len(stated) > 1:
        return next(mention.type for mention in _mentions_in_order(draft, tree) if mention.type in stated)
    return next(iter(stated), named[entity.id])


def _stated_name(draft: Draft, entity: Entity, type_: str) -> str:
    """The name of an entity of a type: another one if the mentions that stated it are gone."""
    if entity.id in draft.naming.named and type_ not in QUALIFIED_TYPES:
        tree = draft.merging.tree(entity.id)
        lost_surfaces = [surface for each in tree for surface in draft.naming.lost_surfaces.get(each, ())]
        if forgotten_name(entity.name, lost_surfaces, _surfaces(draft, tree)):
            return _mentions_in_order(draft, tree)[0].surface
    return entity.name


def aliases_of(draft: Draft, entity: Entity) -> tuple[str, ...]:
    """The aliases of an entity: given ones, its surface forms, and the names of entities merged into it."""
    tree = draft.merging.tree(entity.id)
    others = [] if entity.type in QUALIFIED_TYPES else list(_surfaces(draft, tree))
    for key in tree[1:]:
        others += [draft.entities.items[key].name, *(draft.naming.given.get(key) or ())]
    return fold_aliases(entity.name, draft.naming.given.get(entity.id) or (), others)


def _forms(draft: Draft, tree: Iterable[UUID]) -> Iterator[TypedSurface]:
    return (form for key in tree for form in draft.naming.forms.get(key) or ())


def _surfaces(draft: Draft, tree: Iterable[UUID]) -> frozenset[str]:
    return frozenset(surface for surface, _ in _forms(draft, tree))


def _mentions_in_order(draft: Draft, tree: Sequence[UUID]) -> list[Mention]:
    """All mentions of entities that were merged into one, the earliest first."""
    mentions = [
        mention
        for memory in draft.mentioned.get(draft.merging.root(tree[0]))
        for mention in draft.original(memory).mentions
        if mention.entity_id in tree
    ]

    def place(mention: Mention) -> tuple[datetime, str, tuple[int, int], str, str]:
        span = (mention.span.start, mention.span.end) if mention.span else (-1, -1)
        occurred_at = draft.memories.items[mention.memory_id].occurred_at
        return (occurred_at or _EARLIEST, mention.memory_id, span, mention.surface, mention.type)

    return sorted(mentions, key=place)

"""Names of entities by their origin: given names, and the surface forms of mentions, folded into one name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.model import Entity, Mention
from graphsearch.stores.in_memory.name_index import NameIndex, NameIndexDraft
from graphsearch.stores.in_memory.parts import Part

TypedSurface = tuple[str, str]
"""A surface form, and the type that its text states."""

_EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})


@attrs.frozen(eq=False, kw_only=True)
class Naming:
    """The origins of names, and the index of the shown ones."""

    given: Mapping[UUID, tuple[str, ...]] = _EMPTY
    """Asserted aliases of entities, if any."""
    named: Mapping[UUID, str] = _EMPTY
    """Entities that exist through their mentions alone, and the types they were given."""
    forms: Mapping[UUID, Mapping[TypedSurface, int]] = _EMPTY
    """The number of uses of each surface form and type for an entity, merged or not."""
    index: NameIndex = attrs.field(factory=NameIndex)


class NamingDraft:
    """A draft of `Naming`."""

    def __init__(self, before: Naming) -> None:
        self._before = before
        self.given = Part(before.given)
        self.named = Part(before.named)
        self.forms = Part(before.forms)
        self.lost_surfaces: dict[UUID, set[str]] = {}
        """Surface forms that lost a mention; other mentions of them may remain."""
        self.touched = set[UUID]()
        """Entities whose name may have changed."""

    def give(self, entity: Entity, *, named: bool) -> bool:
        """Store the given aliases and type of an entity, and whether it is only named; return whether any changed."""
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

    def add_mention(self, mention: Mention) -> None:
        """Count the surface of a mention."""
        counts, form = self.forms.get(mention.entity_id) or {}, (mention.surface, mention.type)
        self.forms.set(mention.entity_id, {**counts, form: counts.get(form, 0) + 1})
        self.touched.add(mention.entity_id)

    def remove_mention(self, mention: Mention) -> None:
        """Discount the surface of a mention."""
        counts, form = dict(self.forms[mention.entity_id]), (mention.surface, mention.type)
        counts[form] -= 1
        if not counts[form]:
            del counts[form]
        if counts:
            self.forms.set(mention.entity_id, counts)
        else:
            self.forms.pop(mention.entity_id)
        self.lost_surfaces.setdefault(mention.entity_id, set()).add(mention.surface)
        self.touched.add(mention.entity_id)

    def drop(self, key: UUID) -> None:
        """Drop the names of a removed entity."""
        for part in (self.given, self.named, self.forms):
            part.pop(key)
        self.touched.add(key)

    def result(self, renamed: Iterable[tuple[UUID, Sequence[str], Sequence[str]]]) -> Naming:
        """The current naming; ``renamed`` are entities with the names before and after, which are indexed again."""
        index = NameIndexDraft(self._before.index)
        for key, old, new in renamed:
            index.rename(key, old, new)
        parts = {name: getattr(self, name).result for name in ("given", "named", "forms")}
        parts["index"] = index.result
        same = all(value is getattr(self._before, name) for name, value in parts.items())
        return self._before if same else Naming(**parts)

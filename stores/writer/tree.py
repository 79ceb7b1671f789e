"""Which entities were merged into which, as far as a write has read it."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID


class Tree:
    """The target of each merged entity, and what was merged into each target."""

    def __init__(self) -> None:
        self.into: dict[UUID, UUID] = {}
        self._absorbed: dict[UUID, set[UUID]] = {}

    def join(self, source: UUID, target: UUID) -> None:
        """Let an entity be merged into another."""
        self.into[source] = target
        self._absorbed.setdefault(target, set()).add(source)

    def part(self, source: UUID) -> None:
        """Let an entity be merged into none."""
        if (target := self.into.pop(source, None)) is not None:
            self._absorbed[target].discard(source)

    def absorbs(self, key: UUID) -> bool:
        """Whether anything was merged into an entity."""
        return bool(self._absorbed.get(key))

    def involves(self, key: UUID) -> bool:
        """Whether an entity takes part in a merge, on either side."""
        return key in self.into or self.absorbs(key)

    def root(self, key: UUID) -> UUID:
        """The entity that one was finally merged into; itself if it was not merged."""
        while self.into and (target := self.into.get(key)) is not None:
            key = target
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

    def below(self, key: UUID) -> list[UUID]:
        """The entity, and everything merged into it, in order of id."""
        found: list[UUID] = []
        waiting = list(self._absorbed[key]) if key in self._absorbed else []
        while waiting:
            found.append(waiting.pop())
            waiting += self._absorbed.get(found[-1], ())
        return [key, *sorted(found)]

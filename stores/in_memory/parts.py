"""Drafts of mappings, and of values made of them: each results in the same object if nothing changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import attrs

K = TypeVar("K")
V = TypeVar("V")
M = TypeVar("M")
T = TypeVar("T", bound=attrs.AttrsInstance)


class Part(Generic[K, V]):
    """A draft of a mapping: copied before its first change, the same object if nothing changes."""

    def __init__(self, before: Mapping[K, V]) -> None:
        self._before = before
        self._copy: dict[K, V] | None = None

    @property
    def result(self) -> Mapping[K, V]:
        """The current mapping."""
        return self._before if self._copy is None else self._copy

    def get(self, key: K) -> V | None:
        """The value, or None."""
        return self.result.get(key)

    def __getitem__(self, key: K) -> V:
        return self.result[key]

    def __contains__(self, key: K) -> bool:
        return key in self.result

    def __iter__(self) -> Iterator[K]:
        return iter(self.result)

    def set(self, key: K, value: V) -> None:
        """Set a value."""
        self._changed()[key] = value

    def pop(self, key: K) -> None:
        """Remove a value, if it exists."""
        if key in self.result:
            del self._changed()[key]

    def put(self, key: K, value: V | None) -> bool:
        """Set a value, or remove it if it is to be empty; return whether that changed anything."""
        if (value or None) == self.get(key):
            return False
        if value:
            self.set(key, value)
        else:
            self.pop(key)
        return True

    def _changed(self) -> dict[K, V]:
        if self._copy is None:
            self._copy = dict(self._before)
        return self._copy


class Links(Generic[K, M]):
    """A `Part` of sets, changed member by member."""

    def __init__(self, before: Mapping[K, frozenset[M]]) -> None:
        self._before = before
        self._open: dict[K, set[M]] = {}

    def get(self, key: K) -> Iterable[M]:
        """The members; not to be mutated."""
        return self._open[key] if key in self._open else self._before.get(key, frozenset())

    def add(self, key: K, member: M) -> None:
        """Add a member."""
        self._members(key).add(member)

    def discard(self, key: K, member: M) -> None:
        """Remove a member, if it exists."""
        self._members(key).discard(member)

    @property
    def changed(self) -> dict[K, set[M]]:
        """The keys whose members changed, with the members before."""
        return {key: members for key, members in self._open.items() if members != self._before.get(key, frozenset())}

    @property
    def result(self) -> Mapping[K, frozenset[M]]:
        """The current mapping, without empty sets."""
        if not (changed := self._open and self.changed):
            return self._before
        later = dict(self._before)
        for key, members in changed.items():
            if members:
                later[key] = frozenset(members)
            else:
                del later[key]
        return later

    def _members(self, key: K) -> set[M]:
        if key not in self._open:
            self._open[key] = set(self._before.get(key, ()))
        return self._open[key]


class ValueDraft(Generic[T]):
    """A draft of an immutable value. Its attributes with the name of a field are drafts of that field, or its value."""

    before: T

    def changes(self) -> dict[str, Any]:
        """The fields that have changed."""
        fields = attrs.fields_dict(type(self.before))
        drafted = {name: each for name, each in vars(self).items() if name in fields}
        values = {name: getattr(each, "result", each) for name, each in drafted.items()}
        return {name: value for name, value in values.items() if value is not getattr(self.before, name)}

    @property
    def result(self) -> T:
        """The current value, the same object if nothing changed."""
        before: Any = self.before
        current: T = attrs.evolve(before, **changes) if (changes := self.changes()) else before
        return current

"""Reads of one scope that are functions of its state alone."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from uuid import UUID

import numpy as np

from graphsearch.columns import Keys
from graphsearch.model import ElementKind, Vector
from graphsearch.stores.in_memory import reading
from graphsearch.stores.in_memory.state import State


class ScopedReads:
    """The vectors of a scope, its version, and its documents by number; for the class that holds its ``_state``."""

    @property
    def _state(self) -> State:
        raise AttributeError("the store has a state of its own")

    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        """The stored vectors behind keys, normalised, in their order; zeros where there is none."""
        return reading.vectors(self._state, kind, np.asarray(keys, np.int64))

    async def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        """What some entities are found by beside their texts, by word with its weight."""
        words = self._state.entities.words
        return {key: words[key] for key in ids if key in words}

    async def version(self) -> Hashable:
        """A token that changes with every change to entities, relations, their names or their types."""
        state = self._state
        return state.derive(_Version, state.entities.items, state.relations.items, state.naming, state.types)

    async def document_count(self, kind: ElementKind) -> int:
        """How many elements of a kind have a word in their texts: the N of a scope, known without counting."""
        return len(self._state.elements(kind).documents)

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        """For each group of terms, how many elements of a kind have all of them in their texts."""
        return reading.document_frequencies(self._state, kind, groups)


class _Version:
    """Equal to itself alone."""

    def __init__(self, *_: object) -> None: ...

"""Caches of what has been read: signatures permanently, elements for the duration of a snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
from numpy.typing import NDArray

from graphsearch.model import ElementKind, RelationType, Scope, View
from graphsearch.model.signatures import Signature, SignatureTable

SCOPES: Final = 256
"""Maximum number of scopes with cached signatures."""
CODES: Final = 10_000
"""Maximum number of cached signatures per scope."""
KEPT: Final = 10_000
"""Maximum number of elements of a kind that a snapshot caches; when exceeded, the cache is emptied."""


@attrs.define
class SignatureCache:
    """The signatures of one scope read since ``dropped`` of its signatures had been dropped."""

    dropped: int
    contents: dict[int, Signature] = attrs.field(factory=dict)
    _table: tuple[Mapping[str, RelationType], SignatureTable] | None = None

    def table(self, types: Mapping[str, RelationType]) -> SignatureTable:
        """A table of all of them with the relation types; cached until there are more of either."""
        if self._table is None or self._table[0] != types or len(self._table[1]) != len(self.contents):
            self._table = types, SignatureTable.with_codes(self.contents, types)
        return self._table[1]

    def add(self, contents: Mapping[int, Signature]) -> None:
        """Add signatures. A full cache is emptied: the ones in use soon return."""
        if len(self.contents) + len(contents) > CODES:
            self.contents.clear()
        if len(contents) <= CODES:
            self.contents.update(contents)


@attrs.define
class SignatureCaches:
    """The signatures of the most recently read scopes.

    They may quote labels and sources of forgotten memories: those of a scope are discarded when any of its signatures
    is dropped, by whatever process.
    """

    _books: dict[Scope, SignatureCache] = attrs.field(factory=dict)

    def book(self, scope: Scope, dropped: int) -> SignatureCache:
        """The signatures of a scope. A snapshot from before the last drop gets a cache of its own."""
        book = self._books.pop(scope, None)
        if book is None or book.dropped < dropped:
            book = SignatureCache(dropped)
        self._books[scope] = book
        while len(self._books) > SCOPES:
            del self._books[next(iter(self._books))]
        return book if book.dropped == dropped else SignatureCache(dropped)


@attrs.define(eq=False)
class ReadOnce:
    """The elements that one snapshot has read: a search finds, ranks, compares and hydrates the same ones."""

    related: dict[View, Sequence[NDArray[Any]]] = attrs.field(factory=dict)
    """Relations as steps, in columns; the first holds their keys; see `read.walking`."""
    _elements: dict[ElementKind, dict[Any, Any]] = attrs.field(factory=dict)

    def elements(self, kind: ElementKind) -> dict[Any, Any]:
        """The elements of a kind by id, or by its bytes, which hash faster; mutable, for adding more."""
        known = self._elements.get(kind)
        if known is None or len(known) > KEPT:
            known = self._elements[kind] = {}
        return known

"""What was read before and need not be read again: signatures for good, elements for as long as a snapshot lasts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
from numpy.typing import NDArray

from graphsearch.model import ElementKind, RelationType, Scope, View
from graphsearch.model.signatures import Signature, SignatureTable

SCOPES: Final = 256
"""Scopes whose signatures are kept."""
CODES: Final = 10_000
"""Signatures of a scope that are kept."""
KEPT: Final = 10_000
"""Elements of a kind that a snapshot keeps; where there are more, keeping begins anew."""


@attrs.define
class Book:
    """The signatures of one scope that were read while ``dropped`` of its signatures had been dropped."""

    dropped: int
    contents: dict[int, Signature] = attrs.field(factory=dict)
    _table: tuple[Mapping[str, RelationType], SignatureTable] | None = None

    def table(self, types: Mapping[str, RelationType]) -> SignatureTable:
        """A table of all of them with the relation types; the same one until there are more of either."""
        if self._table is None or self._table[0] != types or len(self._table[1]) != len(self.contents):
            self._table = types, SignatureTable.with_codes(self.contents, types)
        return self._table[1]

    def add(self, contents: Mapping[int, Signature]) -> None:
        """Keep more of them. A full book is begun anew: what is needed most is soon in it again."""
        if len(self.contents) + len(contents) > CODES:
            self.contents.clear()
        if len(contents) <= CODES:
            self.contents.update(contents)


@attrs.define
class Library:
    """The signatures of the scopes read last.

    They may quote labels and sources of what is since forgotten: a scope's are given up when some of its signatures
    were dropped, by whatever process.
    """

    _books: dict[Scope, Book] = attrs.field(factory=dict)

    def book(self, scope: Scope, dropped: int) -> Book:
        """The book of a scope. One of its own for a snapshot from before the last drop, which nobody else reads."""
        book = self._books.pop(scope, None)
        if book is None or book.dropped < dropped:
            book = Book(dropped)
        self._books[scope] = book
        while len(self._books) > SCOPES:
            del self._books[next(iter(self._books))]
        return book if book.dropped == dropped else Book(dropped)


@attrs.define(eq=False)
class ReadOnce:
    """What one snapshot has read: a search needs the same elements to find, to rank, to compare and to show them."""

    related: dict[View, Sequence[NDArray[Any]]] = attrs.field(factory=dict)
    """Relations as steps, in columns of which the first has their keys; see `read.walking`."""
    _elements: dict[ElementKind, dict[Any, Any]] = attrs.field(factory=dict)

    def elements(self, kind: ElementKind) -> dict[Any, Any]:
        """Those of a kind by id, or its bytes, which are found sooner; for more to be put among them."""
        known = self._elements.get(kind)
        if known is None or len(known) > KEPT:
            known = self._elements[kind] = {}
        return known

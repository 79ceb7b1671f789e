"""Contents of signature codes that were read before: a code stands for one content for ever."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from graphsearch.model import RelationType, Scope
from graphsearch.model.signatures import Signature, SignatureTable

SCOPES: Final = 256
"""Scopes whose signatures are kept."""
CODES: Final = 10_000
"""Signatures of a scope that are kept."""


@attrs.define
class Book:
    """The signatures of one scope that were read while ``dropped`` of its signatures had been dropped."""

    dropped: int
    contents: dict[int, Signature] = attrs.field(factory=dict)
    _table: tuple[Mapping[str, RelationType], SignatureTable] | None = None

    def table(self, types: Mapping[str, RelationType]) -> SignatureTable:
        """All of them, and what is known of types; the same until there are more of either."""
        if self._table is None or self._table[0] != types or len(self._table[1]) != len(self.contents):
            self._table = types, SignatureTable.with_codes(self.contents, types)
        return self._table[1]

    def add(self, contents: Mapping[int, Signature]) -> None:
        """Keep more of them. A full book is begun anew: what is asked for most is soon in it again."""
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

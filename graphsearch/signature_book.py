"""The signatures that one question has met."""

from __future__ import annotations

import numpy as np

from graphsearch.columns import Codes, Rows
from graphsearch.places import Places
from graphsearch.protocols import GraphStore
from graphsearch.signature import Signature


class SignatureBook:
    """A row for each signature that one question has met, in the order they turned up; each is read once.

    What follows from a signature (a verdict, a prior, a half-life) is kept in columns beside it, so that the codes of
    a hop are looked up once and all else is ``column[row]``.
    """

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._places = Places(np.empty(0, dtype=np.int64))
        self.contents: list[Signature | None] = []
        """By row; None for a code that the store does not know."""

    def __len__(self) -> int:
        return len(self.contents)

    async def rows(self, codes: Codes) -> Rows:
        """The row of each code."""
        rows, _ = self._places.number(codes)
        start = len(self.contents)
        if start < len(self._places):
            listed = self._places.keys[start:].tolist()
            found = await self._store.signatures(listed)
            self.contents[start : start + len(listed)] = map(found.get, listed)  # another task may have been faster
        return rows

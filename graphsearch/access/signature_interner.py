"""The rows of the signatures that one question meets, in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from graphsearch.columns import Codes, Rows
from graphsearch.columns.key_index import Places
from graphsearch.model import RelationType
from graphsearch.model.signatures import SignatureTable
from graphsearch.protocols import GraphStore


class SignatureBook:
    """The table of a store that has all of its signatures in one, where codes are rows.

    For other stores a table of the signatures at hand, extended by those that the question meets, in order of
    appearance, each read once.
    """

    def __init__(self, store: GraphStore, types: Mapping[str, RelationType], known: SignatureTable | None) -> None:
        self._store = store
        self._types = types
        self.table = SignatureTable.with_codes({}, types) if known is None else known
        self._places = None if self.table.codes is None else Places(self.table.codes)

    async def rows(self, *columns: Codes) -> Sequence[Rows]:
        """The row of each code, column by column."""
        if self._places is None:
            return columns
        rows = self._places.number(np.concatenate(columns))
        start = len(self.table)
        if start < len(self._places):
            listed = self._places.keys[start:].tolist()
            found = await self._store.signatures(listed)
            if len(self.table) < start + len(listed):  # else another task was faster
                contents = [*self.table.contents[:start], *map(found.get, listed)]
                self.table = SignatureTable.of(contents, self._types, self._places.keys[: len(contents)])
        return [rows[start:end] for start, end in pairwise(accumulate(map(len, columns), initial=0))]

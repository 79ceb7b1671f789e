"""The schema of a graph as visible to one question: its types, counted over what passes the gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.access.window import widest
from graphsearch.columns import Keys, Rows, Steps
from graphsearch.columns.key_index import distinct

COUNTED: Final = 5_000
"""Visible relations that are counted, the first by id. Ids are hashes: this is a fair sample."""
PAGE: Final = 5_000


@attrs.frozen(kw_only=True)
class GraphSchema:
    """The types of relations in view, and of the entities at their ends, with their counts.

    The most frequent first, then by name. ``whole`` is whether all relations were counted, not only a sample. It
    depends only on what is visible.
    """

    entity_types: Mapping[str, int]
    relation_types: Mapping[str, int]
    whole: bool

    @property
    def kinds(self) -> Mapping[str, Mapping[str, int]]:
        """The types by the kind of element."""
        return {"entity": self.entity_types, "relation": self.relation_types}


async def visible_schema(reader: Reader, counted: int = COUNTED) -> GraphSchema:
    """The schema of what is visible, as if nothing else existed.

    It has the types of the first ``counted`` relations that pass the view and are visible with both ends. At most eight
    times as many relations are read for these.
    """
    counting = _Counting(reader)
    await counting.count(counted, widest(counted))
    return GraphSchema(
        entity_types=_ranked(await counting.entity_types()),
        relation_types=_ranked(counting.relation_types),
        whole=counting.relation_types.total() < counted,
    )


class _Counting:
    """Counts relations by type, page by page, and keeps their ends."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._ends: list[Keys] = []
        self.relation_types: Counter[str] = Counter()

    async def count(self, wanted: int, most: int) -> None:
        """Count up to ``counted`` visible relations, the first by id, among a bounded number."""
        after, looked = None, 0
        while wanted > 0 and looked < most:
            page = await self._reader.page(after=after, limit=PAGE)
            wanted -= self._add(page.steps, wanted)
            if page.read < PAGE:
                break
            after, looked = page.last, looked + page.read

    def _add(self, steps: Steps, most: int) -> int:
        rows = steps.rows
        kept = slice(0, most)
        self.relation_types.update(_types(steps.signatures[kept], self._reader))
        self._ends += [rows.near[kept], rows.far[kept]]
        return len(rows)

    async def entity_types(self) -> Counter[str]:
        """Distinct ends by type."""
        if not self._ends:
            return Counter()
        ends, _ = distinct(np.concatenate(self._ends))
        found: Counter[str] = Counter()
        for start in range(0, len(ends), PAGE):
            located = await self._reader.locate(self._reader.entity_ids(ends[start : start + PAGE]))
            found.update(await self._reader.entity_types(located))
        return found


def _types(signatures: Rows, reader: Reader) -> dict[str, int]:
    counts: Counter[str] = Counter()
    rows, numbers = np.unique(signatures, return_counts=True)
    for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
        if content := reader.signatures.contents[row]:
            counts[content.type] += number
    return counts


def _ranked(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))

"""The types of what is visible in a graph, with their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.access.window import widest
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


async def visible_schema(reader: Reader, counted: int = COUNTED) -> GraphSchema:
    """The schema of what is visible, as if nothing else existed.

    It has the types of the first ``counted`` relations that pass the view and are visible with both ends. At most eight
    times as many relations are read for these.
    """
    ends = [(await reader.locate([])).keys]
    relation_types: Counter[str] = Counter()
    after, looked, wanted = None, 0, counted
    while wanted > 0 and looked < widest(counted):
        page = await reader.page(after=after, limit=PAGE)
        rows = page.steps.rows
        relation_types.update(reader.signatures.type_names(page.steps.signatures[:wanted].tolist()))
        ends += [rows.near[:wanted], rows.far[:wanted]]
        wanted -= len(rows)
        if page.read < PAGE:
            break
        after, looked = page.last, looked + page.read
    entity_types: Counter[str] = Counter()
    keys, _ = distinct(np.concatenate(ends))
    for start in range(0, len(keys), PAGE):
        located = await reader.locate(reader.entity_ids(keys[start : start + PAGE]))
        entity_types.update(await reader.entity_types(located))
    return GraphSchema(
        entity_types=_ranked(entity_types),
        relation_types=_ranked(relation_types),
        whole=relation_types.total() < counted,
    )


def _ranked(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))

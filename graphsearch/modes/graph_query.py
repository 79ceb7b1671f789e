"""A graph query as data, and the schema of the graph that it is asked of.

A query is never SQL or Cypher, so that the worst a model can write is a useless query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.access.window import widest
from graphsearch.columns import Keys, Rows
from graphsearch.columns.key_index import distinct
from graphsearch.model import validation as check

MAX_ANCHORS: Final = 8
MAX_TYPES: Final = 20
MAX_NAME: Final = 200
"""Most characters of a name."""
MAX_HOPS: Final = 10
COUNTED: Final = 5_000
"""Visible relations that are counted, the first by id. Ids are hashes: this is a fair sample."""
PAGE: Final = 5_000


class Direction(StrEnum):
    """The direction in which relations are followed, from where a query starts."""

    OUT = "out"
    """From source to target: "whom does Ada know?"."""
    IN = "in"
    """From target to source: "who knows Ada?"."""
    BOTH = "both"


def _words(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value))


@attrs.frozen(kw_only=True)
class GraphQuery:
    """A query of the mode NATURAL_LANGUAGE.

    * ``anchors``: names of the entities that it starts from, at most 8; without any, all entities of its types.
    * ``relation_types``: the only types of relations that are followed; any if empty.
    * ``direction``: in which they are followed. ``hops``: at most, 1 to 10.
    * ``entity_types``: the types of the entities that a triplet leads to; any if empty.
    * ``since`` and ``until``: what held at any moment between the two; both open by default.
    * ``limit``: of triplets; None for the limit of the search.

    Raises `InvalidInputError` with all faults.
    """

    anchors: tuple[str, ...] = attrs.field(default=(), converter=_words)
    relation_types: tuple[str, ...] = attrs.field(default=(), converter=_words)
    direction: Direction = Direction.BOTH
    hops: int = 1
    entity_types: tuple[str, ...] = attrs.field(default=(), converter=_words)
    since: datetime | None = None
    until: datetime | None = None
    limit: int | None = None

    def __attrs_post_init__(self) -> None:
        named = self.anchors or self.relation_types or self.entity_types
        check.refuse(
            "graph query",
            None if named else "anchors, relation_types and entity_types must not all be empty",
            _names("anchors", self.anchors, MAX_ANCHORS),
            _names("relation_types", self.relation_types, MAX_TYPES),
            check.one_of("direction", self.direction, tuple(Direction)),
            _whole("hops", self.hops, MAX_HOPS),
            _names("entity_types", self.entity_types, MAX_TYPES),
            check.instant("until", self.until),
            check.window(self.since, self.until) and "since must be a time, and not after until",
            None if self.limit is None else _whole("limit", self.limit),
        )


def _names(field: str, values: tuple[str, ...], most: int) -> str | None:
    if len(values) > most:
        return f"{field} must be at most {most}, not {len(values)}"
    long = any(isinstance(value, str) and len(value) > MAX_NAME for value in values)
    return f"each of {field} must have at most {MAX_NAME} characters" if long else check.texts(field, values)


def _whole(field: str, value: object, most: float = float("inf")) -> str | None:
    return check.number(field, value, 1, most) if isinstance(value, int) else f"{field} must be a whole number"


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
    ends: list[Keys] = []
    relation_types: Counter[str] = Counter()
    after, looked, wanted = None, 0, counted
    while wanted > 0 and looked < widest(counted):
        page = await reader.page(after=after, limit=PAGE)
        rows = page.steps.rows
        relation_types.update(_types(page.steps.signatures[:wanted], reader))
        ends += [rows.near[:wanted], rows.far[:wanted]]
        wanted -= len(rows)
        if page.read < PAGE:
            break
        after, looked = page.last, looked + page.read
    return GraphSchema(
        entity_types=_ranked(await _types_of(ends, reader)),
        relation_types=_ranked(relation_types),
        whole=relation_types.total() < counted,
    )


async def _types_of(ends: Sequence[Keys], reader: Reader) -> Counter[str]:
    """The number of distinct ends by type."""
    found: Counter[str] = Counter()
    if not ends:
        return found
    keys, _ = distinct(np.concatenate(ends))
    for start in range(0, len(keys), PAGE):
        located = await reader.locate(reader.entity_ids(keys[start : start + PAGE]))
        found.update(await reader.entity_types(located))
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

"""A graph query as data: never SQL or Cypher, so that the worst a model can write is a useless query."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final

import attrs

from graphsearch.model import validation as check

MAX_ANCHORS: Final = 8
MAX_TYPES: Final = 20
MAX_NAME: Final = 200
"""Most characters of a name."""
MAX_HOPS: Final = 10


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

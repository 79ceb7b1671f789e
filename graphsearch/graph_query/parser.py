"""Parse the output of a language model to a graph query, or to a list of all its faults: pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from graphsearch.errors import InvalidInputError, LLMAnswerError
from graphsearch.graph_query.prompt import ANSWER, Vocabulary
from graphsearch.graph_query.query import MAX_ANCHORS, MAX_NAME, MAX_TYPES, Direction, GraphQuery
from graphsearch.model import validation as check
from graphsearch.model.identity import snake_case

_FIELDS: Final = frozenset(ANSWER["properties"])
_DATE: Final = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_INSTANT: Final = timedelta(microseconds=1)


def query_of(data: Mapping[str, Any], vocabulary: Vocabulary, *, max_hops: int, limit: int) -> GraphQuery:
    """The query in an object; missing fields have their defaults.

    Raises `LLMAnswerError` with all faults, at most 20 of them.
    """
    reading = _Reading(data)
    fields: dict[str, Any] = {
        "anchors": [name.strip() for name in reading.texts("anchors", MAX_ANCHORS)],
        "relation_types": reading.types("relation_types", vocabulary.relation_types),
        "direction": reading.direction(),
        "hops": reading.number("hops", 1, max_hops),
        "entity_types": reading.types("entity_types", vocabulary.entity_types),
        "since": reading.moment("since"),
        "until": reading.moment("until", last=True),
        "limit": reading.number("limit", None, limit),
    }
    try:
        query = None if reading.faults else GraphQuery(**fields)
    except InvalidInputError as error:
        reading.faults += error.faults
        query = None
    if query is None:
        raise LLMAnswerError("the query", faults=reading.faults)
    return query


class _Reading:
    """Reads fields, and collects their faults."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.faults = [f"there is no field {name[:MAX_NAME]!r}" for name in sorted(set(data) - _FIELDS)]

    def texts(self, field: str, most: int) -> Sequence[str]:
        """A list of texts."""
        value = self._data.get(field)
        if isinstance(value, list) and len(value) <= most and all(isinstance(each, str) for each in value):
            return value
        if value is not None:
            self.faults.append(f"{field} must be a list of at most {most} texts")
        return ()

    def types(self, field: str, known: Mapping[str, str]) -> Sequence[str]:
        """Names of types as they are in the graph."""
        asked = self.texts(field, MAX_TYPES)
        found = {name: known.get(name) or known.get(snake_case(name)) for name in asked}
        unknown = [name for name, type_ in found.items() if type_ is None]
        self.faults += [f"{field}: the schema has no {name[:MAX_NAME]!r}" for name in unknown]
        return [type_ for type_ in found.values() if type_ is not None]

    def direction(self) -> Direction:
        """The direction."""
        value = self._data.get("direction", Direction.BOTH)
        if value in tuple(Direction):
            return Direction(value)
        self.faults.append(f"direction must be {_either(Direction)}")
        return Direction.BOTH

    def number(self, field: str, default: int | None, most: int) -> int | None:
        """A whole number from 1 to ``most``."""
        value = self._data.get(field)
        if value is None:
            return default
        if isinstance(value, int) and check.number(field, value, 1, most) is None:
            return value
        self.faults.append(f"{field} must be a whole number from 1 to {most}")
        return default

    def moment(self, field: str, *, last: bool = False) -> datetime | None:
        """The first moment of a year, a month or a day, or its ``last``."""
        value = self._data.get(field)
        if value is None:
            return None
        match = _DATE.fullmatch(value) if isinstance(value, str) else None
        try:
            if match:
                first, after = _bounds(*(int(part) if part else None for part in match.groups()))
                return after - _INSTANT if last else first
        except (ValueError, OverflowError):
            pass
        self.faults.append(f"{field} must be a year, a month or a day such as 2019, 2019-05 or 2019-05-07, or null")
        return None


def _bounds(year: int | None, month: int | None, day: int | None) -> tuple[datetime, datetime]:
    """The first moment of a year, a month or a day, and the first after it."""
    first = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
    if day is not None:
        return first, first + timedelta(days=1)
    if month is not None:
        return first, (first + timedelta(days=31)).replace(day=1)
    return first, first.replace(year=first.year + 1)


def _either(values: Iterable[str]) -> str:
    return ", ".join(map(repr, map(str, values)))

"""How well an entity fits the years that a question names: 1.0, 0.8, 0.5 or 0.3."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Final, NamedTuple

from graphsearch.model import Entity

INSIDE: Final = 1.0
OPEN_ENDED: Final = 0.8
UNDATED: Final = 0.5
OUTSIDE: Final = 0.3

PAIRS: Final = (("valid_from", "valid_to"), ("term_start", "term_end"), ("start_date", "end_date"))
"""Attributes of an entity that are the two ends of one period; each also counts alone."""
SINGLE: Final = ("year", "date")
"""Attributes that name one year."""

_YEAR: Final = re.compile(r"(?<![\d.])([12]\d{3})(?!\d)")
_RANGE: Final = re.compile(r"(?<![\d.])([12]\d{3})\s?(?:-|–|—|to)\s?([12]\d{3})(?![\d-])")


class Years(NamedTuple):
    """Years from the first to the last, both included; an open end is None."""

    first: int | None
    last: int | None

    def meet(self, other: Years) -> bool:
        """Whether the two have a year in common."""
        starts_late = self.first is not None and other.last is not None and self.first > other.last
        ends_early = self.last is not None and other.first is not None and self.last < other.first
        return not (starts_late or ends_early)


def temporal_match(known: Iterable[Years], asked: Iterable[Years]) -> float:
    """The best fit of any of an entity's periods to any of the requested ones.

    1.0 if they overlap, 0.8 if they overlap and the entity's has an open end, 0.5 without known periods, 0.3 if none
    overlaps; 1.0 if no years are requested.
    """
    wanted = tuple(asked)
    if not wanted:
        return INSIDE
    fits = [_fit(period, wanted) for period in known]
    return max(fits, default=UNDATED)


def _fit(period: Years, wanted: Iterable[Years]) -> float:
    if not any(period.meet(asked) for asked in wanted):
        return OUTSIDE
    return OPEN_ENDED if None in period else INSIDE


def years_of(entity: Entity) -> tuple[Years, ...]:
    """The periods of an entity, in years: its own validity, and those in its attributes.

    Reads the pairs of `PAIRS`, the single years of `SINGLE`, and ranges such as "2011-2017" in the text of any
    attribute. Dates are numbers or text with a year of four digits; a pair whose end precedes its start is ignored.
    """
    return tuple(dict.fromkeys(_years(entity)))


def _years(entity: Entity) -> Iterator[Years]:
    # A period that ends at New Year does not overlap the new year.
    ended = entity.valid_to - timedelta(microseconds=1) if entity.valid_to else None
    own = {"valid_from": entity.valid_from and entity.valid_from.year, "valid_to": ended and ended.year}
    for source in (own, entity.attributes):
        for start, end in PAIRS:
            yield from _period(_year(source.get(start)), _year(source.get(end)))
    for name in SINGLE:
        year = _year(entity.attributes.get(name))
        yield from _period(year, year)
    for first, last in _ranges(entity.attributes):
        yield from _period(int(first), int(last))


def _period(first: int | None, last: int | None) -> Iterator[Years]:
    if (first is not None or last is not None) and not (first is not None and last is not None and first > last):
        yield Years(first, last)


def _year(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _YEAR.search(value) if isinstance(value, str) else None
    return int(match[1]) if match else None


def _ranges(attributes: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for value in attributes.values():
        for text in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(text, str):
                yield from _RANGE.findall(text)

"""Grounding of one relation stated by a model in the words of its passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any, Final

import attrs

from graphsearch.ingest.extract.llm.items import RefusedError, shown, words
from graphsearch.ingest.extract.llm.locating import places
from graphsearch.ingest.extract.llm.passages import Passage
from graphsearch.ingest.extract.llm.relation_types import LONGEST, normalised
from graphsearch.ingest.extract.rules.when import Ends
from graphsearch.model import EdgeKind, Span
from graphsearch.model import validation as check
from graphsearch.text.dates import Dated, Dates, Role

LEAST: Final = 0.5
"""Least confidence of a relation: lower ones are in no band (docs/design.md, Confidence)."""
CLEAR: Final = 0.92
"""Maximum confidence of a relation whose quote names both ends."""
AMBIGUOUS: Final = 0.75
"""Maximum confidence of a relation whose quote names only one end, the other perhaps by a pronoun."""
LONGEST_QUOTE: Final = 1_000
LONGEST_NAME: Final = 120
_LONGEST_DATE: Final = 100

_CHANGES: Final = ("started", "ended")


@attrs.frozen(kw_only=True)
class GroundedRelation:
    """A relation between two names, proven by ``quote``; ``unread`` lists its dates that could not be read."""

    source: str
    type: str
    target: str
    confidence: float
    kind: EdgeKind
    period: Ends
    quote: Span
    unread: tuple[str, ...] = ()


def grounded_relation(
    item: Mapping[str, Any], passage: Passage, context: AbstractSet[str], dates: Dates
) -> GroundedRelation:
    """The relation that an item states. ``context`` are the names outside the text: the speaker and the subject.

    Raises `RefusedError` if the passage does not prove it: the quote is not in it, or names neither end.
    """
    ends = words(item, "source", LONGEST_NAME), words(item, "target", LONGEST_NAME)
    type_, inverse = normalised(words(item, "type", LONGEST))
    if not type_:
        raise RefusedError("it has no type")
    for name in ends:
        refuse_unnamed(name, passage, context)
    if ends[0].casefold() == ends[1].casefold():
        raise RefusedError("it relates a name with itself")
    quote = _quote(item, passage)
    named = sum(bool(places(name, passage.memory.text, quote)) for name in ends)
    if not named:
        raise RefusedError("its quote names neither of its ends")
    confidence = min(_confidence(item), CLEAR if named == len(ends) else AMBIGUOUS)
    kind = EdgeKind.LIFECYCLE if item.get("state") in _CHANGES else EdgeKind.SEMANTIC
    period, unread = _period(item, passage, quote, dates)
    source, target = reversed(ends) if inverse else ends
    return GroundedRelation(
        source=source,
        type=type_,
        target=target,
        confidence=confidence,
        kind=kind,
        period=period,
        quote=quote,
        unread=unread,
    )


def refuse_unnamed(name: str, passage: Passage, context: AbstractSet[str]) -> None:
    """Raise `RefusedError` for a name that is neither in the passage nor in ``context``, or is no name."""
    if not any(map(str.isalnum, name)):
        raise RefusedError(f"{shown(name)} is not a name")
    if name not in context and not places(name, passage.memory.text, passage.span):
        raise RefusedError(f"{shown(name)} is not in the text")


def _quote(item: Mapping[str, Any], passage: Passage) -> Span:
    quoted = words(item, "quote", LONGEST_QUOTE)
    found = places(quoted, passage.memory.text, passage.span)
    if not found:
        raise RefusedError(f"its quote {shown(quoted)} is not in the text")
    return found[0]


def _confidence(item: Mapping[str, Any]) -> float:
    value = item.get("confidence")
    if fault := check.unit("confidence", value):
        raise RefusedError(fault)
    confidence = float(value)  # type: ignore[arg-type]  # checked
    if confidence < LEAST:
        raise RefusedError(f"the model is only {confidence:g} sure of it")
    return confidence


def _period(item: Mapping[str, Any], passage: Passage, quote: Span, dates: Dates) -> tuple[Ends, tuple[str, ...]]:
    """The period stated by the quote, and the dates that could not be read.

    As in the rules, a relation that started or ended at no stated time did so when the memory occurred.
    """
    at, state = passage.memory.occurred_at, item.get("state")
    text = passage.memory.text[quote.start : quote.end]
    words_of = {field: words(item, field, _LONGEST_DATE) for field in ("since", "until")}
    found = dates.find(text, at) if any(words_of.values()) else ()
    read = {field: _dated(quoted, text, found) for field, quoted in words_of.items()}
    since, until = read["since"], read["until"]
    start = since.valid_from if since else None
    end = _end(until or (since if since and since.role is Role.BETWEEN else None))
    if state == "started" and not words_of["since"]:
        start = at
    if state == "ended" and end is None:
        start, end = None, start or at
        if end is None:
            raise RefusedError("it ended at no known time")
    if start and end and start > end:
        raise RefusedError("it would end before it starts")
    unread = [(field, quoted) for field, quoted in words_of.items() if quoted and not read[field]]
    return (start, end), tuple(f"{field} {shown(quoted)} is not a date in its quote" for field, quoted in unread)


def _dated(quoted: str, text: str, found: Sequence[Dated]) -> Dated | None:
    """The date of a quote that overlaps the words given by the model."""
    place = next(iter(places(quoted, text, Span(start=0, end=len(text)))), None)
    if place is None:
        return None
    return next((each for each in found if each.start < place.end and place.start < each.end), None)


def _end(dated: Dated | None) -> datetime | None:
    if dated is None:
        return None
    return dated.valid_to if dated.role is Role.BETWEEN else dated.valid_from

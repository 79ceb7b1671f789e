"""Grounding: the names and relations of a model's answer that the text of a passage proves; the others are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

import attrs

from graphsearch.ingest.extract.context import Interval, context_surfaces
from graphsearch.ingest.extract.llm.answer_items import RefusedError, items, outermost, places, shown, words
from graphsearch.ingest.extract.llm.prompt import Passage
from graphsearch.model import EdgeKind, Span
from graphsearch.model import validation as check
from graphsearch.model.extracted import ExtractedName, Statement, fact_in
from graphsearch.model.identity import snake_case
from graphsearch.names.vocabulary import SAME_TYPES
from graphsearch.text.dates import Dates, DateSpan, Role

SUGGESTED: Final = (
    *("reports_to", "works_at", "works_with", "member_of", "leads", "sponsors", "created", "uses", "depends_on"),
    *("lives_in", "located_in", "part_of", "has_status", "owns", "met_with"),
)
"""Relation types that a model should prefer: those of the rules, and a few more."""

LONGEST_TYPE: Final = 40
"""Maximum characters of the name of a type."""

_SAME: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("works_for", "employed_by", "employed_at", "is_employed_by"), "works_at"),
        **dict.fromkeys(("works_under", "managed_by", "is_managed_by"), "reports_to"),
        **dict.fromkeys(("works_together_with", "colleague_of"), "works_with"),
        **dict.fromkeys(("belongs_to", "is_member_of"), "member_of"),
        **dict.fromkeys(("built", "wrote", "made", "developed"), "created"),
        **dict.fromkeys(("lives_at", "resides_in"), "lives_in"),
        "requires": "depends_on",
    }
)
_INVERSE: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("manages", "supervises", "manager_of"), "reports_to"),
        **dict.fromkeys(("employs", "employer_of"), "works_at"),
        **dict.fromkeys(("created_by", "built_by", "written_by", "developed_by"), "created"),
        **dict.fromkeys(("led_by", "headed_by"), "leads"),
        "has_member": "member_of",
        "sponsored_by": "sponsors",
        "used_by": "uses",
        "required_by": "depends_on",
    }
)

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
    period: Interval
    quote: Span
    unread: tuple[str, ...] = ()


def grounded_relation(
    item: Mapping[str, Any], passage: Passage, context: AbstractSet[str], dates: Dates
) -> GroundedRelation:
    """The relation that an item states. ``context`` are the names outside the text: the speaker and the subject.

    Raises `RefusedError` if the passage does not prove it: the quote is not in it, or names neither end.
    """
    ends = words(item, "source", LONGEST_NAME), words(item, "target", LONGEST_NAME)
    type_, inverse = _normalised(words(item, "type", LONGEST_TYPE))
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


def _period(item: Mapping[str, Any], passage: Passage, quote: Span, dates: Dates) -> tuple[Interval, tuple[str, ...]]:
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


def _dated(quoted: str, text: str, found: Sequence[DateSpan]) -> DateSpan | None:
    """The date of a quote that overlaps the words given by the model."""
    place = next(iter(places(quoted, text, Span(start=0, end=len(text)))), None)
    if place is None:
        return None
    return next((each for each in found if each.start < place.end and place.start < each.end), None)


def _end(dated: DateSpan | None) -> datetime | None:
    if dated is None:
        return None
    return dated.valid_to if dated.role is Role.BETWEEN else dated.valid_from


def _normalised(type: str) -> tuple[str, bool]:
    """The normalised name of a type, and whether it is inverted: "X manages Y" is Y reports_to X."""
    name = snake_case(type)
    return (_INVERSE[name], True) if name in _INVERSE else (_SAME.get(name, name), False)


# -- whole answers ----------------------------------------------------------------------------------------------------

PATTERN: Final = "llm"
NAME_CONFIDENCE: Final = 0.8
"""Confidence of a name that the text contains: the least of the band "clear" (docs/design.md, Confidence)."""


@attrs.frozen(kw_only=True)
class GroundedPassage:
    """The proven content of a passage, and one line for each refused item."""

    surfaces: tuple[ExtractedName, ...]
    statements: tuple[Statement, ...]
    refused: tuple[str, ...]


def grounded(
    passage: Passage, answer: Sequence[Mapping[str, Any]], *, types: AbstractSet[str], dates: Dates
) -> GroundedPassage:
    """The surfaces and statements of a model's answer that the passage proves, item by item.

    ``types`` are the entity types allowed; any other type is ignored.
    """
    refused: list[str] = []
    context = context_surfaces(passage.memory)
    names = frozenset(surface.name for surface in context)
    relations = []
    for item in items(answer, "relations", refused):
        try:
            relations.append(grounded_relation(item, passage, names, dates))
        except RefusedError as error:
            refused.append(f"relation {_ends(item)}: {error}")
    types_by_name = {name: "" for each in relations for name in (each.source, each.target)}
    for item in items(answer, "entities", refused):
        try:
            name, type_ = _entity(item, passage, names)
            types_by_name[name] = types_by_name.get(name) or (type_ if type_ in types else "")
        except RefusedError as error:
            refused.append(f"entity: {error}")
    found = _surfaces(passage, types_by_name, context)
    for each in relations:
        refused += [f"relation {shown(each.source)} {each.type} {shown(each.target)}: {why}" for why in each.unread]
    return GroundedPassage(
        surfaces=tuple(found),
        statements=tuple(dict.fromkeys(_statement(each, found, passage) for each in relations)),
        refused=tuple(refused),
    )


def _ends(item: Mapping[str, Any]) -> str:
    return " ".join(shown(item.get(field)) for field in ("source", "type", "target"))


def _entity(item: Mapping[str, Any], passage: Passage, context: AbstractSet[str]) -> tuple[str, str]:
    name, type_ = words(item, "name", LONGEST_NAME), snake_case(words(item, "type", LONGEST_NAME))
    refuse_unnamed(name, passage, context)
    return name, SAME_TYPES.get(type_, type_)


def _surfaces(
    passage: Passage, types_by_name: Mapping[str, str], context: Iterable[ExtractedName]
) -> list[ExtractedName]:
    """All occurrences of all names; a name that occurs only within longer ones keeps its first occurrence."""
    found = [(name, span) for name in types_by_name for span in places(name, passage.memory.text, passage.span)]
    kept = outermost(found)
    placed = {name for name, _ in kept}
    nested: dict[str, Span] = {}
    for name, span in found:
        if name not in placed:
            nested.setdefault(name, span)
    return [
        *(attrs.evolve(each, type=each.type or types_by_name.get(each.name, "")) for each in context),
        *(
            ExtractedName(name=name, type=types_by_name[name], span=span, confidence=NAME_CONFIDENCE, pattern=PATTERN)
            for name, span in [*kept, *nested.items()]
        ),
    ]


def _statement(each: GroundedRelation, found: Sequence[ExtractedName], passage: Passage) -> Statement:
    return Statement(
        source=_surface(each.source, found, each),
        type=each.type,
        target=_surface(each.target, found, each),
        confidence=each.confidence,
        kind=each.kind,
        valid_from=each.period[0],
        valid_to=each.period[1],
        fact=fact_in(passage.memory, each.quote),
        span=each.quote,
        pattern=PATTERN,
    )


def _surface(name: str, found: Sequence[ExtractedName], each: GroundedRelation) -> ExtractedName:
    """The surface of a relation's end: the one in its quote, else the first."""
    called = [surface for surface in found if surface.name == name]
    quoted = (s for s in called if s.span and each.quote.start <= s.span.start and s.span.end <= each.quote.end)
    return next(quoted, called[0])

"""Grounding: the names and relations of a model's answer that the text of a passage proves; the others are refused.

Each item is read alone, and an invalid one does not affect the others. Models cannot count characters, and may invent
words, so that names and quotes are searched for in the text. Types and dates are read as those of stated facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import attrs

from graphsearch.ingest.extract.context import context_surfaces
from graphsearch.ingest.extract.llm.prompt import Passage
from graphsearch.ingest.stating.dates import read_date
from graphsearch.ingest.stating.phrases import Kind, kind_in_table, read_phrase
from graphsearch.model import EdgeKind, Span
from graphsearch.model import validation as check
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement, fact_in
from graphsearch.model.identity import snake_case
from graphsearch.text.rendering import safe_text

PATTERN: Final = "llm"
NAME_CONFIDENCE: Final = 0.8
"""Confidence of a name that the text contains: the least of the band "clear" (docs/project/design.md, Confidence)."""
LEAST: Final = 0.5
"""Least confidence of a relation: lower ones are in no band."""
CLEAR: Final = 0.92
"""Maximum confidence of a relation whose quote names both ends."""
AMBIGUOUS: Final = 0.75
"""Maximum confidence of a relation whose quote names only one end, the other perhaps by a pronoun."""
LONGEST_NAME, LONGEST_TYPE, LONGEST_DATE, LONGEST_QUOTE = 120, 40, 100, 1_000
MOST: Final = 100
"""Maximum entities, and maximum relations, read from the answer about one passage."""
MOST_PLACES: Final = 50
"""Maximum occurrences of one name."""
_SHOWN: Final = 60


class RefusedError(Exception):
    """An item is invalid or not proven by the text; caught here, and reported with the reason."""


def ground(
    passage: Passage, answer: Sequence[Mapping[str, Any]], *, types: AbstractSet[str], own: AbstractSet[str]
) -> ExtractedMemory:
    """The names and statements of a model's answer that the passage proves.

    ``types`` are the entity types allowed; another one is unknown. ``own`` are relation types that stay as they are.
    """
    context, refused = context_surfaces(passage.memory), list[str]()
    beside = {surface.name for surface in context}
    named: dict[str, str] = {}
    for item in _items(answer, "entities", refused):
        with _reporting(refused, "entity"):
            name, type_ = _name(item, "name", passage, beside), snake_case(_words(item, "type", LONGEST_NAME))
            type_ = type_ if type_ in types else {"group": "organisation"}.get(kind := kind_in_table(type_), kind)
            named[name] = named.get(name) or (type_ if type_ in types else "")
    stated = list[Statement]()
    for item in _items(answer, "relations", refused):
        shown = " ".join(_shown(item.get(each)) for each in ("source", "type", "target"))
        with _reporting(refused, f"relation {shown}"):
            statement, unread = _statement(item, passage, beside, named, own)
            stated.append(statement)
            refused += [f"relation {shown}: {words} is not a date in its quote" for words in unread]
    for each in stated:
        named = {each.source.name: "", each.target.name: "", **named}
    surfaces = (
        *(attrs.evolve(each, type=each.type or named.get(each.name, "")) for each in context),
        *(
            ExtractedName(name=name, type=named[name], span=span, confidence=NAME_CONFIDENCE, pattern=PATTERN)
            for name, span in _mentions(named, passage)
        ),
    )
    return ExtractedMemory(
        memory_id=passage.memory.id,
        surfaces=surfaces,
        statements=tuple(dict.fromkeys(_placed(each, surfaces) for each in stated)),
        refused=tuple(f"{passage.memory.id}: {why}" for why in refused),
    )


def _placed(statement: Statement, surfaces: Sequence[ExtractedName]) -> Statement:
    """A statement about the surfaces in its quote, else about the first of its names."""

    def surface(end: ExtractedName) -> ExtractedName:
        quote, called = statement.span, [each for each in surfaces if each.name == end.name]
        quoted = (
            each for each in called if each.span and quote.start <= each.span.start and each.span.end <= quote.end
        )
        return next(quoted, called[0])

    return attrs.evolve(statement, source=surface(statement.source), target=surface(statement.target))


def _statement(
    item: Mapping[str, Any],
    passage: Passage,
    beside: AbstractSet[str],
    named: Mapping[str, str],
    own: AbstractSet[str],
) -> tuple[Statement, list[str]]:
    """What an item states, and its dates that cannot be read. Raises `RefusedError` if it is not proven.

    ``beside`` are the names outside the text, ``named`` the entity types of names.
    """
    type_ = snake_case(_words(item, "type", LONGEST_TYPE))
    if not type_:
        raise RefusedError("it has no type")
    source, target = (_name(item, field, passage, beside) for field in ("source", "target"))
    if source.casefold() == target.casefold():
        raise RefusedError("it relates a name with itself")
    written = _words(item, "quote", LONGEST_QUOTE)
    quote = next(iter(places(written, passage.memory.text, passage.span)), None)
    if quote is None:
        raise RefusedError(f"its quote {_shown(written)} is not in the text")
    in_quote = sum(bool(places(name, passage.memory.text, quote)) for name in (source, target))
    if not in_quote:
        raise RefusedError("its quote names neither of its ends")
    confidence: Any = item.get("confidence")
    if fault := check.unit("confidence", confidence):
        raise RefusedError(fault)
    if confidence < LEAST:
        raise RefusedError(f"the model is only {confidence:g} sure of it")
    state = item.get("state")
    if type_ not in own:  # "manages" between persons is the inverse of reports_to, "left" ends works_at
        subject, object_ = (
            Kind(kind, bool(kind)) for kind in (kind_in_table(named.get(name, "")) for name in (source, target))
        )
        phrase = read_phrase(type_.replace("_", " "), subject, object_)
        if phrase.type and phrase.cues.isdisjoint(("denied", "planned", "wished")):
            type_, state = phrase.type, "ended" if phrase.closes else "started" if phrase.opens else state
            source, target = (target, source) if phrase.inverse else (source, target)
    start, end, unread = _period(item, passage, quote, state)
    ends = [
        ExtractedName(name=name, type="", span=None, confidence=NAME_CONFIDENCE, pattern=PATTERN)
        for name in (source, target)
    ]
    statement = Statement(
        source=ends[0],
        type=type_,
        target=ends[1],
        confidence=min(confidence, AMBIGUOUS if in_quote == 1 else CLEAR),
        kind=EdgeKind.LIFECYCLE if state in ("started", "ended") else EdgeKind.SEMANTIC,
        valid_from=start,
        valid_to=end,
        fact=fact_in(passage.memory, quote),
        span=quote,
        pattern=PATTERN,
    )
    return statement, unread


def _period(
    item: Mapping[str, Any], passage: Passage, quote: Span, state: object
) -> tuple[datetime | None, datetime | None, list[str]]:
    """The start and the end that words of the quote give, and those words that are no date in it.

    What started or ended at no stated time did so when the memory occurred.
    """
    text, at = passage.memory.text, passage.memory.occurred_at
    given = {field: words for field in ("since", "until") if (words := _words(item, field, LONGEST_DATE))}
    read = {field: read_date(words, at) if places(words, text, quote) else None for field, words in given.items()}
    start, end = read.get("since"), read.get("until")
    if state == "started" and "since" not in given:
        start = at
    if state == "ended" and end is None:
        start, end = None, start or at
        if end is None:
            raise RefusedError("it ended at no known time")
    if start and end and start > end:
        raise RefusedError("it would end before it starts")
    return start, end, [f"{field} {_shown(words)}" for field, words in given.items() if read[field] is None]


# -- items of an answer -----------------------------------------------------------------------------------------------


def _items(parts: Sequence[Mapping[str, Any]], field: str, refused: list[str]) -> Iterator[Mapping[str, Any]]:
    """The first 100 objects listed under a field; others are appended to ``refused``."""
    listed = [item for part in parts if isinstance(found := part.get(field), list) for item in found]
    if len(listed) > MOST:
        refused.append(f"{len(listed) - MOST} of {len(listed)} {field}: only the first {MOST} of a passage are read")
    for item in listed[:MOST]:
        if isinstance(item, Mapping):
            yield item
        else:
            refused.append(f"{field}: {_shown(item)} is not an object")


@contextmanager
def _reporting(refused: list[str], what: str) -> Iterator[None]:
    try:
        yield
    except RefusedError as error:
        refused.append(f"{what}: {error}")


def _words(item: Mapping[str, Any], field: str, longest: int) -> str:
    """A text field of an item, whitespace collapsed, empty if missing. Raises `RefusedError` for an invalid value."""
    value = item.get(field, "")
    if fault := check.text(field, value, empty=True):
        raise RefusedError(fault)
    if len(value) > longest:
        raise RefusedError(f"{field} is longer than {longest} characters")
    return " ".join(value.split())


def _name(item: Mapping[str, Any], field: str, passage: Passage, beside: AbstractSet[str]) -> str:
    """A name of an item. Raises `RefusedError` for one that is neither in the passage nor ``beside`` it, or is none."""
    name = _words(item, field, LONGEST_NAME)
    if not any(map(str.isalnum, name)):
        raise RefusedError(f"{_shown(name)} is not a name")
    if name not in beside and not places(name, passage.memory.text, passage.span):
        raise RefusedError(f"{_shown(name)} is not in the text")
    return name


def _shown(value: object) -> str:
    """A value for a report, on one line and truncated."""
    return repr(safe_text(str(value)[:_SHOWN]))


# -- places in the text -----------------------------------------------------------------------------------------------


def places(words: str, text: str, within: Span) -> list[Span]:
    """The occurrences of words in a text, exact up to whitespace; at most 50.

    In scripts with upper and lower case, not within longer words: "Ada" does not occur in "Adam".
    """

    def cased(character: str) -> bool:
        return character.isdigit() or character.lower() != character.upper()

    found: list[Span] = []
    pattern = r"\s+".join(map(re.escape, words.split()))
    for match in re.compile(pattern).finditer(text, within.start, within.end) if pattern else ():
        edges = (text[edge - 1 : edge + 1] for edge in match.span() if 0 < edge < len(text))
        if not any(all(map(cased, edge)) for edge in edges):
            found.append(Span(start=match.start(), end=match.end()))
        if len(found) == MOST_PLACES:
            break
    return found


def _mentions(names: Iterable[str], passage: Passage) -> list[tuple[str, Span]]:
    """All places of names, but for those within longer names; one that occurs only there keeps its first place."""
    found = [(name, span) for name in names for span in places(name, passage.memory.text, passage.span)]
    kept: list[tuple[str, Span]] = []
    for name, span in sorted(found, key=lambda each: (each[1].start, -each[1].end)):
        if not kept or span.end > kept[-1][1].end:
            kept.append((name, span))
    placed = {name for name, _ in kept}
    nested = {name: span for name, span in reversed(found) if name not in placed}
    return [*kept, *reversed(nested.items())]

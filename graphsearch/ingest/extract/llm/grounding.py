"""Grounding: the items of a model's answer that the text of a passage proves; the others are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

import attrs

from graphsearch.ingest.extract.llm.items import RefusedError, items, shown, words
from graphsearch.ingest.extract.llm.locating import outermost, places
from graphsearch.ingest.extract.llm.passages import Passage
from graphsearch.ingest.extract.llm.statements import LONGEST_NAME, GroundedRelation, grounded_relation, refuse_unnamed
from graphsearch.ingest.extract.rules.context_names import context_surfaces
from graphsearch.model import Span
from graphsearch.model.extracted import ExtractedName, Statement, fact_in
from graphsearch.model.identity import snake_case
from graphsearch.names.vocabulary import SAME_TYPES
from graphsearch.text.dates import Dates

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

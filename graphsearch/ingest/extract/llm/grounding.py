"""What a model says of one passage, held against its words: what they do not prove is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

import attrs

from graphsearch.ingest.extract.llm.items import RefusedError, items, shown, words
from graphsearch.ingest.extract.llm.locating import outermost, places
from graphsearch.ingest.extract.llm.passages import Passage
from graphsearch.ingest.extract.llm.statements import LONGEST_NAME, Stated, refuse_unnamed, stated
from graphsearch.ingest.extract.rules.beside import surfaces_beside
from graphsearch.model import Span
from graphsearch.model.extracted import Statement, Surface, fact_in
from graphsearch.model.identity import snake_case
from graphsearch.names.vocabulary import SAME_TYPES
from graphsearch.text.dates import Dates

PATTERN: Final = "llm"
NAMED: Final = 0.8
"""How sure it is that what a model calls a name is one, where the text has it: the least of "clear" (design 6)."""


@attrs.frozen(kw_only=True)
class Read:
    """What a passage says, and in a line each what was refused of what the model said of it."""

    surfaces: tuple[Surface, ...]
    statements: tuple[Statement, ...]
    refused: tuple[str, ...]


def read(passage: Passage, answer: Sequence[Mapping[str, Any]], *, types: AbstractSet[str], dates: Dates) -> Read:
    """The surfaces and statements that a model's answer about a passage holds and the passage proves, item by item.

    ``types`` are those that an entity may have; of any other it is as if none had been told.
    """
    refused: list[str] = []
    beside = surfaces_beside(passage.memory)
    names = frozenset(surface.name for surface in beside)
    relations = []
    for item in items(answer, "relations", refused):
        try:
            relations.append(stated(item, passage, names, dates))
        except RefusedError as error:
            refused.append(f"relation {_ends(item)}: {error}")
    told = {name: "" for each in relations for name in (each.source, each.target)}
    for item in items(answer, "entities", refused):
        try:
            name, type_ = _entity(item, passage, names)
            told[name] = told.get(name) or (type_ if type_ in types else "")
        except RefusedError as error:
            refused.append(f"entity: {error}")
    found = _surfaces(passage, told, beside)
    for each in relations:
        refused += [f"relation {shown(each.source)} {each.type} {shown(each.target)}: {why}" for why in each.left_out]
    return Read(
        surfaces=tuple(found),
        statements=tuple(dict.fromkeys(_statement(each, found, passage) for each in relations)),
        refused=tuple(refused),
    )


def _ends(item: Mapping[str, Any]) -> str:
    return " ".join(shown(item.get(field)) for field in ("source", "type", "target"))


def _entity(item: Mapping[str, Any], passage: Passage, beside: AbstractSet[str]) -> tuple[str, str]:
    name, type_ = words(item, "name", LONGEST_NAME), snake_case(words(item, "type", LONGEST_NAME))
    refuse_unnamed(name, passage, beside)
    return name, SAME_TYPES.get(type_, type_)


def _surfaces(passage: Passage, told: Mapping[str, str], beside: Iterable[Surface]) -> list[Surface]:
    """Every place of every name; one that stands only inside of longer ones has its first place there."""
    found = [(name, span) for name in told for span in places(name, passage.memory.text, passage.span)]
    kept = outermost(found)
    placed = {name for name, _ in kept}
    nested: dict[str, Span] = {}
    for name, span in found:
        if name not in placed:
            nested.setdefault(name, span)
    return [
        *(attrs.evolve(each, type=each.type or told.get(each.name, "")) for each in beside),
        *(
            Surface(name=name, type=told[name], span=span, confidence=NAMED, pattern=PATTERN)
            for name, span in [*kept, *nested.items()]
        ),
    ]


def _statement(each: Stated, found: Sequence[Surface], passage: Passage) -> Statement:
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


def _surface(name: str, found: Sequence[Surface], each: Stated) -> Surface:
    """The surface that a relation means by a name: the one in its quote, else the first."""
    called = [surface for surface in found if surface.name == name]
    quoted = (s for s in called if s.span and each.quote.start <= s.span.start and s.span.end <= each.quote.end)
    return next(quoted, called[0])

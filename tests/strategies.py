"""Hypothesis strategies for the model classes of graphsearch."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import numpy as np
from hypothesis import strategies as st

from graphsearch.model import Batch, Claim, EdgeKind, Entity, Memory, Mention, Outcome, Relation, Scope, Vector
from graphsearch.model.elements import LONGEST_SCOPE_NAME
from graphsearch.testing.strategies import texts

units = st.floats(0, 1)
outcomes = st.sampled_from(Outcome)
kinds = st.sampled_from(EdgeKind)
instants = st.datetimes(datetime(2000, 1, 1), datetime(2050, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - made aware by ``timezones``
type_names = st.sampled_from(["knows", "works_at", "reports_to", "co_occurs", "uses"])


def scopes() -> st.SearchStrategy[Scope]:
    """Scopes with hostile names."""
    names = texts().filter(lambda text: len(text.encode()) <= LONGEST_SCOPE_NAME)
    return st.builds(Scope, names, names)


def periods() -> st.SearchStrategy[tuple[datetime | None, datetime | None]]:
    """Starts and ends in order, either of them open."""

    def ordered(ends: tuple[datetime | None, datetime | None]) -> tuple[datetime | None, datetime | None]:
        start, end = ends
        return (end, start) if start and end and start > end else (start, end)

    return st.tuples(st.none() | instants, st.none() | instants).map(ordered)


def vectors(dimensions: int) -> st.SearchStrategy[Vector]:
    """Vectors with a direction, exact in float16."""
    numbers = st.lists(st.integers(-8, 8), min_size=dimensions, max_size=dimensions).filter(any)
    return numbers.map(lambda values: (np.array(values) / 4).astype(np.float32))


def entities() -> st.SearchStrategy[Entity]:
    """Entities, mostly different."""

    def build(name: str, type: str, period: tuple[datetime | None, datetime | None], weight: float) -> Entity:
        start, end = period
        return Entity(type=type, name=name, valid_from=start, valid_to=end, importance_weight=weight)

    return st.builds(build, texts(), st.sampled_from(["person", "tool", "class"]), periods(), units)


@st.composite
def graphs(draw: st.DrawFn, *, max_entities: int = 6, max_relations: int = 12, max_memories: int = 5) -> Batch:
    """A batch that a store accepts: entities, explicit relations, and memories with mentions and claims about them."""
    known = draw(st.lists(entities(), min_size=1, max_size=max_entities, unique_by=lambda each: each.id))
    anyone = st.sampled_from(known).map(lambda entity: entity.id)
    relations = draw(st.lists(_relations(anyone), max_size=max_relations, unique_by=lambda each: each.id))
    names = draw(st.lists(texts(), max_size=max_memories, unique=True))
    memories = [Memory(id=name, text=draw(texts(min_size=0)), occurred_at=draw(st.none() | instants)) for name in names]
    claims: list[Claim] = []
    named: list[Mention] = []
    for memory in memories:
        claims += draw(st.lists(_claims(memory.id, anyone), max_size=3))
        named += draw(
            st.lists(st.builds(Mention, memory_id=st.just(memory.id), entity_id=anyone, surface=texts()), max_size=2)
        )
    return Batch(
        entities=tuple(known),
        relations=tuple(relations),
        memories=tuple(memories),
        mentions=tuple(named),
        claims=tuple(claims),
    )


@st.composite
def _relations(draw: st.DrawFn, anyone: st.SearchStrategy[UUID]) -> Relation:
    start, end = draw(periods())
    return Relation(
        source_id=draw(anyone),
        type=draw(type_names),
        target_id=draw(anyone),
        valid_from=start,
        valid_to=end,
        confidence=draw(units),
        kind=draw(kinds),
        fact=draw(texts(min_size=0)),
    )


@st.composite
def _claims(draw: st.DrawFn, memory_id: str, anyone: st.SearchStrategy[UUID]) -> Claim:
    start, end = draw(periods())
    return Claim(
        memory_id=memory_id,
        source_id=draw(anyone),
        type=draw(type_names),
        target_id=draw(anyone),
        valid_from=start,
        valid_to=end,
        confidence=draw(units),
        ceiling=draw(st.sampled_from([1.0, 0.6, 0.3])),
        kind=draw(kinds),
    )

"""Hypothesis strategies for the model classes of graphsearch; they need the package ``hypothesis``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from graphsearch.model import Batch, Claim, EdgeKind, Entity, Memory, Mention, Outcome, Relation, Scope, Span, Vector
from graphsearch.model.elements import LONGEST_SCOPE_NAME
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.samples import HOSTILE_TEXTS, day, person, portrait, without_history
from graphsearch.text.bm25 import embedding_text

units = st.floats(0, 1)
outcomes = st.sampled_from(Outcome)
kinds = st.sampled_from(EdgeKind)
instants = st.datetimes(datetime(2000, 1, 1), datetime(2050, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - made aware by ``timezones``
type_names = st.sampled_from(["knows", "works_at", "reports_to", "co_occurs", "uses"])


def texts(*, min_size: int = 1, max_size: int = 30) -> st.SearchStrategy[str]:
    """Texts that every store must accept: any Unicode but NUL and surrogates, including hostile ones, none blank."""
    characters = st.characters(codec="utf-8", exclude_characters="\0")
    written = st.text(characters, min_size=min_size, max_size=max_size)
    return st.one_of(written, st.sampled_from(HOSTILE_TEXTS)).filter(lambda text: bool(text.strip()) or not min_size)


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


SURFACES: Final = (
    *("Ada Lovelace", "ada lovelace", "ADA", "Countess of Lovelace", "Ada King", "Ada Lovelaces"),
    *("Priya", "Priya Sharma", "@priya", "Dr. Priya Sharma", "Piotr", "Zoë Ångström", "Zoe"),
)
QUESTIONS: Final = ("ada", "priya sharma", "knows", "countess", "said")
PEOPLE: Final = tuple(person(f"Somebody {number}").id for number in range(4))
"""Fixed ids, independent of names."""
GIVEN_TYPES: Final = dict(zip(PEOPLE, ("concept", "unknown", "concept", "person"), strict=True))
"""The types that they are created with."""
TYPES: Final = ("", "", "person", "tool", "concept")
"""The types that mentions state."""
EMBEDDER: Final = HashEmbedder()
DAYS: Final = (None, *(day(number) for number in (1, 5, 9)))

few_examples = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors, HealthCheck.too_slow],
)
"""Settings for properties of stores: few examples, since each is a graph of its own."""


@attrs.frozen(kw_only=True)
class AnnotatedMemory:
    """A memory with its mentions and claims."""

    memory: Memory
    mentions: tuple[Mention, ...]
    claims: tuple[Claim, ...]


@st.composite
def annotated_memories(draw: st.DrawFn, name: str, *, max_size: int = 4) -> Sequence[AnnotatedMemory]:
    """Some memories, with ids that begin with ``name``; every entity of a claim is mentioned as well."""
    return [draw(_annotated_memory(f"{name}{number}")) for number in range(draw(st.integers(1, max_size)))]


@st.composite
def _annotated_memory(draw: st.DrawFn, key: str) -> AnnotatedMemory:
    memory = Memory(id=key, text=f"said {key}", occurred_at=draw(st.sampled_from(DAYS)))
    anyone, surfaces, types = st.sampled_from(PEOPLE), st.sampled_from(SURFACES), st.sampled_from(TYPES)
    pairs = draw(st.lists(st.tuples(anyone, anyone), max_size=2))
    named = [end for pair in pairs for end in pair] + draw(st.lists(anyone, max_size=2))
    return AnnotatedMemory(
        memory=memory,
        mentions=tuple(
            Mention(
                memory_id=key,
                entity_id=each,
                surface=draw(surfaces),
                type=draw(types),
                span=Span(start=at, end=at + 1),
            )
            for at, each in enumerate(named)
        ),
        claims=tuple(
            Claim(
                memory_id=key,
                source_id=source,
                target_id=target,
                type=draw(st.sampled_from(["knows", "works_at"])),
                confidence=draw(st.sampled_from([0.5, 0.8])),
                ceiling=draw(st.sampled_from([1.0, 0.6])),
                valid_from=draw(st.sampled_from(DAYS)),
                fact=f"fact {key}",
            )
            for source, target in pairs
        ),
    )


async def write_memories(
    store: GraphStore, annotated: Iterable[AnnotatedMemory], *, prune: Collection[UUID] = ()
) -> None:
    """Write memories in one batch, with those of their entities that do not exist yet as named entities."""
    memories = list(annotated)
    mentions = [mention for each in memories for mention in each.mentions]
    await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
    known = {each.id for each in await store.get_entities([mention.entity_id for mention in mentions])}
    fresh: dict[UUID, Entity] = {}
    for mention in mentions:
        if mention.entity_id not in known:
            given = GIVEN_TYPES.get(mention.entity_id, "person")
            fresh.setdefault(mention.entity_id, Entity(id=mention.entity_id, type=given, name=mention.surface))
    report = await store.write(
        Batch(
            named=tuple(fresh.values()),
            memories=tuple(each.memory for each in memories),
            mentions=tuple(mentions),
            claims=tuple(claim for each in memories for claim in each.claims),
            prune=tuple(prune),
            vectors={each.memory.id: EMBEDDER.vector(each.memory.text) for each in memories},
        )
    )
    await embed(store, {*fresh, *report.reworded})


async def forget(store: GraphStore, annotated: Iterable[AnnotatedMemory]) -> None:
    """Forget memories, and embed the entities whose texts change."""
    report = await store.forget([each.memory.id for each in annotated])
    await embed(store, report.reworded)


async def embed(store: GraphStore, ids: Iterable[UUID]) -> None:
    """Write the vectors of the current texts of entities."""
    entities = await store.get_entities(sorted(ids))
    await store.write(Batch(vectors={each.id: EMBEDDER.vector(embedding_text(each)) for each in entities}))


async def answers(store: GraphStore) -> Mapping[str, Any]:
    """Everything that can be read from a scope, including by name; without creation times and feedback."""
    vectors = [EMBEDDER.vector(question) for question in QUESTIONS]
    found = dict(without_history(await portrait(store, questions=QUESTIONS, vectors=vectors)))
    entities = found["entities"]
    names = sorted(
        {*SURFACES, *(each.name for each in entities), *(alias for each in entities for alias in each.aliases)}
    )
    given = await store.asserted([each.id for each in entities])
    return {
        **found,
        "names": await store.find_names(names),
        "words": await store.find_name_words(["ada", "priya", "lovelace", "cl", "zoe", "nobody"]),
        "beginnings": await store.find_name_words(["pri", "lovel", "z"], prefix=True),
        "similar": await store.similar_names(names, threshold=0.6),
        "pairs": await store.similar_pairs(threshold=0.6, limit=50),
        "given": [attrs.evolve(each, entity=attrs.evolve(each.entity, created_at=None)) for each in given],
    }

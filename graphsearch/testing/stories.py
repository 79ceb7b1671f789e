"""What a few memories say of a few people, as an ingest would write it; and all that names answer afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from graphsearch.model import Batch, Claim, Entity, Memory, Mention, Span
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.samples import day, person, portrait, without_history
from graphsearch.text.bm25 import embedding_text

SURFACES: Final = (
    *("Ada Lovelace", "ada lovelace", "ADA", "Countess of Lovelace", "Ada King", "Ada Lovelaces"),
    *("Priya", "Priya Sharma", "@priya", "Dr. Priya Sharma", "Piotr", "Zoë Ångström", "Zoe"),
)
QUESTIONS: Final = ("ada", "priya sharma", "knows", "countess", "said")
PEOPLE: Final = tuple(person(f"Somebody {number}").id for number in range(4))
"""Ids, whatever the names will be."""
GIVEN_TYPES: Final = dict(zip(PEOPLE, ("concept", "unknown", "concept", "person"), strict=True))
"""The types that they are named with."""
TYPES: Final = ("", "", "person", "tool", "concept")
"""What mentions tell of types."""
EMBEDDER: Final = HashEmbedder()
DAYS: Final = (None, *(day(number) for number in (1, 5, 9)))

told = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors, HealthCheck.too_slow],
)
"""For properties of stores: few examples, since each is a graph of its own."""


@attrs.frozen(kw_only=True)
class Told:
    """A memory with what it says."""

    memory: Memory
    mentions: tuple[Mention, ...]
    claims: tuple[Claim, ...]


@st.composite
def tales(draw: st.DrawFn, name: str, *, max_size: int = 4) -> Sequence[Told]:
    """Some memories, with ids that begin with ``name``; whom they make claims about they mention as well."""
    return [draw(_told(f"{name}{number}")) for number in range(draw(st.integers(1, max_size)))]


@st.composite
def _told(draw: st.DrawFn, key: str) -> Told:
    memory = Memory(id=key, text=f"said {key}", occurred_at=draw(st.sampled_from(DAYS)))
    anyone, surfaces, types = st.sampled_from(PEOPLE), st.sampled_from(SURFACES), st.sampled_from(TYPES)
    pairs = draw(st.lists(st.tuples(anyone, anyone), max_size=2))
    named = [end for pair in pairs for end in pair] + draw(st.lists(anyone, max_size=2))
    return Told(
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
                valid_from=draw(st.sampled_from(DAYS)),
                fact=f"fact {key}",
            )
            for source, target in pairs
        ),
    )


async def tell(store: GraphStore, tale: Iterable[Told]) -> None:
    """Write memories in one batch, with the entities that only they name and nobody wrote yet."""
    told_ = list(tale)
    mentions = [mention for each in told_ for mention in each.mentions]
    await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
    known = {each.id for each in await store.get_entities([mention.entity_id for mention in mentions])}
    fresh: dict[UUID, Entity] = {}
    for mention in mentions:
        if mention.entity_id not in known:
            given = GIVEN_TYPES[mention.entity_id]
            fresh.setdefault(mention.entity_id, Entity(id=mention.entity_id, type=given, name=mention.surface))
    report = await store.write(
        Batch(
            named=tuple(fresh.values()),
            memories=tuple(each.memory for each in told_),
            mentions=tuple(mentions),
            claims=tuple(claim for each in told_ for claim in each.claims),
            vectors={each.memory.id: EMBEDDER.vector(each.memory.text) for each in told_},
        )
    )
    await embed(store, {*fresh, *report.reworded})


async def forget(store: GraphStore, tale: Iterable[Told]) -> None:
    """Forget memories, and embed what they leave with another text."""
    report = await store.forget([each.memory.id for each in tale])
    await embed(store, report.reworded)


async def embed(store: GraphStore, ids: Iterable[UUID]) -> None:
    """Write the vectors of what entities are called by now."""
    entities = await store.get_entities(sorted(ids))
    await store.write(Batch(vectors={each.id: EMBEDDER.vector(embedding_text(each)) for each in entities}))


async def answers(store: GraphStore) -> Mapping[str, Any]:
    """Everything that a scope answers, names included; without when things were created and what was learnt."""
    vectors = [EMBEDDER.vector(question) for question in QUESTIONS]
    found = dict(without_history(await portrait(store, questions=QUESTIONS, vectors=vectors)))
    entities = found["entities"]
    names = sorted(
        {*SURFACES, *(each.name for each in entities), *(alias for each in entities for alias in each.aliases)}
    )
    given = await store.given([each.id for each in entities])
    return {
        **found,
        "names": await store.find_names(names),
        "words": await store.find_name_words(["ada", "priya", "lovelace", "cl", "zoe", "nobody"]),
        "beginnings": await store.find_name_words(["pri", "lovel", "z"], prefix=True),
        "similar": await store.similar_names(names, threshold=0.6),
        "pairs": await store.similar_pairs(threshold=0.6, limit=50),
        "given": [attrs.evolve(each, entity=attrs.evolve(each.entity, created_at=None)) for each in given],
    }

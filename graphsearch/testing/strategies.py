"""Hypothesis strategies for texts and annotated memories, and scopes written with them; they need ``hypothesis``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from graphsearch.model import Batch, Claim, Entity, Memory, Mention, Span
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.samples import HOSTILE_TEXTS, day, person, portrait, without_history
from graphsearch.text.bm25 import embedding_text


def texts(*, min_size: int = 1, max_size: int = 30) -> st.SearchStrategy[str]:
    """Texts that every store must accept: any Unicode but NUL and surrogates, including hostile ones, none blank."""
    characters = st.characters(codec="utf-8", exclude_characters="\0")
    written = st.text(characters, min_size=min_size, max_size=max_size)
    return st.one_of(written, st.sampled_from(HOSTILE_TEXTS)).filter(lambda text: bool(text.strip()) or not min_size)


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
    max_examples=6,
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
    mentions = []
    for at, each in enumerate(named):
        told: dict[str, Any] = {"surface": draw(surfaces), "type": draw(types), "span": Span(start=at, end=at + 1)}
        mentions.append(Mention(memory_id=key, entity_id=each, **told))
    claims = []
    for source, target in pairs:
        sure: dict[str, Any] = {
            "confidence": draw(st.sampled_from([0.5, 0.8])),
            "ceiling": draw(st.sampled_from([1.0, 0.6])),
        }
        said: dict[str, Any] = {
            "type": draw(st.sampled_from(["knows", "works_at"])),
            "valid_from": draw(st.sampled_from(DAYS)),
        }
        claims.append(Claim(memory_id=key, source_id=source, target_id=target, fact=f"fact {key}", **sure, **said))
    return AnnotatedMemory(memory=memory, mentions=tuple(mentions), claims=tuple(claims))


async def write_memories(
    store: GraphStore,
    annotated: Iterable[AnnotatedMemory],
    *,
    prune: Collection[UUID] = (),
    embedder: HashEmbedder = EMBEDDER,
) -> None:
    """Write memories in one batch, with those of their entities that do not exist yet as named entities."""
    memories = list(annotated)
    mentions = [mention for each in memories for mention in each.mentions]
    await store.bind_embedder(embedder.name, embedder.dimensions)
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
            vectors={each.memory.id: embedder.vector(each.memory.text) for each in memories},
        )
    )
    await embed(store, {*fresh, *report.reworded}, embedder)


async def forget(store: GraphStore, annotated: Iterable[AnnotatedMemory]) -> None:
    """Forget memories, and embed the entities whose texts change."""
    report = await store.forget([each.memory.id for each in annotated])
    await embed(store, report.reworded)


async def embed(store: GraphStore, ids: Iterable[UUID], embedder: HashEmbedder = EMBEDDER) -> None:
    """Write the vectors of the current texts of entities."""
    entities = await store.get_entities(sorted(ids))
    await store.write(Batch(vectors={each.id: embedder.vector(embedding_text(each)) for each in entities}))


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
        "given": [attrs.evolve(each, entity=attrs.evolve(each.entity, created_at=None)) for each in given],
    }

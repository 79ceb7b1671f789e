"""Small scopes written down in a few lines, and questions to them, for tests of recall."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch, Entity, Memory, Mention, Span
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.text.bm25 import embedding_text

EMBEDDER = HashEmbedder(32)
BASE = 0.15
"""What the feedback of an element without outcomes adds: 0.3 · 0.5."""


def names(*people: str) -> dict[str, Entity]:
    """People by their names."""
    return {name: Entity(type="person", name=name) for name in people}


def mention(memory: Memory, entity: Entity, *, at: int | None = 0) -> Mention:
    """A mention at a place of the text; ``at`` None for what the memory is about."""
    span = None if at is None else Span(start=at, end=at + 1)
    return Mention(memory_id=memory.id, entity_id=entity.id, surface=entity.name, span=span)


async def tell(
    store,
    memories: Sequence[Memory],
    *,
    entities: Sequence[Entity] = (),
    mentions: Sequence[Mention] = (),
    relations=(),
    embedded: bool = False,
) -> None:
    """Write it all, with the vectors of memories if they are ``embedded``."""
    vectors = {}
    if embedded:
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        vectors = {memory.id: EMBEDDER.vector(embedding_text(memory)) for memory in memories}
    batch = Batch(entities=entities, memories=memories, mentions=mentions, relations=relations, vectors=vectors)
    await store.write(batch)


def asking(store, *, embedded: bool = False, **options) -> GraphSearchEngine:
    """An engine over a store, with the embedder of these tests if things are ``embedded``."""
    return GraphSearchEngine(store=store, embedder=EMBEDDER if embedded else None, **options)


def ids(result) -> list[str]:
    """What was recalled, best first."""
    return [each.memory.id for each in result.memories]


def scores(result) -> dict[str, float]:
    """The scores by memory."""
    return {each.memory.id: each.score for each in result.memories}


def relevance(result) -> dict[str, float]:
    """The part of the scores that is not feedback, the best 1."""
    return {each.memory.id: (each.score - each.channels["feedback"].contribution) / 0.7 for each in result.memories}


def steps(recalled) -> list[str]:
    """The path to a memory, as text."""
    return [f"{step.kind}:{step.id}" for step in recalled.path]


def standard(values, least: float) -> np.ndarray:
    """Scores in standard deviations from the least, by the book."""
    values = np.asarray(values, np.float64)
    counted: np.ndarray = (values - least) / values.std()
    return counted

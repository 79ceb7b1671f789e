"""Entities whose texts are others because of what their mentions tell by now, embedded again."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch
from graphsearch.text.bm25 import embedding_text


async def embed_again(ids: Iterable[UUID], engine: GraphSearchEngine) -> None:
    """Write the vectors of entities that a store lists as reworded.

    An engine without the embedder of its scope leaves them without: they are found by their words, and embedded when
    they are next written.
    """
    wanted, embedder = sorted(set(ids)), engine.embedder
    if not wanted or embedder is None or embedder.name != await engine.store.embedder_name():
        return
    entities = await engine.store.get_entities(wanted)
    vectors = await embedder.embed([embedding_text(each) for each in entities], input_type="document")
    keys = [each.id for each in entities]
    await engine.store.write(Batch(vectors=dict(zip(keys, vectors, strict=True))))

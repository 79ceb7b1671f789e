"""Embedding of facts, so that relations are found by meaning."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.write.writer import or_nothing
from graphsearch.model import Batch
from graphsearch.protocols import Embedder, GraphStore
from graphsearch.text.bm25 import embedding_text

_FACTS: Final = 256
"""Facts embedded and written in one transaction."""


async def embed_facts(store: GraphStore, embedder: Embedder) -> int:
    """Embed the facts of a scope that have no vector, and return their number. Blank facts get no vector.

    Raises `EmbeddingModelError` if the scope has another model's vectors, and what the store and the embedder raise:
    then the vectors written so far stay, and the next call continues from there.
    """
    count, last = 0, None
    while waiting := await or_nothing(store.unembedded_facts(after=last, limit=_FACTS)):
        last = waiting[-1].id
        facts = {each.id: text for each in waiting if (text := embedding_text(each)).strip()}
        if facts:
            rows = await embedder.embed(list(facts.values()), input_type="document")
            await store.bind_embedder(embedder.name, rows.shape[1])
            await store.write(Batch(vectors=dict(zip(facts, rows, strict=True))))
            count += len(facts)
    if count:
        await store.settle()
    return count

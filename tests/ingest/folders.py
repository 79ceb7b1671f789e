"""Folders and stores for tests of ingest, and a graph written down so that two can be compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import attrs

from graphsearch.ingest import Ingestor, IngestReport
from graphsearch.protocols import Embedder
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder


@attrs.define
class Parts:
    """What an ingest needs of an engine."""

    store: GraphStore = attrs.field(
        factory=lambda: InMemoryGraphStore().with_scope(org_id="acme", project_id=str(uuid4()))
    )
    embedder: Embedder | None = attrs.field(factory=lambda: HashEmbedder(8))

    async def add(self, path: Path, **options: Any) -> IngestReport:
        return await Ingestor(self).add(path, **options)


def put(root: Path, **files: str) -> Path:
    """Write Python files; ``pkg__a`` is pkg/a.py."""
    for name, source in files.items():
        path = root / f"{name.replace('__', '/').replace('/init', '/__init__')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return root


def put_lines(root: Path, name: str, *lines: Any) -> Path:
    """Write JSON lines; text is written as it is."""
    written = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (root / name).write_text("".join(f"{line}\n" for line in written))
    return root


async def graph(store: GraphStore) -> dict[str, Any]:
    """Everything that a small scope holds, but for when it was written."""
    entities = await store.list_entities(limit=10_000)
    relations = await store.list_relations(limit=10_000)
    memories = await store.list_memories(limit=10_000)
    ids = [memory.id for memory in memories]
    return {
        "entities": [attrs.evolve(each, created_at=None) for each in entities],
        "relations": [attrs.evolve(each, created_at=None) for each in relations],
        "memories": [attrs.evolve(each, created_at=None) for each in memories],
        "mentions": set(await store.list_mentions(memory_ids=ids)),
        "claims": set(await store.list_claims(memory_ids=ids)),
    }


async def names(store: GraphStore) -> set[str]:
    return {entity.name for entity in await store.list_entities(limit=10_000)}


async def triplets(store: GraphStore, type: str | None = None) -> set[tuple[str, str, str]]:
    called = {entity.id: entity.name for entity in await store.list_entities(limit=10_000)}
    relations = await store.list_relations(limit=10_000, type=type)
    return {(called[each.source_id], each.type, called[each.target_id]) for each in relations}

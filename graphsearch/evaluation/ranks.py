"""Methods of finding triplets for a question: each mode, each search over facts alone, and plain BM25 over lines.

All of them search as of the time that a question names, by default the present time of the store's clock.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from statistics import median
from time import perf_counter
from typing import Final, Generic, TypeVar
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader, reading
from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.baseline import PlainBM25
from graphsearch.ingest import Progress
from graphsearch.model import ElementKind, Entity, Relation
from graphsearch.modes.options import SearchMode
from graphsearch.modes.result import SearchResult
from graphsearch.protocols import Embedder, GraphStore
from graphsearch.understanding.name_lookup import time_asked

Line = tuple[Entity, Relation, Entity]
Found = TypeVar("Found")
Rank = Callable[[str], Awaitable[Found]]
"""A function from a question to its results, best first."""

DENSE: Final = "dense"
LEXICAL: Final = "lexical"
BM25: Final = "bm25"
RIVALS: Final = (DENSE, LEXICAL, BM25)
"""The methods that a mode is compared with: its channels, each alone, and the baseline."""

_PAGE: Final = 1_000


@attrs.frozen(eq=False, kw_only=True)
class Asked(Generic[Found]):
    """The results of each method, by its name and the id of the question, and the median time of the first in ms."""

    found: Mapping[str, Mapping[str, Found]]
    p50_ms: float


async def ask(
    questions: Mapping[str, str], ranks: Mapping[str, Rank[Found]], progress: Progress | None = None
) -> Asked[Found]:
    """Ask every question with every method.

    The first method answers one question before the measurement, to build indexes and load models.
    """
    default = next(iter(ranks))
    await ranks[default](next(iter(questions.values())))
    found: dict[str, dict[str, Found]] = {name: {} for name in ranks}
    times = []
    for number, (id_, question) in enumerate(questions.items(), 1):
        for name, rank in ranks.items():
            started = perf_counter()
            found[name][id_] = await rank(question)
            if name == default:
                times.append(1e3 * (perf_counter() - started))
        if progress is not None:
            progress(number, len(questions), id_)
    return Asked(found=found, p50_ms=median(times))


def modes(engine: GraphSearchEngine) -> tuple[SearchMode, ...]:
    """The modes of an engine that use no language model, the default first."""
    semantic = (SearchMode.GRAPH_COMPLETION, SearchMode.TRIPLET_COMPLETION) if engine.embedder is not None else ()
    return (*semantic, SearchMode.NEIGHBORHOOD)


def by_modes(engine: GraphSearchEngine, limit: int, read: Callable[[SearchResult], Found]) -> dict[str, Rank[Found]]:
    """The result of ``read`` for each mode's search of ``limit`` triplets."""

    async def search(question: str, mode: SearchMode) -> Found:
        return read(await engine.search(question, mode=mode, limit=limit))

    return {mode.value: partial(search, mode=mode) for mode in modes(engine)}


def triplets_of(found: SearchResult) -> Sequence[Line]:
    """The triplets of a search result."""
    return [(each.source, each.relation, each.target) for each in found.triplets]


def by_facts(store: GraphStore, embedder: Embedder | None, limit: int) -> dict[str, Rank[Sequence[Line]]]:
    """The searches over facts, each alone."""

    async def by_meaning(question: str, embedder: Embedder) -> Sequence[Line]:
        vectors = await embedder.embed([question], input_type="query")
        async with at_time_of(question, store) as reader:
            hits = await reader.nearest(ElementKind.RELATION, vectors[0], limit)
            return await _with_ends(await reader.relations(hits.keys), store)

    async def by_words(question: str) -> Sequence[Line]:
        async with at_time_of(question, store) as reader:
            hits = await reader.lexical(ElementKind.RELATION, question, limit)
            return await _with_ends(await reader.relations(hits.keys), store)

    return (
        {LEXICAL: by_words} if embedder is None else {DENSE: partial(by_meaning, embedder=embedder), LEXICAL: by_words}
    )


async def by_lines(store: GraphStore, limit: int) -> Rank[Sequence[Line]]:
    """BM25 over "source type target fact" of every relation that a search of the scope could return."""
    relations = [relation async for relation in _relations(store)]
    lines = await _with_ends(relations, store)
    plain = PlainBM25([as_text(line) for line in lines])

    async def rank(question: str) -> Sequence[Line]:
        async with at_time_of(question, store) as reader:
            view = reader.view
        among = [
            view.holds(each.valid_from, each.valid_to)
            and each.type not in view.skipped_types
            and each.confidence >= view.min_edge_confidence
            for each in relations
        ]
        return [lines[row] for row in plain.rank(question, limit=limit, among=np.array(among, np.bool_))]

    return rank


def as_text(line: Line) -> str:
    """A triplet as words: source, type, target and fact."""
    source, relation, target = line
    return f"{source.name} {relation.type.replace('_', ' ')} {target.name} {relation.fact}"


@asynccontextmanager
async def at_time_of(question: str, store: GraphStore) -> AsyncIterator[Reader]:
    """A reader of a snapshot as of the time that a question names."""
    time = await time_asked(question, store.clock.now(), lambda: reading(store))
    async with reading(store, as_of=time.as_of, since=time.since) as reader:
        yield reader


async def _relations(store: GraphStore) -> AsyncIterator[Relation]:
    after: UUID | None = None
    while page := await store.list_relations(after=after, limit=_PAGE):
        after = page[-1].id
        for relation in page:
            yield relation


async def _with_ends(relations: Sequence[Relation], store: GraphStore) -> list[Line]:
    ends = dict.fromkeys(end for each in relations for end in (each.source_id, each.target_id))
    entities = {entity.id: entity for entity in await store.get_entities([*ends])}
    return [(entities[each.source_id], each, entities[each.target_id]) for each in relations]

"""Methods of finding what answers a question: modes, channels and plain BM25, and their blocks within a budget.

All of them search as of the time that a question names, by default the present time of the store's clock.

Plain BM25 is that of Robertson and Zaragoza (2009) with Lucene's idf, k1 1.2 and b 0.75, as in `graphsearch.text.bm25`.
Unlike the search of a store it uses the exact average length, since its texts never change.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Final, Generic, TypeVar

import attrs

from graphsearch._support.paging import pages
from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader, reading
from graphsearch.authz import CedarAuthorizer
from graphsearch.columns import Keys
from graphsearch.context import ContextBuilder, TiktokenCounter
from graphsearch.context.material import MEMORIES, compose, pack
from graphsearch.context.tokens import DEFAULT_BUDGETS, WorkType
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import ElementKind, Entity, Memory, Principal, Relation
from graphsearch.modes.result import SearchMode, SearchResult
from graphsearch.protocols import Embedder
from graphsearch.question.analysis import asked_time, relation_line
from graphsearch.ranking.recall_result import CHANNELS, ChannelName
from graphsearch.stores.graph import GraphStore
from graphsearch.text.analyser import ENGLISH, VERBATIM, Analyser
from graphsearch.text.bm25 import document, idf, saturated
from graphsearch.text.rendering import OBSERVATIONS, memory_line

Line = tuple[Entity, Relation, Entity]
Item = TypeVar("Item", Line, str)
Found = Sequence[Item]
"""What was found for a question, best first: triplets, or names or ids."""
Rank = Callable[[str], Awaitable[Found[Item]]]

DENSE: Final = "dense"
LEXICAL: Final = "lexical"
BM25: Final = "bm25"
RIVALS: Final = (*CHANNELS, DENSE, BM25)
"""The methods that a default is compared with: its channels, each alone, and the baseline."""


@attrs.frozen
class Block:
    """A block of text, and the ids of the memories that it shows."""

    ids: frozenset[str] = frozenset()
    text: str = ""


Build = Callable[[str], Awaitable[Block]]


@attrs.frozen
class Method(Generic[Item]):
    """One method of answering a question: what it finds, and the block that it builds, if blocks are measured."""

    find: Rank[Item]
    show: Build | None = None


class PlainBM25:
    """Ranks the rows of a list of texts for a question; ``analyser`` splits texts and questions into terms."""

    def __init__(self, texts: Sequence[str], *, analyser: Analyser = ENGLISH) -> None:
        self._analyser = analyser
        self._count = len(texts)
        counted = [document(text, {}, analyser) for text in texts]
        average = max(sum(sum(counts.values()) for counts in counted) / max(len(texts), 1), 1.0)
        self._postings: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for row, counts in enumerate(counted):
            for term, weight in saturated(counts, sum(counts.values()), average).items():
                self._postings[term][row] = weight

    def rank(self, question: str, *, limit: int, among: Sequence[bool] | None = None) -> list[int]:
        """The rows that share a term with the question, best first, ties by row; at most ``limit``.

        ``among`` marks the rows that may be ranked, one value for each text. Statistics are of all texts.
        """
        scores: defaultdict[int, float] = defaultdict(float)
        for term in dict.fromkeys(self._analyser.terms(question)):
            containing = self._postings.get(term, {})
            rarity = idf(self._count, len(containing))
            for row, weight in containing.items():
                scores[row] += rarity * weight
        ranked = sorted(scores, key=lambda row: (-scores[row], row))
        return [row for row in ranked if among is None or among[row]][:limit]


def by_modes(
    engine: GraphSearchEngine, limit: int, read: Callable[[SearchResult], Found[Item]]
) -> dict[str, Rank[Item]]:
    """The result of ``read`` for a search of ``limit`` triplets, in each mode that uses no language model.

    The default mode comes first.
    """

    async def search(question: str, mode: SearchMode) -> Found[Item]:
        return read(await engine.search(question, mode=mode, limit=limit))

    modes = (SearchMode.GRAPH_COMPLETION, SearchMode.TRIPLET_COMPLETION, SearchMode.NEIGHBORHOOD)
    return {mode.value: partial(search, mode=mode) for mode in (modes if engine.embedder else modes[2:])}


def by_channels(
    engine: GraphSearchEngine, kind: ElementKind, limit: int, read: Callable[[Reader, Keys], Awaitable[Found[Item]]]
) -> dict[str, Rank[Item]]:
    """The result of ``read`` for the first elements of a kind, by each channel alone."""

    async def by_meaning(question: str, embedder: Embedder) -> Found[Item]:
        vectors = await embedder.embed([question], input_type="query")
        async with at_time_of(question, engine.store) as reader:
            return await read(reader, (await reader.nearest(kind, vectors[0], limit)).keys)

    async def by_words(question: str) -> Found[Item]:
        async with at_time_of(question, engine.store) as reader:
            return await read(reader, (await reader.lexical(kind, question, limit)).keys)

    if engine.embedder is None:
        return {LEXICAL: by_words}
    return {DENSE: partial(by_meaning, embedder=engine.embedder), LEXICAL: by_words}


async def finding_triplets(engine: GraphSearchEngine, limit: int) -> dict[str, Rank[Line]]:
    """The triplets found by each mode, by each channel alone over facts, and by plain BM25."""

    def shown(found: SearchResult) -> Found[Line]:
        return [(each.source, each.relation, each.target) for each in found.triplets]

    async def read(reader: Reader, keys: Keys) -> Found[Line]:
        return await _with_ends(await reader.relations(keys), engine.store)

    channels = by_channels(engine, ElementKind.RELATION, limit, read)
    return {**by_modes(engine, limit, shown), **channels, BM25: await _by_lines(engine.store, limit)}


async def _by_lines(store: GraphStore, limit: int) -> Rank[Line]:
    """BM25 over "source type target fact" of every relation that a search of the scope could return."""
    relations: list[Relation] = [each async for page in pages(store.list_relations) for each in page]
    lines = await _with_ends(relations, store)
    bm25 = PlainBM25([relation_line(source.name, each.type, target.name, each.fact) for source, each, target in lines])

    async def rank(question: str) -> Found[Line]:
        async with at_time_of(question, store) as reader:
            view = reader.view
        among = [
            view.holds(each.valid_from, each.valid_to)
            and each.type not in view.skipped_types
            and each.confidence >= view.min_edge_confidence
            for each in relations
        ]
        return [lines[row] for row in bm25.rank(question, limit=limit, among=among)]

    return rank


@asynccontextmanager
async def at_time_of(question: str, store: GraphStore) -> AsyncIterator[Reader]:
    """A reader of a snapshot as of the time that a question names."""
    time = asked_time(question, store.clock.now())
    async with reading(store, as_of=time.as_of, since=time.since) as reader:
        yield reader


async def _with_ends(relations: Sequence[Relation], store: GraphStore) -> list[Line]:
    ends = dict.fromkeys(end for each in relations for end in (each.source_id, each.target_id))
    entities = {entity.id: entity for entity in await store.get_entities([*ends])}
    return [(entities[each.source_id], each, entities[each.target_id]) for each in relations]


BUDGET: Final = DEFAULT_BUDGETS[WorkType.UNKNOWN]
"""Default tokens of a block."""
_WHO: Final = "eval"
_NO_WORDS: Final = frozenset({"", "yes", "no"})


def blocks_of(
    engine: GraphSearchEngine,
    budget: int,
    *,
    channels: tuple[ChannelName, ...] = CHANNELS,
    mode: SearchMode | None = None,
    as_of: datetime | None = None,
) -> Build:
    """Blocks of ``budget`` tokens for a principal who may see all; without "graph" in ``channels`` without triplets.

    ``mode`` defaults to GRAPH_COMPLETION, and without semantic search to NEIGHBORHOOD.
    """
    builder = ContextBuilder(engine, log=None)
    gate = Gate(CedarAuthorizer.default(), Principal(id=_WHO, projects=(engine.store.scope,)))
    meant = engine.embedder is not None and "semantic" in channels
    chosen = mode or (SearchMode.GRAPH_COMPLETION if meant else SearchMode.NEIGHBORHOOD)

    async def build(question: str) -> Block:
        found = await builder.build(
            question,
            gate=gate,
            session_id=_WHO,
            budget=budget,
            graph="graph" in channels,
            channels=channels,
            mode=chosen,
            as_of=as_of,
        )
        return Block(frozenset(shown.memory.id for shown in found.memories), found.text)

    return build


def plain(memories: Sequence[Memory], limit: int, budget: int) -> Method[str]:
    """BM25 over subject, speaker and text of memories; a block is packed from the best lines."""
    bm25 = PlainBM25([f"{each.subject}\n{each.speaker}\n{each.text}" for each in memories])
    counter = TiktokenCounter()

    async def rank(question: str) -> Found[str]:
        return [memories[row].id for row in bm25.rank(question, limit=limit)]

    def pack_best(question: str) -> Block:
        ranked = [memories[row] for row in bm25.rank(question, limit=MEMORIES)]
        lines = {memory.id: line for memory in ranked if (line := memory_line(memory))}
        texts, ids = list(lines.values()), list(lines)
        shown, _ = pack(texts, budget, counter, heading=OBSERVATIONS)
        return Block(frozenset(ids[row] for row in shown), compose(OBSERVATIONS, [texts[row] for row in shown]))

    async def build(question: str) -> Block:
        return await asyncio.to_thread(pack_best, question)  # the first count may download a vocabulary

    return Method(rank, build)


def holds_answer(text: str, answer: str) -> bool | None:
    """Whether a text has all words of an answer, in any form with the same term of the English analyser.

    Stop words count only if the answer has no other words. None for an empty answer, yes or no.
    """
    if answer.strip().rstrip(".").casefold() in _NO_WORDS:
        return None
    analyser = ENGLISH if ENGLISH.terms(answer) else VERBATIM
    wanted = frozenset(analyser.terms(answer))
    return wanted <= frozenset(analyser.terms(text)) if wanted else None

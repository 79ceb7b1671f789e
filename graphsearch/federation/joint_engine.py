"""The engine behind a federated one: a `GraphSearchEngine` that opens several scopes where others open one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Unpack

from graphsearch._support.timing import Stopwatch
from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader, ReadingOptions, reading
from graphsearch.access.visible_documents import DocumentCache
from graphsearch.engine import GraphSearchEngine
from graphsearch.federation import origins
from graphsearch.federation.joint_reader import JointReader
from graphsearch.federation.scope_part import ScopePart
from graphsearch.model import Vector
from graphsearch.modes.mode import Question
from graphsearch.modes.result import SearchResult
from graphsearch.protocols import GraphStore
from graphsearch.ranking.options import RankRequest
from graphsearch.ranking.result import RankResult
from graphsearch.recall.options import RecallRequest
from graphsearch.recall.result import RecallResult


class JointEngine(GraphSearchEngine):
    """Answers from several scopes, in the order of their names, with the parts of the engine of the first."""

    def __init__(self, engines: Sequence[GraphSearchEngine]) -> None:
        first = engines[0]
        super().__init__(
            store=first.store,
            embedder=first.embedder,
            llm=first.llm,
            traversal=first.traversal,
            modes=first.modes,
            scoring=first.scoring,
            recall_scoring=first.recall_scoring,
        )
        self._stores = tuple(engine.store for engine in engines)
        self.scopes = tuple(store.scope for store in self._stores)
        self._caches = tuple(DocumentCache() for _ in engines)

    @property
    def stores(self) -> tuple[GraphStore, ...]:
        """The stores of the scopes."""
        return self._stores

    @asynccontextmanager
    async def _open(self, **options: Unpack[ReadingOptions]) -> AsyncIterator[Reader]:
        """The scopes of which the principal may see anything; a single one of these as if it were asked alone."""
        opening = partial(reading, now=self.store.clock.now(), **options)
        readers: dict[int, Reader] = {}
        async with AsyncExitStack() as stack:
            entered = self._entered(options.get("gate"))
            for number in entered:
                store = self._stores[number]
                await stack.enter_async_context(store.snapshot())
                if len(entered) > 1:
                    async with opening(store) as probe:  # what it denies is not counted as denied
                        if not await probe.sees_anything() and (readers or number != entered[-1]):
                            continue
                readers[number] = await stack.enter_async_context(opening(store, documents=self._caches[number]))
            yield _joint(readers)

    def _entered(self, gate: Gate | None) -> Sequence[int]:
        """The numbers of the scopes that the principal may enter; the first of all if there are none."""
        every = range(len(self._stores))
        return [each for each in every if gate is None or gate.enters(self.scopes[each])] or every[:1]

    async def _search(self, question: Question, reader: Reader) -> SearchResult:
        return origins.with_scopes(await super()._search(question, reader), reader)

    async def _conclude(self, found: SearchResult, question: Question) -> SearchResult:
        return origins.with_own_ids(await super()._conclude(found, question))

    async def _recall(
        self, request: RecallRequest, vector: Vector | None, reader: Reader, stopwatch: Stopwatch
    ) -> RecallResult:
        return origins.recalled(await super()._recall(request, vector, reader, stopwatch), reader, self.scopes)

    async def _rank(self, request: RankRequest, question: Question, reader: Reader) -> RankResult:
        return origins.ranked(await super()._rank(request, question, reader), reader)


def _joint(readers: Mapping[int, Reader]) -> Reader:
    """One reader of some scopes by number; that of a single scope itself."""
    if len(readers) == 1:
        return next(iter(readers.values()))
    return JointReader(
        [
            ScopePart(reader, number=number, place=place, of=len(readers))
            for place, (number, reader) in enumerate(readers.items())
        ]
    )

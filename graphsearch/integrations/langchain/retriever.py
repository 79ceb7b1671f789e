"""A graph as a LangChain retriever."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from graphsearch.access.gate import Gate
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.integrations.langchain.documents import documents_of
from graphsearch.modes.options import SearchMode, SearchOptions
from graphsearch.recall.options import RecallOptions
from graphsearch.sync import run

Kind = Literal["memory", "triplet"]

_MEMORIES: Final = 50
"""The minimum number of memories to recall: some have no text to show."""


class GraphSearchRetriever(BaseRetriever):
    """The memories and triplets that answer a question, as documents, best first, in the order of `documents_of`.

    * ``engine``: the engine to search. The default ``mode`` needs its embedder; "neighborhood" needs none.
    * ``gate``: decides what is visible; `ALLOW_ALL` shows everything to anybody.
    * ``limit``: number of documents returned; ``invoke(question, limit=3)`` takes precedence.
    * ``kinds``: "memory", "triplet", or both.
    * ``as_of``, ``known_at``, ``min_score`` and ``diversity``: as in `SearchOptions` and `RecallOptions`.

    Raises what `GraphSearchEngine.search` and `recall` raise. ``invoke`` blocks, under the
    conditions of `graphsearch.sync`.
    """

    engine: GraphSearchEngine
    gate: Gate
    limit: Annotated[int, Field(ge=1)] = 10
    kinds: Annotated[tuple[Kind, ...], Field(min_length=1)] = ("memory", "triplet")
    mode: str = SearchMode.GRAPH_COMPLETION
    as_of: datetime | None = None
    known_at: datetime | None = None
    min_score: float = 0.0
    diversity: float = 0.0

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, limit: int | None = None
    ) -> list[Document]:
        del run_manager
        return await self._documents(query, self.limit if limit is None else limit)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, limit: int | None = None
    ) -> list[Document]:
        del run_manager
        return run(self._documents(query, self.limit if limit is None else limit))

    async def _documents(self, query: str, limit: int) -> list[Document]:
        if limit < 1:
            raise InvalidInputError("retriever", [f"limit must be at least 1, not {limit}"])
        search: SearchOptions = {
            "mode": self.mode,
            "limit": limit,
            "min_score": self.min_score,
            "diversity": self.diversity,
            "as_of": self.as_of,
            "known_at": self.known_at,
            "gate": self.gate,
        }
        recall: RecallOptions = {
            "limit": max(limit, _MEMORIES),
            "min_score": self.min_score,
            "diversity": self.diversity,
            "as_of": self.as_of,
            "known_at": self.known_at,
            "gate": self.gate,
        }
        if "memory" not in self.kinds:
            return documents_of((), (await self.engine.search(query, **search)).triplets, limit)
        if "triplet" not in self.kinds:
            return documents_of((await self.engine.recall(query, **recall)).memories, (), limit)
        found, recalled = await self.engine.search_and_recall(query, search=search, recall=recall)
        return documents_of(recalled.memories, found.triplets, limit)

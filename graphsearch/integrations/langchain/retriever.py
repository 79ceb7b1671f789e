"""A graph as a LangChain retriever of documents.

The text of a document is its line in a context block, so that stored text stays one line of data wherever a chain puts
it. Its metadata are flat and JSON-ready; names and facts in them are `safe_text` too, while ids, sessions and sources
are unchanged, so that they can be used in requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Annotated, Any, Final, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from graphsearch._support.verbs import ask
from graphsearch.access.gate import Gate
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.model import ElementKind, ElementRef, ScorePart, Triplet
from graphsearch.modes.result import SearchMode, SearchRequest
from graphsearch.ranking.recall_result import RecalledMemory, RecallRequest
from graphsearch.sync import run
from graphsearch.text.rendering import entity_name, memory_line, safe_text, triplet_line

Kind = Literal["memory", "triplet"]

_MEMORIES: Final = 50
"""The minimum number of memories to recall: some have no text to show."""


class GraphSearchRetriever(BaseRetriever):
    """The memories and triplets that answer a question, as documents, best first, in the order of `documents_of`.

    * ``engine``: the engine to search. The default ``mode`` needs its embedder; "neighborhood" needs none.
    * ``gate``: decides what is visible; `ALLOW_ALL` shows everything to anybody.
    * ``limit``: number of documents returned; ``invoke(question, limit=3)`` takes precedence.
    * ``kinds``: "memory", "triplet", or both.
    * ``as_of``, ``known_at``, ``min_score`` and ``diversity``: as in `SearchRequest` and `RecallRequest`.

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
        alike = ("min_score", "diversity", "as_of", "known_at", "gate")
        asked: dict[str, Any] = {name: getattr(self, name) for name in alike}
        search = SearchRequest(query, mode=self.mode, limit=limit, **asked)
        recall = RecallRequest(query, limit=max(limit, _MEMORIES), **asked)
        if "memory" not in self.kinds:
            return documents_of((), (await ask(self.engine.search, search)).triplets, limit)
        if "triplet" not in self.kinds:
            return documents_of((await ask(self.engine.recall, recall)).memories, (), limit)
        found, recalled = await self.engine.search_and_recall(search, recall)
        return documents_of(recalled.memories, found.triplets, limit)


def documents_of(memories: Sequence[RecalledMemory], triplets: Sequence[Triplet], limit: int) -> list[Document]:
    """The ``limit`` best documents: the best memory, the best triplet, the second of each, and so on.

    Scores of memories and of triplets are not comparable, so the two alternate; when one runs out the other continues.
    Memories without text are left out, and of those with the same line only the best is kept.
    """
    by_line: dict[str, RecalledMemory] = {}
    for each in memories:
        if line := memory_line(each.memory):
            by_line.setdefault(line, each)
    pairs = zip_longest(
        (_of_memory(each, line) for line, each in by_line.items()), (_of_triplet(triplet) for triplet in triplets)
    )
    return [document for pair in pairs for document in pair if document is not None][:limit]


def _of_memory(recalled: RecalledMemory, line: str) -> Document:
    memory = recalled.memory
    return Document(
        id=f"{ElementKind.MEMORY}:{memory.id}",
        page_content=line,
        metadata={
            "kind": "memory",
            "id": memory.id,
            "score": recalled.score,
            "score_parts": _contributions(recalled.parts),
            "subject": safe_text(memory.subject),
            "speaker": safe_text(memory.speaker),
            "session_id": memory.session_id,
            "source": memory.source,
            "occurred_at": _iso(memory.occurred_at),
            "path": _references(recalled.path),
        },
    )


def _of_triplet(triplet: Triplet) -> Document:
    source, relation, target = triplet.source, triplet.relation, triplet.target
    return Document(
        id=f"{ElementKind.RELATION}:{relation.id}",
        page_content=triplet_line(triplet),
        metadata={
            "kind": "triplet",
            "id": str(relation.id),
            "score": triplet.score,
            "score_parts": _contributions(triplet.parts),
            "source_id": str(source.id),
            "source_type": source.type,
            "source_name": entity_name(source),
            "type": relation.type,
            "target_id": str(target.id),
            "target_type": target.type,
            "target_name": entity_name(target),
            "fact": safe_text(relation.fact),
            "confidence": relation.confidence,
            "valid_from": _iso(relation.valid_from),
            "valid_to": _iso(relation.valid_to),
            "evidence": list(relation.evidence),
            "path": _references(ElementRef(ElementKind.RELATION, str(id_)) for id_ in triplet.path),
        },
    )


def _contributions(parts: Iterable[ScorePart]) -> dict[str, float]:
    return {part.name: part.contribution for part in parts}


def _references(path: Iterable[ElementRef]) -> list[str]:
    return [f"{step.kind}:{step.id}" for step in path]


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None

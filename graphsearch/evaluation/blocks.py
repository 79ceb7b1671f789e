"""Context blocks for questions, within a budget of tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import attrs

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBlock, ContextBuilder, TiktokenCounter
from graphsearch.context.material import MEMORIES
from graphsearch.context.sections import compose, pack
from graphsearch.context.tokens import DEFAULT_BUDGETS, WorkType
from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.ranks import PlainBM25
from graphsearch.model import Memory, Principal
from graphsearch.modes.options import SearchMode
from graphsearch.recall.options import CHANNELS, ChannelName
from graphsearch.text.analyser import ENGLISH, VERBATIM
from graphsearch.text.rendering import OBSERVATIONS, memory_line

BUDGET: Final = DEFAULT_BUDGETS[WorkType.UNKNOWN]
"""Default tokens of a block."""
_WHO: Final = "eval"
_NO_WORDS: Final = frozenset({"", "yes", "no"})


class Blocks:
    """Builds blocks of ``budget`` tokens over one engine, for a principal who may see all of its scope."""

    def __init__(self, engine: GraphSearchEngine, budget: int) -> None:
        self._engine = engine
        self._budget = budget
        self._builder = ContextBuilder(engine, log=None)
        self._gate = Gate(CedarAuthorizer.default(), Principal(id=_WHO, projects=(engine.store.scope,)))

    async def build(
        self,
        question: str,
        *,
        channels: tuple[ChannelName, ...] = CHANNELS,
        mode: SearchMode | None = None,
        as_of: datetime | None = None,
    ) -> ContextBlock:
        """The block of a `ContextBuilder`; without "graph" among the ``channels`` it has no triplets.

        ``mode`` defaults to GRAPH_COMPLETION, and without semantic search to NEIGHBORHOOD.
        """
        meant = self._engine.embedder is not None and "semantic" in channels
        return await self._builder.build(
            question,
            gate=self._gate,
            session_id=_WHO,
            budget=self._budget,
            graph="graph" in channels,
            channels=channels,
            mode=mode or (SearchMode.GRAPH_COMPLETION if meant else SearchMode.NEIGHBORHOOD),
            as_of=as_of,
        )


@attrs.frozen
class PlainBlock:
    """A block of the memories that plain BM25 ranks first: their ids, best first, and the text."""

    ids: tuple[str, ...]
    text: str


class PlainBlocks:
    """Ranks memories by BM25 over subject, speaker and text, and packs the best lines into ``budget`` tokens."""

    def __init__(self, memories: Sequence[Memory], budget: int) -> None:
        self._memories = memories
        self._plain = PlainBM25([f"{each.subject}\n{each.speaker}\n{each.text}" for each in memories])
        self._budget = budget
        self._counter = TiktokenCounter()

    def rank(self, question: str, limit: int) -> list[str]:
        """The ids of the memories that share a term with the question, best first."""
        return [self._memories[row].id for row in self._plain.rank(question, limit=limit)]

    async def build(self, question: str) -> PlainBlock:
        """The block for a question."""
        return await asyncio.to_thread(self._build, question)  # the first count may download a vocabulary

    def _build(self, question: str) -> PlainBlock:
        ranked = [self._memories[row] for row in self._plain.rank(question, limit=MEMORIES)]
        lines = {memory.id: line for memory in ranked if (line := memory_line(memory))}
        ids, texts = [*lines], [*lines.values()]
        shown = pack(texts, self._budget, self._counter, heading=OBSERVATIONS)
        return PlainBlock(tuple(ids[row] for row in shown), compose(OBSERVATIONS, [texts[row] for row in shown]))


def holds_answer(text: str, answer: str) -> bool | None:
    """Whether a text has all words of an answer, in any form with the same term of the English analyser.

    Stop words count only if the answer has no other words. None for an empty answer, yes or no.
    """
    if answer.strip().rstrip(".").casefold() in _NO_WORDS:
        return None
    analyser = ENGLISH if ENGLISH.terms(answer) else VERBATIM
    wanted = frozenset(analyser.terms(answer))
    return wanted <= frozenset(analyser.terms(text)) if wanted else None

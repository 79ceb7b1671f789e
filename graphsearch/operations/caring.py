"""Operations of care that a surface asks for in another way than the library does."""

from __future__ import annotations

from datetime import timedelta

from graphsearch.curation import JudgeReport, SummariesReport
from graphsearch.curation.summarising import MIN_SIZE
from graphsearch.errors import MissingDependencyError
from graphsearch.health.duplicates import ALIKE
from graphsearch.model import WriteReport
from graphsearch.operations.service import Caller
from graphsearch.protocols import LLM


async def expire(caller: Caller, days: float, *, label: str | None = None, source: str | None = None) -> WriteReport:
    """Forget what is older than some days: `Curator.expire`."""
    return await caller.curator.expire(timedelta(days=days), label=label, source=source)


async def judge_duplicates(caller: Caller, *, limit: int = 20, threshold: float = ALIKE) -> JudgeReport:
    """Let the engine's language model judge pairs: `Curator.judge_duplicates`."""
    return await caller.curator.judge_duplicates(_model(caller), limit=limit, threshold=threshold)


async def summarise_communities(
    caller: Caller, *, limit: int | None = None, min_size: int = MIN_SIZE
) -> SummariesReport:
    """Let the engine's language model summarise: `Curator.summarise_communities`."""
    return await caller.curator.summarise_communities(_model(caller), limit=limit, min_size=min_size)


def _model(caller: Caller) -> LLM:
    if caller.engine.llm is None:
        raise MissingDependencyError("this needs a language model: name one, as in --llm openai:gpt-5-mini")
    return caller.engine.llm

"""Operations of care that a surface asks for in another way than the library does."""

from __future__ import annotations

from datetime import timedelta

import attrs

from graphsearch.caching import cache_report
from graphsearch.curation import JudgeReport, SummariesReport
from graphsearch.curation.summarising import MIN_SIZE
from graphsearch.errors import MissingDependencyError
from graphsearch.health.duplicates import ALIKE
from graphsearch.model import Statistics, WriteReport
from graphsearch.operations.service import Caller
from graphsearch.protocols import LLM


@attrs.frozen(kw_only=True)
class CacheUse:
    """What the server's cache of entities answered; ``warning``: that it answers too little."""

    hits: int
    misses: int
    hit_rate: float | None
    warning: str | None


@attrs.frozen(kw_only=True)
class Counts(Statistics):
    """The numbers of a scope and, if there is one, of the cache."""

    cache: CacheUse | None = None


async def stats(caller: Caller) -> Counts:
    """Count the elements of the project, by type, and the look-ups that the cache answered."""
    found, use = await caller.curator.stats(), cache_report(caller.engine.store)
    numbers = attrs.asdict(found, recurse=False)
    if use is None:
        return Counts(**numbers)
    cache = CacheUse(hits=use.hits, misses=use.misses, hit_rate=use.hit_rate, warning=use.warning(found.memories))
    return Counts(**numbers, cache=cache)


async def expire(caller: Caller, days: float, *, label: str | None = None, source: str | None = None) -> WriteReport:
    """Forget the memories of a label or a source that are older than some days. Irreversible."""
    return await caller.curator.expire(timedelta(days=days), label=label, source=source)


async def judge_duplicates(caller: Caller, *, limit: int = 20, threshold: float = ALIKE) -> JudgeReport:
    """Have the language model judge possible duplicates: merge the same, mark the distinct."""
    return await caller.curator.judge_duplicates(_model(caller), limit=limit, threshold=threshold)


async def summarise_communities(
    caller: Caller, *, limit: int | None = None, min_size: int = MIN_SIZE
) -> SummariesReport:
    """Have the language model summarise the communities that are new or have changed; run it again to go on."""
    return await caller.curator.summarise_communities(_model(caller), limit=limit, min_size=min_size)


def _model(caller: Caller) -> LLM:
    if caller.engine.llm is None:
        raise MissingDependencyError("this needs a language model: name one, as in --llm openai:gpt-5-mini")
    return caller.engine.llm

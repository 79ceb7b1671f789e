"""Operations that a surface asks for in another way than the library does: of a session, of days, of its model."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal

import attrs

from graphsearch.caching import cache_report
from graphsearch.context import ContextBlock, WorkType
from graphsearch.errors import AccessDeniedError
from graphsearch.explaining.elements import Explanation
from graphsearch.model import Action, ElementKind, ElementRef, FeedbackReport, Outcome, Statistics, WriteReport
from graphsearch.modes.result import SearchMode
from graphsearch.operations.service import Caller
from graphsearch.ranking.entity_ranking import Ranking
from graphsearch.ranking.recall_result import Workload


class OutcomeName(StrEnum):
    """The outcomes of a session, by name."""

    ACCEPTED = "accepted"
    REWORK = "rework"
    REJECTED = "rejected"


def new_session() -> str:
    """The id of a session: short, since a model reads it and writes it again, and not to be guessed."""
    return f"s-{secrets.token_hex(6)}"


async def graph_query(
    caller: Caller,
    query: str,
    *,
    budget: int | None = None,
    as_of: datetime | None = None,
    session_id: str = "",
    details: bool = False,
    mode: str = SearchMode.GRAPH_COMPLETION,
    workload: Workload | None = None,
    work_type: WorkType = WorkType.UNKNOWN,
    observations: bool = True,
    graph: bool = True,
    seeds: int = 10,
    depth: int = 2,
    traversal: Literal["k_hop", "pagerank"] | None = None,
) -> ContextBlock:
    """Answer a question: the block of context for a session, visible to the principal and within a budget.

    See `ContextBuilder.build`. Without ``details`` it does not say what each of its lines is, nor what is not in it.
    """
    block = await caller.builder.build(
        query,
        gate=caller.gate,
        session_id=session_id or new_session(),
        budget=budget,
        as_of=as_of,
        mode=mode,
        workload=workload,
        work_type=work_type,
        observations=observations,
        graph=graph,
        seeds=seeds,
        depth=depth,
        max_hops=max(1, depth),
        traversal=traversal,
    )
    return block if details else attrs.evolve(block, lines=(), omitted=())


async def feedback(caller: Caller, session_id: str, outcome: OutcomeName) -> FeedbackReport:
    """Report the outcome of a session; the weights of what it was shown move.

    Raises `AccessDeniedError` if all that it was shown is denied.
    """
    report = await caller.builder.feedback(session_id, Outcome[outcome.name], gate=caller.gate)
    if report.denied and not (report.applied or report.replaced or report.repeated):
        raise AccessDeniedError(Action.FEEDBACK.value)
    return report


async def explain(
    caller: Caller,
    query: str,
    id: str,
    *,
    kind: ElementKind = ElementKind.RELATION,
    mode: str = SearchMode.GRAPH_COMPLETION,
    ranking: Ranking = Ranking.QUESTION_AWARE,
    limit: int = 10,
    traversal: Literal["k_hop", "pagerank"] | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
) -> Explanation:
    """Explain why a relation, a memory or an entity is, or is not, among the results of a question.

    Each kind has its own options; see `GraphSearchEngine.explain`.
    """
    own: dict[ElementKind, dict[str, Any]] = {
        ElementKind.RELATION: {"mode": mode, "traversal": traversal},
        ElementKind.ENTITY: {"ranking": ranking},
    }
    asked = {"limit": limit, "as_of": as_of, "known_at": known_at, **own.get(kind, {})}
    return await caller.engine.explain(query, ElementRef(kind, id), gate=caller.gate, **asked)


# -- care -------------------------------------------------------------------------------------------------------------


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

"""Operations that answer a question as a surface asks it: the block for a session, an explanation, an outcome."""

from __future__ import annotations

import secrets
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Literal

import attrs

from graphsearch.context import ContextBlock, WorkType
from graphsearch.errors import AccessDeniedError
from graphsearch.explaining.elements import Explanation
from graphsearch.model import Action, ElementKind, ElementRef, FeedbackReport, Outcome
from graphsearch.modes.result import SearchMode
from graphsearch.operations.service import Caller
from graphsearch.ranking.entities.result import Ranking
from graphsearch.ranking.memories.result import Workload


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
    asked = partial(
        caller.engine.explain,
        query,
        ElementRef(kind, id),
        limit=limit,
        as_of=as_of,
        known_at=known_at,
        gate=caller.gate,
    )
    match kind:
        case ElementKind.RELATION:
            return await asked(mode=mode, traversal=traversal)
        case ElementKind.ENTITY:
            return await asked(ranking=ranking)
        case ElementKind.MEMORY:
            return await asked()

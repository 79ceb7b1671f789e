"""The block of text that a session is given: what answers its question, what it may see, what fits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Final, Unpack
from uuid import UUID, uuid5

import attrs

from graphsearch import validation as check
from graphsearch.context.budget import DEFAULT_BUDGETS, WorkType, compose, pack
from graphsearch.context.tokens import TiktokenCounter
from graphsearch.engine import GraphSearchEngine
from graphsearch.feedback import FeedbackService
from graphsearch.gate import AuthorizerGate
from graphsearch.model import ElementKind, Outcome, Principal, Triplet
from graphsearch.modes.request import SearchOptions
from graphsearch.protocols import Authorizer, TokenCounter
from graphsearch.records import ElementRef, FeedbackReport, Injection
from graphsearch.rendering import triplet_line

HEADING: Final = "## Knowledge Graph Triplets"
CANDIDATES: Final = 200
"""How many triplets are asked for unless ``limit`` says otherwise: more than fit any default budget."""

_INJECTION: Final = UUID("5b0c2a52-3a54-5d5f-9d0e-6a7b3b9f1c03")


@attrs.frozen(kw_only=True)
class ContextBlock:
    """A text for a prompt and what is known of it. Without anything to say, the text is empty.

    * ``tokens``: of the whole text, heading and line breaks included; never more than ``budget``.
    * ``triplets``: those that the text shows, in its order.
    * ``skipped``: how many of those found did not fit.
    * ``denied``: distinct elements that the policies hid, by kind. For the caller, never for the prompt.
    * ``injection_id``: under which the session's log holds what was surfaced; None when nothing was.
    """

    text: str = ""
    tokens: int = 0
    budget: int
    triplets: tuple[Triplet, ...] = ()
    skipped: int = 0
    denied: Mapping[ElementKind, int] = attrs.field(factory=dict)
    injection_id: str | None = None


class ContextBuilder:
    """Builds blocks for sessions and hears how they went.

    * ``authorizer``: asked on behalf of each call's principal; there is no way around it.
    * ``counter``: counts tokens; `TiktokenCounter` unless given.
    * ``budgets``: tokens by type of work, in place of some or all of `DEFAULT_BUDGETS`.
    """

    def __init__(
        self,
        engine: GraphSearchEngine,
        authorizer: Authorizer,
        *,
        counter: TokenCounter | None = None,
        budgets: Mapping[WorkType, int] | None = None,
    ) -> None:
        self._engine = engine
        self._authorizer = authorizer
        self._counter = counter or TiktokenCounter()
        self._budgets = {**DEFAULT_BUDGETS, **(budgets or {})}

    async def build(
        self,
        query: str,
        *,
        principal: Principal,
        session_id: str,
        budget: int | None = None,
        work_type: WorkType = WorkType.UNKNOWN,
        **options: Unpack[SearchOptions],
    ) -> ContextBlock:
        """The block for one session, whose elements are logged for `feedback`.

        ``budget`` is in tokens, that of the ``work_type`` unless given; at 0 nothing is searched. The other options
        are those of `GraphSearchEngine.search`, except its gate, which is made here.

        Raises what `search` raises, `InvalidInputError` and `MissingVocabularyError`.
        """
        allowance = self._budgets[work_type] if budget is None else budget
        check.refuse(
            "context block",
            check.text("session_id", session_id),
            check.number("budget", allowance, 0),
            "gate is made from the authorizer and the principal: leave it out" if "gate" in options else None,
        )
        if allowance == 0:
            return ContextBlock(budget=0)
        await asyncio.to_thread(self._counter.count, HEADING)  # the first count may have to fetch a vocabulary
        gate = AuthorizerGate(self._authorizer, principal, self._engine.store.scope)
        asked: SearchOptions = {"limit": CANDIDATES, **options, "gate": gate}
        found = await self._engine.search(query, **asked)
        lines = [triplet_line(triplet) for triplet in found.triplets]
        chosen = pack(lines, allowance, self._counter, heading=HEADING)
        text = compose(HEADING, [lines[index] for index in chosen])
        block = ContextBlock(
            text=text,
            tokens=self._counter.count(text) if text else 0,
            budget=allowance,
            triplets=tuple(found.triplets[index] for index in chosen),
            skipped=len(lines) - len(chosen),
            denied=found.denied,
        )
        return await self._logged(block, principal, session_id) if chosen else block

    async def feedback(self, session_id: str, outcome: Outcome, *, principal: Principal) -> FeedbackReport:
        """Move the weights of what was surfaced to a session, as `FeedbackService.apply`."""
        service = FeedbackService(self._engine.store)
        return await service.apply(session_id, outcome, principal=principal, authorizer=self._authorizer)

    async def _logged(self, block: ContextBlock, principal: Principal, session_id: str) -> ContextBlock:
        store = self._engine.store
        now = store.clock.now()
        asked_by = f"{principal.type}:{principal.id}"
        elements = _surfaced(block.triplets)
        content = [session_id, asked_by, now.isoformat(), [[element.kind, element.id] for element in elements]]
        injection = Injection(
            id=str(uuid5(_INJECTION, json.dumps(content))),
            session_id=session_id,
            principal=asked_by,
            created_at=now,
            tokens=block.tokens,
            elements=elements,
        )
        await store.log_injection(injection)
        return attrs.evolve(block, injection_id=injection.id)


async def build_graph_context_block(
    engine: GraphSearchEngine,
    query: str,
    *,
    principal: Principal,
    authorizer: Authorizer,
    session_id: str,
    budget: int = DEFAULT_BUDGETS[WorkType.UNKNOWN],
    counter: TokenCounter | None = None,
    **options: Unpack[SearchOptions],
) -> ContextBlock:
    """`ContextBuilder.build` as a function, for one block."""
    builder = ContextBuilder(engine, authorizer, counter=counter)
    return await builder.build(query, principal=principal, session_id=session_id, budget=budget, **options)


def _surfaced(triplets: Sequence[Triplet]) -> tuple[ElementRef, ...]:
    """Every entity, relation and memory that some triplets show or rest on, in order."""
    elements: set[ElementRef] = set()
    for triplet in triplets:
        elements.update(
            (
                ElementRef(ElementKind.ENTITY, str(triplet.source.id)),
                ElementRef(ElementKind.RELATION, str(triplet.relation.id)),
                ElementRef(ElementKind.ENTITY, str(triplet.target.id)),
                *(ElementRef(ElementKind.MEMORY, memory_id) for memory_id in triplet.relation.evidence),
            )
        )
    return tuple(sorted(elements, key=lambda element: (element.kind, element.id)))

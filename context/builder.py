"""Build the block of text for a session's prompt: relevant to the question, authorized, and within a budget.

Each scope has a log of what it showed to a session, and of the outcome on that, in its own store. Nothing of one scope
is written to another: an entry holds the elements of its scope alone, and the tokens of their lines.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Final, Literal
from uuid import UUID, uuid5

import attrs

from graphsearch._support.observing import observed
from graphsearch._support.verbs import ask, takes
from graphsearch.access.gate import Gate
from graphsearch.context.material import (
    FIRST,
    MEMORIES,
    BlockLine,
    Material,
    Omitted,
    Page,
    key_of,
    lay_out,
    material,
)
from graphsearch.context.tokens import DEFAULT_BUDGETS, TiktokenCounter, WorkType
from graphsearch.display.printing import Displayed, hidden
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import ForeignSessionError, ReadOnlyStoreError
from graphsearch.federation.engine import FederatedEngine
from graphsearch.feedback import FeedbackService
from graphsearch.model import ElementKind, ElementRef, FeedbackReport, Injection, Outcome, Principal, Scope, Triplet
from graphsearch.model import validation as check
from graphsearch.modes.result import SearchRequest, Summary, cited_lines
from graphsearch.protocols import TokenCounter
from graphsearch.question.understanding import Interpretation
from graphsearch.ranking.recall_result import CHANNELS, ChannelName, RecalledMemory, RecallRequest, Workload
from graphsearch.stores.graph import GraphStore
from graphsearch.text.rendering import TRIPLETS, memory_line, triplet_line

_INJECTION: Final = UUID("5b0c2a52-3a54-5d5f-9d0e-6a7b3b9f1c03")
"""The namespace of the ids of log entries."""


class SessionLogs:
    """The logs of some scopes, one store for each."""

    def __init__(self, stores: Sequence[GraphStore]) -> None:
        self._stores = {store.scope: store for store in stores}

    async def record(
        self,
        session_id: str,
        principal: Principal,
        shown: Mapping[Scope, Sequence[ElementRef]],
        tokens: Mapping[Scope, int],
    ) -> Mapping[Scope, str]:
        """Record what a block shows, and the tokens of its lines, in the log of each scope; the id of each entry.

        Raises `ForeignSessionError`, before anything is written, where one of the logs has the session of another
        principal, and what `GraphStore.log_injection` raises.
        """
        if len(shown) > 1:
            await self._refuse_foreign(session_id, principal, [self._stores[scope] for scope in shown])
        ids = {}
        for scope, elements in shown.items():
            store = self._stores[scope]
            entry = _injection(session_id, principal, store.clock.now(), tokens[scope], elements)
            await store.log_injection(entry)
            ids[scope] = entry.id
        return ids

    async def apply(self, session_id: str, outcome: Outcome, gate: Gate) -> FeedbackReport:
        """Apply an outcome in each scope that the gate's principal may enter: see `FeedbackService.apply`."""
        entered = [store for scope, store in self._stores.items() if len(self._stores) == 1 or gate.enters(scope)]
        if len(entered) > 1:
            await self._refuse_foreign(session_id, gate.principal, entered)
        return _together([await FeedbackService(store).apply(session_id, outcome, gate=gate) for store in entered])

    async def _refuse_foreign(self, session_id: str, principal: Principal, stores: Sequence[GraphStore]) -> None:
        for store in stores:
            if any(each.principal != principal.qualified_id for each in await store.injections(session_id)):
                raise ForeignSessionError(session_id)


def _together(reports: Sequence[FeedbackReport]) -> FeedbackReport:
    """One report of several, in the order of the scopes; an element of two scopes is there twice."""
    if len(reports) == 1:
        return reports[0]

    names = ("applied", "replaced", "repeated", "missing")
    elements = {name: tuple(chain.from_iterable(getattr(each, name) for each in reports)) for name in names}
    return FeedbackReport(**elements, denied=sum(each.denied for each in reports))


def surfaced(scope: Scope, memories: Iterable[RecalledMemory], triplets: Iterable[Triplet]) -> tuple[ElementRef, ...]:
    """The shown memories of a scope, and every entity, relation and memory that triplets show or rest on there.

    In order. Results that state no scopes are of the one there is.
    """
    here = (each for each in memories if scope in (each.scopes or (scope,)))
    elements = {ElementRef(ElementKind.MEMORY, each.memory.id) for each in here}
    for triplet in triplets:
        if scope in (triplet.scopes or (scope,)):
            ends = (triplet.source, triplet.target)
            elements |= {ElementRef(ElementKind.ENTITY, str(end.id)) for end in ends}
            elements.add(ElementRef(ElementKind.RELATION, str(triplet.id_in(scope))))
            evidence = triplet.origins.get(scope, triplet.relation.evidence)
            elements |= {ElementRef(ElementKind.MEMORY, memory_id) for memory_id in evidence}
    return tuple(sorted(elements, key=lambda element: (element.kind, element.id)))


def _injection(
    session_id: str, principal: Principal, now: datetime, tokens: int, elements: Sequence[ElementRef]
) -> Injection:
    """The log entry; its id is derived from its content."""
    asked_by = principal.qualified_id
    content = [session_id, asked_by, now.isoformat(), [[element.kind, element.id] for element in elements]]
    return Injection(
        id=str(uuid5(_INJECTION, json.dumps(content))),
        session_id=session_id,
        principal=asked_by,
        created_at=now,
        tokens=tokens,
        elements=tuple(elements),
    )


NO_ROOM: Final = "nothing that was found fits into the budget"
SHORT: Final = 60
"""Tokens of a block in doubt: some of the questions that seem to have no answer have it there."""
CANDIDATES: Final = 200
"""The number of triplets requested unless ``limit`` is given: more than fit any default budget."""


@attrs.frozen(kw_only=True)
@check.checked(
    "context block",
    lambda block: None if block.observations or block.searched else "observations and graph are both off: leave one on",
    gate=Gate,
    budget=check.within(0),
    workload=check.among(*map(str, Workload)),
)
class ContextRequest(SearchRequest):
    """One block for a session, checked.

    * ``session_id``: the session that the block is logged for. The ``gate`` cannot be bypassed.
    * ``budget`` in tokens, by default that of the ``work_type``; at 0 nothing is searched.
    * ``observations`` and ``graph``: False leaves out a section. Observations are recalled by ``channels``.
    * ``health`` of the graph, in [0, 1] (`graphsearch.curation`), by default as stored with it: below 0.70 the graph
      counts for less, and gets less of the budget.
    * ``workload``: the kind of questions, which weights the graph in recalling; `Workload.TEXT` leaves out triplets.

    The other options are those of the search for triplets.
    """

    gate: Gate = attrs.field()
    session_id: str
    limit: int = CANDIDATES
    budget: int | None = None
    work_type: WorkType = WorkType.UNKNOWN
    observations: bool = True
    graph: bool = True
    channels: tuple[ChannelName, ...] = CHANNELS
    health: float | None = None
    workload: Workload | None = None

    @property
    def searched(self) -> bool:
        """Whether triplets are searched."""
        return self.graph and self.workload != Workload.TEXT

    @property
    def recall(self) -> RecallRequest:
        """The recall of observations; those of little relevance too: see `doubt`."""
        return RecallRequest(
            self.query,
            limit=MEMORIES,
            channels=self.channels,
            min_relevance=0.0,
            health=self.health,
            workload=self.workload,
            as_of=self.as_of,
            known_at=self.known_at,
            gate=self.gate,
        )


@attrs.frozen(kw_only=True)
class ContextBlock(Displayed):
    """A text for a prompt, with its contents and token counts. If nothing is shown, the text is empty.

    * ``session_id``: the session that it was built for.
    * ``tokens``: of the whole text, including headings and line breaks; never more than ``budget``.
    * ``memories`` and ``triplets``: those that the text shows, in its order.
    * ``skipped`` and ``skipped_memories``: the number of triplets and memories that were found but are not shown.
    * ``lines``: those of the text, each with its element and its tokens.
    * ``omitted``: of the first 25 triplets and memories that were found, those that are not shown, and why.
    * ``reason``: why the text is empty; otherwise empty. It never distinguishes hidden elements from absent ones.
    * ``interpretation``: the names, relations and time understood from the question, as `SearchResult.interpretation`;
      None if no graph was searched.
    * ``denied``: distinct elements hidden by the policies, by kind. For the caller, never for the prompt.
    * ``summary``: that of the mode SUMMARY, which is not part of the text; only what the text shows is logged.
    * ``injection_id``: the id under which the session's log records what was surfaced; None if nothing was, if there is
      no log, or if several scopes have a log of what they contributed: ``injection_ids`` has the id of each.
    """

    session_id: str = ""
    text: str = ""
    tokens: int = 0
    budget: int
    memories: tuple[RecalledMemory, ...] = ()
    triplets: tuple[Triplet, ...] = ()
    skipped: int = 0
    skipped_memories: int = 0
    lines: tuple[BlockLine, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    reason: str = ""
    interpretation: Interpretation | None = None
    denied: Mapping[ElementKind, int] = attrs.field(factory=dict)
    injection_id: str | None = None
    injection_ids: Mapping[Scope, str] = attrs.field(factory=dict)
    summary: Summary | None = None

    def __str__(self) -> str:
        return self.text

    def _notebook(self) -> str:
        counts = [
            f"{self.tokens} of {self.budget} tokens",
            f"{len(self.memories)} memories and {len(self.triplets)} triplets",
            f"{self.skipped_memories} and {self.skipped} more were found",
            hidden(self.denied),
        ]
        summary = cited_lines(self.summary) if self.summary else ()
        return "\n".join(filter(None, (self.text, *summary, "; ".join(filter(None, counts)))))


class ContextBuilder:
    """Builds blocks for sessions and applies their outcomes, both on behalf of the principal of a gate.

    * ``counter``: counts tokens; by default a `TiktokenCounter`.
    * ``budgets``: tokens by type of work, replacing some or all of `DEFAULT_BUDGETS`.
    * ``log``: the store in which blocks are logged and outcomes applied: by default that of the engine, whose scope it
      must have. An engine that reads a standby logs to the store of its primary, or with None not at all; feedback is
      then refused.

    With a `FederatedEngine`, a block shows several scopes, and begins each line with the project that it comes from.
    The log of each scope records its own elements; to log elsewhere, pass one store for each scope.
    """

    def __init__(
        self,
        engine: GraphSearchEngine | FederatedEngine,
        *,
        counter: TokenCounter | None = None,
        budgets: Mapping[WorkType, int] | None = None,
        log: GraphStore | Sequence[GraphStore] | Literal["engine"] | None = "engine",
    ) -> None:
        self._stores = engine.stores
        self._logs = self._logs_of(log)
        self.engine = engine
        self._counter, self._counts = counter or TiktokenCounter(), False
        self._budgets = {**DEFAULT_BUDGETS, **(budgets or {})}

    def _logs_of(self, log: GraphStore | Sequence[GraphStore] | Literal["engine"] | None) -> SessionLogs | None:
        if log is None:
            return None
        if log == "engine":
            return SessionLogs(self._stores)
        check.refuse("log", f"must be a store, None or 'engine', not {log!r}" if isinstance(log, str) else None)
        stores = log if isinstance(log, tuple | list) else (log,)
        scopes = [each.scope for each in self._stores]
        same = sorted(each.scope for each in stores) == scopes
        check.refuse("log", None if same else f"its scope must be {', '.join(map(str, scopes))}")
        return SessionLogs(stores)

    @observed("context")
    @takes(ContextRequest)
    async def build(self, request: ContextRequest) -> ContextBlock:
        """Build the block for a session, and log its elements for `feedback`.

        The first block with a text opens the session for the gate's principal; only this principal may build more
        under its id, or report its outcome.

        Raises what `search` and `recall` raise, `InvalidInputError`, `MissingVocabularyError`, `ForeignSessionError`
        for the session of another principal, and `ReadOnlyStoreError` where the block cannot be logged.
        """
        budget = self.budget_of(request)
        if budget < 1:
            return ContextBlock(session_id=request.session_id, budget=0, reason=NO_ROOM)
        if not self._counts:  # the first count may have to download a vocabulary
            self._counts = await asyncio.to_thread(self._counter.count, TRIPLETS) > 0
        search, recall = request if request.searched else None, request.recall if request.observations else None
        block = self.lay_out(await material(self.engine, search, recall), budget)
        block = attrs.evolve(block, session_id=request.session_id)
        return await self._logged(block, request.gate.principal, request.session_id) if block.text else block

    async def feedback(self, session_id: str, outcome: Outcome, *, gate: Gate) -> FeedbackReport:
        """Move the weights of the elements surfaced to a session of the gate's principal: `FeedbackService.apply`.

        Raises `ReadOnlyStoreError` without a log.
        """
        if self._logs is None:
            raise ReadOnlyStoreError("blocks are built without a log here: report outcomes where they are logged")
        return await self._logs.apply(session_id, outcome, gate)

    def budget_of(self, request: ContextRequest) -> int:
        """The tokens that a block may have."""
        return self._budgets[request.work_type] if request.budget is None else request.budget

    def lay_out(self, found: Material, budget: int) -> ContextBlock:
        """The block of some material: of no session yet, and not logged."""
        page = lay_out(
            found.memory_lines,
            found.triplet_lines,
            budget=min(budget, SHORT) if found.doubt else budget,
            counter=self._counter,
            related=found.related,
            heading=found.heading,
            memory_order=found.memory_order,
            order=found.prompt_order,
            labels=found.labels,
        )
        fits = found.reason if not (found.memories or found.triplets) else NO_ROOM
        return ContextBlock(
            text=page.text,
            tokens=self._counter.count(page.text) if page.text else 0,
            budget=budget,
            memories=tuple(chain.from_iterable(found.memories[index] for index in page.memories)),
            triplets=tuple(found.triplets[index] for index in page.triplets),
            skipped=found.triplets_found - len(page.triplets),
            skipped_memories=found.memories_found - len(page.memories),
            lines=self._lines(page, found),
            omitted=_first_omitted(page, found),
            reason=found.doubt if page.text else fits,
            interpretation=found.interpretation,
            denied=found.denied,
            summary=found.summary,
        )

    def _lines(self, page: Page, found: Material) -> tuple[BlockLine, ...]:
        memories = [key_of(found.memories[row][0]) for row in page.memories]
        triplets = [key_of(found.triplets[row]) for row in page.triplets]
        sections = (triplets, memories) if page.triplets_first else (memories, triplets)
        keys = [key for section in sections if section for key in ("", *section)]
        ends = ["\n"] * (len(keys) - 1) + [""]
        return tuple(
            BlockLine(key, text, self._counter.count(text + end))
            for key, text, end in zip(keys, page.text.split("\n") if keys else (), ends[: len(keys)], strict=True)
        )

    async def _logged(self, block: ContextBlock, principal: Principal, session_id: str) -> ContextBlock:
        """The block, recorded in the log of each scope that it shows something of."""
        if self._logs is None:
            return block
        elements = ((store.scope, surfaced(store.scope, block.memories, block.triplets)) for store in self._stores)
        shown = {scope: each for scope, each in elements if each}
        alone = len(self._stores) == 1
        tokens = {scope: block.tokens if alone else self._tokens_of(scope, block) for scope in shown}
        ids = await self._logs.record(session_id, principal, shown, tokens)
        only = next(iter(ids.values())) if len(ids) == 1 else None
        return attrs.evolve(block, injection_id=only, injection_ids=ids)

    def _tokens_of(self, scope: Scope, block: ContextBlock) -> int:
        """The tokens of the lines of one scope, without their labels: nothing of another scope is in the number."""
        recalled = (each for each in block.memories if scope in each.scopes)
        memories = (memory_line(each.memory, until=each.until, now=each.now) for each in recalled)
        triplets = (triplet_line(each) for each in block.triplets if scope in each.scopes)
        return self._counter.count("\n".join((*memories, *triplets)))


def _first_omitted(page: Page, found: Material) -> tuple[Omitted, ...]:
    """Of the best triplets and memories those that are not on a page, best first, and why."""
    why = dict(found.omitted)
    why |= {key_of(each): reason for row, reason in page.memories_omitted.items() for each in found.memories[row]}
    why |= {key_of(found.triplets[row]): reason for row, reason in page.triplets_omitted.items()}
    triplets = found.found.triplets[:FIRST] if found.found else ()
    memories = found.recalled.memories[:FIRST] if found.recalled else ()
    best = dict.fromkeys([*map(key_of, triplets), *map(key_of, memories)])
    return tuple(attrs.evolve(why[key], key=key) for key in best if key in why)


@attrs.frozen(kw_only=True)
class GraphContextRequest(ContextRequest):
    """One block of triplets, checked.

    * ``counter``: counts tokens; by default a `TiktokenCounter`.
    """

    observations: bool = False
    counter: TokenCounter | None = None


@takes(GraphContextRequest)
async def build_graph_context_block(engine: GraphSearchEngine, request: GraphContextRequest) -> ContextBlock:
    """`ContextBuilder.build` as a function, for a single block of triplets alone."""
    return await ask(ContextBuilder(engine, counter=request.counter).build, request)

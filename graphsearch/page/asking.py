"""Answer a question with all that a page shows of it: what was found, what the block takes of it, and what is over.

And examples of questions, to begin with.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.access.gate import Gate
from graphsearch.access.reader import reading
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.context import ContextBlock, ContextBuilder, ContextRequest
from graphsearch.context.builder import CANDIDATES
from graphsearch.context.material import of_found
from graphsearch.engine import Engine, GraphSearchEngine
from graphsearch.model import ElementKind, Relation, View
from graphsearch.model.identity import CASE_SENSITIVE_TYPES
from graphsearch.modes.result import SearchMode, SearchResult, Summary
from graphsearch.page.rows import EntityRow, MemoryRow, Named, RelationRow, entity_row, memory_row, named, relation_row
from graphsearch.question.analysis import Anchor, beginning
from graphsearch.question.understanding import Interpretation
from graphsearch.ranking.recall_result import RecallResult

ENTITIES: Final = 10
PAST: Final = 10
"""The most relations that are over, or have not begun."""


@attrs.frozen(kw_only=True)
class Recalled:
    """What is told of a recall, as in `RecallResult`."""

    found: int
    relevance: float
    floor: float
    reason: str
    weights: Mapping[str, float]


@attrs.frozen(kw_only=True)
class Answer:
    """A question, answered in one snapshot; what has the name of a field of `SearchResult` is that.

    * ``relations`` and ``memories``: the best of those that the ``block`` was made of, and all that it shows. The block
      itself has its lines and what it omits in place of these.
    * ``answers``: the ids of the best ends of the relations. ``entities``: those that were ranked.
    * ``past``: relations that would answer, had they not ended, or not begun yet.
    """

    query: str
    mode: str
    as_of: datetime
    known_at: datetime
    found: int
    below_floor: int
    reason: str
    denied: Mapping[ElementKind, int]
    denied_by: Mapping[str, int]
    left_out: Mapping[str, int]
    timings: Mapping[str, float] = attrs.field(eq=False)
    anchors: tuple[Anchor, ...]
    interpretation: Interpretation | None
    summary: Summary | None
    relations: tuple[RelationRow, ...]
    recalled: Recalled
    memories: tuple[MemoryRow, ...]
    entities: tuple[EntityRow, ...]
    answers: tuple[UUID, ...]
    past: tuple[RelationRow, ...]
    block: ContextBlock


async def ask(
    builder: ContextBuilder,
    query: str,
    *,
    budget: int | None = None,
    mode: str | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    limit: int = 25,
    gate: Gate,
) -> Answer:
    """Answer a question with all that a page shows: relations, memories, entities, the block, and what is over.

    Of one snapshot, with the tokens of each line and what is not in the block and why. The block is that of
    `ContextBuilder.build`, of no session: nothing is logged. The ``mode`` is by default the best that needs no language
    model; one that it needs is asked within the snapshot.
    """
    engine = builder.engine
    mode = mode or best_mode(engine)
    request = ContextRequest(
        query, budget=budget, mode=mode, as_of=as_of, known_at=known_at, gate=gate, session_id="page"
    )
    async with AsyncExitStack() as snapshots:  # those that readers open are nested in these, and see the same
        for store in engine.stores:
            if gate.enters(store.scope):
                await snapshots.enter_async_context(store.snapshot())
        found, recalled = await engine.search_and_recall(request, request.recall)
        ranked = await engine.rank_entities(query, limit=ENTITIES, as_of=as_of, known_at=known_at, gate=gate)
        past = await _past(engine, found, request)
        names = await _names(engine, recalled, gate)
    block = builder.lay_out(of_found(engine, found, recalled), builder.budget_of(request))
    triplets = {each.relation.id: each for each in (*found.triplets[:limit], *block.triplets)}
    memories = {each.memory.id: each for each in (*recalled.memories[:limit], *block.memories)}
    return Answer(
        **_same(found, Answer),
        relations=tuple(map(relation_row, triplets.values())),
        recalled=Recalled(**_same(recalled, Recalled)),
        memories=tuple(memory_row(each, names) for each in memories.values()),
        entities=tuple(map(entity_row, ranked.entities)),
        answers=tuple(each.id for each in found.entities[:ENTITIES]),
        past=past,
        block=attrs.evolve(block, triplets=(), memories=(), interpretation=None, summary=None),
    )


def _same(result: SearchResult | RecallResult, kind: type) -> dict[str, Any]:
    """The fields of a result that a class has, too; the entities of an answer are its own."""
    names = {each.name for each in attrs.fields(kind)} - {"entities"}
    return {name: getattr(result, name) for name in names if hasattr(result, name)}


def best_mode(engine: Engine) -> SearchMode:
    """The best mode that an engine has the parts for, but for a language model."""
    return SearchMode.GRAPH_COMPLETION if engine.embedder else SearchMode.NEIGHBORHOOD


async def _past(engine: Engine, found: SearchResult, request: ContextRequest) -> tuple[RelationRow, ...]:
    """The best of the relations of all times that do not hold at the time of what was found."""
    now = engine.stores[0].clock.now()
    every = await engine.search(
        request.query,
        mode=best_mode(engine),
        limit=CANDIDATES,
        since=beginning(now),
        as_of=max(now, found.as_of),
        known_at=request.known_at,
        gate=request.gate,
    )
    view, shown = View(found.as_of, found.known_at), {each.relation.id for each in found.triplets}
    over = [each for each in every.triplets if not view.holds(each.relation.valid_from, each.relation.valid_to)]
    return tuple(relation_row(each) for each in over if each.relation.id not in shown)[:PAST]


async def _names(engine: Engine, recalled: RecallResult, gate: Gate) -> Mapping[str, Named]:
    """The visible entities on the paths to the memories, by id."""
    ids = {UUID(each.id) for memory in recalled.memories for each in memory.path if each.kind is ElementKind.ENTITY}
    found: dict[str, Named] = {}
    for store in engine.stores:
        if ids and gate.enters(store.scope):
            async with reading(store, gate=gate) as reader:
                found |= {str(each.id): named(each) for each in await reader.get_entities(sorted(ids))}
    return found


# -- examples to begin with --------------------------------------------------------------------------------------------

_READ: Final = 300
"""The relations that questions are made of, the first by id."""
_LONGEST: Final = 60
"""The most characters of a name in a question."""


async def example_questions(engine: GraphSearchEngine, *, limit: int = 4, gate: Gate | None = None) -> tuple[str, ...]:
    """Questions for the source of a relation, as in "who leads Atlas?": of each type the surest visible one."""
    async with reading(engine.store, gate=gate) as reader:
        relations = await reader.shown(await engine.store.list_relations(limit=_READ))
        stated = [each for each in relations if reader.view.holds(each.valid_from, each.valid_to)]
        best: dict[str, Relation] = {}
        for each in sorted(stated, key=lambda each: (-len(each.evidence), -each.confidence, each.id)):
            if each.type not in reader.view.skipped_types | CO_OCCURRENCE_TYPES:
                best.setdefault(each.type, each)
        ends = {end for each in best.values() for end in (each.source_id, each.target_id)}
        known = {each.id: each for each in await reader.get_entities(sorted(ends))}
    pairs = [(each, known[each.source_id], known[each.target_id]) for each in best.values()]
    pairs.sort(key=lambda pair: pair[1].type in CASE_SENSITIVE_TYPES)  # code is asked for by those who read it
    return tuple(
        f"{'who' if source.type == 'person' else 'what'} {_said(each.type)} {target.name}?"
        for each, source, target in pairs
        if len(target.name) <= _LONGEST and not target.name.startswith("__")
    )[:limit]


def _said(type_: str) -> str:
    """A type as a question says it: "member_of" has no verb of its own."""
    verb, *rest = type_.split("_")
    return " ".join((verb, *rest) if verb.endswith("s") else ("is", verb, *rest))

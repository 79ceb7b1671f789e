"""NATURAL_LANGUAGE: a language model turns the question into a graph query, and the store runs it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import ClassVar, Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.gatekeeper import ROUNDS, widest
from graphsearch.access.reader import Reader
from graphsearch.columns import Hits, Keys, Mask, Steps, Subgraph
from graphsearch.llms.structured import ask_with_repair
from graphsearch.llms.usage import ByteCounter
from graphsearch.model import validation as check
from graphsearch.modes.graph_query import (
    ANSWER,
    COUNTED,
    Direction,
    GraphQuery,
    GraphSchema,
    prompt_for,
    query_of,
    visible_schema,
    vocabulary_within,
)
from graphsearch.modes.mode import Mode, Part, Question, profile_of, require
from graphsearch.modes.result import SearchRequest, SearchResult
from graphsearch.protocols import TokenCounter
from graphsearch.question.linking import anchors_of, link_names
from graphsearch.question.question_names import Anchor
from graphsearch.ranking.triplets.connections import NOTHING, connected
from graphsearch.ranking.triplets.retrieval import Answer, nothing_asked, score_by_hops

PROMPT_TOKENS: Final = 8_000
STARTED: Final = 100
"""Entities that a query without anchors starts from, the first by id."""
_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)


@attrs.frozen(kw_only=True)
class NaturalLanguage(Mode):
    """The model writes a `GraphQuery`, which is validated against the visible types, run, and scored by hops.

    ``prompt_tokens`` bounds the prompt, by ``counter``: the question and the types of the graph, the most frequent
    first. Types are those of the first ``counted`` visible relations, by id. A query with faults is returned to the
    model once with the list of faults, which adds at most 10,000 characters. `LLMAnswerError` lists the faults of the
    second query.

    The default counter counts bytes: more than there are tokens, about four times as many in English.
    """

    needs: ClassVar[frozenset[Part]] = frozenset({"llm"})
    interprets: ClassVar[bool] = False

    counter: TokenCounter = attrs.field(factory=ByteCounter)
    prompt_tokens: int = PROMPT_TOKENS
    counted: int = COUNTED

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "natural language",
            check.number("prompt_tokens", self.prompt_tokens, 1),
            check.number("counted", self.counted, 1),
        )

    async def prepare(self, question: Question) -> Question:
        """The question with its query, and that query's limit, hops and time; no snapshot is open during the call."""
        request, stopwatch = question.request, question.parts.stopwatch
        if not request.query.strip():
            return question
        with stopwatch.stage("schema"):
            of_any_time = attrs.evolve(request, since=request.since or _BEGINNING)
            async with question.parts.open(of_any_time) as reader:
                schema, now = await visible_schema(reader, self.counted), reader.view.as_of
        if not schema.relation_types:
            return question
        with stopwatch.stage("llm"):
            query = await self._query(question, schema, now)
        return attrs.evolve(question, plan=query, request=_limited(request, query, now))

    async def _query(self, question: Question, schema: GraphSchema, now: datetime) -> GraphQuery:
        request, llm = question.request, require("llm", question.parts.llm, question.request.mode)
        prompt = partial(prompt_for, request.query, today=now, max_hops=request.max_hops, limit=request.limit)
        vocabulary = vocabulary_within(schema, prompt, self.prompt_tokens, self.counter)
        parse = partial(query_of, vocabulary=vocabulary, max_hops=request.max_hops, limit=request.limit)
        return await ask_with_repair(llm, prompt(vocabulary.lines), ANSWER, parse)

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Run the query, and score the findings by hops."""
        query: GraphQuery | None = question.plan
        parts, depth = question.parts, question.request.max_hops
        if query is None or not _in_time(query, reader):
            nothing = "nothing visible could be asked for" if query is None else "another time is asked about"
            return attrs.evolve(await nothing_asked(parts, reader), nothing=nothing)
        reader = reader.viewing(attrs.evolve(reader.view, only_types=query.relation_types))  # no others crowd them out
        with parts.stopwatch.stage("seeds"):
            named = await _named(query, question, reader)
            seeds = await _starts(query, named, reader)
        with parts.stopwatch.stage("traversal"):
            frontier = _Directed(reader, query.direction)
            subgraph = await parts.traversal.traverse(seeds, depth=depth, reader=frontier)
        with parts.stopwatch.stage("scoring"):
            found = score_by_hops(subgraph, parts.scoring, reader)
            found = attrs.evolve(found, answers=await _answering(query, subgraph, reader))
            joint = NOTHING
            if not query.entity_types:
                joint = connected(subgraph, named, seeds, depth=depth, options=parts.scoring, reader=reader)
        what = "by the names that" if query.anchors and not named else "of what"
        nothing = f"nothing visible is known {what} the question was understood to ask for"
        return Answer(findings=found, anchors=named, connected=joint, nothing=nothing)

    async def conclude(self, found: SearchResult, question: Question) -> SearchResult:
        """The result with the query that it answers."""
        return attrs.evolve(found, graph_query=question.plan)


def _limited(request: SearchRequest, query: GraphQuery, now: datetime) -> SearchRequest:
    """The request with the values of the query, within the limits of the request."""
    narrowed = attrs.evolve(request, limit=query.limit or request.limit, max_hops=query.hops)
    if query.since is None and query.until is None:
        return narrowed
    since = max(query.since or _BEGINNING, request.since or _BEGINNING)
    as_of = query.until or max(now, since)
    if request.as_of is not None:
        as_of = min(as_of, request.as_of)
    return narrowed if since > as_of else attrs.evolve(narrowed, since=since, as_of=as_of)


def _in_time(query: GraphQuery, reader: Reader) -> bool:
    """Whether the query's time overlaps the time of the request."""
    late = query.since is not None and query.since > reader.view.as_of
    return not late and not (query.until is not None and query.until < reader.view.earliest)


@attrs.frozen(eq=False)
class _Directed:
    """A frontier whose relations are followed in one direction: the traversal's replacement for its reader."""

    reader: Reader
    direction: Direction

    async def expand(self, keys: Keys, fan_out: int, ahead: int = 0) -> Steps:
        """The strongest relations in the direction, at most ``fan_out`` per entity."""
        if self.direction is Direction.BOTH:
            return await self.reader.expand(keys, fan_out, ahead)
        steps = await self.reader.expand(keys, fan_out)
        return steps.keep(steps.rows.outgoing == (self.direction is Direction.OUT))

    async def entity_count(self) -> int:
        """The number of entities of the whole scope."""
        return await self.reader.entity_count()


async def _named(query: GraphQuery, question: Question, reader: Reader) -> tuple[Anchor, ...]:
    """The distinct entities that a query names, with the spans that their names have in the question."""
    found: dict[UUID, Anchor] = {}
    profile = await profile_of(question.request, question.parts, reader)
    for name in query.anchors:
        for anchor in anchors_of(name, (await link_names(name, reader, profile)).links):
            spans = _spans(anchor.name, question.request.query)
            found.setdefault(anchor.entity_id, attrs.evolve(anchor, spans=spans))
    return tuple(found.values())


def _spans(name: str, question: str) -> tuple[tuple[int, int], ...]:
    start = question.casefold().find(name.casefold())
    return () if start < 0 or len(question) != len(question.casefold()) else ((start, start + len(name)),)


async def _starts(query: GraphQuery, named: Sequence[Anchor], reader: Reader) -> Hits:
    """The anchors of a query; else the near ends of relations of its types; else entities of its types."""
    if query.anchors:
        return await reader.locate([anchor.entity_id for anchor in named])
    ids = await _near_ends(query, reader) if query.relation_types else await _of_types(query, reader)
    return await reader.locate(ids[:STARTED])


async def _near_ends(query: GraphQuery, reader: Reader) -> list[UUID]:
    """The distinct entities at the near ends of the first relations."""
    ends: dict[UUID, None] = {}
    after, read = None, 0
    while len(ends) < STARTED and read < widest(STARTED):
        page = await reader.page(after=after, limit=STARTED)
        rows = page.steps.rows
        ends |= dict.fromkeys(reader.entity_ids(rows.far if query.direction is Direction.IN else rows.near))
        after, read = page.last, read + page.read
        if page.read < STARTED:
            break
    return list(ends)


async def _of_types(query: GraphQuery, reader: Reader) -> list[UUID]:
    """The entities of some types that hold, the first of each by id."""
    ids: list[UUID] = []
    for type_ in query.entity_types:
        after, found = None, list[UUID]()
        for _ in range(ROUNDS):
            page, after = await reader.list_entities(after=after, limit=STARTED, type=type_)
            found += reader.entity_ids((await reader.locate([entity.id for entity in page])).keys)
            if len(found) >= STARTED or after is None:
                break
        ids += found[:STARTED]
    return sorted(ids)


async def _answering(query: GraphQuery, subgraph: Subgraph, reader: Reader) -> Mask | None:
    """Which relations lead to an entity of the requested types, away from the anchors; None if all answer."""
    if not query.entity_types or not len(subgraph.relations):
        return None
    located = await reader.locate(reader.entity_ids(subgraph.entities))
    wanted = [type_ in query.entity_types for type_ in await reader.entity_types(located)]
    fitting = np.isin(subgraph.entities, located.keys[np.array(wanted, np.bool_)])
    source, target = fitting[subgraph.source], fitting[subgraph.target]
    if not query.anchors:
        mask: Mask = source | target
        return mask
    further = subgraph.hops[subgraph.target] - subgraph.hops[subgraph.source]
    return np.where(further > 0, target, np.where(further < 0, source, source | target))

"""NATURAL_LANGUAGE: a language model turns the question into a graph query, and the store runs it."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Final

import attrs

from graphsearch.access.reader import Reader
from graphsearch.graph_query.prompt import ANSWER, prompt_for, query_of, vocabulary_within
from graphsearch.graph_query.query import GraphQuery
from graphsearch.graph_query.running import Directed, anchors_of, answering, narrowed, starts
from graphsearch.graph_query.schema import COUNTED, GraphSchema, visible_schema
from graphsearch.llms.prompt_fitting import ByteCounter
from graphsearch.llms.structured import ask_with_repair
from graphsearch.model import validation as check
from graphsearch.modes.connections import NOTHING, connected
from graphsearch.modes.mode import Answer, Part, Question, require
from graphsearch.modes.neighborhood import around, scored_by_hops
from graphsearch.modes.options import SearchRequest
from graphsearch.protocols import TokenCounter
from graphsearch.query.anchor_candidates import Anchor

PROMPT_TOKENS: Final = 8_000
_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)


@attrs.frozen(kw_only=True)
class NaturalLanguage:
    """The model writes a `GraphQuery`, which is validated against the visible types, run, and scored by hops.

    ``prompt_tokens`` bounds the prompt, by ``counter``: the question and the types of the graph, the most frequent
    first. Types are those of the first ``counted`` visible relations, by id. A query with faults is returned to the
    model once with the list of faults, which adds at most 10,000 characters. `LLMAnswerError` lists the faults of the
    second query.

    The default counter counts bytes: more than there are tokens, about four times as many in English.
    """

    counter: TokenCounter = attrs.field(factory=ByteCounter)
    prompt_tokens: int = PROMPT_TOKENS
    counted: int = COUNTED

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "natural language",
            check.number("prompt_tokens", self.prompt_tokens, 1),
            check.number("counted", self.counted, 1),
        )

    @property
    def needs(self) -> frozenset[Part]:
        """A language model."""
        return frozenset({"llm"})

    async def prepare(self, question: Question) -> Question:
        """The question with its query, and that query's limit, hops and time; no snapshot is open during the call."""
        request = question.request
        if not request.query.strip():
            return question
        with question.stopwatch.stage("schema"):
            of_any_time = attrs.evolve(request, since=request.since or _BEGINNING)
            async with question.open(of_any_time) as reader:
                schema, now = await visible_schema(reader, self.counted), reader.view.as_of
        if not schema.relation_types:
            return question
        with question.stopwatch.stage("llm"):
            query = await self._asked(question, schema, now)
        return attrs.evolve(question, graph_query=query, request=_limited(request, query, now))

    async def _asked(self, question: Question, schema: GraphSchema, now: datetime) -> GraphQuery:
        request, llm = question.request, require("llm", question.llm, question.request.mode)
        prompt = partial(prompt_for, request.query, today=now, max_hops=request.max_hops, limit=request.limit)
        vocabulary = vocabulary_within(schema, prompt, self.prompt_tokens, self.counter)
        read = partial(query_of, vocabulary=vocabulary, max_hops=request.max_hops, limit=request.limit)
        return await ask_with_repair(llm, prompt(vocabulary.lines), ANSWER, read)

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Run the query, and score the findings by hops."""
        query = question.graph_query
        if query is None or not _in_time(query, reader):
            nothing = "nothing is known that could be asked for" if query is None else "another time is asked about"
            return Answer(findings=await around(await reader.locate([]), 1, question, reader), nothing=nothing)
        reader, depth = narrowed(query, reader), question.request.max_hops
        with question.stopwatch.stage("seeds"):
            named = await anchors_of(query, question.request.query, reader)
            seeds = await starts(query, named, reader)
        with question.stopwatch.stage("traversal"):
            frontier = Directed(reader, query.direction)
            subgraph = await question.traversal.traverse(seeds, depth=depth, reader=frontier)
        with question.stopwatch.stage("scoring"):
            found = scored_by_hops(subgraph, question, reader)
            found = attrs.evolve(found, answers=await answering(query, subgraph, reader))
        with question.stopwatch.stage("connections"):
            joint = NOTHING
            if not query.entity_types:
                joint = connected(subgraph, named, seeds, depth=depth, options=question.scoring, reader=reader)
        return Answer(findings=found, anchors=named, connected=joint, nothing=_nothing(query, named))


def _limited(request: SearchRequest, query: GraphQuery, now: datetime) -> SearchRequest:
    """The request with the values of the query, within the limits of the request."""
    asked = attrs.evolve(request, limit=query.limit or request.limit, max_hops=query.hops)
    if query.since is None and query.until is None:
        return asked
    since = max(query.since or _BEGINNING, request.since or _BEGINNING)
    as_of = query.until or max(now, since)
    if request.as_of is not None:
        as_of = min(as_of, request.as_of)
    return asked if since > as_of else attrs.evolve(asked, since=since, as_of=as_of)


def _in_time(query: GraphQuery, reader: Reader) -> bool:
    """Whether the query's time overlaps the time of the request."""
    late = query.since is not None and query.since > reader.view.as_of
    return not late and not (query.until is not None and query.until < reader.view.earliest)


def _nothing(query: GraphQuery, named: tuple[Anchor, ...]) -> str:
    if query.anchors and not named:
        return "nothing is known by the names that the question was understood to ask for"
    return "nothing is known of what the question was understood to ask for"

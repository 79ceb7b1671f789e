"""SUMMARY: the findings of a retrieval, summarised by a language model in sentences that cite them.

A question that names nothing is answered from communities: the most relevant ones, and the best triplets in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import ClassVar, Final

import attrs

from graphsearch._support.concurrency import in_order
from graphsearch.access.reader import Reader
from graphsearch.llms.usage import ByteCounter
from graphsearch.model import validation as check
from graphsearch.modes.mode import GraphCompletion, Mode, Neighborhood, Part, Question, require
from graphsearch.modes.result import SearchResult, Summary
from graphsearch.modes.summary_writer import (
    REPORTED,
    Line,
    Numbered,
    lines_of,
    relevant_communities,
    summarised_communities,
    visible_memories,
    write_summary,
)
from graphsearch.protocols import TokenCounter
from graphsearch.question.understanding import at_time_asked
from graphsearch.ranking.triplets.retrieval import Answer

PROMPT_TOKENS: Final = 12_000
ANSWER_TOKENS: Final = 2_000
COMMUNITIES: Final = 5
AT_ONCE: Final = 4

_UNDETECTED: Final = "no communities are there to be summarised: see Curator.detect_communities"


@attrs.frozen(kw_only=True)
class Summarising(Mode):
    """Retrieves as GRAPH_COMPLETION, or as NEIGHBORHOOD without an embedder; the result has a `Summary`.

    A question that names an entity is answered from what was found around it, by one prompt. One that names none is
    answered from communities too: the ``communities`` most relevant are summarised, at most ``at_once`` concurrently,
    then their summaries together. Where a community has a stored summary of what it contains now, its sentences are
    lines of the prompt as well: before the triplets of a community, and after those found around what is named.

    ``prompt_tokens`` bounds each prompt, and ``answer_tokens`` each answer, by ``counter``. The default counter counts
    bytes: more than there are tokens, about four times as many in English.
    """

    needs: ClassVar[frozenset[Part]] = frozenset({"llm"})
    uses: ClassVar[frozenset[Part]] = frozenset({"embedder"})

    counter: TokenCounter = attrs.field(factory=ByteCounter)
    prompt_tokens: int = PROMPT_TOKENS
    answer_tokens: int = ANSWER_TOKENS
    communities: int = COMMUNITIES
    at_once: int = AT_ONCE

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "summary",
            check.number("prompt_tokens", self.prompt_tokens, 1),
            check.number("answer_tokens", self.answer_tokens, 1),
            check.number("communities", self.communities, 0),
            check.number("at_once", self.at_once, 1),
        )

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Retrieve, and find what the question names."""
        mode = Neighborhood() if question.vector is None else GraphCompletion()
        return await mode.find(question, reader)

    async def conclude(self, found: SearchResult, question: Question) -> SearchResult:
        """The result with its summary, if there is anything to summarise; no snapshot is open during the calls."""
        if not question.request.query.strip():
            return found
        with question.parts.stopwatch.stage("sources"):
            async with question.parts.open(question.request) as reader:
                groups, unwritten = await self._sources(found, question, at_time_asked(question.meaning, reader))
        if not groups:
            return attrs.evolve(found, reason="; ".join(filter(None, (found.reason, unwritten.note))))
        with question.parts.stopwatch.stage("llm"):
            return attrs.evolve(found, summary=_summed(await self._written(groups, question), unwritten))

    async def _sources(
        self, found: SearchResult, question: Question, reader: Reader
    ) -> tuple[list[tuple[Line, ...]], Summary]:
        """The lines to summarise by group, those of the retrieval first; and a summary of which nothing is written."""
        named = {anchor.entity_id for anchor in found.anchors}
        inside = [] if named else await relevant_communities(question, found.triplets, self.communities, reader)
        around = []
        if named and found.triplets:
            around = await summarised_communities(named, self.communities, reader)
        shown = [found.triplets, *(each.triplets for each in inside)]
        memories, numbers = await visible_memories(chain.from_iterable(shown), reader), Numbered()
        first, *groups = [lines_of(each, memories, numbers) for each in shown]
        first += tuple(chain.from_iterable(each.summary_lines(numbers) for each in around))
        stored = [each.content.summary_lines(numbers) if each.content else () for each in inside]
        groups = [(*summary, *lines) for summary, lines in zip(stored, groups, strict=True)]
        unwritten = Summary(
            sentences=(),
            sources=numbers.sources,
            communities=(*(each.community.id for each in inside), *(each.community.id for each in around)),
            note="" if named or inside or not self.communities else _UNDETECTED,
        )
        return [group for group in (first, *groups) if group], unwritten

    async def _written(self, groups: Sequence[tuple[Line, ...]], question: Question) -> list[Summary]:
        """The summary of each group (map), and of several a last one of these (reduce)."""
        write = partial(
            write_summary,
            question.request.query,
            llm=require("llm", question.parts.llm, question.request.mode),
            counter=self.counter,
            prompt_tokens=self.prompt_tokens,
            answer_tokens=self.answer_tokens,
        )
        written = list(await in_order(write, groups, limit=self.at_once))
        sentences = [sentence for each in written for sentence in each.sentences]
        if len(written) > 1 and sentences:
            written.append(await write(list(map(Line.of_sentence, sentences))))
        return written


def _summed(written: Sequence[Summary], unwritten: Summary) -> Summary:
    """The last summary written, with the faults and the sources of all."""
    shown = {source.number for each in written for source in each.sources}
    return attrs.evolve(
        unwritten,
        sentences=written[-1].sentences,
        sources=tuple(source for source in unwritten.sources if source.number in shown),
        unknown_citations=tuple(sorted({number for each in written for number in each.unknown_citations})[:REPORTED]),
        uncited=tuple(chain.from_iterable(each.uncited for each in written))[:REPORTED],
        beyond=sum(each.beyond for each in written),
        calls=sum(each.calls for each in written),
        prompt_tokens=sum(each.prompt_tokens for each in written),
        answer_tokens=sum(each.answer_tokens for each in written),
    )

"""Let a language model summarise the stored communities: each once, and again when its content has changed."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, Final, TypeVar
from uuid import UUID

import attrs

from graphsearch._support.concurrency import in_order
from graphsearch.curation.permissions import Access
from graphsearch.errors import (
    BudgetExhaustedError,
    LLMAnswerError,
    LLMRefusalError,
    LLMRequestError,
    LLMTruncatedError,
)
from graphsearch.llms.structured import ask_for_data, failure_text
from graphsearch.llms.usage import ByteCounter, Usage, metered
from graphsearch.model import Action, Community, CommunitySummary, SummarySentence
from graphsearch.model import validation as check
from graphsearch.modes.community_content import CommunityContent, content_of
from graphsearch.modes.summary_writer import Line, WrittenSummary, write_summary
from graphsearch.protocols import LLM, TokenCounter

MIN_SIZE: Final = 3
"""Fewest members of a community that is summarised by default: a pair is one relation."""
PROMPT_TOKENS: Final = 12_000
ANSWER_TOKENS: Final = 2_000
AT_ONCE: Final = 4
"""Most prompts at a time."""
_TRIES: Final = 5
"""How often a summary is offered to a store that changes meanwhile."""
_QUESTION: Final = "What is this group about: who and what is at its centre, and how does it hang together?"
_UNUSABLE: Final = (LLMAnswerError, LLMRefusalError, LLMTruncatedError)

_T = TypeVar("_T")


@attrs.frozen(kw_only=True)
class SummaryFailure:
    """A community that has no new summary, and why: the type and the message of an error."""

    community_id: UUID
    label: str
    why: str


@attrs.frozen(kw_only=True)
class SummariesReport:
    """What became of the communities that were to be summarised.

    * ``written``: those with a new summary, largest first. ``unchanged``: how many had one of their present content.
    * ``failed``: those whose answer was unusable, or that changed while the model was asked; they are asked again by
      the next call. ``left``: how many were not asked, and ``why``: the limit, or the budget that was spent.
    * ``calls``: requests to the model, repairs included; ``prompt_tokens`` and ``answer_tokens`` of them, by the
      counter; ``usage``: what the model reported, if it did.
    """

    written: tuple[Community, ...] = ()
    unchanged: int = 0
    failed: tuple[SummaryFailure, ...] = ()
    left: int = 0
    why: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    usage: Usage = attrs.field(factory=Usage)


async def summarise_communities(
    llm: LLM,
    access: Access,
    *,
    limit: int | None,
    min_size: int,
    prompt_tokens: int,
    answer_tokens: int,
    counter: TokenCounter | None,
) -> SummariesReport:
    """See `graphsearch.curation.Curator.summarise_communities`."""
    check.refuse(
        "summaries",
        None if limit is None else check.number("limit", limit, 0),
        check.number("min_size", min_size, 2),
        check.number("prompt_tokens", prompt_tokens, 1),
        check.number("answer_tokens", answer_tokens, 1),
    )
    access.demand_gate("summarise_communities(…) shows texts of the graph")
    async with access.reading() as reader:
        await access.demand_whole("communities", reader)
        stored = await access.store.communities()
    with metered() as meter:
        run = _Run(_CountingLLM(llm, counter or ByteCounter()), access, limit, prompt_tokens, answer_tokens)
        await run.summarise([each for each in stored if each.size >= min_size])
    return attrs.evolve(run.report, usage=meter.total)


@attrs.define(eq=False)
class _CountingLLM:
    """Counts the requests to a model, and their tokens; not those that a budget refuses."""

    llm: LLM
    counter: TokenCounter
    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0

    @property
    def name(self) -> str:
        return str(getattr(self.llm, "name", ""))

    async def ask(self, text: str) -> str:
        return await self._counted(text, self.llm.ask(text), str)

    async def ask_json(self, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        return await self._counted(f"{text}\n{json.dumps(schema)}", ask_for_data(self.llm, text, schema), json.dumps)

    async def _counted(self, prompt: str, asking: Awaitable[_T], written: Callable[[_T], str]) -> _T:
        try:
            answer = await asking
        except BudgetExhaustedError:
            raise
        except Exception as error:
            self._count(prompt, getattr(error, "answer", ""))
            raise
        self._count(prompt, written(answer))
        return answer

    def _count(self, text: str, answer: str) -> None:
        self.calls += 1
        self.prompt_tokens += self.counter.count(text)
        self.answer_tokens += self.counter.count(answer)


@attrs.define(eq=False)
class _Run:
    """One run over the communities of a scope."""

    llm: _CountingLLM
    access: Access
    limit: int | None
    prompt_tokens: int
    answer_tokens: int
    written: list[Community] = attrs.field(factory=list)
    failed: list[SummaryFailure] = attrs.field(factory=list)
    unchanged: int = 0
    left: int = 0
    asked: int = 0
    why: str = ""
    answered: int = 0
    turned_down: list[LLMRequestError] = attrs.field(factory=list)
    fault: Exception | None = None
    """What ended the run, other than a budget."""

    @property
    def report(self) -> SummariesReport:
        """What was done so far."""
        return SummariesReport(
            written=tuple(sorted(self.written, key=lambda each: (-each.size, each.id))),
            unchanged=self.unchanged,
            failed=tuple(self.failed),
            left=self.left,
            why=self.why,
            calls=self.llm.calls,
            prompt_tokens=self.llm.prompt_tokens,
            answer_tokens=self.llm.answer_tokens,
        )

    async def summarise(self, communities: Sequence[Community]) -> None:
        """Summarise those whose content has changed; raise the error of a model that cannot be asked."""
        for start in range(0, len(communities), AT_ONCE):
            found = [await self._due(each) for each in communities[start : start + AT_ONCE]]
            due = [read for read in found if read is not None]
            await in_order(self._one, due, limit=AT_ONCE)
            if len(self.turned_down) >= AT_ONCE and not self.answered:
                raise self.turned_down[0]  # not these prompts are wrong, but every one, as with a key that is not valid
            if self.fault is not None:
                raise self.fault

    async def _due(self, community: Community) -> _Read | None:
        """The content of a community that is to be asked for."""
        read = await _current(community, self.access)
        if read is None:
            return None
        if read.content.summary is not None:
            self.unchanged += 1
            return None
        if self.why or self.asked == self.limit:
            self.why = self.why or f"the limit of {self.limit} communities"
            self.left += 1
            return None
        self.asked += 1
        return read

    async def _one(self, read: _Read) -> None:
        content, community = read.content, read.content.community
        try:
            if self.access.gated:
                members = await self.access.stored_entities(community.members)
                await self.access.demand(Action.WRITE, members)
            answer = await self._ask(content)
            self.answered += 1
            summary = self._read(answer, content)
            if await self._stored(summary, read):
                self.written.append(attrs.evolve(community, summary=summary))
            else:
                self._fail(community, "the community changed while it was summarised")
        except BudgetExhaustedError as spent:
            self.left += 1
            self.why = failure_text(spent)
        except _UNUSABLE as failure:
            self.answered += 1
            self._fail(community, failure_text(failure))
        except LLMRequestError as refusal:
            self.turned_down.append(refusal)
            self._fail(community, failure_text(refusal))
        except Exception as fault:  # noqa: BLE001 - raised once the prompts that are under way have been answered
            self.fault = fault

    async def _ask(self, content: CommunityContent) -> WrittenSummary:
        lines = list(map(Line.of_source, content.sources))
        return await write_summary(
            _QUESTION,
            lines,
            llm=self.llm,
            counter=self.llm.counter,
            prompt_tokens=self.prompt_tokens,
            answer_tokens=self.answer_tokens,
        )

    def _read(self, answer: WrittenSummary, content: CommunityContent) -> CommunitySummary:
        """The summary; raise `LLMAnswerError` for an answer without a sentence that cites a line and fits."""
        sentences = [
            SummarySentence(text=each.text, cites=[source.element for source in each.sources])
            for each in answer.written.sentences
        ]
        if not sentences:
            faults = ["no sentence cites a line"] if not answer.written.beyond else ["every sentence is too long"]
            raise LLMAnswerError("the summary", faults=faults)
        return CommunitySummary(
            sentences=sentences,
            fingerprint=content.fingerprint,
            model=self.llm.name,
            written_at=self.access.store.clock.now(),
        )

    async def _stored(self, summary: CommunitySummary, read: _Read) -> bool:
        """Store a summary, unless its community has changed since its content was read."""
        current: _Read | None = read
        for _ in range(_TRIES):
            if current is None or current.content.fingerprint != summary.fingerprint:
                return False
            written = attrs.evolve(current.content.community, summary=summary)
            if await self.access.store.write_summary(written, version=current.version):
                return True
            current = await _current(read.content.community, self.access)
        return False

    def _fail(self, community: Community, why: str) -> None:
        self.failed.append(SummaryFailure(community_id=community.id, label=community.label, why=why))


@attrs.frozen
class _Read:
    """The content of a community, and the version of the scope when it was read."""

    content: CommunityContent
    version: Hashable


async def _current(community: Community, access: Access) -> _Read | None:
    """What a community contains now; None if it is gone, or has no relation that holds."""
    async with access.reading() as reader:
        version = await access.store.version()
        stored = await access.store.communities(entity_ids=community.members[:1])
        found = next((each for each in stored if each.id == community.id), None)
        content = None if found is None else await content_of(found, reader)
    return None if content is None else _Read(content, version)

"""Let a language model summarise one community, and report what became of many."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch.errors import (
    BudgetExhaustedError,
    LLMAnswerError,
    LLMRefusalError,
    LLMRequestError,
    LLMTruncatedError,
)
from graphsearch.llms.structured import failure_text
from graphsearch.llms.usage import Usage
from graphsearch.model import Community, SummarySentence
from graphsearch.modes.summary import CommunityContent, Line, write_summary
from graphsearch.protocols import LLM, TokenCounter

MIN_SIZE: Final = 3
"""Fewest members of a community that is summarised by default: a pair is one relation."""
PROMPT_TOKENS: Final = 12_000
ANSWER_TOKENS: Final = 2_000
AT_ONCE: Final = 4
"""Most prompts at a time."""
TRIES: Final = 5
"""How often a summary is offered to a store that changes meanwhile."""
_QUESTION: Final = "What is this group about: who and what is at its centre, and how does it hang together?"


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
    * ``usage``: what the model reported of its answers, repairs included, if it did.
    """

    written: tuple[Community, ...] = ()
    unchanged: int = 0
    failed: tuple[SummaryFailure, ...] = ()
    left: int = 0
    why: str = ""
    usage: Usage = attrs.field(factory=Usage)


Outcome = Community | Exception | None
"""A community with its new summary, why there is none, or None: it changed while the model was asked."""


@attrs.define(eq=False)
class Tally:
    """What became of the communities so far."""

    limit: int | None
    written: list[Community] = attrs.field(factory=list)
    unchanged: int = 0
    failed: list[SummaryFailure] = attrs.field(factory=list)
    left: int = 0
    why: str = ""
    asked: int = 0
    turned_down: list[LLMRequestError] = attrs.field(factory=list)
    answered: int = 0

    def takes(self, content: CommunityContent) -> bool:
        """Count a community, and decide whether it is to be asked for."""
        if content.summary is not None:
            self.unchanged += 1
        elif self.why or self.asked == self.limit:
            self._leave(self.why or f"the limit of {self.limit} communities")
        else:
            self.asked += 1
            return True
        return False

    def add(self, communities: Sequence[Community], outcomes: Sequence[Outcome]) -> None:
        """Count the outcomes of some communities; raise the error of a model that cannot be asked."""
        for community, outcome in zip(communities, outcomes, strict=True):
            match outcome:
                case BudgetExhaustedError():
                    self._leave(failure_text(outcome))
                case LLMRequestError():
                    self.turned_down.append(outcome)
                    self._fail(community, failure_text(outcome))
                case LLMAnswerError() | LLMRefusalError() | LLMTruncatedError():
                    self.answered += 1
                    self._fail(community, failure_text(outcome))
                case Community():
                    self.answered += 1
                    self.written.append(outcome)
                case None:
                    self.answered += 1
                    self._fail(community, "the community changed while it was summarised")
                case _:
                    raise outcome
        if len(self.turned_down) >= AT_ONCE and not self.answered:
            raise self.turned_down[0]  # not these prompts are wrong, but every one, as with a key that is not valid

    def report(self, usage: Usage) -> SummariesReport:
        """All of it, and what the model reported of its answers."""
        return SummariesReport(
            written=tuple(sorted(self.written, key=lambda each: (-each.size, each.id))),
            unchanged=self.unchanged,
            failed=tuple(self.failed),
            left=self.left,
            why=self.why,
            usage=usage,
        )

    def _fail(self, community: Community, why: str) -> None:
        self.failed.append(SummaryFailure(community_id=community.id, label=community.label, why=why))

    def _leave(self, why: str) -> None:
        self.left += 1
        self.why = why


@attrs.frozen
class Read:
    """The content of a community, and the version of the scope when it was read."""

    content: CommunityContent
    version: Hashable


async def ask_for_summary(
    content: CommunityContent, llm: LLM, counter: TokenCounter, **limits: int
) -> list[SummarySentence]:
    """Ask a model for sentences that cite the content; raise `LLMAnswerError` if none cites a line and fits."""
    lines = list(map(Line.of_source, content.sources))
    written = await write_summary(_QUESTION, lines, llm=llm, counter=counter, **limits)
    if not written.sentences:
        raise LLMAnswerError(
            "the summary", faults=["every sentence is too long" if written.beyond else "no sentence cites a line"]
        )
    return [
        SummarySentence(text=each.text, cites=[source.element for source in each.sources]) for each in written.sentences
    ]

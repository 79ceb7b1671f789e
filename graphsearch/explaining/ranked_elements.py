"""Explain why a memory was, or was not, recalled for a question; and an entity, ranked for one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Protocol
from uuid import UUID

import attrs

from graphsearch.access.reader import EntityRef, Reader, known
from graphsearch.errors import UnknownElementError
from graphsearch.explaining.explanation import Explanation, KeptOut, Verdict, explained, of_another_time, verdict
from graphsearch.model import ElementKind, ElementRef
from graphsearch.modes.mode import Question
from graphsearch.ranking.options import RankRequest
from graphsearch.ranking.proposing import Proposal, propose
from graphsearch.ranking.ranker import analysed, chosen, scored
from graphsearch.ranking.result import FoundEntity
from graphsearch.recall.options import RecallRequest, RecallScoring
from graphsearch.recall.result import RecallResult

ALL: Final = 1_000_000_000
WIDE: Final = 2_000
"""Hits requested of each search if those of the recall do not contain the memory."""


class Recalling(Protocol):
    """A recall with all arguments bound except the request."""

    async def __call__(self, request: RecallRequest, *, scoring: RecallScoring) -> RecallResult:
        """The memories recalled for a question."""
        ...


async def explain_memory(
    memory_id: str, request: RecallRequest, recalling: Recalling, scoring: RecallScoring, reader: Reader
) -> Explanation:
    """Rank and score of a memory, or what kept it out; a memory missed by the searches is scored as if they went on.

    Raises `UnknownElementError` if there is no such memory, or it is hidden.
    """
    memory = await reader.memory(memory_id)
    if memory is None:
        raise UnknownElementError(f"no memory {memory_id!r} in {reader.scope}")
    explain = partial(explained, ElementRef(ElementKind.MEMORY, memory_id), request.query, "recall")
    if not memory.text.strip():
        reason = "its text is not kept, so it has nothing to show; what it mentions leads to other memories"
        return explain(0, (KeptOut.NO_TEXT, reason))
    everything = attrs.evolve(request, limit=ALL, min_score=0.0, min_relevance=0.0, diversity=0.0)
    result = await recalling(everything, scoring=scoring)
    if (row := _row(memory_id, result)) is not None:
        found, answer = result.memories[row], await recalling(request, scoring=scoring)
        became: Verdict = (KeptOut.MIN_RELEVANCE, answer.reason)
        if answer.relevance >= answer.floor:
            became = verdict(row + 1, found.score, request, shown=_row(memory_id, answer) is not None)
        return explain(result.found, became, found, row + 1)
    if kept_out := of_another_time(memory, reader.view):
        return explain(result.found, kept_out)
    wider = attrs.evolve(scoring, candidates=max(WIDE, scoring.candidates))
    further = await recalling(everything, scoring=wider)
    row = _row(memory_id, further)
    if row is None:
        reason = "not found: it shares no word, no meaning and no entity with the question"
        return explain(result.found, (KeptOut.NOT_FOUND, reason))
    reason = f"no search has it among its {scoring.candidates} best; had they gone on, its rank would be {row + 1}"
    return explain(result.found, (KeptOut.CANDIDATES, reason), further.memories[row])


def _row(memory_id: str, result: RecallResult) -> int | None:
    return next((row for row, each in enumerate(result.memories) if each.memory.id == memory_id), None)


async def explain_entity(
    element: ElementRef,
    request: RankRequest,
    question: Question,
    feedback_influence: float,
    reader: Reader,
) -> Explanation:
    """Rank and score of an entity, or what kept it out; a merged entity is explained as the one it was merged into.

    An entity that was not a candidate is scored as one more candidate. Raises `UnknownElementError` if there is no such
    entity, or it is hidden.
    """
    wanted = await known(_reference(element), reader)
    explain = partial(explained, ElementRef(ElementKind.ENTITY, str(wanted.id)), request.query, request.ranking)
    found = await propose(question, request.candidates, reader)
    among = found[: request.candidates]
    analysis = await analysed(request.query, reader)
    place = next((row for row, each in enumerate(found) if each.entity.id == wanted.id), None)
    if place is not None and place < request.candidates:
        ranked = await scored(among, analysis, request, question, feedback_influence, reader)
        row, own = _ranked(wanted.id, ranked)
        shown = wanted.id in {each.entity.id for each in chosen(ranked, request)}
        return explain(len(ranked), verdict(row + 1, own.score, request, shown=shown), own, row + 1)
    if kept_out := of_another_time(wanted, reader.view):
        return explain(len(among), kept_out)
    late = Proposal(entity=wanted, original=0.0, channels={}) if place is None else found[place]
    ranked = await scored([*among, late], analysis, request, question, feedback_influence, reader)
    _, own = _ranked(wanted.id, ranked)
    if place is None:
        reason = "not found: no search has it among its best, by a word or by meaning"
        return explain(len(among), (KeptOut.NOT_FOUND, reason), own)
    reason = f"found, but place {place + 1} lies beyond the {request.candidates} candidates"
    return explain(len(among), (KeptOut.CANDIDATES, reason), own)


def _reference(element: ElementRef) -> EntityRef:
    """An id, else a name."""
    try:
        return UUID(element.id)
    except ValueError:
        return element.id


def _ranked(entity_id: UUID, ranked: Sequence[FoundEntity]) -> tuple[int, FoundEntity]:
    return next((row, each) for row, each in enumerate(ranked) if each.entity.id == entity_id)

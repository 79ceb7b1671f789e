"""Explain why a memory was, or was not, recalled for a question; and an entity, ranked for one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Protocol
from uuid import UUID

import attrs

from graphsearch.access.reader import EntityRef, Reader, known
from graphsearch.errors import UnknownElementError
from graphsearch.explaining.explanation import Explanation, KeptOut, Verdict, nothing, verdict
from graphsearch.model import ElementKind, ElementRef, Entity, Memory
from graphsearch.modes.mode import Question
from graphsearch.ranking.options import RankRequest
from graphsearch.ranking.proposing import Proposal
from graphsearch.ranking.ranker import analysed, at_time_asked, chosen, proposed, scored
from graphsearch.ranking.result import FoundEntity
from graphsearch.recall.options import RecallRequest, RecallScoring
from graphsearch.recall.result import RecalledMemory, RecallResult

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
    explained = partial(_explained, ElementRef(ElementKind.MEMORY, memory_id), request.query, "recall")
    if not memory.text.strip():
        reason = "its text is not kept, so it has nothing to show; what it mentions leads to other memories"
        return explained(0, (KeptOut.NO_TEXT, reason))
    everything = attrs.evolve(request, limit=ALL, min_score=0.0, min_relevance=0.0, diversity=0.0)
    result = await recalling(everything, scoring=scoring)
    if (row := _row(memory_id, result)) is not None:
        found, answer = result.memories[row], await recalling(request, scoring=scoring)
        became: Verdict = (KeptOut.MIN_RELEVANCE, answer.reason)
        if answer.relevance >= answer.floor:
            became = verdict(row + 1, found.score, request, shown=_row(memory_id, answer) is not None)
        return explained(result.found, became, found, row + 1)
    if kept_out := _memory_of_another_time(memory, reader):
        return explained(result.found, kept_out)
    wider = attrs.evolve(scoring, candidates=max(WIDE, scoring.candidates))
    further = await recalling(everything, scoring=wider)
    row = _row(memory_id, further)
    if row is None:
        reason = "not found: it shares no word, no meaning and no entity with the question"
        return explained(result.found, (KeptOut.NOT_FOUND, reason))
    reason = f"no search has it among its {scoring.candidates} best; had they gone on, its rank would be {row + 1}"
    return explained(result.found, (KeptOut.CANDIDATES, reason), further.memories[row])


def _row(memory_id: str, result: RecallResult) -> int | None:
    return next((row for row, each in enumerate(result.memories) if each.memory.id == memory_id), None)


def _memory_of_another_time(memory: Memory, reader: Reader) -> Verdict | None:
    view = reader.view
    if not view.known(memory.created_at, None):
        return KeptOut.NOT_KNOWN, f"not known at {view.known_at.isoformat()}: written {memory.created_at}"
    if not view.holds(memory.occurred_at, None):
        return KeptOut.NOT_HELD, f"after {view.as_of.isoformat()}: it occurred {memory.occurred_at}"
    return None


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
    explained = partial(_explained, ElementRef(ElementKind.ENTITY, str(wanted.id)), request.query, request.ranking)
    now, reader = reader.view.as_of, at_time_asked(question, reader)
    found = await proposed(request, question, reader)
    among = found[: request.candidates]
    analysis = analysed(question, now)
    place = next((row for row, each in enumerate(found) if each.entity.id == wanted.id), None)
    if place is not None and place < request.candidates:
        ranked = await scored(among, analysis, request, question, feedback_influence, reader)
        row, own = _ranked(wanted.id, ranked)
        shown = wanted.id in {each.entity.id for each in chosen(ranked, request)}
        return explained(len(ranked), verdict(row + 1, own.score, request, shown=shown), own, row + 1)
    if kept_out := _entity_of_another_time(wanted, reader):
        return explained(len(among), kept_out)
    late = Proposal(entity=wanted, original=0.0, channels={}) if place is None else found[place]
    ranked = await scored([*among, late], analysis, request, question, feedback_influence, reader)
    _, own = _ranked(wanted.id, ranked)
    if place is None:
        reason = "not found: no search has it among its best, by a word or by meaning"
        return explained(len(among), (KeptOut.NOT_FOUND, reason), own)
    reason = f"found, but place {place + 1} lies beyond the {request.candidates} candidates"
    return explained(len(among), (KeptOut.CANDIDATES, reason), own)


def _reference(element: ElementRef) -> EntityRef:
    """An id, else a name."""
    try:
        return UUID(element.id)
    except ValueError:
        return element.id


def _ranked(entity_id: UUID, ranked: Sequence[FoundEntity]) -> tuple[int, FoundEntity]:
    return next((row, each) for row, each in enumerate(ranked) if each.entity.id == entity_id)


def _entity_of_another_time(wanted: Entity, reader: Reader) -> Verdict | None:
    view = reader.view
    if not view.known(wanted.created_at, None):
        return KeptOut.NOT_KNOWN, f"not known at {view.known_at.isoformat()}: created {wanted.created_at}"
    if not view.holds(wanted.valid_from, wanted.valid_to):
        period = f"from {wanted.valid_from} to {wanted.valid_to}"
        return KeptOut.NOT_HELD, f"does not hold at {view.as_of.isoformat()}: {period}"
    return None


def _explained(
    element: ElementRef,
    query: str,
    mode: str,
    of: int,
    became: Verdict,
    found: RecalledMemory | FoundEntity | None = None,
    rank: int | None = None,
) -> Explanation:
    why, reason = became
    return Explanation(
        element=element,
        query=query,
        mode=mode,
        rank=rank,
        of=of,
        score=found.score if found else 0.0,
        parts=found.parts if found else nothing(str(why).removeprefix("not_")),
        kept_out=why,
        reason=reason,
        found=found,
    )

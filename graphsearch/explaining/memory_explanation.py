"""Explain why a memory was, or was not, recalled for a question."""

from __future__ import annotations

from typing import Final, Protocol

import attrs

from graphsearch.access.reader import Reader
from graphsearch.errors import UnknownElementError
from graphsearch.explaining.explanation import Explanation, KeptOut, nothing, verdict
from graphsearch.model import ElementKind, ElementRef, Memory
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
    memory = await _visible(memory_id, reader)
    if not memory.text.strip():
        reason = "its text is not kept, so it has nothing to show; what it mentions leads to other memories"
        return _explained(memory_id, request, 0, (KeptOut.NOT_TOLD, reason), None)
    everything = attrs.evolve(request, limit=ALL, min_score=0.0, min_relevance=0.0, diversity=0.0)
    result = await recalling(everything, scoring=scoring)
    if (row := _row(memory_id, result)) is not None:
        return _placed(row, result, await recalling(request, scoring=scoring), request)
    if kept_out := _other_time(memory, reader):
        return _explained(memory_id, request, result.found, kept_out, None)
    wider = attrs.evolve(scoring, candidates=max(WIDE, scoring.candidates))
    further = await recalling(everything, scoring=wider)
    row = _row(memory_id, further)
    if row is None:
        reason = "not found: it shares no word, no meaning and no entity with the question"
        return _explained(memory_id, request, result.found, (KeptOut.NOT_FOUND, reason), None)
    reason = f"no search has it among its {scoring.candidates} best; had they gone on, its rank would be {row + 1}"
    return _explained(memory_id, request, result.found, (KeptOut.CANDIDATES, reason), further.memories[row])


async def _visible(memory_id: str, reader: Reader) -> Memory:
    found = await reader.get_memories([memory_id])
    if not found:
        raise UnknownElementError(f"no memory {memory_id!r} in {reader.scope}")
    return found[0]


def _row(memory_id: str, result: RecallResult) -> int | None:
    return next((row for row, each in enumerate(result.memories) if each.memory.id == memory_id), None)


def _placed(row: int, everything: RecallResult, answer: RecallResult, request: RecallRequest) -> Explanation:
    found = everything.memories[row]
    if answer.relevance < answer.floor:
        kept_out = (KeptOut.MIN_RELEVANCE, answer.reason)
        return _explained(found.memory.id, request, everything.found, kept_out, found, row + 1)
    became = verdict(
        row + 1,
        found.score,
        shown=_row(found.memory.id, answer) is not None,
        limit=request.limit,
        min_score=request.min_score,
        diverse=request.diversity > 0,
    )
    return _explained(found.memory.id, request, everything.found, became, found, row + 1)


def _other_time(memory: Memory, reader: Reader) -> tuple[KeptOut, str] | None:
    view = reader.view
    if not view.known(memory.created_at, None):
        return KeptOut.NOT_KNOWN, f"not known at {view.known_at.isoformat()}: written {memory.created_at}"
    if not view.holds(memory.occurred_at, None):
        return KeptOut.NOT_HELD, f"after {view.as_of.isoformat()}: it occurred {memory.occurred_at}"
    return None


def _explained(
    memory_id: str,
    request: RecallRequest,
    of: int,
    kept_out: tuple[KeptOut | None, str],
    found: RecalledMemory | None,
    rank: int | None = None,
) -> Explanation:
    why, reason = kept_out
    return Explanation(
        element=ElementRef(ElementKind.MEMORY, memory_id),
        query=request.query,
        mode="recall",
        rank=rank,
        of=of,
        score=found.score if found else 0.0,
        parts=found.parts if found else nothing(str(why).removeprefix("not_")),
        kept_out=why,
        reason=reason,
        found=found,
    )

"""Explain why an entity was, or was not, in a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from graphsearch.access.reader import EntityRef, Reader, known
from graphsearch.explaining.explanation import Explanation, KeptOut, nothing, verdict
from graphsearch.model import ElementKind, ElementRef, Entity
from graphsearch.modes.mode import Question
from graphsearch.ranking.options import RankRequest
from graphsearch.ranking.proposing import Proposal, propose
from graphsearch.ranking.ranker import analysed, chosen, scored
from graphsearch.ranking.result import FoundEntity


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
    found = await propose(question, request.candidates, reader)
    among = found[: request.candidates]
    analysis = await analysed(request.query, reader)
    if wanted.id in {each.entity.id for each in among}:
        ranked = await scored(among, analysis, request, question, feedback_influence, reader)
        return _placed(wanted, ranked, request)
    if kept_out := _other_time(wanted, reader):
        return _explained(wanted, request, len(among), kept_out, None)
    ranked = await scored([*among, _late(wanted, found)], analysis, request, question, feedback_influence, reader)
    would_be = next(each for each in ranked if each.entity.id == wanted.id)
    return _explained(wanted, request, len(among), _beyond_candidates(wanted, found, request), would_be)


def _reference(element: ElementRef) -> EntityRef:
    """An id, else a name."""
    try:
        return UUID(element.id)
    except ValueError:
        return element.id


def _placed(wanted: Entity, ranked: Sequence[FoundEntity], request: RankRequest) -> Explanation:
    at = next(row for row, each in enumerate(ranked) if each.entity.id == wanted.id)
    became = verdict(
        at + 1,
        ranked[at].score,
        shown=wanted.id in {each.entity.id for each in chosen(ranked, request)},
        limit=request.limit,
        min_score=request.min_score,
        diverse=request.diversity > 0,
    )
    return _explained(wanted, request, len(ranked), became, ranked[at], at + 1)


def _other_time(wanted: Entity, reader: Reader) -> tuple[KeptOut, str] | None:
    view = reader.view
    if not view.known(wanted.created_at, None):
        return KeptOut.NOT_KNOWN, f"not known at {view.known_at.isoformat()}: created {wanted.created_at}"
    if not view.holds(wanted.valid_from, wanted.valid_to):
        period = f"from {wanted.valid_from} to {wanted.valid_to}"
        return KeptOut.NOT_HELD, f"does not hold at {view.as_of.isoformat()}: {period}"
    return None


def _beyond_candidates(wanted: Entity, found: Sequence[Proposal], request: RankRequest) -> tuple[KeptOut, str]:
    place = next((row for row, each in enumerate(found, 1) if each.entity.id == wanted.id), None)
    if place is None:
        return KeptOut.NOT_FOUND, "not found: no search has it among its best, by a word or by meaning"
    return KeptOut.CANDIDATES, f"found, but place {place} lies beyond the {request.candidates} candidates"


def _late(wanted: Entity, found: Sequence[Proposal]) -> Proposal:
    """The entity as one more proposal: its scores in the searches, or none."""
    for each in found:
        if each.entity.id == wanted.id:
            return each
    return Proposal(entity=wanted, original=0.0, channels={})


def _explained(
    wanted: Entity,
    request: RankRequest,
    of: int,
    kept_out: tuple[KeptOut | None, str],
    found: FoundEntity | None,
    rank: int | None = None,
) -> Explanation:
    why, reason = kept_out
    return Explanation(
        element=ElementRef(ElementKind.ENTITY, str(wanted.id)),
        query=request.query,
        mode=request.ranking,
        rank=rank,
        of=of,
        score=found.score if found else 0.0,
        parts=found.parts if found else nothing(str(why).removeprefix("not_")),
        kept_out=why,
        reason=reason,
        found=found,
    )

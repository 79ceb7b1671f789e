"""Explain why a memory was, or was not, recalled, an entity ranked, or a relation shown, for a question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Protocol
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.evidence import supported_since
from graphsearch.access.reader import Reader
from graphsearch.access.references import known
from graphsearch.columns.formulas import age_in_days, freshness
from graphsearch.errors import UnknownElementError
from graphsearch.explaining.explanation import (
    Explanation,
    KeptOut,
    Verdict,
    explained,
    nothing,
    of_another_time,
    verdict,
)
from graphsearch.model import ElementKind, ElementRef, Relation, ScorePart, Triplet, TripletScore
from graphsearch.model.identity import id_or_name
from graphsearch.modes.hydration import shown
from graphsearch.modes.mode import Question
from graphsearch.modes.options import SearchRequest
from graphsearch.question.understanding import Understanding
from graphsearch.ranking.entities.options import RankRequest
from graphsearch.ranking.entities.proposing import Proposal
from graphsearch.ranking.entities.ranker import analysed, at_time_asked, chosen, proposed, scored
from graphsearch.ranking.entities.result import FoundEntity
from graphsearch.ranking.memories.options import RecallRequest, RecallScoring
from graphsearch.ranking.memories.result import RecallResult
from graphsearch.ranking.triplets.findings import Findings, best_triplets
from graphsearch.ranking.triplets.parts import Parts
from graphsearch.ranking.triplets.triplet_score import ScoringOptions, score

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
    meaning: Understanding | None,
    parts: Parts,
    reader: Reader,
) -> Explanation:
    """Rank and score of an entity, or what kept it out; a merged entity is explained as the one it was merged into.

    An entity that was not a candidate is scored as one more candidate. Raises `UnknownElementError` if there is no such
    entity, or it is hidden.
    """
    wanted = await known(id_or_name(element.id), reader)
    explain = partial(explained, ElementRef(ElementKind.ENTITY, str(wanted.id)), request.query, request.ranking)
    now, reader = reader.view.as_of, at_time_asked(meaning, reader)
    found = await proposed(request, meaning, parts, reader)
    among = found[: request.candidates]
    analysis = analysed(request.query, meaning, now)
    place = next((row for row, each in enumerate(found) if each.entity.id == wanted.id), None)
    if place is not None and place < request.candidates:
        ranked = await scored(among, analysis, request, meaning, parts, reader)
        row, own = _ranked(wanted.id, ranked)
        shown = wanted.id in {each.entity.id for each in chosen(ranked, request)}
        return explain(len(ranked), verdict(row + 1, own.score, request, shown=shown), own, row + 1)
    if kept_out := of_another_time(wanted, reader.view):
        return explain(len(among), kept_out)
    late = Proposal(entity=wanted, original=0.0, channels={}) if place is None else found[place]
    ranked = await scored([*among, late], analysis, request, meaning, parts, reader)
    _, own = _ranked(wanted.id, ranked)
    if place is None:
        reason = "not found: no search has it among its best, by a word or by meaning"
        return explain(len(among), (KeptOut.NOT_FOUND, reason), own)
    reason = f"found, but place {place + 1} lies beyond the {request.candidates} candidates"
    return explain(len(among), (KeptOut.CANDIDATES, reason), own)


def _ranked(entity_id: UUID, ranked: Sequence[FoundEntity]) -> tuple[int, FoundEntity]:
    return next((row, each) for row, each in enumerate(ranked) if each.entity.id == entity_id)


WIDE_SEEDS: Final = 1_000
"""Seeds, or facts, of the wider search for a relation that the explained search did not reach."""
FAR: Final = 10
"""Hops of the wider search."""

_TIME: Final = {KeptOut.NOT_KNOWN: "known", KeptOut.NOT_HELD: "held"}


async def explain_relation(element: ElementRef, question: Question, reader: Reader) -> Explanation:
    """Rank and score of a relation, or what kept it out.

    A relation kept out by a filter, or by the reach of the search, is scored as by a wider search without that filter,
    else by itself with proximity 0; one that does not hold, or was not known, has score 0. Raises
    `UnknownElementError` if there is no such relation, or it is hidden: the error does not distinguish the two.
    """
    relation = await reader.relation(UUID(str(element.key)))
    if relation is None:
        raise UnknownElementError(f"no relation {element.id} in {reader.scope}")
    answer = await question.mode.find(question, reader)
    of = len(answer.findings.rows())
    if ranked := await _placed(relation.id, answer.findings, reader):
        rank, triplet = ranked
        result = await shown(answer, question, reader)
        became = verdict(rank, triplet.score, question.request, shown=relation.id in result.provenance)
        return _explained(triplet, question, of, became, rank)
    kept_out, reason = _kept_out(relation, reader)
    if kept_out is not None and kept_out in _TIME:
        triplet = await _by_itself(relation, 0.0, question.parts.scoring, reader)
        return _explained(triplet, question, of, (kept_out, reason), parts=nothing(_TIME[kept_out]))
    triplet = await _wider(relation, question, reader)
    return _explained(triplet, question, of, (kept_out, reason))


async def _placed(relation_id: UUID, found: Findings, reader: Reader) -> tuple[int, Triplet] | None:
    rows = found.rows()
    ids = reader.relation_ids(found.subgraph.relations[rows])
    if relation_id not in ids:
        return None
    values = found.scores.value[rows]
    at_least_as_good = int(np.count_nonzero(values >= values[ids.index(relation_id)]))
    triplets = await best_triplets(found, at_least_as_good, reader, min_score=0.0)
    rank = [triplet.relation.id for triplet in triplets].index(relation_id) + 1
    return rank, triplets[rank - 1]


def _kept_out(relation: Relation, reader: Reader) -> Verdict:
    """The first filter that the relation fails, else that nothing led to it."""
    view = reader.view
    if kept_out := of_another_time(relation, view):
        return kept_out
    if relation.confidence < view.min_edge_confidence:
        least = f"the least asked for, {view.min_edge_confidence:g}"
        return KeptOut.LOW_CONFIDENCE, f"confidence {relation.confidence:g} is below {least}"
    if relation.type in view.skipped_types:
        return KeptOut.SKIPPED_TYPE, f"relations of type {relation.type!r} are skipped in searches"
    return KeptOut.NOT_FOUND, "not reached: no seed leads to it within the hops and the fan-out allowed"


async def _wider(relation: Relation, question: Question, reader: Reader) -> Triplet:
    """The relation as found by a wider search, without a least confidence and with skipped types."""
    view = attrs.evolve(reader.view, min_edge_confidence=0.0, skipped_types=())
    unfiltered = reader.viewing(view)
    found = await question.mode.find(attrs.evolve(question, request=_widened(question.request)), unfiltered)
    ranked = await _placed(relation.id, found.findings, unfiltered)
    return ranked[1] if ranked else await _by_itself(relation, 1.0, question.parts.scoring, reader)


def _widened(request: SearchRequest) -> SearchRequest:
    return attrs.evolve(
        request,
        seeds=max(request.seeds, WIDE_SEEDS),
        limit=max(request.limit, WIDE_SEEDS),
        depth=max(request.depth, 1),
        max_hops=FAR,
        min_edge_confidence=0.0,
    )


async def _by_itself(relation: Relation, counts: float, options: ScoringOptions, reader: Reader) -> Triplet:
    """The relation at the greatest distance from the question; ``counts`` is 0 if it is not reliable at all."""
    ends = {end.id: end for end in await reader.get_entities([relation.source_id, relation.target_id])}
    source, target = ends[relation.source_id], ends[relation.target_id]
    known = reader.type_of(relation.type)
    age = age_in_days(np.array(supported_since(relation)), reader.view.as_of.timestamp())
    reliable = {
        "confidence": relation.confidence,
        "freshness": float(freshness(age, known.ages_by)),
        "prior": known.prior,
    }
    importance = (source.importance_weight + target.importance_weight) / 2.0
    scores = score(
        proximity=0.0,
        importance=importance,
        feedback=relation.feedback_weight,
        options=options,
        **{**reliable, "prior": counts * known.prior},
    )
    found = TripletScore(
        value=float(scores.value),
        strength=float(scores.strength),
        proximity_part=float(scores.proximity_part),
        importance_part=float(scores.importance_part),
        feedback_part=float(scores.feedback_part),
        proximity=0.0,
        confidence=reliable["confidence"],
        freshness=reliable["freshness"],
        prior=reliable["prior"],
        importance=importance,
        feedback=relation.feedback_weight,
        hops=0,
    )
    return Triplet(source=source, relation=relation, target=target, breakdown=found)


def _explained(
    triplet: Triplet,
    question: Question,
    of: int,
    became: Verdict,
    rank: int | None = None,
    parts: tuple[ScorePart, ...] | None = None,
) -> Explanation:
    element = ElementRef(ElementKind.RELATION, str(triplet.relation.id))
    parts = _parts(triplet.breakdown, question.parts.scoring) if parts is None else parts
    return explained(element, question.request.query, question.request.mode, of, became, triplet, rank, parts)


def _parts(found: TripletScore, options: ScoringOptions) -> tuple[ScorePart, ...]:
    """Proximity, by its parts if it has several, importance and feedback; weights are contributions of a value of 1."""
    *near, importance, feedback = found.parts
    if not found.proximity:
        weight = (1.0 - options.feedback_influence) * (1.0 - options.importance_influence) * found.strength
        near = [attrs.evolve(each, weight=weight) for each in near]
    return *near, importance, feedback

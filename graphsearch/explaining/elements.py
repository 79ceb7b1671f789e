"""Explain why a memory was, or was not, recalled, an entity ranked, or a relation shown, for a question.

An explanation asks the same question again, and reads the parts of what it finds; for what was kept out by a filter, or
by the reach of a search, it asks a wider one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.access.references import known
from graphsearch.errors import UnknownElementError
from graphsearch.explaining.explanation import Explanation, KeptOut, Verdict, explained, of_another_time, verdict
from graphsearch.model import ElementKind, ElementRef, Relation, Triplet, TripletScore
from graphsearch.model.identity import id_or_name
from graphsearch.modes.hydration import hydrate
from graphsearch.modes.mode import Question
from graphsearch.question.understanding import Understanding, at_time_asked
from graphsearch.ranking.entities.options import RankRequest
from graphsearch.ranking.entities.proposing import propose
from graphsearch.ranking.entities.ranker import analysed, chosen, scored
from graphsearch.ranking.entities.result import FoundEntity
from graphsearch.ranking.memories.options import RecallRequest, RecallScoring
from graphsearch.ranking.memories.result import RecallResult
from graphsearch.ranking.triplets.findings import Findings, best_triplets
from graphsearch.ranking.triplets.parts import Parts

ALL: Final = 1_000_000_000
WIDE: Final = 2_000
"""Hits requested of each search if those of the recall do not contain the memory."""
WIDE_SEEDS: Final = 1_000
"""Seeds, or facts, of the wider search for a relation that the explained search did not reach."""
FAR: Final = 10
"""Hops of the wider search."""

Recalling = Callable[[RecallRequest, RecallScoring], Awaitable[RecallResult]]


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
    result = await recalling(everything, scoring)
    if (row := _row(memory_id, result)) is not None:
        found, answer = result.memories[row], await recalling(request, scoring)
        became: Verdict = (KeptOut.MIN_RELEVANCE, answer.reason)
        if answer.relevance >= answer.floor:
            became = verdict(row + 1, found.score, request, shown=_row(memory_id, answer) is not None)
        return explain(result.found, became, found, row + 1)
    if kept_out := of_another_time(memory, reader.view):
        return explain(result.found, kept_out)
    further = await recalling(everything, attrs.evolve(scoring, candidates=max(WIDE, scoring.candidates)))
    if (row := _row(memory_id, further)) is None:
        reason = "not found: it shares no word, no meaning and no entity with the question"
        return explain(result.found, (KeptOut.NOT_FOUND, reason))
    reason = f"no search has it among its {scoring.candidates} best; had they gone on, its rank would be {row + 1}"
    return explain(result.found, (KeptOut.CANDIDATES, reason), further.memories[row])


def _row(memory_id: str, result: RecallResult) -> int | None:
    return next((row for row, each in enumerate(result.memories) if each.memory.id == memory_id), None)


async def explain_entity(
    element: ElementRef, request: RankRequest, meaning: Understanding | None, parts: Parts, reader: Reader
) -> Explanation:
    """Rank and score of an entity, or what kept it out; a merged entity is explained as the one it was merged into.

    An entity that was not a candidate is scored as one more candidate. Raises `UnknownElementError` if there is no such
    entity, or it is hidden.
    """
    wanted = await known(id_or_name(element.id), reader)
    explain = partial(explained, ElementRef(ElementKind.ENTITY, str(wanted.id)), request.query, request.ranking)
    now, reader = reader.view.as_of, at_time_asked(meaning, reader)
    found = await propose(request, meaning, parts, reader)
    among = found[: request.candidates]
    place = next((row for row, each in enumerate(found) if each.entity.id == wanted.id), None)
    late = place is None or place >= request.candidates
    if late and (kept_out := of_another_time(wanted, reader.view)):
        return explain(len(among), kept_out)
    if late:
        among = [*among, FoundEntity(entity=wanted, original=0.0) if place is None else found[place]]
    ranked = await scored(among, analysed(request.query, meaning, now), request, meaning, parts, reader)
    row, own = next((row, each) for row, each in enumerate(ranked) if each.entity.id == wanted.id)
    if not late:
        is_shown = wanted.id in {each.entity.id for each in chosen(ranked, request)}
        return explain(len(ranked), verdict(row + 1, own.score, request, shown=is_shown), own, row + 1)
    if place is None:
        became = KeptOut.NOT_FOUND, "not found: no search has it among its best, by a word or by meaning"
    else:
        became = KeptOut.CANDIDATES, f"found, but place {place + 1} lies beyond the {request.candidates} candidates"
    return explain(len(ranked) - 1, became, own)


async def explain_relation(element: ElementRef, question: Question, reader: Reader) -> Explanation:
    """Rank and score of a relation, or what kept it out.

    A relation kept out by a filter, or by the reach of the search, is scored as by a wider search without that filter;
    one that this does not reach, that does not hold, or was not known, has score 0. Raises `UnknownElementError` if
    there is no such relation, or it is hidden: the error does not distinguish the two.
    """
    relation = await reader.relation(UUID(str(element.key)))
    if relation is None:
        raise UnknownElementError(f"no relation {element.id} in {reader.scope}")
    request = question.request
    explain = partial(explained, ElementRef(ElementKind.RELATION, str(relation.id)), request.query, request.mode)
    answer = await question.mode.find(question, reader)
    of = len(answer.findings.rows())
    if ranked := await _placed(relation.id, answer.findings, reader):
        rank, triplet = ranked
        is_shown = relation.id in (await hydrate(answer, question, reader)).provenance
        return explain(of, verdict(rank, triplet.score, request, shown=is_shown), triplet, rank)
    if kept_out := of_another_time(relation, reader.view):
        return explain(of, kept_out, await _unscored(relation, reader))
    wider = reader.viewing(attrs.evolve(reader.view, min_edge_confidence=0.0, skipped_types=()))
    further = attrs.evolve(
        request,
        seeds=max(request.seeds, WIDE_SEEDS),
        limit=max(request.limit, WIDE_SEEDS),
        depth=max(request.depth, 1),
        max_hops=FAR,
        min_edge_confidence=0.0,
    )
    reached = await question.mode.find(attrs.evolve(question, request=further), wider)
    ranked = await _placed(relation.id, reached.findings, wider)
    return explain(of, _kept_out(relation, reader), ranked[1] if ranked else await _unscored(relation, reader))


async def _placed(relation_id: UUID, found: Findings, reader: Reader) -> tuple[int, Triplet] | None:
    """The rank of a relation that answers, from 1, and the triplet."""
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
    if relation.confidence < view.min_edge_confidence:
        least = f"the least asked for, {view.min_edge_confidence:g}"
        return KeptOut.LOW_CONFIDENCE, f"confidence {relation.confidence:g} is below {least}"
    if relation.type in view.skipped_types:
        return KeptOut.SKIPPED_TYPE, f"relations of type {relation.type!r} are skipped in searches"
    return KeptOut.NOT_FOUND, "not reached: no seed leads to it within the hops and the fan-out allowed"


async def _unscored(relation: Relation, reader: Reader) -> Triplet:
    """The triplet of a relation that no search finds: its score is 0."""
    ends = {end.id: end for end in await reader.get_entities([relation.source_id, relation.target_id])}
    zeros: dict[str, Any] = {each.name: 0 for each in attrs.fields(TripletScore) if each.name != "relevance"}
    score = attrs.evolve(TripletScore(**zeros), confidence=relation.confidence, feedback=relation.feedback_weight)
    return Triplet(source=ends[relation.source_id], relation=relation, target=ends[relation.target_id], breakdown=score)

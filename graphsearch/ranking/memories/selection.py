"""Selection: the best memories by score, feedback and diversity, read whole, with the parts of their scores.

A memory is superseded if each of its claims was ended by claims of other memories.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, TypedDict
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.access.window import widest
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES, DatedClaim, Period, group_of, periods_of
from graphsearch.columns import Floats, Hits, Keys, Rows
from graphsearch.model import Claim, Group, Memory
from graphsearch.ranking.diversity import diverse_rows
from graphsearch.ranking.fusion import Part, with_feedback
from graphsearch.ranking.memories.graph_channel import Walked
from graphsearch.ranking.memories.leads import Leads, relevance
from graphsearch.ranking.memories.options import FLOOR, RecallRequest, RecallScoring
from graphsearch.ranking.memories.result import RecalledMemory
from graphsearch.ranking.memories.scoreboard import Board, best_first, compared, rows_among
from graphsearch.text.bm25 import searchable_text

READ: Final = 4
"""The factor by which more memories than requested are read whole; feedback counts among these."""
LEAST_READ: Final = 50
LOOKED_AT: Final = 10
"""Number of best memories from which relevance is computed, whatever the limit."""


@attrs.frozen(kw_only=True)
class Best:
    """The memories to show, best first; their relevance, shown or not; and how many of those read have a text.

    ``floor``: the relevance below which none is shown. ``stating``: the share of them that state something.
    """

    memories: tuple[RecalledMemory, ...]
    relevance: float
    with_text: int
    floor: float
    stating: float


class Over(TypedDict):
    """Since when a memory is over, the name of what holds now, and the ids of the memories that say so."""

    until: datetime | None
    now: str
    followed_by: tuple[str, ...]


HOLDS: Final = Over(until=None, now="", followed_by=())


async def best_memories(
    board: Board,
    found: Mapping[str, Hits],
    way: Walked | None,
    request: RecallRequest,
    weights: Mapping[str, float],
    lead: Leads,
    scoring: RecallScoring,
    reader: Reader,
) -> Best:
    """At most the requested number, best first; none if they are less relevant than required."""
    total = board.total
    order, memories = await _with_a_text(total, board.keys, max(LEAST_READ, READ * request.limit), reader)
    keys = board.keys[order]
    weight = np.array([memory.feedback_weight for memory in memories])
    relevant, learnt = with_feedback(total[order], weight, scoring.feedback_influence)
    scale = np.divide(relevant, total[order], out=np.zeros(len(order)), where=total[order] > 0)
    parts = {name: part[order] * scale for name, part in board.parts.items()}
    listed = {name: _places(ranking, keys) for name, ranking in _rankings(found, way).items()}
    scores = np.minimum(relevant + learnt, 1.0)
    ranked = np.argsort(-compared(scores), kind="stable")
    found_by_meaning = listed["semantic"][1] if "semantic" in listed else np.zeros(len(keys))
    first = ranked[:LOOKED_AT]
    led = frozenset[str]() if way is None else lead.terms_of(way.rare(reader))
    fit = _relevance(lead, [memories[row] for row in first], led, found_by_meaning[first], reader)
    floor = floor_of(request, scoring, dense=weights["semantic"] > 0)
    chosen = _chosen(scores, ranked, memories, request) if fit >= floor else []
    paths = [()] * len(chosen) if way is None else way.paths_to(keys[chosen], reader)
    stating, over = await claims_of([memories[row] for row in chosen], reader)
    shown = [
        RecalledMemory(
            memory=memories[row],
            score=float(scores[row]),
            channels={
                **{
                    name: _part(listed.get(name), row, weights.get(name, 1.0), float(part[row]))
                    for name, part in parts.items()
                    if part[row] or (name in listed and listed[name][0][row])
                },
                "feedback": Part(
                    rank=0,
                    score=float(weight[row]),
                    weight=scoring.feedback_influence,
                    contribution=float(learnt[row]),
                ),
            },
            path=path,
            **over.get(memories[row].id, HOLDS),
        )
        for row, path in zip(chosen, paths, strict=True)
    ]
    share = len(stating) / max(len(shown), 1)
    return Best(memories=tuple(shown), relevance=fit, with_text=len(memories), floor=floor, stating=share)


def floor_of(request: RecallRequest, scoring: RecallScoring, *, dense: bool) -> float:
    """The relevance below which nothing is shown: that of the caller, else of the embedder, else for words alone."""
    if request.min_relevance is not None:
        return request.min_relevance
    return scoring.floor if dense and scoring.floor is not None else FLOOR


def _relevance(lead: Leads, memories: Sequence[Memory], led: frozenset[str], meant: Floats, reader: Reader) -> float:
    """The relevance of the best memories; ``meant`` is the score by meaning, (1 + cosine) / 2, or 0 if not found by it.

    ``led``: terms that name where the walk started. It led here, so each memory is related to these.
    """
    terms = reader.analyser.terms
    return relevance(lead.question, [led.union(terms(searchable_text(each))) for each in memories], 2.0 * meant - 1.0)


async def _with_a_text(scores: Floats, keys: Keys, wanted: int, reader: Reader) -> tuple[Rows, list[Memory]]:
    """The rows of the best memories that have a text to show, and these; widened while there are too few.

    The text of source files is not stored. They are evidence, and lead a walk on, but have nothing to show.
    """
    wide, last = wanted, widest(wanted)
    while True:
        order = best_first(scores, keys, wide)
        memories = await reader.memories(keys[order])
        listed = [place for place, memory in enumerate(memories) if memory.text.strip()][:wanted]
        if len(listed) == wanted or len(order) < wide or wide == last:
            return order[listed], [memories[place] for place in listed]
        wide *= 2


def _rankings(found: Mapping[str, Hits], way: Walked | None) -> Mapping[str, tuple[Keys, Floats]]:
    """The hits of each channel, best first, and their scores."""
    rankings = {name: (hits.keys, hits.values) for name, hits in found.items()}
    return rankings if way is None else {**rankings, "graph": way.ranking()}


def _places(ranking: tuple[Keys, Floats], keys: Keys) -> tuple[Rows, Floats]:
    """The ranks from 1 and the scores of some memories in a ranking; 0 for those not found."""
    ranked, scores = ranking
    rows = rows_among(ranked, keys)
    return rows + 1, np.append(scores, 0.0)[rows]


def _part(listed: tuple[Rows, Floats] | None, row: int, weight: float, contribution: float) -> Part:
    """The contribution of a channel; a part that is not a ranking has nothing else."""
    if listed is None:
        return Part(rank=0, score=contribution, weight=weight, contribution=contribution)
    ranks, scores = listed
    return Part(rank=int(ranks[row]), score=float(scores[row]), weight=weight, contribution=contribution)


def _chosen(scores: Floats, ranked: Rows, memories: Sequence[Memory], request: RecallRequest) -> list[int]:
    """The rows to show: best first, as ``ranked``, or picked for diversity."""
    rows: list[int] = ranked[scores[ranked] >= request.min_score].tolist()
    if not request.diversity or not rows:
        return rows[: request.limit]
    texts = [f"{memories[row].subject}\n{memories[row].text}" for row in rows]
    return [rows[row] for row in diverse_rows(scores[rows], texts, diversity=request.diversity, limit=request.limit)]


async def claims_of(memories: Sequence[Memory], reader: Reader) -> tuple[frozenset[str], Mapping[str, Over]]:
    """The ids of the memories that claim anything; and of those of which no claim holds any more, what is over.

    What holds ``now`` instead is another claim of the same source and type, if there is one alone. Claims that state
    their own end are not superseded: the memory says so itself. Read only from what is visible, and nothing that
    occurred, or was written, after the moments of the reader's view.
    """
    ids = [memory.id for memory in memories]
    claims = [each for each in await reader.claims(memory_ids=ids) if each.type not in CO_OCCURRENCE_TYPES]
    ends: dict[str, list[tuple[datetime | None, Period, Claim]]] = defaultdict(list)
    holding: dict[tuple[UUID, str], list[Period]] = defaultdict(list)
    for group, dated in (await _folded_with(claims, memories, reader)).items() if claims else ():
        for period in periods_of(dated, reader.type_of(group[1])):
            if period.holds(reader.view.as_of):
                holding[group[:2]].append(period)
            for each in period.claims:
                ends[each.claim.memory_id].append((_ended(each.claim, period), period, each.claim))
    over: dict[str, Over] = {}
    for id_ in ids:
        ended = [(end, period, claim) for end, period, claim in ends[id_] if end and end <= reader.view.as_of]
        if ended and len(ended) == len(ends[id_]):
            until, period, claim = max(ended, key=lambda each: each[0])
            after = [each for each in holding[claim.source_id, claim.type] if each.target_id != period.target_id]
            named = await reader.get_entities([each.target_id for each in after]) if len(after) == 1 else []
            says = sorted({memory for each in after for memory in each.memories} - {id_})
            over[id_] = Over(until=until, now=named[0].name if named else "", followed_by=tuple(says))
    return frozenset(claim.memory_id for claim in claims), over


def _ended(claim: Claim, period: Period) -> datetime | None:
    """When another memory ended what a claim states; None if it holds, or ends as it states."""
    return None if claim.valid_to is not None else period.valid_to


async def _folded_with(
    claims: Sequence[Claim], memories: Sequence[Memory], reader: Reader
) -> Mapping[Group, list[DatedClaim]]:
    """By group, the visible claims that some claims are folded with."""
    groups = {group_of(each, reader.types) for each in claims}
    folded = await reader.claims(groups=sorted(groups, key=str))
    known = {memory.id: memory for memory in memories}
    others = sorted({each.memory_id for each in folded} - known.keys())
    known |= {memory.id: memory for memory in await reader.get_memories(others) if _in_view(memory, reader)}
    claims_of: dict[Group, list[DatedClaim]] = defaultdict(list)
    for each in folded:
        if memory := known.get(each.memory_id):
            claims_of[group_of(each, reader.types)].append(DatedClaim(each, memory.occurred_at))
    return claims_of


def _in_view(memory: Memory, reader: Reader) -> bool:
    return reader.view.known(memory.created_at, None) and reader.view.holds(memory.occurred_at, None)

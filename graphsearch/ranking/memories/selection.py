"""Selection: the best memories by score, feedback and diversity, read whole, with the parts of their scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, TypedDict
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.decisions import widest
from graphsearch.access.reader import Reader
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES, DatedClaim, Period, group_of, periods_of
from graphsearch.columns import Floats, Hits, Keys, Rows
from graphsearch.model import Claim, Group, Memory
from graphsearch.ranking.memories.result import FLOOR, RecalledMemory, RecallRequest, RecallScoring
from graphsearch.ranking.memories.walk import Leads, Walked
from graphsearch.ranking.scores import Board, Part, best_first, compared, diverse_rows, rows_among, with_feedback
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
    order, memories = await _with_a_text(board, max(LEAST_READ, READ * request.limit), reader)
    feedback = np.array([memory.feedback_weight for memory in memories])
    relevant, learnt = with_feedback(board.total[order], feedback, scoring.feedback_influence)
    scores = np.minimum(relevant + learnt, 1.0)
    ranked = np.argsort(-compared(scores), kind="stable")
    fit = _relevance(lead, memories, board.keys[order], ranked[:LOOKED_AT], found, way, reader)
    floor = floor_of(request, scoring, dense=weights["semantic"] > 0)
    chosen = _chosen(scores, ranked, memories, request) if fit >= floor else []
    stating, over = await claims_of([memories[row] for row in chosen], reader)
    keys, scale = board.keys[order[chosen]], relevant[chosen] / np.where(relevant > 0, board.total[order], 1.0)[chosen]
    parts = {name: column[order[chosen]] * scale for name, column in board.parts.items()}
    listed = _places(found, way, keys)
    paths = [()] * len(chosen) if way is None else way.paths_to(keys, reader)
    shown = []
    for place, (row, path) in enumerate(zip(chosen, paths, strict=True)):
        channels = {
            name: _part(listed.get(name), place, weights.get(name, 1.0), float(part[place]))
            for name, part in parts.items()
            if part[place] or (name in listed and listed[name][0][place])
        }
        channels["feedback"] = Part(
            rank=0, score=float(feedback[row]), weight=scoring.feedback_influence, contribution=float(learnt[row])
        )
        memory, score = memories[row], float(scores[row])
        shown.append(
            RecalledMemory(memory=memory, score=score, channels=channels, path=path, **over.get(memory.id, _HOLDS))
        )
    share = len(stating) / max(len(shown), 1)
    return Best(memories=tuple(shown), relevance=fit, with_text=len(memories), floor=floor, stating=share)


def floor_of(request: RecallRequest, scoring: RecallScoring, *, dense: bool) -> float:
    """The relevance below which nothing is shown: that of the caller, else of the embedder, else for words alone."""
    if request.min_relevance is not None:
        return request.min_relevance
    return scoring.floor if dense and scoring.floor is not None else FLOOR


def _relevance(
    lead: Leads,
    memories: Sequence[Memory],
    keys: Keys,
    first: Rows,
    found: Mapping[str, Hits],
    way: Walked | None,
    reader: Reader,
) -> float:
    """The relevance of the ``first`` memories by their terms, with those that led a walk to them, and by meaning."""
    terms = reader.analyser.terms
    led = frozenset[str]() if way is None else lead.terms_of(way.rare(reader))
    texts = [led.union(terms(searchable_text(memories[row]))) for row in first]
    if "semantic" not in found:
        return lead.relevance(texts, np.empty(0))
    near = found["semantic"]
    meant = np.append(near.values, 0.0)[rows_among(near.keys, keys[first])]
    return lead.relevance(texts, 2.0 * meant - 1.0)


async def _with_a_text(board: Board, wanted: int, reader: Reader) -> tuple[Rows, list[Memory]]:
    """The rows of the best memories that have a text to show, and these; widened while there are too few.

    The text of source files is not stored. They are evidence, and lead a walk on, but have nothing to show.
    """
    wide, last = wanted, widest(wanted)
    while True:
        order = best_first(board.total, board.keys, wide)
        memories = await reader.memories(board.keys[order])
        listed = [place for place, memory in enumerate(memories) if memory.text.strip()][:wanted]
        if len(listed) == wanted or len(order) < wide or wide == last:
            return order[listed], [memories[place] for place in listed]
        wide *= 2


def _places(found: Mapping[str, Hits], way: Walked | None, keys: Keys) -> Mapping[str, tuple[Rows, Floats]]:
    """By channel, the ranks from 1 and the scores of some memories in its ranking; 0 for those not found."""
    places = {}
    for name, hits in found.items():
        rows = rows_among(hits.keys, keys)
        places[name] = rows + 1, np.append(hits.values, 0.0)[rows]
    if way is not None:
        own = np.append(way.ranks, 0.0)[rows_among(way.graph.memories, keys)]
        every, mine = compared(way.ranks), compared(own)
        before = [
            np.count_nonzero(every > rank) + np.count_nonzero(way.graph.memories[every == rank] < key)
            for rank, key in zip(mine, keys, strict=True)
        ]
        places["graph"] = np.where(own > 0, np.array(before, np.intp) + 1, 0), own
    return places


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


class Over(TypedDict):
    """Since when a memory is over, the name of what holds now, and the ids of the memories that say so."""

    until: datetime | None
    now: str
    followed_by: tuple[str, ...]


_HOLDS: Final = Over(until=None, now="", followed_by=())


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
                ended = None if each.claim.valid_to is not None else period.valid_to
                ends[each.claim.memory_id].append((ended, period, each.claim))
    over: dict[str, Over] = {}
    for id_ in ids:
        past = [(end, period, claim) for end, period, claim in ends[id_] if end and end <= reader.view.as_of]
        if past and len(past) == len(ends[id_]):
            until, period, claim = max(past, key=lambda each: each[0])
            after = [each for each in holding[claim.source_id, claim.type] if each.target_id != period.target_id]
            named = await reader.get_entities([each.target_id for each in after]) if len(after) == 1 else []
            says = sorted({memory for each in after for memory in each.memories} - {id_})
            over[id_] = Over(until=until, now=named[0].name if named else "", followed_by=tuple(says))
    return frozenset(claim.memory_id for claim in claims), over


async def _folded_with(
    claims: Sequence[Claim], memories: Sequence[Memory], reader: Reader
) -> Mapping[Group, list[DatedClaim]]:
    """By group, the visible claims that some claims are folded with, of memories in the view."""
    folded = await reader.claims(groups=sorted({group_of(each, reader.types) for each in claims}, key=str))
    known, view = {memory.id: memory for memory in memories}, reader.view
    for memory in await reader.get_memories(sorted({each.memory_id for each in folded} - known.keys())):
        if view.known(memory.created_at, None) and view.holds(memory.occurred_at, None):
            known[memory.id] = memory
    found: dict[Group, list[DatedClaim]] = defaultdict(list)
    for each in folded:
        if memory_of := known.get(each.memory_id):
            found[group_of(each, reader.types)].append(DatedClaim(each, memory_of.occurred_at))
    return found

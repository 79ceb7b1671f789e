"""Recall: query the channels, score by text, walk from the hits, fuse both, and read the best memories whole.

    score = (1 − λ) · text + λ · rank · (1 + β · text) / (1 + β)        λ = influence_of(weight of the graph, 1)

The walk starts from the text scores, so words and meaning are fused before the walk; in measurements that beats fusing
one more ranking after it. With λ = 0 only the text counts. The best memories by text keep a share of the first places,
whatever the walk adds.

A search learns from the facts of a scope which words are names. A recall learns it from the memories, which are more:
here every word may be a name, and `graphsearch.ranking.walk` keeps those that are.

    text = z-scored BM25 + 0.5 · z-scored cosine, then the scores of adjacent turns; the best is 1

A long text contains words of any question, scattered. Where they are close together it is about them: so a part of a
long memory's BM25 counts only by the share of its matching words that one passage contains (Kaszkiel and Zobel,
*Effective Ranking with Arbitrary Passages*, 2001).

A turn is hardly understood alone: the answer to a question is next to it, and both are in a session about one subject.
A long turn states its subject itself, and takes less: as in smoothing by Dirichlet's prior, where the context of a text
counts in inverse proportion to its length.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Final, TypedDict
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.concurrency import both
from graphsearch._support.timing import Stopwatch
from graphsearch.access.gatekeeper import widest
from graphsearch.access.reader import Reader
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES, DatedClaim, Period, group_of, periods_of
from graphsearch.columns import NONE, Floats, Hits, Keys, Mask, Rows, Turns
from graphsearch.columns.key_index import KeyIndex
from graphsearch.model import Claim, ElementKind, Group, Memory, Vector
from graphsearch.question.analysis import Analysis, AskedPeriod, Intent, analyse, channel_weights
from graphsearch.question.linking import anchors_of, link_names
from graphsearch.ranking.recall_result import (
    FLOOR,
    SEMANTIC_WEIGHT,
    RecalledMemory,
    RecallRequest,
    RecallResult,
    RecallScoring,
    Workload,
)
from graphsearch.ranking.scores import (
    RRF_K,
    Board,
    Part,
    best_first,
    compared,
    picked,
    rows_among,
    standard_scores,
    with_feedback,
)
from graphsearch.ranking.walk import LOOKED_AT, Leads, Walked, leads, memories_of, walk
from graphsearch.text.analyser import terms
from graphsearch.text.bm25 import searchable_text

UNREACHED: Final = 1e-6
"""The rank of memories that a walk does not reach: among them the text decides."""
KEPT: Final = 20
"""Number of best memories by text that keep their places: those of a result of ten, and as many more to choose from."""
_ROUNDING: Final = 1e-9


async def recall(
    request: RecallRequest, vector: Vector | None, scoring: RecallScoring, reader: Reader, stopwatch: Stopwatch
) -> RecallResult:
    """The memories that answer a question best; ``vector`` is its embedding, if there is an embedder."""
    with stopwatch.stage("searches"):
        searching = _searched(request, vector, scoring, reader)
        linked, found = await both(link_names(request.query, reader), searching)
    with stopwatch.stage("analysis"):
        anchors = anchors_of(request.query, linked.links)
        analysis = analyse(request.query, as_of=reader.view.as_of, anchors=anchors)
        if request.health is None:
            request = attrs.evolve(request, health=await reader.health())
        weights = weights_of(analysis, request, scoring, dense=vector is not None)
    with stopwatch.stage("text"):
        asked = anchors if weights["graph"] else ()
        board, mentions = await both(
            by_text(found, analysis, weights, scoring, reader), memories_of([each.entity_id for each in asked], reader)
        )
        lead, named = await leads(asked, analysis, mentions, board.first(LOOKED_AT), reader)
    way: Walked | None = None
    if weights["graph"]:
        with stopwatch.stage("graph"):
            way = await walk(named, board.keys, board.total, weights["graph"], scoring, reader)
    with stopwatch.stage("fusion"):
        trust = trusted(way, lead, scoring, reader)
        ranked = with_graph(board, found, way, weights, scoring, trust)
    with stopwatch.stage("hydration"):
        best = await best_memories(ranked, found, way, request, weights, lead, scoring, reader)
    return RecallResult(
        query=request.query,
        memories=best.memories,
        analysis=analysis,
        weights=weights,
        as_of=reader.view.as_of,
        known_at=reader.view.known_at,
        found=len(ranked.keys),
        relevance=best.relevance,
        denied=reader.denied,
        denied_by=await reader.denied_by(),
        health=request.health,
        reason="" if best.memories else _why_nothing(request, len(ranked.keys), best),
        timings=stopwatch.milliseconds,
        rarity=lead.rarity,
        floor=best.floor,
        stating=best.stating,
    )


async def _searched(
    request: RecallRequest, vector: Vector | None, scoring: RecallScoring, reader: Reader
) -> Mapping[str, Hits]:
    """The hits by words and by meaning; scores, higher is better."""
    kind, limit = ElementKind.MEMORY, scoring.candidates
    worded = reader.lexical(kind, request.query, limit if "lexical" in request.channels else 0)
    if vector is None or not _meaning(scoring) or "semantic" not in request.channels:
        return {"lexical": await by_passages(await worded, request.query, scoring.passage, reader)}
    hits, near = await both(worded, reader.nearest(kind, vector, limit))
    hits = await by_passages(hits, request.query, scoring.passage, reader)
    return {"lexical": hits, "semantic": attrs.evolve(near, values=1.0 - near.values / 2.0)}


def _meaning(scoring: RecallScoring) -> float:
    """The weight of meaning next to words."""
    return SEMANTIC_WEIGHT if scoring.semantic_weight is None else scoring.semantic_weight


def weights_of(
    analysis: Analysis, request: RecallRequest, scoring: RecallScoring, *, dense: bool
) -> Mapping[str, float]:
    """The weight of each channel for a question; 0 for those that were not requested."""
    intent = analysis.intent if scoring.by_intent else Intent.WHAT
    health = 1.0 if request.health is None else request.health
    deployment = scoring.deployment if request.workload is None else Workload(request.workload).graph_weight
    by_intent = channel_weights(intent, deployment=deployment, health=health)
    every = {
        "lexical": by_intent.lexical,
        "semantic": by_intent.semantic * _meaning(scoring) if dense else 0.0,
        "graph": by_intent.graph,
        "temporal": scoring.temporal_weight if analysis.periods else 0.0,
    }
    return {name: weight if name in request.channels else 0.0 for name, weight in every.items()}


def trusted(way: Walked | None, lead: Leads, scoring: RecallScoring, reader: Reader) -> float:
    """The trust in a walk, in [0, 1]: in full if rare names are enough of the question."""
    if way is None:
        return 0.0
    share = min(1.0, lead.covered(way.rare(reader)) / scoring.anchored)
    return max(scoring.unanchored, share**2)


def influence_of(weight: float, trust: float) -> float:
    """The influence λ of the walk, in [0, 1], for any weight of the graph: above 1 as if it were asked that often."""
    return weight * trust if weight <= 1.0 else 1.0 - (1.0 - trust) ** weight


def with_graph(
    board: Board,
    found: Mapping[str, Hits],
    way: Walked | None,
    weights: Mapping[str, float],
    scoring: RecallScoring,
    trust: float,
) -> Board:
    """The scores with those of the walk; by rankings alone if ``scoring`` fuses by these.

    ``trust``: the weight of the walk, in [0, 1]. Whatever it is, the best by text keep a share of the first places.
    """
    if scoring.fusion != "walk":
        return _by_rankings(board, found, way, weights, scoring)
    if way is None:
        return board
    first = board.first(KEPT)
    first = first[board.of(first) > 0]
    reached = board.add("graph", way.graph.memories, np.zeros(len(way.graph.memories)))
    influence = influence_of(weights["graph"], trust)
    boost = scoring.text_boost / (1.0 + scoring.text_boost)
    ranks = np.full(len(board.keys), UNREACHED)
    ranks[reached] = np.maximum(way.ranks, UNREACHED)
    board.scale(1.0 - influence + influence * boost * ranks)
    board.add("graph", board.keys, influence * (1.0 - boost) * ranks)
    if scoring.text_share > 0:
        kept = rows_among(board.keys, first)
        board.add("place", board.keys, raised(board.total, board.keys, kept, scoring.text_share))
    return board


def _by_rankings(
    board: Board, found: Mapping[str, Hits], way: Walked | None, weights: Mapping[str, float], scoring: RecallScoring
) -> Board:
    """The channels as rankings of equal standing: RRF, with the graph channel graded by its ranks, or z-scores."""
    lists = {name: (hits.keys, hits.values) for name, hits in found.items()}
    if "temporal" in board.parts:
        inside = board.keys[board.parts["temporal"] > 0]
        lists["temporal"] = (inside, np.ones(len(inside)))
    if way is not None:
        order = best_first(way.ranks, way.graph.memories, len(way.ranks))
        order = order[way.ranks[order] > 0]
        lists["graph"] = (way.graph.memories[order], way.ranks[order])
    ranked = Board(np.unique(np.concatenate([keys for keys, _ in lists.values()])))
    for name, (keys, scores) in lists.items():
        if scoring.fusion == "rrf":
            grades = scores if name == "graph" else np.ones(len(keys))
            contributions = grades / (RRF_K + np.arange(1, len(keys) + 1))
        else:
            contributions = standard_scores(scores, len(ranked.keys), FLOORS[name])
        ranked.add(name, keys, weights[name] * contributions)
    ranked.best_is_one()
    return ranked


def raised(scores: Floats, keys: Keys, first: Rows, share: float) -> Floats:
    """The increments of scores after which the i-th of the rows ``first`` is at place ⌈i / ``share``⌉ or better.

    ``share`` in (0, 1]. A raised row gets the mean of the two scores around its place; the others keep their scores and
    their order.
    """
    places = [math.ceil(number / share - _ROUNDING) for number in range(1, len(first) + 1)]
    ranked = best_first(scores, keys, places[-1]).tolist() if places else []
    now = scores.copy()
    for row, place in zip(first.tolist(), places, strict=True):
        if place > len(ranked) or row in ranked[:place]:
            continue
        above = now[ranked[place - 2]] if place > 1 else now[ranked[0]]
        now[row] = (above + now[ranked[place - 1]]) / 2.0
        ranked = [*ranked[: place - 1], row, *(each for each in ranked[place - 1 :] if each != row)]
    added: Floats = now - scores
    return added


def _why_nothing(request: RecallRequest, scored: int, best: Best) -> str:
    if not request.query.strip():
        return "nothing was asked"
    if best.with_text and best.relevance < best.floor:
        return f"nothing relevant: what is found comes to {best.relevance:.2f}, less than {best.floor:g}"
    if best.with_text:
        return f"none of {scored} memories scores {request.min_score:g} or more"
    if scored:
        return f"none of {scored} memories found has a text to show"
    return "no visible memory shares a word, a meaning or an entity with the question"


READ: Final = 4
"""The factor by which more memories than requested are read whole; feedback counts among these."""
LEAST_READ: Final = 50
JUDGED_BY: Final = 10
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
    fit = _relevance(lead, memories, board.keys[order], ranked[:JUDGED_BY], found, way, reader)
    floor = floor_of(request, scoring, dense=weights["semantic"] > 0)
    chosen = picked(ranked.tolist(), request, scores.item, lambda row: _text_of(memories[row])) if fit >= floor else []
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


def _text_of(memory: Memory) -> str:
    return f"{memory.subject}\n{memory.text}"


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


# -- scores by text ----------------------------------------------------------------------------------------------------

Terms = Callable[[str], Iterable[str]]
Place = tuple[int, str]
"""An occurrence of a term of the question in a text: its first character, and the term."""

LENGTH: Final = 480
"""Characters of a passage, of 60 to 80 words. 350 to 700 are as good."""
EXAMINED: Final = 20
"""Number of best memories by words that are examined: 50 are no better, and cost more than twice the time."""
LONGEST: Final = 20_000
"""Most characters of a memory that are examined."""
_KEPT: Final = 3
"""Least letters of the common prefix of all forms of a term: of a longer one all but its last, which may differ."""
CONVERSED: Final = 50
"""Number of best memories that are scored by time and adjacent turns."""
_PLAIN: Final = re.compile(r"\w+")
FLOORS: Final[Mapping[str, float | None]] = {"lexical": 0.0, "semantic": None, "temporal": 0.0, "graph": 0.0}
"""The score of a memory that a channel did not find: 0; by meaning, the least found."""


async def by_text(
    found: Mapping[str, Hits],
    analysis: Analysis,
    weights: Mapping[str, float],
    scoring: RecallScoring,
    reader: Reader,
) -> Board:
    """The scores of words and meaning, of time, and of the conversation; the best is 1."""
    board = _of_searches(found, weights)
    if weights["temporal"]:
        best = board.first(CONVERSED)
        board.add("temporal", best, weights["temporal"] * await _inside(best, analysis.periods, reader))
    best = board.first(CONVERSED)
    turn = await _around(best, reader)
    if len(turn.keys):
        own = board.of(turn.keys) * np.isin(turn.keys, best)
        board.add("conversation", turn.keys, _from_neighbours(turn, own, scoring))
        board.best_is_one()
        board.add("conversation", turn.keys, _together(turn, own, analysis.question, scoring))
    board.best_is_one()
    return board


def _of_searches(found: Mapping[str, Hits], weights: Mapping[str, float]) -> Board:
    """Words and meaning by z-scores over all that either found; the best is 1."""
    board = Board(np.unique(np.concatenate([hits.keys for hits in found.values()])))
    for name, hits in found.items():
        board.add(name, hits.keys, weights[name] * standard_scores(hits.values, len(board.keys), FLOORS[name]))
    if not board.total.any():  # all equal, for instance a single one
        for name, hits in found.items():
            board.add(name, hits.keys, np.full(len(hits), weights[name]))
    board.best_is_one()
    return board


async def _inside(keys: Keys, periods: tuple[AskedPeriod, ...], reader: Reader) -> Floats:
    """1 for memories of a time that the question names, else 0."""
    occurred = [memory.occurred_at for memory in await reader.memories(keys)]
    return np.array([any(_within(moment, period) for period in periods) for moment in occurred], np.float64)


def _within(moment: datetime | None, period: AskedPeriod) -> bool:
    if moment is None:
        return False
    begun = period.valid_from is None or period.valid_from <= moment
    return begun and (period.valid_to is None or moment < period.valid_to)


@attrs.frozen(eq=False, kw_only=True)
class _Conversation:
    """Turns, and the rows of those before and after each, `NONE` if not found."""

    keys: Keys
    before: Rows
    after: Rows
    memories: Sequence[Memory]


async def _around(keys: Keys, reader: Reader) -> _Conversation:
    """The memories that have others next to them in their session, with up to two turns before and after each."""
    first = await reader.turns(keys)
    places = KeyIndex(np.unique(np.concatenate((first.near, first.far))))
    second = await reader.turns(np.setdiff1d(places.keys, first.near))
    turns = Turns.concatenate([first, second])
    places.number(turns.far)
    near, far = places.of(turns.near), places.of(turns.far)
    before, after = (np.full(len(places), NONE, np.intp) for _ in range(2))
    for earlier, following, rows in ((far, near, ~turns.later), (near, far, turns.later)):
        before[following[rows]], after[earlier[rows]] = earlier[rows], following[rows]
    return _Conversation(keys=places.keys, before=before, after=after, memories=await reader.memories(places.keys))


def _from_neighbours(turn: _Conversation, scores: Floats, scoring: RecallScoring) -> Floats:
    """The scores that turns take from those around them; ``scores`` are 0 for turns only read as neighbours."""
    before, after = _take(scores, turn.before), _take(scores, turn.after)
    asks = np.zeros(len(scores) + 1, np.bool_)
    for row in np.flatnonzero(scores).tolist():  # others give nothing, whatever they ask
        asks[row] = turn.memories[row].text.rstrip().endswith("?")
    taken = np.where(asks[turn.before], scoring.answer, scoring.neighbour) * before + scoring.neighbour * after
    taken += scoring.second_neighbour * (_take(before, turn.before) + _take(after, turn.after))
    words = np.array([len(memory.text.split()) for memory in turn.memories], np.float64)
    short: Floats = np.minimum(1.0, scoring.context_words / words.clip(1.0))
    return short * taken


def _take(values: Floats, rows: Rows) -> Floats:
    """Values by row, 0 where there is none."""
    return np.append(values, 0.0)[rows]


def _together(turn: _Conversation, scores: Floats, query: str, scoring: RecallScoring) -> Floats:
    """The scores that turns take from their session as a whole, and for the one speaker that a question names.

    A session's is the share of the question that its found turns cover together, by idf; the best is 1.
    """
    wanted, (found,) = frozenset(terms(query)), scores.nonzero()
    sessions = dict[str, int]()
    session = np.array([sessions.setdefault(memory.session_id, len(sessions)) for memory in turn.memories], np.intp)
    holds = _holding(wanted, [_terms_in(searchable_text(turn.memories[row]), wanted) for row in found.tolist()])
    held = np.zeros((len(sessions), holds.shape[1]), np.bool_)
    np.logical_or.at(held, session[found], holds)
    covered = held @ _rarity(holds)
    speakers = [memory.speaker for memory in turn.memories]
    named = {speaker for speaker in dict.fromkeys(speakers) if not wanted.isdisjoint(terms(speaker))}
    spoken = np.array([len(named) == 1 and speaker in named for speaker in speakers], np.float64)
    best = covered.max(initial=0.0) or 1.0
    return scoring.session * covered[session] / best + scoring.speaker * spoken


def _terms_in(text: str, wanted: frozenset[str]) -> frozenset[str]:
    """The wanted terms of a text; of plain ASCII its words, which are several times faster and as good here."""
    if not text.isascii():
        return wanted.intersection(terms(text))
    text = text.lower()
    near = [term for term in wanted if term in text]  # most of a question is in no turn
    return wanted.intersection(_PLAIN.findall(text)) if near else frozenset()


async def by_passages(hits: Hits, question: str, share: float, reader: Reader) -> Hits:
    """The hits of words, with ``share`` of the scores of the best weighted by their best passage; best first."""
    if not share or not len(hits):
        return hits
    texts = [memory.text for memory in await reader.memories(hits.keys[:EXAMINED])]
    values = hits.values.copy()
    values[: len(texts)] *= 1.0 - share + share * np.array(passage_shares(texts, question, reader.analyser.terms))
    return attrs.evolve(hits, values=values).keep(np.lexsort((hits.keys, -compared(values))))


def passage_shares(texts: Sequence[str], question: str, terms: Terms) -> list[float]:
    """For each text, the share of its matching terms that its best passage contains, in (0, 1].

    Terms are weighted by rarity among the texts. 1 for a text that is no longer than a passage, or has no match.
    """
    if all(len(text) <= LENGTH for text in texts):
        return [1.0] * len(texts)
    wanted = frozenset(terms(question))
    find = _finder(wanted, terms)
    places = [find(text[:LONGEST].lower()) for text in texts]
    rare = _rarity(_holding(wanted, [{term for _, term in found} for found in places])).tolist()
    weights = dict(zip(sorted(wanted), rare, strict=True))
    return [
        best_passage(found, weights) if found and len(text) > LENGTH else 1.0
        for text, found in zip(texts, places, strict=True)
    ]


def best_passage(places: Sequence[Place], weights: Mapping[str, float]) -> float:
    """The greatest share of a text's matches, at sorted ``places``, within `LENGTH` characters."""
    held: Counter[str] = Counter()
    best = now = 0.0
    first = 0
    for start, term in places:
        now += 0.0 if held[term] else weights[term]
        held[term] += 1
        while places[first][0] <= start - LENGTH:
            passed = places[first][1]
            held[passed] -= 1
            now -= 0.0 if held[passed] else weights[passed]
            first += 1
        best = max(best, now)
    return min(1.0, best / sum(weights[term] for term in sorted(held)))


def _finder(wanted: frozenset[str], terms: Terms) -> Callable[[str], list[Place]]:
    """A pattern that finds the given terms in a lower-case text, by the prefix of their words.

    This is several times faster than to compute all of its terms. In scripts without spaces it finds none.
    """
    begins = sorted({re.escape(term[: max(_KEPT, len(term) - 1)]) for term in wanted}, reverse=True)
    word = re.compile(rf"(?:{'|'.join(begins)})\w*")
    terms_of = cache(lambda written: [term for term in terms(written) if term in wanted])

    def find(text: str) -> list[Place]:
        words = (each for each in word.finditer(text) if not text[max(0, each.start() - 1) : each.start()].isalnum())
        return list(chain.from_iterable(((each.start(), term) for term in terms_of(each[0])) for each in words))

    return find


def _holding(question: AbstractSet[str], texts: Sequence[AbstractSet[str]]) -> Mask:
    """Which texts have which terms of a question, of shape (texts, terms in order)."""
    ordered = sorted(question)
    return np.array([[term in each for term in ordered] for each in texts], np.bool_).reshape(len(texts), len(ordered))


def _rarity(holds: Mask) -> Floats:
    """The idf of each term among n texts of which m have it: ln(1 + (n − m + 0.5) / (m + 0.5)), above 0."""
    count = holds.sum(axis=0)
    rare: Floats = np.log1p((len(holds) - count + 0.5) / (count + 0.5))
    return rare

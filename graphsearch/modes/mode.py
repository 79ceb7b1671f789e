"""A search mode: three functions, of which two have defaults; the question that they are given, and its result.

    prepare  →  find, in a snapshot, where the best is read whole (`hydrate`)  →  conclude

Everything is read in the second, in one snapshot. Slow work, such as calls of a language model, is done in the first or
the last, when none is open: on a database each holds a connection. Between the first and the second the engine embeds
the question, and in the snapshot it interprets its words: that is the question's `meaning`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any, ClassVar, Final, Literal, TypeVar
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader, Request
from graphsearch.columns import Floats, Rows
from graphsearch.errors import MissingDependencyError
from graphsearch.model import Triplet, Vector
from graphsearch.modes.result import SearchRequest, SearchResult
from graphsearch.question.analysis import Anchor, AskedTime, History
from graphsearch.question.type_profile import TypeProfile
from graphsearch.question.understanding import QuestionVectors, Understanding, understand
from graphsearch.ranking.retrieval import Answer, Parts, find_around
from graphsearch.ranking.scores import picked
from graphsearch.ranking.triplet_score import Findings, best_triplets, read_connections
from graphsearch.text.rendering import triplet_line

Part = Literal["embedder", "llm"]


@attrs.frozen(eq=False, kw_only=True)
class Question:
    """A question to a mode.

    * ``request``: what is asked for. ``mode`` and ``parts``: what it is answered by, and with.
    * ``plan``: what `Mode.prepare` has made for `Mode.find`. ``vectors``: the question embedded, if the mode uses it.
    * ``meaning``: its names, relations, kind and time; None before `Mode.find`, for a blank question, and for modes
      that do not interpret words.
    """

    mode: Mode
    request: SearchRequest
    parts: Parts
    plan: Any = None
    vectors: QuestionVectors | None = None
    meaning: Understanding | None = None

    @property
    def vector(self) -> Vector | None:
        """The embedding of the question, if its meaning was found with one."""
        return None if self.meaning is None else self.meaning.vector


class Mode(ABC):
    """A way to answer a question. Registered under a name in the engine's ``modes``.

    * ``needs``: the parts of an engine that it requires; a mode that needs an LLM needs a gate too. ``uses``: those
      that it uses if they are there.
    * ``interprets``: whether the words of the question are interpreted for it.
    """

    needs: ClassVar[frozenset[Part]] = frozenset()
    uses: ClassVar[frozenset[Part]] = frozenset()
    interprets: ClassVar[bool] = True

    async def prepare(self, question: Question) -> Question:
        """The question whose snapshot is opened then; by default as it is."""
        return question

    @abstractmethod
    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find relations and score them, reading only through the reader."""

    async def conclude(self, found: SearchResult, question: Question) -> SearchResult:  # noqa: ARG002 - of modes that do
        """The result as it is returned, when the snapshot is closed; by default as it was found."""
        return found


T = TypeVar("T")


def require(part: Part, given: T | None, mode: str) -> T:
    """A part that a mode requires. Raises `MissingDependencyError` with the mode, the part, and how to pass it."""
    if given is None:
        without = "; the mode 'neighborhood' works without one" if part == "embedder" else ""
        raise MissingDependencyError(
            f"the mode {str(mode)!r} needs an {part}: GraphSearchEngine(store=…, {part}=…){without}"
        )
    return given


def require_gate(gate: Gate | None, mode: str) -> None:
    """Raise `MissingDependencyError` without a gate: what goes to a language model must have passed one."""
    if gate is None:
        raise MissingDependencyError(
            f"the mode {str(mode)!r} shows parts of the graph to a language model, and needs a gate: search(…,"
            " gate=Gate(authorizer, principal)), or gate=ALLOW_ALL where all of it may be shown"
        )


async def embedded(request: Request, parts: Parts) -> QuestionVectors | None:
    """Embed a question with the words that it probably asks with; None if it is blank, or without an embedder."""
    phrases = parts.caches.phrases
    if phrases is None or not request.query.strip():
        return None
    with parts.stopwatch.stage("embedding"):
        return await phrases.of_question(request.query)


async def understood(
    request: Request, vectors: QuestionVectors | None, parts: Parts, reader: Reader
) -> Understanding | None:
    """Find what a question means in a snapshot: its names, relations, kind and time; None if it is blank."""
    if not request.query.strip():
        return None
    with parts.stopwatch.stage("understanding"):
        profile = await profile_of(request, parts, reader)
        return await understand(request.query, reader, profile, vectors, as_of=request.as_of)


async def profile_of(request: Request, parts: Parts, reader: Reader) -> TypeProfile:
    """The relation types of what a request may see, and how they are worded."""
    open_apart = partial(parts.open, request)
    return await parts.caches.profiles.profile(reader, request.gate, request.known_at, open_apart)


class GraphCompletion(Mode):
    """Candidates around named and nearest entities and by facts, scored by relevance.

    Of a traversal that ranks entities, such as PageRank, the ranks count as well, and nothing else is a candidate.
    """

    needs: ClassVar[frozenset[Part]] = frozenset({"embedder"})

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score candidates."""
        asked = question.request
        return await find_around(
            question.meaning, question.parts, reader, limit=asked.limit, seeds=asked.seeds, depth=asked.depth
        )


class TripletCompletion(Mode):
    """Relations by their facts: near in meaning or in words, each scored independently.

    Facts are found by meaning only if they were embedded: see `graphsearch.ingest.Ingestor`.
    """

    needs: ClassVar[frozenset[Part]] = frozenset({"embedder"})

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score candidates."""
        limit = question.request.limit
        return await find_around(question.meaning, question.parts, reader, limit=limit, seeds=0, depth=None)


class Neighborhood(Mode):
    """Named entities as anchors, then the traversal, then scores by relevance, and connections."""

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score candidates."""
        asked = question.request
        return await find_around(
            question.meaning, question.parts, reader, limit=asked.limit, seeds=0, depth=asked.max_hops
        )


READ: Final = 4
"""The factor by which more triplets than requested are read, at least `LEAST_READ`, to pick diverse ones."""
LEAST_READ: Final = 50


async def hydrate(answer: Answer, question: Question, reader: Reader) -> SearchResult:
    """Read the best of what was found whole, in the order in which it is shown."""
    request, meant, found = question.request, question.meaning, answer.findings
    with question.parts.stopwatch.stage("hydration"):
        triplets = await _chosen(answer, question, reader)
        order = printed_order(found, triplets, reader)
        connections = await read_connections(answer.connected, found.subgraph, request.limit, request.floor, reader)
        left_out = answer.left_out
        if left_out is None:
            left_out = await reader.left_out(found.subgraph.seeds())
    scores = found.answering
    scored = len(scores)
    return SearchResult(
        query=request.query,
        mode=request.mode,
        triplets=tuple(triplets),
        anchors=answer.anchors,
        connections=connections,
        as_of=reader.view.as_of,
        known_at=reader.view.known_at,
        found=scored,
        below_floor=int(np.count_nonzero(scores < request.floor)),
        denied=reader.denied,
        denied_by=await reader.denied_by(),
        left_out=left_out,
        reason="" if triplets else why_nothing(answer, request, scored),
        timings=question.parts.stopwatch.milliseconds,
        prompt_order=order,
        subjects=answer.subjects if triplets else (),
        interpretation=None if meant is None else meant.interpretation,
    )


async def _chosen(answer: Answer, question: Question, reader: Reader) -> list[Triplet]:
    """The best triplets, in the order of time where a history is asked for.

    With ``diversity`` they are those that repeat the earlier ones least, in the order of the picks.
    """
    request, found, meant = question.request, answer.findings, question.meaning
    history = meant is not None and meant.time.history not in (History.NONE, History.DONE)
    wide = request.limit if not history else max(LEAST_READ, request.limit)
    if request.diversity:
        wide = max(LEAST_READ, READ * request.limit)
    triplets = await best_triplets(found, wide, reader, min_score=request.floor)
    if request.diversity:
        triplets = picked(triplets, request, lambda each: each.score, triplet_line)
    if meant is not None and history:
        triplets = order_by_time(triplets, meant.time, answer.anchors, reader.view.as_of)
    return triplets[: request.limit]


def why_nothing(answer: Answer, request: SearchRequest, scored: int) -> str:
    """The reason why no triplet is shown, which does not distinguish hidden from absent elements."""
    if not request.query.strip():
        return "nothing was asked"
    if scored:
        return f"none of {scored} relations scores {request.floor:g} or more"
    return answer.nothing


def printed_order(found: Findings, triplets: Sequence[Triplet], reader: Reader) -> tuple[int, ...] | None:
    """Indexes of the triplets, causes before effects, if PageRank found them; None to keep the order of scores.

    The order follows from all relations of the subgraph whose type is causal, shown or not.
    """
    graph = found.subgraph
    if graph.rank is None:
        return None
    types = [reader.signatures.types[row] for row in graph.signatures.tolist()]
    causal = np.array([each.causal for each in types], dtype=np.bool_)
    effect_first = np.array([each.effect_first for each in types], dtype=np.bool_)
    causes = np.where(effect_first, graph.target, graph.source)[causal]
    effects = np.where(effect_first, graph.source, graph.target)[causal]
    ranks = topological_ranks(len(graph.entities), causes, effects, graph.confidence[causal])
    row_of = {id_: row for row, id_ in enumerate(reader.entity_ids(graph.entities))}
    ends = [(row_of[triplet.source.id], row_of[triplet.target.id]) for triplet in triplets]
    links = [
        (target, source) if reader.type_of(triplet.relation.type).effect_first else (source, target)
        for triplet, (source, target) in zip(triplets, ends, strict=True)
    ]
    return prompt_order(links, ranks)


Link = tuple[int, int]
"""From a cause to its effect, both rows."""


def topological_ranks(entities: int, causes: Rows, effects: Rows, confidence: Floats) -> list[int]:
    """For each of ``entities`` rows, the length of the longest chain of causes that leads to it; 0 without one.

    Column i is a causal relation from row ``causes[i]`` to row ``effects[i]``. Every cycle is broken at its relation of
    the lowest confidence; of equal ones, at the one from, then to, the later row.
    """
    before: list[list[int]] = [[] for _ in range(entities)]
    for cause, effect in _acyclic(causes, effects, confidence):
        before[effect].append(cause)
    ranks = [0] * entities
    for entity in TopologicalSorter(dict(enumerate(before))).static_order():
        ranks[entity] = max((ranks[cause] + 1 for cause in before[entity]), default=0)
    return ranks


def prompt_order(links: Iterable[Link], ranks: Sequence[int]) -> tuple[int, ...]:
    """The links in order of the topological rank of their source, ties by row, then likewise of their target.

    As indexes into ``links``; rows are by descending PageRank. Links between the same entities keep their order.
    """
    place = [(rank, row) for row, rank in enumerate(ranks)]
    given = list(links)
    return tuple(sorted(range(len(given)), key=lambda index: tuple(place[row] for row in given[index])))


def _acyclic(causes: Rows, effects: Rows, confidence: Floats) -> list[Link]:
    """The most confident links first, each unless it closes a cycle: so a cycle loses its least confident link."""
    surest = sorted(zip((-confidence).tolist(), causes.tolist(), effects.tolist(), strict=True))
    kept: dict[Link, None] = {}
    after: dict[int, list[int]] = {}
    for _, cause, effect in surest:
        if (cause, effect) not in kept and not _leads(effect, cause, after):
            kept[cause, effect] = None
            after.setdefault(cause, []).append(effect)
    return list(kept)


def _leads(start: int, goal: int, after: dict[int, list[int]]) -> bool:
    """Whether one entity can be reached from another, or they are the same."""
    seen, waiting = {start}, [start]
    while waiting and goal not in seen:
        further = [each for each in after.get(waiting.pop(), ()) if each not in seen]
        seen.update(further)
        waiting += further
    return goal in seen


_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max.replace(tzinfo=UTC)


def order_by_time(
    triplets: Sequence[Triplet], time: AskedTime, anchors: Sequence[Anchor], as_of: datetime
) -> list[Triplet]:
    """Put the periods of the best relation first, in the order of time, where a question asks for a history.

    They are the triplets of one type that share an end which the question names. What is over comes before what holds
    if that alone was asked for ("previous owners"), and what came before or after a name if that was ("before Adyen").
    A list ("all owners") is a history only of a relation that has one value at a time here, else of what holds.
    """
    pivots = _pivots(time, anchors)
    periods, others = _periods(triplets, {each.entity_id for each in anchors}, pivots)
    if time.history is History.LIST and (not periods or _overlap(periods)):
        return [each for each in triplets if _holds(each, as_of)]
    known = [_start(each) for each, other in zip(periods, others, strict=True) if other in pivots]

    def asked(triplet: Triplet) -> bool:
        if known and time.history is History.BEFORE:
            return _start(triplet) < max(known)
        if known and time.history is History.AFTER:
            return _start(triplet) > min(known)
        return time.history not in (History.PAST, History.BEFORE) or not _holds(triplet, as_of)

    first = sorted(periods, key=lambda each: (not asked(each), _start(each)))
    return first + [each for each in triplets if all(each is not other for other in first)]


def _pivots(time: AskedTime, anchors: Sequence[Anchor]) -> frozenset[UUID]:
    """The entities that a question names behind "before" or "after"; of "Marco's predecessor" any that it names."""
    if time.history not in (History.BEFORE, History.AFTER):
        return frozenset()
    return frozenset(
        each.entity_id for each in anchors if time.pivot is None or any(start == time.pivot for start, _ in each.spans)
    )


def _periods(
    triplets: Sequence[Triplet], named: set[UUID], pivots: frozenset[UUID]
) -> tuple[list[Triplet], list[UUID]]:
    """The triplets of a type that share a named end, or the end across from a pivot, and their other ends.

    They are those of the first triplet for which there are several.
    """
    for each in triplets:
        best: tuple[list[Triplet], list[UUID]] = ([], [])
        for place, end in enumerate(_ends(each)):
            if (end in named and end not in pivots) or _ends(each)[1 - place] in pivots:
                same = [it for it in triplets if it.relation.type == each.relation.type and _ends(it)[place] == end]
                best = max(best, (same, [_ends(it)[1 - place] for it in same]), key=lambda found: len(found[0]))
        if len(best[0]) > 1:
            return best
    return [], []


def _ends(triplet: Triplet) -> tuple[UUID, UUID]:
    return triplet.source.id, triplet.target.id


def _start(triplet: Triplet) -> datetime:
    """When it began; what only has an end began before everything, what has neither holds and comes last."""
    relation = triplet.relation
    return relation.valid_from or (_EARLIEST if relation.valid_to else _LATEST)


def _holds(triplet: Triplet, as_of: datetime) -> bool:
    return triplet.relation.valid_to is None or as_of < triplet.relation.valid_to


def _overlap(periods: Sequence[Triplet]) -> bool:
    """Whether two of some periods may hold at one moment; one of an unknown start may have begun at any."""
    known = sorted((each.relation.valid_from or _EARLIEST, each.relation.valid_to or _LATEST) for each in periods)
    return any(end > start for (_, end), (start, _) in pairwise(known))

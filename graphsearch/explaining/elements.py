"""Explain why a memory was, or was not, recalled, an entity ranked, or a relation shown, for a question.

An explanation asks the same question again, and reads the parts of what it finds; for what was kept out by a filter, or
by the reach of a search, it asks a wider one.

Also how an element came about: the memories that state a relation, in which words; the sessions that moved its weight.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any, Final, TypeVar
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader, Request, reading
from graphsearch.access.references import known
from graphsearch.claims.folding import confidence_within, group_of, surest_claims
from graphsearch.display.printing import Displayed
from graphsearch.errors import UnknownElementError
from graphsearch.model import (
    ALPHA,
    Claim,
    ElementKind,
    ElementRef,
    Entity,
    Memory,
    Outcome,
    Relation,
    ScorePart,
    Triplet,
    TripletScore,
    View,
)
from graphsearch.model import validation as check
from graphsearch.model.identity import id_or_name
from graphsearch.modes.mode import Question, hydrate
from graphsearch.protocols import Traversal
from graphsearch.question.understanding import Understanding, at_time_asked
from graphsearch.ranking.entity_ranking import (
    FoundEntity,
    RankingWeights,
    RankRequest,
    analysed,
    chosen,
    propose,
    scored,
)
from graphsearch.ranking.recall_result import (
    ChannelName,
    RecalledMemory,
    RecallRequest,
    RecallResult,
    RecallScoring,
    Workload,
)
from graphsearch.ranking.retrieval import Parts
from graphsearch.ranking.triplet_score import Findings, best_triplets
from graphsearch.stores.graph import GraphStore
from graphsearch.text.rendering import entity_name, memory_line, safe_text, short_triplet_line

# -- how it came about -------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Proof:
    """The proof of a relation by one memory.

    * ``claim``: None for a memory that was asserted as evidence without a claim.
    * ``quote``: the words of the memory that the claim was read from; empty without a span or a stored text.
    * ``extractor`` and ``pattern``: what read it, by which rule; empty if the claim does not record it.
    * ``adds``: by how much it raises the relation's confidence, after those before it. Of several claims of one memory
      the most confident counts.
    """

    memory: Memory
    claim: Claim | None = None
    quote: str = ""
    extractor: str = ""
    pattern: str = ""
    adds: float = 0.0


@attrs.frozen(kw_only=True)
class Provenance:
    """A relation, its ends, and its proofs, in the order of the fold.

    ``relation.confidence`` is 1 − Π(1 − c) over the most confident claim of each memory, co-occurrence capped at 0.65:
    the sum of what the ``proofs`` add. Without claims it is the asserted one: then ``given`` is that confidence,
    otherwise 0.
    """

    source: Entity
    relation: Relation
    target: Entity
    proofs: tuple[Proof, ...]
    given: float


async def why(relation_id: UUID, reader: Reader) -> Provenance:
    """The provenance of a relation as far as visible: hidden memories are left out, and add nothing.

    Raises `UnknownElementError` if there is no such relation, or it is hidden: the error does not distinguish the two.
    """
    relation = await reader.relation(relation_id)
    if relation is None:
        raise UnknownElementError(f"no relation {relation_id} in {reader.scope}")
    ends = {end.id: end for end in await reader.get_entities([relation.source_id, relation.target_id])}
    visible = set(relation.evidence)
    # by its group, not by its id: a hidden memory may have given it another period
    group_claims = await reader.claims(groups=[group_of(relation, reader.types)])
    claims = [claim for claim in group_claims if claim.memory_id in visible and claim.target_id == relation.target_id]
    memories = {memory.id: memory for memory in await reader.get_memories(sorted(visible))}
    silent = [Proof(memory=memories[id_]) for id_ in sorted(memories.keys() - {claim.memory_id for claim in claims})]
    return Provenance(
        source=ends[relation.source_id],
        relation=relation,
        target=ends[relation.target_id],
        proofs=(*_proofs(claims, memories), *silent),
        given=0.0 if claims else relation.confidence,
    )


def _proofs(claims: Sequence[Claim], memories: dict[str, Memory]) -> list[Proof]:
    """A proof for each claim, with what it adds."""
    surest = surest_claims(claims)
    counted: list[Claim] = []
    proofs = []
    for claim in claims:
        before = confidence_within(counted)
        if surest[claim.memory_id] is claim:
            counted.append(claim)
        memory, read_by = memories[claim.memory_id], claim.extractor  # written "extractor:pattern"
        extractor, _, pattern = read_by.rpartition(":") if ":" in read_by else (read_by, "", "")
        quote = memory.text[claim.span.start : claim.span.end] if claim.span else ""
        adds = confidence_within(counted) - before
        proofs.append(Proof(memory=memory, claim=claim, quote=quote, extractor=extractor, pattern=pattern, adds=adds))
    return proofs


LATEST: Final = 50
"""The most outcomes that are listed: the log of each session is read for them."""


@attrs.frozen(kw_only=True)
class WeightChange:
    """The outcome of a session that was shown an element, and its weight then.

    * ``session_id``: empty where another principal opened the session.
    * ``shown_at``: when it was last shown the element; None where the log does not say so any more.
    """

    session_id: str
    shown_at: datetime | None
    outcome: Outcome
    weight: float


async def visible(element: ElementRef, reader: Reader) -> Entity | Relation | Memory:
    """The element, whether it passes the view or not.

    Raises `UnknownElementError` if there is none, or it is hidden: the error does not distinguish the two.
    """
    found: Entity | Relation | Memory | None
    named = id_or_name(element.id)
    match element.kind:
        case ElementKind.ENTITY:
            return await known(named, reader)
        case ElementKind.RELATION:
            found = await reader.relation(named) if isinstance(named, UUID) else None
        case ElementKind.MEMORY:
            found = await reader.memory(element.id)
    if found is None:
        raise UnknownElementError(f"no {element.kind} {element.id!r} in {reader.scope}")
    return found


async def weight_history(
    element: Entity | Relation | Memory, store: GraphStore, gate: Gate
) -> tuple[WeightChange, ...]:
    """The last outcomes for an element that the principal may see, the oldest first.

    Weights are computed backwards from the present one, which the principal sees with the element. A session counts for
    whatever it was shown: that it was shown something hidden, too, changes nothing here.
    """
    kind = {Entity: ElementKind.ENTITY, Relation: ElementKind.RELATION, Memory: ElementKind.MEMORY}[type(element)]
    ref, weight = ElementRef(kind, str(element.id)), element.feedback_weight
    changes = []
    for record in reversed((await store.outcomes([ref]))[-LATEST:]):
        logged = await store.injections(record.session_id)
        own = gate.allows_all or any(each.principal == gate.principal.qualified_id for each in logged)
        changes.append(
            WeightChange(
                session_id=record.session_id if own else "",
                shown_at=max((each.created_at for each in logged if ref in each.elements), default=None),
                outcome=record.outcome,
                weight=weight,
            )
        )
        weight = min(max((weight - ALPHA * record.outcome.value) / (1.0 - ALPHA), 0.0), 1.0)
    return tuple(reversed(changes))


# -- why it is an answer, or not ---------------------------------------------------------------------------------------


class KeptOut(StrEnum):
    """The filter, or the rank, that kept an element out of an answer."""

    NOT_KNOWN = "not_known"
    """Written after ``known_at``, or retracted before it."""
    NOT_HELD = "not_held"
    """Not valid at ``as_of``."""
    LOW_CONFIDENCE = "low_confidence"
    SKIPPED_TYPE = "skipped_type"
    NOT_FOUND = "not_found"
    """No seed leads to it, or no search finds it."""
    CANDIDATES = "candidates"
    """Found, but not among the candidates that are examined."""
    NO_TEXT = "no_text"
    """A memory without a stored text: there is nothing to show."""
    MIN_SCORE = "min_score"
    MIN_RELEVANCE = "min_relevance"
    """Left out with everything else: the results are not relevant enough to the question."""
    DIVERSITY = "diversity"
    """Too similar to others that were shown."""
    RANK = "rank"
    """Scored, but beyond the limit."""


@attrs.frozen(kw_only=True)
class Explanation(Displayed):
    """Why an element was shown, or not.

    * ``mode``: the search mode; "recall" for a memory; the ranking for an entity.
    * ``rank``: from 1, among the ``of`` scored elements; None if it is not among them.
    * ``score``: in [0, 1]; of an element that is not among them, the score it would have: 0 if it does not hold.
    * ``parts``: value × weight = contribution, adding up to the score.
    * ``kept_out``: None if it was shown. ``reason`` states the same in words.
    * ``found``: the triplet with its score, the memory with its channels, or the entity with its connections; None
      for memories and entities that have no score.
    """

    element: ElementRef
    query: str
    mode: str
    rank: int | None
    of: int
    score: float
    parts: tuple[ScorePart, ...]
    kept_out: KeptOut | None
    reason: str
    found: Triplet | RecalledMemory | FoundEntity | None

    @property
    def triplet(self) -> Triplet | None:
        """The triplet found for a relation, with the numbers that its factors come from."""
        return self.found if isinstance(self.found, Triplet) else None

    def __str__(self) -> str:
        parts = (
            f"  {each.name}: {each.value:.4f} × {each.weight:.4f} = {each.contribution:.4f}" for each in self.parts
        )
        return "\n".join([f"{self._name()}: {self.reason}", *parts, f"  score: {self.score:.4f}"])

    def _name(self) -> str:
        if isinstance(self.found, Triplet):
            return short_triplet_line(self.found).removeprefix("- ")
        if isinstance(self.found, FoundEntity):
            return entity_name(self.found.entity)
        text = memory_line(self.found.memory).removeprefix("- ") if isinstance(self.found, RecalledMemory) else ""
        return text or f"{self.element.kind.value} {safe_text(self.element.id)}"


Verdict = tuple[KeptOut | None, str]
"""What kept an element out, None if it was shown, and the same in words."""


def verdict(rank: int, score: float, request: Request, *, shown: bool) -> Verdict:
    """The verdict on a ranked element, from what was asked for."""
    limit, min_score = request.limit, request.min_score
    if shown:
        return None, f"shown: rank {rank} of the {limit} asked for"
    if score < min_score:
        return KeptOut.MIN_SCORE, f"its score {score:.4f} is below the least asked for, {min_score:g}"
    if rank > limit:
        return KeptOut.RANK, f"scored, but rank {rank} lies beyond the {limit} asked for"
    if request.diversity:
        return KeptOut.DIVERSITY, f"rank {rank}, but too like others that are shown"
    return KeptOut.CANDIDATES, f"rank {rank} by what was learnt, but not among those for which that is looked at"


def of_another_time(element: Memory | Entity | Relation, view: View) -> Verdict | None:
    """The verdict on what was not known at the time of a view, or does not hold at it."""
    retracted = element.retracted_at if isinstance(element, Relation) else None
    if not view.known(element.created_at, retracted):
        life = f"created {element.created_at}" + (f", retracted {retracted}" if retracted else "")
        return KeptOut.NOT_KNOWN, f"not known at {view.known_at.isoformat()}: {life}"
    if isinstance(element, Memory):
        start, end, period = element.occurred_at, None, f"it occurred {element.occurred_at}"
    else:
        start, end = element.valid_from, element.valid_to
        period = f"from {start} to {end}"
    if not view.holds(start, end):
        looked_at = f"from {view.since.isoformat()} to " if view.since else "at "
        return KeptOut.NOT_HELD, f"does not hold {looked_at}{view.as_of.isoformat()}: {period}"
    return None


def explained(
    element: ElementRef,
    query: str,
    mode: str,
    of: int,
    became: Verdict,
    found: Triplet | RecalledMemory | FoundEntity | None = None,
    rank: int | None = None,
) -> Explanation:
    """The explanation of an element by its verdict, with the parts of what was found.

    What has no score has one part: what it was not, such as "known" or "held".
    """
    why, reason = became
    has_score = found is not None and (rank is not None or found.score > 0)
    missing = ScorePart(name=str(why).removeprefix("not_"), value=0.0, weight=1.0)
    return Explanation(
        element=element,
        query=query,
        mode=mode,
        rank=rank,
        of=of,
        score=found.score if found else 0.0,
        parts=found.parts if found and has_score else (missing,),
        kept_out=why,
        reason=reason,
        found=found,
    )


Explained = TypeVar("Explained", bound=Request)


@attrs.frozen(kw_only=True)
class ExplainRequest:
    """One element to explain as part of an answer, with the options of that: its defaults where they are None.

    * ``element``: a relation or an entity by its id, a memory by its id as text, or any of them by `ElementRef`, in
      which an entity's id may be its name.

    The options of a relation are those of `SearchRequest`, of a memory `RecallRequest`, of an entity `RankRequest`.
    """

    query: str = attrs.field(kw_only=False)
    element: ElementRef | UUID | str = attrs.field(kw_only=False)
    limit: int | None = None
    min_score: float | None = None
    diversity: float | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    gate: Gate | None = None
    mode: str | None = None
    seeds: int | None = None
    depth: int | None = None
    max_hops: int | None = None
    since: datetime | None = None
    min_edge_confidence: float | None = None
    skip_types: Collection[str] | None = None
    traversal: Traversal | str | None = None
    channels: tuple[ChannelName, ...] | None = None
    min_relevance: float | None = None
    health: float | None = None
    workload: Workload | str | None = None
    ranking: str | None = None
    weights: RankingWeights | None = None
    candidates: int | None = None

    def of(self, answer: type[Explained], kind: ElementKind) -> Explained:
        """The request for the answer that is explained. Raises `InvalidInputError` for options that it has not."""
        given = {name: value for name in attrs.fields_dict(type(self)) if (value := getattr(self, name)) is not None}
        del given["element"]
        others = [name for name in given if name not in attrs.fields_dict(answer)]
        check.refuse(f"explanation of a {kind}", *(f"{name!r} is no option of it" for name in others))
        return answer(**given)


async def pointed_at(element: ElementRef | UUID | str, store: GraphStore, gate: Gate | None) -> ElementRef:
    """What somebody points at: a relation or an entity by its id, a memory by its id as text.

    Raises `UnknownElementError` for an id that no relation and no entity has that may be seen: what is hidden must not
    even tell what it is.
    """
    match element:
        case ElementRef():
            return element
        case str():
            return ElementRef(ElementKind.MEMORY, element)
    async with reading(store, gate=gate) as reader:
        if await reader.relation(element):
            return ElementRef(ElementKind.RELATION, str(element))
        try:
            await known(element, reader)
        except UnknownElementError as error:
            raise UnknownElementError(f"no relation and no entity {element} in {store.scope}") from error
        return ElementRef(ElementKind.ENTITY, str(element))


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

"""The explanation of an element of any kind."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum
from typing import TypeVar
from uuid import UUID

import attrs

from graphsearch.access.gate import Gate
from graphsearch.access.reader import reading
from graphsearch.access.references import known
from graphsearch.access.request import Request
from graphsearch.display.printing import Displayed
from graphsearch.errors import UnknownElementError
from graphsearch.model import ElementKind, ElementRef, Entity, Memory, Relation, ScorePart, Triplet, View
from graphsearch.model import validation as check
from graphsearch.protocols import Traversal
from graphsearch.ranking.entities.options import RankingWeights
from graphsearch.ranking.entities.result import FoundEntity
from graphsearch.ranking.memories.options import ChannelName, Workload
from graphsearch.ranking.memories.result import RecalledMemory
from graphsearch.stores.graph import GraphStore
from graphsearch.text.rendering import entity_name, memory_line, safe_text, short_triplet_line


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

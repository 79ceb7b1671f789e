"""One question at two moments: what of its answer appeared, ended or changed places, and when its answer changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader, reading
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Memory, Relation, View
from graphsearch.modes.result import SearchMode, SearchResult
from graphsearch.page.rows import DIGITS, RelationRow, relation_row
from graphsearch.stores.graph import GraphStore

_AROUND: Final = 5
"""The most entities whose relations are looked at for moments."""
_RELATIONS: Final = 200
"""The most relations of each, the first by id."""
_MOMENTS: Final = 50


class Happened(StrEnum):
    """What became of a relation among the results, from one moment to the other."""

    APPEARED = "appeared"
    """It holds at the second alone."""
    ROSE = "rose"
    """It is among the results at the second alone, and holds at both."""
    ENDED = "ended"
    """It holds at the first alone."""
    FELL = "fell"
    """It is among the results at the first alone, and holds at both."""
    STAYED = "stayed"
    """It is among the results at both."""


@attrs.frozen(kw_only=True)
class Placed:
    """The place of a relation among the results, from 1, and its score."""

    place: int
    score: float


@attrs.frozen(kw_only=True)
class Change:
    """A relation among the results at either moment, as the second shows it, or else the first."""

    happened: Happened
    relation: RelationRow
    before: Placed | None
    after: Placed | None


@attrs.frozen(kw_only=True)
class Moment:
    """A time at which the answer may change: how many relations begin, end, and were written down then."""

    at: datetime
    started: int
    ended: int
    known: int


@attrs.frozen(kw_only=True)
class Changes:
    """What became of the answer to a question from ``since`` to ``until``, as known at ``known_at``.

    * ``relations``: those among the results at either moment, by what happened, then by score.
    * ``moments``: at most 50, in order: those of relations that are shown first, then the latest.
    * ``unknown``: how many of the relations around the question were written down after ``known_at``.
    """

    query: str
    since: datetime
    until: datetime
    known_at: datetime
    relations: tuple[Change, ...]
    moments: tuple[Moment, ...]
    unknown: int


async def changes(
    engine: GraphSearchEngine,
    *,
    query: str,
    since: datetime | None = None,
    until: datetime | None = None,
    known_at: datetime | None = None,
    limit: int = 10,
    mode: str = SearchMode.GRAPH_COMPLETION,
    gate: Gate | None = None,
) -> Changes:
    """Answer a question at two moments: what appeared, ended or changed places, and when its answer changes.

    ``until`` defaults to now, ``since`` to the last moment but one before it, or just before the
    only one. Either may be the later one.
    """

    async def asked(as_of: datetime | None) -> SearchResult:
        return await engine.search(query, limit=limit, mode=mode, as_of=as_of, known_at=known_at, gate=gate)

    async with engine.store.snapshot():
        after = await asked(until)
        async with reading(engine.store, gate=gate) as reader:
            around = await _around(after, engine.store, reader)
            memories = {each.id: each for each in await reader.get_memories(sorted(_proofs(around)))}
        known = [each for each in around if (at := _written(each, memories)) is None or at <= after.known_at]
        turns = sorted({at for each in known for at in (each.valid_from, each.valid_to) if at and at <= after.as_of})
        begun = [turns[0] - timedelta(seconds=1), *turns] if turns else [after.as_of]
        before = await asked(since or begun[-2:][0])
    found = _compared(before, after)
    return Changes(
        query=query,
        since=before.as_of,
        until=after.as_of,
        known_at=after.known_at,
        relations=tuple(found),
        moments=_moments(around, memories, {each.relation.id for each in (*before.triplets, *after.triplets)}),
        unknown=len(around) - len(known),
    )


async def _around(found: SearchResult, store: GraphStore, reader: Reader) -> list[Relation]:
    """The visible relations of any time around what a question names, or else around the best of what was found."""
    named = [*dict.fromkeys(each.entity_id for each in found.anchors)] or [each.id for each in found.entities]
    relations: dict[UUID, Relation] = {}
    for id_ in named[:_AROUND]:
        stored = await store.list_relations(entity_id=id_, limit=_RELATIONS)
        relations |= {each.id: each for each in await reader.shown(stored)}
    view = reader.view
    return [
        each
        for each in relations.values()
        if each.type not in view.skipped_types and each.confidence >= view.min_edge_confidence
    ]


def _compared(before: SearchResult, after: SearchResult) -> list[Change]:
    """The relations of two results, by what happened to them, then by score."""
    shown = {each.relation.id: each for each in (*before.triplets, *after.triplets)}
    ones, others = _placed(before), _placed(after)
    changes = [
        Change(
            happened=_happened(each.relation, before, after, was=id_ in ones, is_now=id_ in others),
            relation=relation_row(each),
            before=ones.get(id_),
            after=others.get(id_),
        )
        for id_, each in shown.items()
    ]
    order = [*Happened]
    return sorted(changes, key=lambda each: (order.index(each.happened), -each.relation.score))


def _placed(found: SearchResult) -> Mapping[UUID, Placed]:
    return {
        each.relation.id: Placed(place=place, score=round(each.score, DIGITS))
        for place, each in enumerate(found.triplets, 1)
    }


def _happened(relation: Relation, before: SearchResult, after: SearchResult, *, was: bool, is_now: bool) -> Happened:
    before_view, after_view = (View(each.as_of, each.known_at) for each in (before, after))
    period = relation.valid_from, relation.valid_to
    if was and is_now:
        return Happened.STAYED
    if is_now:
        return Happened.ROSE if before_view.holds(*period) else Happened.APPEARED
    return Happened.FELL if after_view.holds(*period) else Happened.ENDED


def _proofs(relations: Iterable[Relation]) -> set[str]:
    return {id_ for each in relations for id_ in each.evidence}


def _written(relation: Relation, memories: Mapping[str, Memory]) -> datetime | None:
    """When the first of the visible memories of a relation was written, or else the relation itself."""
    times = [memories[id_].created_at for id_ in relation.evidence if id_ in memories]
    return min(filter(None, times), default=relation.created_at)


def _moments(around: Iterable[Relation], memories: Mapping[str, Memory], shown: Container[UUID]) -> tuple[Moment, ...]:
    """The times at which relations begin, end or were written: those of relations that are shown, then the latest."""
    counts: dict[datetime, Counter[str]] = defaultdict(Counter)
    for each in around:
        times = {"started": each.valid_from, "ended": each.valid_to, "known": _written(each, memories)}
        for name, at in times.items():
            if at is not None:
                counts[at][name] += 1
                counts[at]["shown"] += each.id in shown
    kept = sorted(counts, key=lambda at: (counts[at]["shown"] > 0, at))[-_MOMENTS:]
    return tuple(
        Moment(at=at, started=counts[at]["started"], ended=counts[at]["ended"], known=counts[at]["known"])
        for at in sorted(kept)
    )

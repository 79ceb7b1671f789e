"""Histories: what answers a question about the past, in the order of time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final
from uuid import UUID

from graphsearch.model import Triplet
from graphsearch.question.asked_time import AskedTime, History
from graphsearch.question.question_names import Anchor

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

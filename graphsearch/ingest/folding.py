"""Claims to relations: a pure fold, so that the order in which memories arrive does not matter (design 2).

The claims of one source and type are taken in the order (occurred_at, memory id); a memory of no known time comes
first. Each claim supports a period or opens one:

* without dates, the period that holds when its memory occurred, else a new one from there;
* with a start, the period that holds at that start, else a new one from there, which takes in the later periods that
  start inside of it: those of one target never overlap;
* with an end alone, the period that runs up to that end, else a new one with an open start.

A functional type has one target at a time: a period ends where the next one of another target starts. Two targets
that start at the same instant contradict each other, and both are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, Protocol
from uuid import UUID

import attrs

from graphsearch.model import Claim, EdgeKind, Relation, RelationType
from graphsearch.records import Group

CO_OCCURRENCE_TYPES: Final = frozenset({"co_occurs", "mentioned_with"})
CO_OCCURRENCE_CAP: Final = 0.65

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max.replace(tzinfo=UTC)
_SUREST: Final = tuple(EdgeKind)


class Types(Protocol):
    """What is known of types by name."""

    def get(self, name: str, /) -> RelationType | None:
        """One of them."""
        ...


@attrs.frozen
class DatedClaim:
    """A claim and when its memory occurred."""

    claim: Claim
    occurred_at: datetime | None

    @property
    def order(self) -> tuple[datetime, str]:
        """Where it stands in the fold."""
        return (self.occurred_at or _EARLIEST, self.claim.memory_id)


@attrs.define
class _Period:
    target_id: UUID
    start: datetime
    end: datetime
    claims: list[DatedClaim]

    def holds(self, moment: datetime) -> bool:
        return self.start <= moment < self.end


@attrs.frozen
class Together:
    """What relations were folded from together, and others with them: the memories and targets of a group's claims."""

    memories: frozenset[str] = frozenset()
    targets: frozenset[UUID] = frozenset()

    @classmethod
    def of(cls, claims: Iterable[Claim]) -> Together:
        """Of the claims of a group."""
        told = list(claims)
        return cls(frozenset(claim.memory_id for claim in told), frozenset(claim.target_id for claim in told))

    @property
    def shared(self) -> bool:
        """Whether anything else bears on a relation that one memory proves."""
        return len(self.memories) > 1 or len(self.targets) > 1


ALONE: Final = Together()
"""Of relations that were given."""


def group_of(said: Claim | Relation, types: Types) -> Group:
    """The group that a claim, or what claims amount to, is folded in."""
    known = types.get(said.type)
    return (said.source_id, said.type, None if known and known.functional else said.target_id)


def confidence_of(confidences: Iterable[float], relation_type: str) -> float:
    """1 − Π(1 − cᵢ) over independent claims, at most 0.65 for co-occurrence."""
    strength = 1.0 - math.prod(1.0 - confidence for confidence in confidences)
    return min(strength, CO_OCCURRENCE_CAP) if relation_type in CO_OCCURRENCE_TYPES else strength


def fold(claims: Iterable[DatedClaim], relation_type: RelationType) -> list[Relation]:
    """The relations that claims of one source and one type amount to, in order of (start, target).

    For a type that is not functional, claims of several targets may come together or apart; the outcome is the same.
    """
    periods: list[_Period] = []
    for dated in sorted(claims, key=lambda dated: (dated.order, _tie(dated.claim))):
        _take(periods, dated)
        if relation_type.functional:
            _close(periods)
    kept = sorted(periods, key=lambda period: (period.start, period.target_id))
    return [_relation(period, relation_type) for period in kept]


def _tie(claim: Claim) -> tuple[str, datetime, datetime, str, str]:
    """Order among the claims of one memory."""
    return (str(claim.target_id), claim.valid_from or _EARLIEST, claim.valid_to or _LATEST, claim.extractor, claim.fact)


def _take(periods: list[_Period], dated: DatedClaim) -> None:
    claim = dated.claim
    own = [period for period in periods if period.target_id == claim.target_id]
    if claim.valid_from is None and claim.valid_to is not None:
        period = _ending(own, claim.valid_to) or _at(own, _EARLIEST) or _open(periods, claim, _EARLIEST)
    else:
        start = claim.valid_from or dated.occurred_at or _EARLIEST
        period = _at(own, start) or _open(periods, claim, start)
    if claim.valid_to is not None:
        period.end = claim.valid_to
    period.claims.append(dated)
    _absorb(periods, period)


def _at(own: Sequence[_Period], moment: datetime) -> _Period | None:
    """The period that holds at a moment, or starts there and is empty."""
    return next((period for period in own if period.holds(moment) or period.start == moment), None)


def _ending(own: Sequence[_Period], end: datetime) -> _Period | None:
    running = [period for period in own if period.start < end <= period.end]
    return max(running, key=lambda period: period.start, default=None)


def _open(periods: list[_Period], claim: Claim, start: datetime) -> _Period:
    period = _Period(claim.target_id, start, _LATEST, [])
    periods.append(period)
    return period


def _absorb(periods: list[_Period], taker: _Period) -> None:
    """Take in later periods of the same target that start inside; the first that ends says when, if nobody did."""
    others = [period for period in periods if period is not taker and period.target_id == taker.target_id]
    for other in sorted(others, key=lambda period: period.start):
        if taker.start < other.start < taker.end:
            taker.claims.extend(other.claims)
            taker.end = other.end if taker.end == _LATEST else taker.end
            periods.remove(other)


def _close(periods: Sequence[_Period]) -> None:
    """One target at a time: a period ends where a later one of another target starts."""
    for period in periods:
        later = [
            other.start
            for other in periods
            if other.target_id != period.target_id and period.start < other.start < period.end
        ]
        period.end = min(later, default=period.end)


def _relation(period: _Period, relation_type: RelationType) -> Relation:
    ordered = sorted(period.claims, key=lambda dated: (dated.order, _tie(dated.claim)))
    surest: dict[str, float] = {}
    for dated in ordered:
        memory = dated.claim.memory_id
        surest[memory] = max(surest.get(memory, 0.0), dated.claim.confidence)
    return Relation(
        source_id=ordered[0].claim.source_id,
        type=relation_type.name,
        target_id=period.target_id,
        valid_from=None if period.start == _EARLIEST else period.start,
        valid_to=None if period.end == _LATEST else period.end,
        fact=next((dated.claim.fact for dated in reversed(ordered) if dated.claim.fact), ""),
        kind=min((dated.claim.kind for dated in ordered), key=_SUREST.index),
        confidence=confidence_of(surest.values(), relation_type.name),
        evidence=tuple(surest),
        supported_at=max((dated.occurred_at for dated in ordered if dated.occurred_at), default=None),
    )

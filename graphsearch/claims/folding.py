"""The fold of claims into relations: a pure function, independent of the order in which memories arrive.

The claims of one source and type are folded in the order (occurred_at, memory id); memories without a time come first.
Each claim supports a period or opens one:

* without dates: the period that holds when its memory occurred, else a new one from then on;
* with a start: the period that holds at that start, else a new one from then on, which absorbs the later periods that
  start within it, so that periods of one target never overlap;
* with only an end: the period that runs until that end, else a new one with an open start; where the end is the
  memory's own time, what it states is over by then, and a period that ended before may be meant;
* as having begun earlier, at a time that is not said (`EARLIEST`): as one without dates, but the first period that it
  supports has an open start, unless another target held before.

A functional type has one target at a time: a period ends where the next one of another target starts. Two targets
that are stated for the same instant are both kept: "reports to both"; likewise one that is stated to be added: "also
works at". See docs/project/design.md, Claims and the fold into
relations.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Final
from uuid import UUID

import attrs

from graphsearch.model import Claim, EdgeKind, Group, Relation, RelationType
from graphsearch.model.identity import relation_id
from graphsearch.model.validation import revised

CO_OCCURRENCE_TYPES: Final = frozenset({"co_occurs", "mentioned_with"})
CO_OCCURRENCE_CAP: Final = 0.65

BESIDE: Final = "stated+also"
"""The extractor of claims that take the place of none."""

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
"""The start of a claim that what it states began earlier, at a time that is not said."""
_LATEST: Final = datetime.max.replace(tzinfo=UTC)
_START: Final = attrgetter("start")
_SUREST: Final = tuple(EdgeKind)


RelationTypes = Mapping[str, RelationType]
"""Relation types by name."""


@attrs.frozen
class DatedClaim:
    """A claim and the time when its memory occurred."""

    claim: Claim
    occurred_at: datetime | None

    @property
    def order(self) -> tuple[datetime, str]:
        """Its sort key in the fold."""
        return (self.occurred_at or EARLIEST, self.claim.memory_id)

    @property
    def start(self) -> datetime:
        """The start that it states: of one that states only an end, open; of one without dates, its memory's time."""
        if self.claim.valid_from is None and self.claim.valid_to is not None:
            return EARLIEST
        return (self.occurred_at if self.began_earlier else self.claim.valid_from or self.occurred_at) or EARLIEST

    @property
    def began_earlier(self) -> bool:
        """Whether it says that what holds began earlier, but not when."""
        return self.claim.valid_from == EARLIEST and self.claim.valid_to is None

    def by(self, moment: datetime) -> bool:
        """Whether it was stated at or before a moment; one without a time was."""
        return self.occurred_at is None or self.occurred_at <= moment

    @property
    def is_over(self) -> bool:
        """Whether it says of a state that it is over by the time of its memory, but not when it ended."""
        return self.claim.kind is not EdgeKind.LIFECYCLE and self.claim.valid_to == self.occurred_at is not None

    @property
    def adds(self) -> bool:
        """Whether it is stated, or its fact says, to hold beside others: "also works at", "works at … as well"."""
        if self.claim.extractor.startswith(BESIDE):
            return True
        words = [word.strip(".,;!") for word in self.claim.fact.casefold().split()]
        verb = self.claim.type.split("_")[0][:4]
        after = words[words.index("also") + 1 :][:3] if "also" in words else []
        return any(word.startswith(verb) for word in after) or words[-1:] == ["too"] or words[-2:] == ["as", "well"]

    def speaks_of(self, earliest: datetime, latest: datetime) -> bool:
        """Whether the dates that it states, if any, cover a moment from ``earliest`` to ``latest``."""
        start, end = self.claim.valid_from, self.claim.valid_to
        dated = start is not None or end is not None
        return dated and (start is None or start <= latest) and (end is None or earliest < end)


PeriodKey = tuple[UUID, datetime | None]
"""Target and start."""


@attrs.define(eq=False)
class Period:
    """A period in which the relation has one target, with the claims that support it (at least one after the fold)."""

    target_id: UUID
    start: datetime
    end: datetime
    claims: list[DatedClaim]
    began_earlier: bool = False
    """Whether it began before ``start``, at an unknown time."""

    def holds(self, moment: datetime) -> bool:
        """Whether it contains a moment."""
        return self.start <= moment < self.end

    def ends_by(self, later: Period) -> bool:
        """Whether one of another target that starts later ends it: not if both are stated for that moment, or added."""
        if later.start >= self.end or any(dated.start == later.start for dated in self.claims):
            return False
        return not all(dated.adds for dated in later.claims if dated.start == later.start)

    @property
    def valid_from(self) -> datetime | None:
        """Its start; None if open."""
        return None if self.start == EARLIEST or self.began_earlier else self.start

    @property
    def valid_to(self) -> datetime | None:
        """Its end; None if open."""
        return None if self.end == _LATEST else self.end

    @property
    def key(self) -> PeriodKey:
        """The identity of its relation within the group."""
        return self.target_id, self.valid_from

    @property
    def memories(self) -> frozenset[str]:
        """Ids of the memories whose claims support it."""
        return frozenset([dated.claim.memory_id for dated in self.claims])

    @property
    def openers(self) -> frozenset[str]:
        """Ids of the memories whose claims state its start."""
        return frozenset([dated.claim.memory_id for dated in self.claims if dated.start == self.start])

    @property
    def confidence(self) -> float:
        """The combined confidence of the surest claim of each memory."""
        return confidence_within(surest_claims(dated.claim for dated in self.claims).values())

    def supported_at(self, until: datetime = _LATEST) -> datetime | None:
        """The time of the newest of its memories that occurred at or before ``until``; None if there is none."""
        times = (dated.occurred_at for dated in self.claims if dated.occurred_at)
        return max((time for time in times if time <= until), default=None)

    @property
    def _kind(self) -> EdgeKind:
        """The surest of its claims; what was read and is over is a state that had an end."""
        kind = min((dated.claim.kind for dated in self.claims), key=_SUREST.index)
        return EdgeKind.LIFECYCLE if kind is EdgeKind.SEMANTIC and self.end != _LATEST else kind

    def as_of(self, earliest: datetime, latest: datetime) -> Period:
        """The same period with the claims that prove it as of the moments from ``earliest`` to ``latest``.

        They are those stated by then. Where there are none, they are the later ones that speak of that time; so a
        later memory can correct what held, and lends nothing that it states of another time.
        """
        claims = [dated for dated in self.claims if dated.by(latest)]
        claims = claims or [dated for dated in self.claims if dated.speaks_of(earliest, latest)]
        return self if not claims or len(claims) == len(self.claims) else attrs.evolve(self, claims=claims)

    @property
    def relation(self) -> Relation:
        """The relation that it proves."""
        ordered = _in_order(self.claims)
        surest, claim = surest_claims(dated.claim for dated in ordered), ordered[0].claim
        # its claims are validated; to validate it again takes most of the time of a fold
        return revised(
            _blank(),
            id=relation_id(claim.source_id, claim.type, self.target_id, self.valid_from),
            source_id=claim.source_id,
            type=claim.type,
            target_id=self.target_id,
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            fact=next((dated.claim.fact for dated in reversed(ordered) if dated.claim.fact), ""),
            kind=self._kind,
            confidence=confidence_within(surest.values()),
            evidence=tuple(sorted(surest)),
            supported_at=self.supported_at(),
        )


@cache
def _blank() -> Relation:
    return Relation(source_id=UUID(int=0), type="blank", target_id=UUID(int=0))


@attrs.frozen
class Together:
    """The memories and targets of all claims of a group: what its relations were folded from together."""

    memories: frozenset[str] = frozenset()
    targets: frozenset[UUID] = frozenset()

    @classmethod
    def of(cls, claims: Iterable[Claim]) -> Together:
        """Of the claims of a group."""
        group = list(claims)
        return cls(frozenset(claim.memory_id for claim in group), frozenset(claim.target_id for claim in group))

    @property
    def shared(self) -> bool:
        """Whether other memories or targets influence a relation that one memory proves."""
        return len(self.memories) > 1 or len(self.targets) > 1


ALONE: Final = Together()
"""For relations that were written directly, not folded from claims."""


def group_of(edge: Claim | Relation, types: RelationTypes) -> Group:
    """The group in which a claim, or a relation proved by claims, is folded."""
    known = types.get(edge.type)
    return (edge.source_id, edge.type, None if known and known.functional else edge.target_id)


def type_named(name: str, types: RelationTypes) -> RelationType:
    """The type of a name; an unknown type has prior 1.0, does not decay and is not functional."""
    return types.get(name) or RelationType(name=name)


def confidence_of(confidences: Iterable[float], relation_type: str) -> float:
    """1 − Π(1 − cᵢ) over independent claims; for co-occurrence of its cap, which each further memory approaches."""
    most = CO_OCCURRENCE_CAP if relation_type in CO_OCCURRENCE_TYPES else 1.0
    return most * (1.0 - math.prod(1.0 - min(confidence / most, 1.0) for confidence in confidences))


def surest_claims(claims: Iterable[Claim]) -> dict[str, Claim]:
    """The claim of each memory that proves most, by memory in the order of their first claims; the first of equal ones.

    It is the one with the greatest confidence within its ceiling, then with the higher ceiling.
    """
    surest: dict[str, Claim] = {}
    for claim in claims:
        best = surest.setdefault(claim.memory_id, claim)
        if _sureness(claim) > _sureness(best):
            surest[claim.memory_id] = claim
    return surest


def _sureness(claim: Claim) -> tuple[float, float, float]:
    return (min(claim.confidence, claim.ceiling), claim.ceiling, claim.confidence)


def confidence_within(claims: Iterable[Claim]) -> float:
    """The confidence of independent claims of one type, none of which proves anything above its ceiling; 0 for none.

        max over the ceilings c of min(c, confidence of the claims whose ceiling is at least c)

    Claims without a ceiling give their `confidence_of`, whatever is beside them; claims with a ceiling raise it up to
    the ceiling and not beyond. It never falls by a further claim.
    """
    given = list(claims)
    return max(
        (
            min(ceiling, confidence_of((each.confidence for each in given if each.ceiling >= ceiling), given[0].type))
            for ceiling in {each.ceiling for each in given}
        ),
        default=0.0,
    )


def fold(claims: Iterable[DatedClaim], relation_type: RelationType) -> list[Relation]:
    """The relations that the claims of one source and one type prove, in order of (start, target).

    For a type that is not functional, claims of several targets may be folded together or separately.
    """
    return [period.relation for period in periods_of(claims, relation_type)]


def periods_of(claims: Iterable[DatedClaim], relation_type: RelationType) -> list[Period]:
    """The periods of these relations, in the same order."""
    periods = _Periods()
    for _, of_memory in groupby(_in_order(claims), key=attrgetter("order")):
        takers = [periods.take(dated) for dated in of_memory]
        if relation_type.functional:
            for taker in takers:
                periods.close(taker)
    periods.open_starts(functional=relation_type.functional)
    return periods.in_order


def redacted_fold(
    claims: Sequence[DatedClaim], visible: Sequence[DatedClaim], relation_type: RelationType
) -> Mapping[PeriodKey, Sequence[Period]]:
    """Map each relation of a group of claims to the periods that the visible claims prove for it.

    The visible claims may prove fewer or different periods than all claims. Each is assigned to the relation with the
    same start, else to one with the same target and a common memory, preferably one without a period yet. Several
    periods share a relation only if hidden claims joined them. A relation without periods is not visible.
    """
    whole = {period.key: period.memories for period in periods_of(claims, relation_type)}
    of_target: dict[UUID, list[PeriodKey]] = {}
    for key in whole:
        of_target.setdefault(key[0], []).append(key)
    assigned: dict[PeriodKey, list[Period]] = {key: [] for key in whole}
    for period in sorted(periods_of(visible, relation_type), key=lambda period: period.key not in whole):
        proof, key = period.memories, period.key
        if proof.isdisjoint(whole.get(key, ())):
            akin = (each for each in of_target[period.target_id] if not proof.isdisjoint(whole[each]))
            key = min(akin, key=lambda each: len(assigned[each]))
        assigned[key].append(period)
    return assigned


def _in_order(claims: Iterable[DatedClaim]) -> list[DatedClaim]:
    """Claims in the order in which they are folded."""
    found = list(claims)
    if len(found) > 1:  # a key takes longer than the fold of most groups, which have one claim
        found.sort(key=lambda dated: (dated.order, _tie(dated.claim)))
    return found


def _tie(claim: Claim) -> tuple[str, datetime, datetime, str, str]:
    """The sort key among the claims of one memory."""
    return (str(claim.target_id), claim.valid_from or EARLIEST, claim.valid_to or _LATEST, claim.extractor, claim.fact)


class _Periods:
    """The periods of one fold, by start, so that a claim is compared with those next to it alone.

    Periods of one target never overlap. Once each was closed, those of two targets overlap only if they start together,
    or the earlier one stands beside the later.
    """

    def __init__(self) -> None:
        self._starts: list[datetime] = []
        self._by_start: dict[datetime, dict[UUID, Period]] = {}
        self._own: dict[UUID, list[Period]] = {}
        """Of each target, in order of start."""
        self._beside: list[Period] = []

    @property
    def in_order(self) -> list[Period]:
        """All periods, in order of (start, target)."""
        return [period for start in self._starts for _, period in sorted(self._by_start[start].items())]

    def take(self, dated: DatedClaim) -> Period:
        """Let a claim support a period or open one; return that period."""
        claim = dated.claim
        own = self._own.setdefault(claim.target_id, [])
        start = dated.start
        found = None
        if claim.valid_from is None and claim.valid_to is not None:
            found = _ending(own, claim.valid_to, by_then=dated.is_over)
        period = found or _at(own, start) or self._open(claim.target_id, start)
        if claim.valid_to is not None:
            period.end = min(claim.valid_to, period.end) if dated.is_over else claim.valid_to
        period.claims.append(dated)
        self._absorb(own, period)
        return period

    def close(self, taker: Period) -> None:
        """End each period where a later one of another target starts. The taker has absorbed those of its own."""
        if taker not in self._own[taker.target_id]:  # absorbed since
            return
        place = bisect_left(self._starts, taker.start)
        within = range(place + 1, bisect_left(self._starts, taker.end))
        later = (each for at in within for each in self._by_start[self._starts[at]].values())
        ending = next((each for each in later if each.target_id != taker.target_id and taker.ends_by(each)), None)
        if ending is not None:
            taker.end = ending.start
        before = self._by_start[self._starts[place - 1]].values() if place else ()
        for other in (*before, *self._beside):
            if other.target_id != taker.target_id and other.start < taker.start < other.end:
                if other.ends_by(taker):
                    other.end = taker.start
                elif other not in self._beside:
                    self._beside.append(other)

    def open_starts(self, *, functional: bool) -> None:
        """Open the start of the first period of a target if it is said to have begun earlier, and none was before."""
        for first, *_ in filter(None, self._own.values()):
            if first.start < first.end and not (functional and first.start > self._starts[0]):
                first.began_earlier = any(dated.began_earlier for dated in first.claims)

    def _open(self, target_id: UUID, start: datetime) -> Period:
        period = Period(target_id, start, _LATEST, [])
        insort(self._own[target_id], period, key=_START)
        if start not in self._by_start:
            insort(self._starts, start)
        self._by_start.setdefault(start, {})[target_id] = period
        return period

    def _absorb(self, own: list[Period], taker: Period) -> None:
        """Absorb later periods of the same target that start within; the first end applies if there was none."""
        place = bisect_right(own, taker.start, key=_START)
        until = place
        while until < len(own) and own[until].start < taker.end:
            other = own[until]
            taker.claims.extend(other.claims)
            taker.end = other.end if taker.end == _LATEST else taker.end
            self._drop(other)
            until += 1
        del own[place:until]

    def _drop(self, period: Period) -> None:
        together = self._by_start[period.start]
        del together[period.target_id]
        if not together:
            del self._by_start[period.start]
            del self._starts[bisect_left(self._starts, period.start)]


def _at(own: Sequence[Period], moment: datetime) -> Period | None:
    """The period that contains a moment, or is empty and starts at it."""
    place = bisect_right(own, moment, key=_START) - 1
    return own[place] if place >= 0 and (own[place].holds(moment) or own[place].start == moment) else None


def _ending(own: Sequence[Period], end: datetime, *, by_then: bool) -> Period | None:
    """The period that contains the last moment before an end, or that ended before if it is only over ``by_then``."""
    place = bisect_left(own, end, key=_START) - 1
    return own[place] if place >= 0 and (by_then or end <= own[place].end) else None

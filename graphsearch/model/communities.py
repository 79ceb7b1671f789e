"""Communities: groups of related entities, and what a language model wrote about them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Final
from uuid import UUID

import attrs

from graphsearch.model import validation as check
from graphsearch.model.reports import ElementRef
from graphsearch.model.validation import as_tuple, checked

_FINGERPRINT: Final = re.compile("[0-9a-f]{64}")


def _fingerprint(field: str, value: object) -> str | None:
    return None if _FINGERPRINT.fullmatch(str(value)) else f"{field} must be 64 hexadecimal digits"


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if isinstance(moment, datetime) and moment.tzinfo else moment


@attrs.frozen(kw_only=True)
@checked(
    "sentence",
    lambda sentence: None if sentence.cites else "it must cite a relation or a memory",
    lambda sentence: next((fault for _, key in sentence.cites if (fault := check.text("id", key))), None),
)
class SummarySentence:
    """A sentence of a summary, and the relations and memories that it cites, at least one."""

    text: str
    cites: tuple[ElementRef, ...] = attrs.field(converter=as_tuple)


@attrs.frozen(kw_only=True)
@checked(
    "summary",
    lambda summary: None if summary.sentences else "must have a sentence",
    fingerprint=_fingerprint,
    model=partial(check.text, empty=True),
)
class CommunitySummary:
    """What a language model wrote about a community.

    * ``fingerprint``: SHA-256, in hexadecimal, of the members and of all that the model was to be shown; another one
      means that the community has changed since. * ``model``: the name of the model, empty if it has none.
    """

    sentences: tuple[SummarySentence, ...] = attrs.field(converter=as_tuple)
    fingerprint: str
    model: str
    written_at: datetime = attrs.field(converter=_in_utc)

    @property
    def text(self) -> str:
        """The sentences as one text."""
        return " ".join(sentence.text for sentence in self.sentences)


_NAMED: Final = 3
"""The number of top entities in the label of a community."""


def _strengths_fault(community: Community) -> str | None:
    numbers, members = community.strengths, community.members
    if len(numbers) != len(members):
        return f"strengths must have {len(members)} items, not {len(numbers)}"
    return check.each_of(check.within(0), "strengths", numbers)


@attrs.frozen(kw_only=True)
@checked(
    "community {0.id}",
    lambda each: None if len(each.members) > 1 else "must have two members or more",
    lambda each: None if sorted({*each.members}) == [*each.members] else "members must be distinct and in order of id",
    _strengths_fault,
    lambda each: None if set(each.top) <= set(each.members) else "each of top must be a member",
    lambda each: None if len(set(each.top)) == len(each.top) else "top must be distinct",
)
class Community:
    """Two or more entities. No entity is in two communities, and one that has no relation is in none.

    ``id`` is the UUIDv5 of the least id among the members it was first found with; later detections keep it for the
    community that most of these members are in. ``members`` are in order of id, ``strengths`` of each of them the sum
    of the weights of its relations when it was found, from which a later search tells whose relations changed.
    ``density`` is the share of the pairs of members that have a relation, in (0, 1]. ``top`` are the five members with
    the most neighbours inside of the community, ties by importance, name and id; ``label`` is the names of the first
    three. ``summary`` is None until a language model has written one, and again once anything that it may be made of
    has changed or gone.
    """

    id: UUID
    members: tuple[UUID, ...] = attrs.field(converter=as_tuple)
    strengths: tuple[float, ...] = attrs.field(converter=as_tuple)
    density: float
    top: tuple[UUID, ...] = attrs.field(converter=as_tuple)
    label: str = ""
    summary: CommunitySummary | None = None

    @property
    def size(self) -> int:
        """How many members it has."""
        return len(self.members)

    @property
    def named(self) -> tuple[UUID, ...]:
        """The members whose names are its label."""
        return self.top[:_NAMED]

    def labelled(self, names: Mapping[UUID, str]) -> Community:
        """The community with a label of these names of its first members."""
        return attrs.evolve(self, label=", ".join(names[member] for member in self.named))

    def without(self, entities: Collection[UUID]) -> Community | None:
        """The community, without its summary, when some entities left it; None when fewer than two stay.

        Otherwise as it was found.
        """
        stay = [place for place, member in enumerate(self.members) if member not in entities]
        if len(stay) == self.size:
            return self
        if len(stay) < 2:  # noqa: PLR2004 - a community is of two
            return None
        return attrs.evolve(
            self,
            members=[self.members[place] for place in stay],
            strengths=[self.strengths[place] for place in stay],
            top=[member for member in self.top if member not in entities],
            summary=None,
        )

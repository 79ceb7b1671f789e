"""Facts and names that the giver of a memory states of it, and what became of each fact."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import attrs

from graphsearch.model import validation as check
from graphsearch.model.validation import checked, distinct


def _time_or_words(field: str, value: object) -> str | None:
    return check.line(field, value) if isinstance(value, str) else check.instant(field, value)


@attrs.frozen
@checked(
    "fact {0.subject!r} {0.relation!r} {0.object!r}",
    lambda fact: check.name("object", fact.object, empty=fact.ended),
    subject=check.name,
    relation=check.name,
    subject_type=check.name,
    object_type=check.name,
    since=_time_or_words,
    until=_time_or_words,
)
class Fact:
    """A fact as an agent or an application states it of a memory, in its own words.

    ``subject`` and ``object`` are names as the memory writes them, or values ("red", "2026-05-01"); ``relation`` is any
    word or phrase. ``since`` and ``until`` are times, or words that are read at the time of the memory ("next monday").
    ``ended`` says that it holds no longer. ``quote`` are the words of the memory's text that prove it.
    ``confidence`` is in [0, 1]; None leaves it to how well the fact is proven.
    """

    subject: str
    relation: str
    object: str
    since: datetime | str | None = None
    until: datetime | str | None = None
    quote: str | None = None
    subject_type: str | None = None
    object_type: str | None = None
    confidence: float | None = None
    ended: bool = False


@attrs.frozen
@checked("entity {0.name!r}", name=check.name, type=check.name)
class NamedEntity:
    """An entity that a memory is about, as its giver names it."""

    name: str
    type: str
    aliases: tuple[str, ...] = attrs.field(default=(), converter=distinct)
    description: str = ""


class FactStatus(StrEnum):
    """What became of a stated fact."""

    NEW = "new"
    CONFIRMED = "confirmed"
    """It was known: the memory is further evidence."""
    ENDS = "ends"
    """It ends, or takes the place of, what held: see `FactReport.about`."""
    CONTRADICTS = "contradicts"
    """The text, or another fact, says otherwise; it was not written."""
    REFUSED = "refused"
    """It was not written: see `FactReport.why`."""


@attrs.frozen(kw_only=True)
class FactReport:
    """What became of a fact: ``held`` is the triplet (source, type, target) that was written, None if none was."""

    memory_id: str
    fact: Fact
    status: FactStatus
    held: tuple[str, str, str] | None = None
    grounded: bool = True
    """Whether the text of the memory, its session or the scope proves it; otherwise its confidence has a ceiling."""
    mapped: bool = True
    """Whether the relation was understood as a type that is known; otherwise it stays in its own words."""
    about: tuple[str, ...] = ()
    """The relations that it ends or contradicts, one line each."""
    why: str = ""

    def __str__(self) -> str:
        said = f"{self.fact.subject} | {self.fact.relation} | {self.fact.object}"
        marks = (
            *(f"ends {each}" for each in self.about),
            *(["not grounded"] if self.held and not self.grounded else []),
            *(["in its own words"] if self.held and not self.mapped else []),
            *([self.why] if self.why else []),
        )
        shown = " ".join(self.held) if self.held else said
        return f"{self.status}: {shown}" + (f" ({'; '.join(marks)})" if marks else "")

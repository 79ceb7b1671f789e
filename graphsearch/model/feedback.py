"""The log of elements surfaced to sessions, and the effect of session outcomes."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.model.elements import ElementKind, Outcome
from graphsearch.model.validation import as_tuple


class ElementRef(NamedTuple):
    """A reference to any element of a scope: its kind and its id as text."""

    kind: ElementKind
    id: str

    @property
    def key(self) -> UUID | str:
        """The id in the type of its element. Raises `InvalidInputError` if it is not a valid id."""
        if self.kind is ElementKind.MEMORY:
            return self.id
        try:
            return UUID(self.id)
        except ValueError as error:
            raise InvalidInputError(f"{self.kind} {self.id!r}", ["the id must be a UUID"]) from error


@attrs.frozen(kw_only=True)
class Injection:
    """The elements surfaced to a session at one time: ids only, never text of the graph."""

    id: str
    session_id: str
    principal: str
    created_at: datetime
    tokens: int
    elements: tuple[ElementRef, ...] = attrs.field(converter=as_tuple)


@attrs.frozen(kw_only=True)
class FeedbackReport:
    """The effect of an outcome on each surfaced element."""

    applied: tuple[ElementRef, ...] = ()
    replaced: tuple[ElementRef, ...] = ()
    repeated: tuple[ElementRef, ...] = ()
    missing: tuple[ElementRef, ...] = ()
    """Surfaced, and deleted since."""
    denied: int = 0


@attrs.frozen(kw_only=True)
class OutcomeRecord:
    """One entry of an element's feedback history; folding the outcomes in order of ``seq`` gives its weight."""

    element: ElementRef
    session_id: str
    seq: int
    outcome: Outcome

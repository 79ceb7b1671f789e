"""The log of what was surfaced to sessions, and what their outcomes did."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.model.converters import as_tuple
from graphsearch.model.elements import ElementKind, Outcome


class ElementRef(NamedTuple):
    """Any element of a scope: its kind and its id as text."""

    kind: ElementKind
    id: str

    @property
    def key(self) -> UUID | str:
        """The id as the element itself has it. Raises `InvalidInputError` where it cannot be one."""
        if self.kind is ElementKind.MEMORY:
            return self.id
        try:
            return UUID(self.id)
        except ValueError as error:
            raise InvalidInputError(f"{self.kind} {self.id!r}", ["the id must be a UUID"]) from error


@attrs.frozen(kw_only=True)
class Injection:
    """What was surfaced to a session: ids only, never text of the graph."""

    id: str
    session_id: str
    principal: str
    created_at: datetime
    tokens: int
    elements: tuple[ElementRef, ...] = attrs.field(converter=as_tuple)


@attrs.frozen(kw_only=True)
class FeedbackReport:
    """What an outcome did, element by element."""

    applied: tuple[ElementRef, ...] = ()
    replaced: tuple[ElementRef, ...] = ()
    repeated: tuple[ElementRef, ...] = ()
    missing: tuple[ElementRef, ...] = ()
    """Surfaced once, deleted since."""
    denied: int = 0


@attrs.frozen(kw_only=True)
class OutcomeRecord:
    """One line of an element's history; folding the outcomes in order of ``seq`` gives its weight."""

    element: ElementRef
    session_id: str
    seq: int
    outcome: Outcome

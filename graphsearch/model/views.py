"""Who asks, what they want to do, and the state of the graph they ask about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any, Final

import attrs

from graphsearch.model import validation as check
from graphsearch.model.elements import Scope
from graphsearch.model.validation import NOTHING, as_frozenset, as_tuple, checked, read_only


class Action(StrEnum):
    """What a principal may be allowed to do to an element."""

    READ = "read"
    WRITE = "write"
    MERGE = "merge"
    FORGET = "forget"
    FEEDBACK = "feedback"
    REVIEW = "review"
    """See proposals, and accept or reject them; policies see a memory with the owner and the labels of one."""
    VIEW_AS = "view_as"
    """Read as another principal, and be told how much policies hide; policies see elements without attributes."""


_principal_id: Final = partial(check.text, longest=check.LONGEST_NAME)


def _identifier(field: str, value: str) -> str | None:
    fault = check.text(field, value)
    return fault or (None if value.isidentifier() else f"{field} must be an identifier, not {value!r}")


@attrs.frozen(kw_only=True, cache_hash=True)
@checked("principal {0.id!r}", id=_principal_id, type=_identifier, projects=Scope)
class Principal:
    """Who asks, as the caller's authentication established it; ``projects`` are the scopes it belongs to."""

    id: str
    type: str = "User"
    attributes: Mapping[str, Any] = attrs.field(default=NOTHING, converter=read_only, hash=False)
    projects: tuple[Scope, ...] = attrs.field(default=(), converter=as_tuple)

    @property
    def qualified_id(self) -> str:
        """Type and id as one text, such as ``User:ada``: no two principals share it, as no type has a colon."""
        return f"{self.type}:{self.id}"


@attrs.frozen
@checked(
    "view",
    lambda view: check.in_order("since", view.since, "as_of", view.as_of),
    skipped_types=str,
    only_types=str,
    refolded=int,
)
class View:
    """What of a graph a question looks at: what held at ``as_of``, as known at ``known_at``.

    With ``since``, which must not be later, it is what held at any moment from then to ``as_of``. Relations below
    ``min_edge_confidence``, of a type in ``skipped_types``, or, where there are ``only_types``, of none of these, are
    left out before anything is counted. Those with a signature whose code is in ``refolded`` are kept whatever their
    period, confidence and creation, since all are folded again from what is visible; not if they were retracted.
    """

    as_of: datetime
    known_at: datetime
    min_edge_confidence: float = 0.5
    skipped_types: frozenset[str] = attrs.field(default=frozenset(), converter=as_frozenset)
    since: datetime | None = None
    only_types: frozenset[str] = attrs.field(default=frozenset(), converter=as_frozenset)
    refolded: frozenset[int] = frozenset()

    @property
    def earliest(self) -> datetime:
        """The first moment that is looked at: ``since``, else ``as_of``."""
        return self.as_of if self.since is None else self.since

    def holds(self, start: datetime | None, end: datetime | None) -> bool:
        """Whether a period [start, end) covers ``as_of``, or with ``since`` any moment from then on."""
        return (start is None or start <= self.as_of) and (end is None or self.earliest < end)

    def known(self, created: datetime | None, retracted: datetime | None) -> bool:
        """Whether something created and perhaps retracted was known at ``known_at``."""
        return (created is None or created <= self.known_at) and (retracted is None or self.known_at < retracted)

"""Who asks, what they want to do, and the state of the graph they ask about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

import attrs

from graphsearch.model import validation as check
from graphsearch.model.elements import Scope
from graphsearch.model.validation import NOTHING, as_frozenset, as_tuple, read_only


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


def _identifier(type_: str) -> str | None:
    fault = check.text("type", type_)
    return fault or (None if type_.isidentifier() else f"type must be an identifier, not {type_!r}")


@attrs.frozen(kw_only=True, cache_hash=True)
class Principal:
    """Who asks, as the caller's authentication established it; ``projects`` are the scopes it belongs to."""

    id: str
    type: str = "User"
    attributes: Mapping[str, Any] = attrs.field(default=NOTHING, converter=read_only, hash=False)
    projects: tuple[Scope, ...] = attrs.field(default=(), converter=as_tuple)

    def __attrs_post_init__(self) -> None:
        check.refuse(
            f"principal {self.id!r}",
            check.text("id", self.id, longest=check.LONGEST_NAME),
            _identifier(self.type),
            check.json_object("attributes", self.attributes),
            check.items("projects", self.projects, Scope),
        )

    @property
    def qualified_id(self) -> str:
        """Type and id as one text, such as ``User:ada``: no two principals share it, as no type has a colon."""
        return f"{self.type}:{self.id}"


@attrs.frozen
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

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "view",
            check.moment("as_of", self.as_of),
            check.moment("known_at", self.known_at),
            check.unit("min_edge_confidence", self.min_edge_confidence),
            check.window(self.since, self.as_of),
            check.items("skipped_types", self.skipped_types, str),
            check.items("only_types", self.only_types, str),
            check.items("refolded", self.refolded, int),
        )

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

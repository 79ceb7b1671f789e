"""What every question asks for: the base of the requests of the verbs that answer one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import ClassVar

import attrs

from graphsearch.access.gate import Gate
from graphsearch.access.reader import ReadingOptions
from graphsearch.model import validation as check


@attrs.frozen(kw_only=True)
class Request:
    """A question, the moment and the principal that it is asked for, and how much of what is found is shown.

    * ``limit``: how many results to return.
    * ``min_score``: results that score less are left out, in [0, 1].
    * ``diversity``: 1 − λ of maximal marginal relevance, in [0, 1]; 0 is the order of the scores.
    * ``as_of`` and ``known_at``: the moment whose facts, and the moment whose knowledge, counts; the present if None.
    * ``gate``: who asks, which determines the visible elements; all are visible if None.
    """

    verb: ClassVar[str] = "question"

    query: str = attrs.field(kw_only=False)
    limit: int = 10
    min_score: float = 0.0
    diversity: float = 0.0
    as_of: datetime | None = None
    known_at: datetime | None = None
    gate: Gate | None = None

    def __attrs_post_init__(self) -> None:
        check.refuse(
            self.verb,
            check.text("query", self.query, empty=True, longest=check.LONGEST_QUESTION),
            check.number("limit", self.limit, 1),
            check.unit("min_score", self.min_score),
            check.unit("diversity", self.diversity),
            check.instant("as_of", self.as_of),
            check.instant("known_at", self.known_at),
            *self.faults(),
        )

    def reading(self) -> ReadingOptions:
        """What of it decides on the snapshot that answers it."""
        return {"gate": self.gate, "as_of": self.as_of, "known_at": self.known_at, "question": self.query}

    def faults(self) -> Iterator[str | None]:
        """What is wrong with the fields of a subclass."""
        yield from ()

"""Limits of what one call of an ingest reads, so that no text keeps a server busy for longer than it may."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from graphsearch.errors import ExtractionError
from graphsearch.model import Memory
from graphsearch.model import validation as check
from graphsearch.model.extracted import ExtractedMemory

_HINT: Final = "send it in parts, each a memory of its own, or raise the limit: Ingestor(limits=IngestLimits(…))"


class TextLimitError(ExtractionError):
    """A text exceeds the limits of the call."""


@attrs.frozen(kw_only=True)
class IngestLimits:
    """The most that one call reads; None is no limit.

    * ``characters``: of one text.
    * ``names``: distinct names in one text.
    * ``seconds``: for the whole call, from its beginning to the last write.
    """

    characters: int | None = 1_000_000
    names: int | None = 50_000
    seconds: float | None = None

    def __attrs_post_init__(self) -> None:
        given = attrs.asdict(self).items()
        check.refuse(
            "limits",
            *(check.number(name, value, 0 if name == "seconds" else 1) for name, value in given if value is not None),
        )

    def refuse(self, memories: Iterable[Memory]) -> None:
        """Raise `InvalidInputError` that names all texts with too many characters."""
        check.refuse("memories", *(str(fault) for each in memories if (fault := self.too_long(each))))

    def too_long(self, memory: Memory) -> TextLimitError | None:
        """The fault of a text with too many characters."""
        return _exceeded(memory.id, "characters", len(memory.text), self.characters)

    def too_many_names(self, extracted: ExtractedMemory) -> TextLimitError | None:
        """The fault of a text with too many names."""
        ends = (end for each in extracted.statements for end in (each.source, each.target))
        names = {each.name for each in (*extracted.surfaces, *ends)}
        return _exceeded(extracted.memory_id, "distinct names", len(names), self.names)


DEFAULT_LIMITS: Final = IngestLimits()
"""1,000,000 characters and 50,000 distinct names a text; any time."""


def _exceeded(memory_id: str, what: str, number: int, most: int | None) -> TextLimitError | None:
    if most is None or number <= most:
        return None
    return TextLimitError(f"memory {memory_id!r} has {number} {what}, more than the limit of {most}: {_HINT}")

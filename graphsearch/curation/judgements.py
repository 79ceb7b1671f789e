"""What became of pairs that a language model was to judge."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

import attrs

from graphsearch.curation.duplicates import Duplicate


class Finding(StrEnum):
    """What became of a pair."""

    MERGED = "merged"
    DISTINCT = "distinct"
    """Marked as two."""
    UNSURE = "unsure"
    """The model was not sure: the pair is as it was."""
    LEFT = "left"
    """Not asked about, not answered, or refused: the pair is as it was."""


@attrs.frozen(kw_only=True)
class Judged:
    """What became of a pair, and by which merge, or why it was left.

    ``merge`` is None for one that was one already by way of others. That merge can be undone.
    """

    pair: Duplicate
    finding: Finding
    merge: UUID | None = None
    why: str = ""

    @property
    def ids(self) -> tuple[UUID, UUID]:
        """Of both entities, the lower first."""
        return self.pair.one.id, self.pair.other.id


@attrs.frozen
class JudgeReport:
    """Every pair that came up, the most alike of each round first, and what became of it."""

    pairs: tuple[Judged, ...] = ()

    @property
    def judged(self) -> int:
        """Pairs that the model gave an answer to which holds: merged, distinct and unsure ones."""
        return len(self.pairs) - len(self._with(Finding.LEFT))

    @property
    def merged(self) -> int:
        """Pairs that are one now."""
        return len(self._with(Finding.MERGED))

    @property
    def distinct(self) -> int:
        """Pairs that are marked as two now."""
        return len(self._with(Finding.DISTINCT))

    @property
    def unsure(self) -> tuple[tuple[UUID, UUID], ...]:
        """Pairs that the model was not sure of: what to ``skip``, so as not to ask that again."""
        return tuple(each.ids for each in self._with(Finding.UNSURE))

    @property
    def left(self) -> int:
        """Pairs that were not asked about, not answered, or refused."""
        return len(self._with(Finding.LEFT))

    @property
    def why(self) -> tuple[str, ...]:
        """Why pairs were left, each reason once, as they came up: what the model raised, what was denied."""
        return tuple(dict.fromkeys(each.why for each in self._with(Finding.LEFT)))

    def _with(self, finding: Finding) -> list[Judged]:
        return [each for each in self.pairs if each.finding is finding]

"""The outcome of letting a language model judge pairs of entities."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

import attrs

from graphsearch.curation.duplicates import Duplicate


class Finding(StrEnum):
    """The outcome for a pair."""

    MERGED = "merged"
    DISTINCT = "distinct"
    """Marked as two entities."""
    UNSURE = "unsure"
    """The model was not sure; the pair is unchanged."""
    LEFT = "left"
    """Not judged, not answered, or refused; the pair is unchanged."""


@attrs.frozen(kw_only=True)
class Judged:
    """The outcome for a pair, with the id of its merge, or the reason why it was left.

    ``merge`` is None if the pair was one entity already, through other merges; otherwise that merge can be undone.
    """

    pair: Duplicate
    finding: Finding
    merge: UUID | None = None
    why: str = ""

    @property
    def ids(self) -> tuple[UUID, UUID]:
        """The ids of both entities, the lower first."""
        return self.pair.one.id, self.pair.other.id


@attrs.frozen
class JudgeReport:
    """The outcome for every pair that came up, most similar first within each round."""

    pairs: tuple[Judged, ...] = ()

    @property
    def judged(self) -> int:
        """The number of pairs with a usable answer: merged, distinct or unsure."""
        return len(self.pairs) - len(self._with(Finding.LEFT))

    @property
    def merged(self) -> int:
        """The number of pairs that were merged."""
        return len(self._with(Finding.MERGED))

    @property
    def distinct(self) -> int:
        """The number of pairs that were marked as distinct."""
        return len(self._with(Finding.DISTINCT))

    @property
    def unsure(self) -> tuple[tuple[UUID, UUID], ...]:
        """The pairs that the model was unsure of; pass them as ``skip`` to avoid judging them again."""
        return tuple(each.ids for each in self._with(Finding.UNSURE))

    @property
    def left(self) -> int:
        """The number of pairs that were not judged, not answered, or refused."""
        return len(self._with(Finding.LEFT))

    @property
    def why(self) -> tuple[str, ...]:
        """The distinct reasons why pairs were left, in order: errors of the model, denials."""
        return tuple(dict.fromkeys(each.why for each in self._with(Finding.LEFT)))

    def _with(self, finding: Finding) -> list[Judged]:
        return [each for each in self.pairs if each.finding is finding]

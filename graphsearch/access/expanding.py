"""Expansions with the verdict on each row: which of their relations are the strongest that may be seen."""

from __future__ import annotations

import attrs
import numpy as np

from graphsearch.access.decisions import DENIED, PARTIAL, Verdicts, each_allowed
from graphsearch.access.window import widest
from graphsearch.columns import Codes, Expansion, Floats, Mask, Rows


@attrs.frozen(eq=False)
class Decided:
    """An expansion with the verdict on each of its rows."""

    rows: Expansion
    signatures: Rows
    """The relation's signature, as its row in the `SignatureInterner`."""
    verdicts: Verdicts | None
    """None if all are `ALLOWED`."""

    @property
    def allowed(self) -> Mask | None:
        """Rows that are visible and whose far end holds; None if all are."""
        if self.verdicts is None:
            return self.rows.far_holds
        seen: Mask = self.verdicts != DENIED
        return self.rows.holding & seen

    @property
    def partial(self) -> Mask | None:
        """Rows with partly hidden evidence; None if there are none."""
        if self.verdicts is None:
            return None
        found: Mask = self.verdicts == PARTIAL
        return found if found.any() else None

    def keep(self, rows: Mask | Rows) -> Decided:
        """The rows that a mask or an index selects, in their order."""
        verdicts = None if self.verdicts is None else self.verdicts[rows]
        return Decided(self.rows.keep(rows), self.signatures[rows], verdicts)

    @staticmethod
    def concatenate(parts: list[Decided]) -> Decided:
        """Concatenate the rows of several. ``parts`` must not be empty."""
        if len(parts) == 1:
            return parts[0]
        verdicts = [each_allowed(len(part.rows)) if part.verdicts is None else part.verdicts for part in parts]
        return Decided(
            Expansion.concatenate([part.rows for part in parts]),
            np.concatenate([part.signatures for part in parts]),
            np.concatenate(verdicts),
        )


def in_visible_order(found: Decided, corrected: Decided, priors: Floats) -> tuple[Decided, Mask]:
    """A corrected expansion, strongest first, and the rows whose rank cannot change when more relations are fetched.

    Relations not fetched are no stronger than the last of their run; but a row may be weaker than stored. ``priors``
    are those of signatures.
    """
    if corrected is found:
        return found, np.ones(len(found.rows), dtype=np.bool_)
    prior, runs = priors.take(found.signatures), _Runs(found.rows)
    least = np.minimum.reduceat(found.rows.confidence * prior, runs.begins)[runs.run]
    weight = corrected.rows.confidence * prior
    order = np.lexsort((corrected.rows.relations, -weight, runs.run))
    return corrected.keep(order), (weight >= least)[order]


def strongest(found: Decided, certain: Mask, fan_out: int, *, limit: int) -> tuple[Mask, Rows]:
    """The rows among the ``fan_out`` strongest visible ones of each run, and the starts to be expanded further.

    Those are the starts of runs that were cut at ``limit`` with less than ``fan_out`` visible and certain rows; none if
    the limit is the widest.
    """
    allowed = found.rows.holding if found.allowed is None else found.allowed
    runs = _Runs(found.rows)
    short = np.unique(runs.start[(runs.sizes == limit) & (runs.count(allowed & certain) < fan_out)])
    if limit == widest(fan_out):
        short = short[:0]
    again = np.isin(found.rows.start, short)
    return allowed & ~again & (runs.rank(allowed) < fan_out), short


class _Runs:
    """The runs of rows that share (start, direction) in an expansion."""

    def __init__(self, found: Expansion) -> None:
        begins = np.ones(len(found), dtype=np.bool_)
        begins[1:] = (found.start[1:] != found.start[:-1]) | (found.outgoing[1:] != found.outgoing[:-1])
        self.begins = np.flatnonzero(begins)
        self.run = np.cumsum(begins) - 1
        """The run of each row."""
        self.start = found.start[self.begins]
        self.sizes = np.diff(self.begins, append=len(found))

    def count(self, mask: Mask) -> Codes:
        """The number of rows of each run that the mask keeps."""
        return np.add.reduceat(mask, self.begins, dtype=np.int64) if len(self.begins) else np.empty(0, np.int64)

    def rank(self, mask: Mask) -> Codes:
        """For rows that the mask keeps: the number of earlier kept rows of the same run."""
        before: Codes = np.cumsum(mask) - mask
        rank: Codes = before - before[self.begins][self.run]
        return rank

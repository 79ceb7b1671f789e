"""One hop of a walk as columns."""

from __future__ import annotations

from itertools import accumulate

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns.elements import Codes, Floats, Hits, Keys, Mask, Rows


@attrs.frozen(eq=False, kw_only=True)
class FarEnds:
    """The entities that steps lead to, and maybe others, in order of their keys: a hop meets most several times.

    These may be the columns of a store itself, not to be written to.
    """

    keys: Keys
    signatures: Codes
    importance: Floats
    """May be NaN for one that is not in view."""

    def __len__(self) -> int:
        return len(self.keys)

    @staticmethod
    def of(*, keys: Keys, signatures: Codes, importance: Floats) -> tuple[FarEnds, Rows]:
        """Of columns in which some entities stand several times, and the row that each has become."""
        distinct, first, rows = np.unique(keys, return_index=True, return_inverse=True)
        return FarEnds(keys=distinct, signatures=signatures.take(first), importance=importance.take(first)), rows


@attrs.frozen(eq=False, kw_only=True)
class Expansion:
    """One hop away from a frontier: a row for every relation found, at most ``fan_out`` an entity and direction.

    Rows of one (near, direction) come strongest first: greatest confidence × prior, ties by relation key. A relation
    between two entities of the frontier appears once from either side.
    """

    starts: Keys
    """Entities of the frontier."""
    start: Rows
    """The one that it was found from: a row of ``starts``."""
    ends: FarEnds
    end: Rows
    """The entity at the other end: a row of ``ends``."""
    outgoing: Mask
    """True where that of the frontier is the relation's source."""
    relations: Keys
    confidence: Floats
    since: Floats
    """What freshness counts from, in epoch seconds: newest support at ``as_of``, else start, else creation."""
    feedback: Floats
    signatures: Codes
    """Signature of the relation."""
    far_holds: Mask | None
    """False where the far entity does not hold at ``as_of``, was not known at ``known_at``, or was merged away.

    None where there is no such row.
    """
    located: Hits | None = None
    """Of `GraphStore.related`: the entities of ``starts`` that hold in the view, in order of their keys.

    None where a store does not tell them; it is asked for them then.
    """

    def __len__(self) -> int:
        return len(self.relations)

    @property
    def near(self) -> Keys:
        """The entity of the frontier."""
        return self.starts.take(self.start)

    @property
    def far(self) -> Keys:
        """The entity at the other end of each."""
        return self.ends.keys.take(self.end)

    @property
    def far_signatures(self) -> Codes:
        """Its signature."""
        return self.ends.signatures.take(self.end)

    @property
    def far_importance(self) -> Floats:
        """Its importance weight."""
        return self.ends.importance.take(self.end)

    @property
    def holding(self) -> Mask:
        """Whether it holds in the view."""
        return np.ones(len(self), dtype=np.bool_) if self.far_holds is None else self.far_holds

    def keep(self, rows: Mask | NDArray[np.intp]) -> Expansion:
        """The rows that a mask or an index selects, in their order."""
        columns = {name: getattr(self, name)[rows] for name in _COLUMNS_OF_STEPS}
        holds = None if self.far_holds is None else self.far_holds[rows]
        return Expansion(starts=self.starts, ends=self.ends, far_holds=holds, located=self.located, **columns)

    @staticmethod
    def none(like: Keys) -> Expansion:
        """No rows, with keys of the same dtype as some keys."""
        keys, numbers, codes = like[:0], np.empty(0), np.empty(0, dtype=np.int64)
        rows = np.empty(0, dtype=np.intp)
        return Expansion(
            starts=keys,
            start=rows,
            ends=FarEnds(keys=keys, signatures=codes, importance=numbers),
            end=rows,
            outgoing=np.empty(0, dtype=np.bool_),
            relations=keys,
            confidence=numbers,
            since=numbers,
            feedback=numbers,
            signatures=codes,
            far_holds=None,
        )

    @staticmethod
    def concatenate(parts: list[Expansion]) -> Expansion:
        """The rows of several expansions, one after another. ``parts`` must not be empty."""
        if len(parts) == 1:
            return parts[0]
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS_OF_STEPS}
        columns["start"] += _beyond(parts, [len(part.starts) for part in parts])
        ends = parts[0].ends
        if any(part.ends is not ends for part in parts):
            ends, rows = FarEnds.of(
                keys=np.concatenate([part.ends.keys for part in parts]),
                signatures=np.concatenate([part.ends.signatures for part in parts]),
                importance=np.concatenate([part.ends.importance for part in parts]),
            )
            columns["end"] = rows.take(columns["end"] + _beyond(parts, [len(part.ends) for part in parts]))
        return Expansion(
            starts=np.concatenate([part.starts for part in parts]),
            ends=ends,
            far_holds=np.concatenate([part.holding for part in parts]),
            located=None,
            **columns,
        )


_COLUMNS_OF_STEPS = ("start", "end", "outgoing", "relations", "confidence", "since", "feedback", "signatures")


def _beyond(parts: list[Expansion], sizes: list[int]) -> Rows:
    """For each row of some expansions, how many of what it points into come in those before its own."""
    return np.repeat([0, *accumulate(sizes[:-1])], [len(part) for part in parts])


@attrs.frozen(eq=False)
class Steps:
    """An expansion of which all may be seen, with how much each relation can be relied on."""

    rows: Expansion
    signatures: Rows
    """The relation's signature: its row among those that the question has met (see `SignatureBook`)."""
    freshness: Floats
    prior: Floats

    @property
    def reliability(self) -> Floats:
        """Confidence × freshness × prior."""
        return self.rows.confidence * self.freshness * self.prior

    @staticmethod
    def none(like: Keys) -> Steps:
        """No rows, with keys of the same dtype as some keys."""
        return Steps(Expansion.none(like), np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))

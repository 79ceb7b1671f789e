"""One hop of a walk as columns."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns.elements import Codes, Floats, Hits, Keys, Mask, Rows


@attrs.frozen(eq=False, kw_only=True)
class FarEnds:
    """The entities at the far ends of an expansion, and possibly others, in order of their keys.

    The columns may be a store's own: read only.
    """

    keys: Keys
    signatures: Codes
    importance: Floats
    """May be NaN for an entity that is not in the view."""

    def __len__(self) -> int:
        return len(self.keys)

    @staticmethod
    def of(*, keys: Keys, signatures: Codes, importance: Floats) -> tuple[FarEnds, Rows]:
        """Deduplicated columns, and the row that each original entry maps to."""
        distinct, first, rows = np.unique(keys, return_index=True, return_inverse=True)
        return FarEnds(keys=distinct, signatures=signatures.take(first), importance=importance.take(first)), rows


@attrs.frozen(eq=False, kw_only=True)
class Expansion:
    """One hop away from a frontier: a row for every relation found, at most ``fan_out`` an entity and direction.

    Rows of one (near, direction) come strongest first: greatest confidence × prior, ties by relation key. A relation
    between two entities of the frontier appears once from either side.
    """

    starts: Keys
    """The entities of the frontier."""
    start: Rows
    """The frontier entity of each relation: a row of ``starts``."""
    ends: FarEnds
    end: Rows
    """The entity at the far end: a row of ``ends``."""
    outgoing: Mask
    """Whether the frontier entity is the source of the relation."""
    relations: Keys
    confidence: Floats
    since: Floats
    """The start of ageing in epoch seconds: newest support at ``as_of``, else start, else creation."""
    feedback: Floats
    signatures: Codes
    """Signature of the relation."""
    far_holds: Mask | None
    """False where the far entity does not hold at ``as_of``, was not known at ``known_at``, or was merged away.

    None where there is no such row.
    """
    located: Hits | None = None
    """Of `GraphStore.related`: the entities of ``starts`` that hold in the view, in order of their keys.

    None if the store does not return them; they are located in a second read then.
    """

    def __len__(self) -> int:
        return len(self.relations)

    @property
    def near(self) -> Keys:
        """The frontier entity of each row."""
        return self.starts.take(self.start)

    @property
    def far(self) -> Keys:
        """The far entity of each row."""
        return self.ends.keys.take(self.end)

    @property
    def far_signatures(self) -> Codes:
        """The signature of each far entity."""
        return self.ends.signatures.take(self.end)

    @property
    def far_importance(self) -> Floats:
        """The importance weight of each far entity."""
        return self.ends.importance.take(self.end)

    @property
    def holding(self) -> Mask:
        """Whether each far entity holds in the view."""
        return np.ones(len(self), dtype=np.bool_) if self.far_holds is None else self.far_holds

    def keep(self, rows: Mask | NDArray[np.intp]) -> Expansion:
        """The rows that a mask or an index selects, in their order."""
        columns = {name: getattr(self, name)[rows] for name in _COLUMNS_OF_STEPS}
        holds = None if self.far_holds is None else self.far_holds[rows]
        return Expansion(starts=self.starts, ends=self.ends, far_holds=holds, located=self.located, **columns)

    @staticmethod
    def none(like: Keys) -> Expansion:
        """An empty expansion, with keys of the dtype of ``like``."""
        keys, codes = like[:0], np.empty(0, dtype=np.int64)
        ends = FarEnds(keys=keys, signatures=codes, importance=np.empty(0))
        columns: dict[str, Any] = {
            **dict.fromkeys(("start", "end"), np.empty(0, dtype=np.intp)),
            **dict.fromkeys(("confidence", "since", "feedback"), np.empty(0)),
        }
        nowhere = np.empty(0, dtype=np.bool_)
        return Expansion(
            starts=keys, ends=ends, outgoing=nowhere, relations=keys, signatures=codes, far_holds=None, **columns
        )

    @staticmethod
    def concatenate(parts: list[Expansion]) -> Expansion:
        """The rows of several expansions in order. ``parts`` must not be empty."""
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
    """For each row of some expansions, the total size of the targets of the expansions before its own."""
    return np.repeat([0, *accumulate(sizes[:-1])], [len(part) for part in parts])


@attrs.frozen(eq=False)
class Steps:
    """An expansion with only visible rows, and the reliability of each relation."""

    rows: Expansion
    signatures: Rows
    """The signature of each relation: its row in the question's `SignatureInterner`."""
    freshness: Floats
    prior: Floats

    @property
    def reliability(self) -> Floats:
        """Confidence × freshness × prior."""
        return self.rows.confidence * self.freshness * self.prior

    @staticmethod
    def none(like: Keys) -> Steps:
        """An empty expansion, with keys of the dtype of ``like``."""
        return Steps(Expansion.none(like), np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))

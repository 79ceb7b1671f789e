"""Columns of numbers: the form in which elements pass from stores through traversal to scoring.

A query touches thousands of relations and shows ten. So a store answers in numpy columns, and only what is shown is
read as whole elements. A *key* is a store's own handle of an element: opaque, of any sortable dtype, in the same order
as ids. Keys are valid as long as the snapshot they were read in.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Final, Self

import attrs
import numpy as np
from numpy.typing import NDArray

Keys = NDArray[Any]
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]

NONE: Final = -1
"""No row."""


@attrs.frozen(eq=False, kw_only=True)
class ColumnSet:
    """Columns of equal length."""

    _columns: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        cls._columns = tuple(cls.__annotations__)

    def __len__(self) -> int:
        return len(getattr(self, self._columns[0]))

    def keep(self, rows: Mask | Rows) -> Self:
        """The rows that a mask or an index selects, in their order."""
        return type(self)(**{name: getattr(self, name)[rows] for name in self._columns})

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """The rows of several parts in order. ``parts`` must not be empty."""
        if len(parts) == 1:
            return parts[0]
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in cls._columns})


@attrs.frozen(eq=False, kw_only=True)
class Hits(ColumnSet):
    """The hits of a search, best first.

    ``values`` are distances (lower is nearer) from a vector search, scores (higher is better) from a lexical one,
    and 0 where elements were looked up. ``importance`` is an entity's importance weight, 0.5 for other kinds.
    """

    keys: Keys
    signatures: Codes
    values: Floats
    importance: Floats


@attrs.frozen(eq=False, kw_only=True)
class Edges(ColumnSet):
    """Relations as pairs of entities, in order of their keys."""

    relations: Keys
    sources: Keys
    targets: Keys
    weights: Floats
    """Confidences."""


@attrs.frozen(eq=False, kw_only=True)
class Mentioned(ColumnSet):
    """Mentions as a row for every (memory, entity) pair, in the requested order of ``near``, then by ``far``."""

    near: Keys
    far: Keys
    times: Floats
    """Number of mentions of the entity in the memory."""
    about: Mask
    """Whether the entity is the subject or the speaker of the memory (a mention without a span)."""
    far_signatures: Codes


@attrs.frozen(eq=False, kw_only=True)
class Turns(ColumnSet):
    """Adjacent memories of a session: a row for every pair, in the requested order."""

    near: Keys
    far: Keys
    later: Mask
    """Whether the far memory follows the near one."""
    far_signatures: Codes


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

    def keep(self, rows: Mask | Rows) -> Expansion:
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
            every = [np.concatenate([getattr(part.ends, name) for part in parts]) for name in _COLUMNS_OF_ENDS]
            keys, first, rows = np.unique(every[0], return_index=True, return_inverse=True)
            ends = FarEnds(keys=keys, signatures=every[1].take(first), importance=every[2].take(first))
            columns["end"] = rows.take(columns["end"] + _beyond(parts, [len(part.ends) for part in parts]))
        return Expansion(
            starts=np.concatenate([part.starts for part in parts]),
            ends=ends,
            far_holds=np.concatenate([part.holding for part in parts]),
            located=None,
            **columns,
        )


_COLUMNS_OF_ENDS = ("keys", "signatures", "importance")
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

    @property
    def columns(self) -> dict[str, Any]:
        """What a `Subgraph` has of each relation."""
        rows = self.rows
        own = {"relations": rows.relations, "confidence": rows.confidence, "feedback": rows.feedback}
        return {**own, "freshness": self.freshness, "prior": self.prior, "signatures": self.signatures}

    def keep(self, rows: Mask | Rows) -> Steps:
        """The rows that a mask or an index selects, in their order."""
        return Steps(self.rows.keep(rows), self.signatures[rows], self.freshness[rows], self.prior[rows])

    @staticmethod
    def none(like: Keys) -> Steps:
        """An empty expansion, with keys of the dtype of ``like``."""
        return Steps(Expansion.none(like), np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))


@attrs.frozen(eq=False, kw_only=True)
class Subgraph:
    """Entities with their path from a seed, and relations between rows of entities, each in the order it was reached.

    A seed is 0 hops away, by an empty path.
    """

    entities: Keys
    hops: Codes
    """Ascending."""
    importance: Floats
    previous: Rows
    """The entity before on the path, or -1."""
    via: Rows
    """The last relation of the path, or -1."""

    relations: Keys
    source: Rows
    target: Rows
    confidence: Floats
    freshness: Floats
    prior: Floats
    feedback: Floats
    signatures: Rows
    """As in `Steps`."""
    rank: Floats | None = None
    """The PageRank of each entity if that found them; there are no paths then."""

    @staticmethod
    def none(like: Keys) -> Subgraph:
        """An empty subgraph, with keys of the dtype of ``like``."""
        columns: dict[str, Any] = {
            **dict.fromkeys(("entities", "relations"), like[:0]),
            **dict.fromkeys(("previous", "via", "source", "target", "signatures"), np.empty(0, np.intp)),
            **dict.fromkeys(("importance", "confidence", "freshness", "prior", "feedback"), np.empty(0)),
        }
        return Subgraph(hops=np.empty(0, np.int64), **columns)

    def seeds(self) -> Keys:
        """Keys of the entities that the traversal started from."""
        started: Keys = self.entities[self.hops == 0]
        return started

    def along_paths(self, columns: Floats, combine: np.ufunc) -> Floats:
        """Combine columns of relations (last axis) along the path of each entity; 1 without a path."""
        along = np.ones((*columns.shape[:-1], len(self.entities)))
        if self.rank is not None:
            return along
        bounds = np.bincount(self.hops).cumsum().tolist()
        for start, end in pairwise(bounds):  # the entities of earlier hops are already computed
            walked = columns.take(self.via[start:end], axis=-1)
            along[..., start:end] = combine(along.take(self.previous[start:end], axis=-1), walked)
        return along

    def path_to(self, entity: int) -> list[int]:
        """The rows of the relations walked from a seed to an entity (a row too), in order."""
        walked: list[int] = []
        while (via := int(self.via[entity])) != NONE:
            walked.append(via)
            entity = int(self.previous[entity])
        return walked[::-1]

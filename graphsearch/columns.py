"""What passes from stores through traversal to scoring: columns of numbers, not rows of objects.

A query touches thousands of relations and shows ten. So a store answers in numpy columns, and only what is shown is
read as whole elements. A *key* is a store's own handle of an element: opaque, sortable, and sorting as ids do; any
dtype that numpy can sort will do. Keys are good as long as the snapshot they were read in.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any, Final

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
class Hits:
    """Elements that a search found, best first.

    ``values`` are distances (lower is nearer) from a vector search, scores (higher is better) from a lexical one,
    and 0 where elements were looked up. ``importance`` is an entity's importance weight, 0.5 for other kinds.
    """

    keys: Keys
    signatures: Codes
    values: Floats
    importance: Floats

    def __len__(self) -> int:
        return len(self.keys)

    def keep(self, rows: Mask | NDArray[np.intp]) -> Hits:
        """The rows that a mask or an index selects, in their order."""
        return Hits(
            keys=self.keys[rows],
            signatures=self.signatures[rows],
            values=self.values[rows],
            importance=self.importance[rows],
        )


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


@attrs.frozen(eq=False, kw_only=True)
class Edges:
    """Relations as pairs of ends, in order of their keys."""

    relations: Keys
    sources: Keys
    targets: Keys
    weights: Floats
    """Confidences."""

    def __len__(self) -> int:
        return len(self.relations)


@attrs.frozen(eq=False, kw_only=True)
class Mentioned:
    """Which memories mention which entities: a row for every pair, in order of ``near`` as asked for, then ``far``."""

    near: Keys
    far: Keys
    times: Floats
    """How often the memory mentions the entity."""
    about: Mask
    """Whether it does so without a span: by its subject or its speaker, not only in its text."""
    far_signatures: Codes

    def __len__(self) -> int:
        return len(self.far)

    def keep(self, rows: Mask | NDArray[np.intp]) -> Mentioned:
        """The rows that a mask or an index selects, in their order."""
        return Mentioned(
            near=self.near[rows],
            far=self.far[rows],
            times=self.times[rows],
            about=self.about[rows],
            far_signatures=self.far_signatures[rows],
        )


@attrs.frozen(eq=False, kw_only=True)
class Turns:
    """Memories and those next to them in their session: a row for every pair, in the order asked for."""

    near: Keys
    far: Keys
    later: Mask
    """Whether the far one comes after the near one."""
    far_signatures: Codes

    def __len__(self) -> int:
        return len(self.far)

    def keep(self, rows: Mask | NDArray[np.intp]) -> Turns:
        """The rows that a mask or an index selects, in their order."""
        return Turns(
            near=self.near[rows],
            far=self.far[rows],
            later=self.later[rows],
            far_signatures=self.far_signatures[rows],
        )

    @staticmethod
    def concatenate(parts: list[Turns]) -> Turns:
        """The rows of several, one after another. ``parts`` must not be empty."""
        if len(parts) == 1:
            return parts[0]
        names = ("near", "far", "later", "far_signatures")
        return Turns(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


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


@attrs.frozen(eq=False, kw_only=True)
class Subgraph:
    """Entities with their path from a seed, and relations between rows of entities, each in the order it was reached.

    A seed lies 0 hops away, by an empty path.
    """

    entities: Keys
    hops: Codes
    """Ascending."""
    seed_distance: Floats
    """Cosine distance of the seed that the path starts from; 0 for an anchor."""
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
    """The PageRank of each entity, where that is what found them; there are no paths then."""

    @staticmethod
    def none(like: Keys) -> Subgraph:
        """Nothing, with keys of the same dtype as some keys."""
        keys, rows, numbers = like[:0], np.empty(0, dtype=np.intp), np.empty(0)
        return Subgraph(
            entities=keys,
            hops=np.empty(0, dtype=np.int64),
            seed_distance=numbers,
            importance=numbers,
            previous=rows,
            via=rows,
            relations=keys,
            source=rows,
            target=rows,
            confidence=numbers,
            freshness=numbers,
            prior=numbers,
            feedback=numbers,
            signatures=rows,
        )

    def seeds(self) -> Keys:
        """Keys of the entities that the traversal started from."""
        started: Keys = self.entities[self.hops == 0]
        return started

    def along_paths(self, columns: Floats, combine: np.ufunc) -> Floats:
        """What columns of relations (their last axis) come to along the path of each entity; 1 without a path."""
        along = np.ones((*columns.shape[:-1], len(self.entities)))
        if self.rank is not None:
            return along
        bounds = np.bincount(self.hops).cumsum().tolist()
        for start, end in pairwise(bounds):  # those before are already told
            walked = columns.take(self.via[start:end], axis=-1)
            along[..., start:end] = combine(along.take(self.previous[start:end], axis=-1), walked)
        return along

    def path_to(self, entity: int) -> list[int]:
        """The relations walked to an entity from a seed, in order; rows both."""
        walked: list[int] = []
        while (via := int(self.via[entity])) != NONE:
            walked.append(via)
            entity = int(self.previous[entity])
        return walked[::-1]

"""Personalised PageRank from the seeds: the entities that a random walk with restart visits most often.

Only what a walk needs of the graph is ever fetched: by forward push, one synchronous round at a time, or in small
scopes by power iteration.

Andersen, Chung and Lang, "Local graph partitioning using PageRank vectors", 2006. Mass waits at entities as a
*residual*. A push keeps the share ``restart`` of it as rank and passes the rest on along the links; it is only made
where the residual exceeds epsilon × weight, so that the work depends on epsilon and not on the size of the graph.

Power iteration: r ← restart · s + (1 − restart) · (P r + dangling · s). Page, Brin, Motwani and Winograd, "The PageRank
citation ranking", 1999, with the restart at the seeds s alone. P goes from an entity along its links in proportion to
their weights; the mass of entities without a link goes back to the seeds.
"""

from __future__ import annotations

from typing import Final, Literal

import attrs
import numpy as np

from graphsearch.columns import NONE, Floats, Hits, Keys, Mask, Rows, Steps, Subgraph
from graphsearch.columns.key_index import KeyIndex, first_rows
from graphsearch.model import validation as check
from graphsearch.protocols import Frontier

LIGHTEST: Final = 64.0
"""Least weight assumed of an entity: an unread one may weigh this much, and reading it is the cost to avoid."""


@attrs.frozen(eq=False)
class Links:
    """Links that lead away from some entities, entity by entity."""

    owner: Rows
    """The row of the entity that each link leaves, among those entities."""
    far: Rows
    """The row of the entity that each link leads to."""
    weight: Floats
    """Weights, above 0."""


@attrs.frozen(eq=False)
class Mass:
    """The mass by row of entity: settled as rank, or waiting to be pushed. The total is 1."""

    settled: Floats
    waiting: Floats

    @classmethod
    def at(cls, seeds: Floats) -> Mass:
        """All mass waiting at the seeds."""
        return cls(np.zeros(len(seeds)), seeds)

    def among(self, size: int) -> Mass:
        """The same mass among more entities."""
        further = np.zeros(size - len(self.settled))
        return Mass(np.concatenate((self.settled, further)), np.concatenate((self.waiting, further)))

    def excessive(self, weight: Floats, epsilon: float) -> Mask:
        """The rows where more mass waits than epsilon × weight: the sum of an entity's links, at least `LIGHTEST`."""
        exceeds: Mask = self.waiting > epsilon * np.maximum(weight, LIGHTEST)
        return exceeds

    def rank(self, restart: float) -> Floats:
        """The PageRank so far, with the share of the waiting mass that would settle in place.

        Never more than the true one. When nothing is `excessive`, and every link can be walked both ways with the same
        weight, it falls short of it by at most epsilon × weight × max(1, LIGHTEST / the least weight of any entity).
        """
        return self.settled + restart * self.waiting

    def pushed(self, rows: Rows, links: Links, seeds: Floats, restart: float) -> Mass:
        """The mass after a push at some rows, given their links; without links it returns to the seeds (first rows)."""
        moved = self.waiting.take(rows)
        settled, waiting = self.settled.copy(), self.waiting.copy()
        settled[rows] += restart * moved
        waiting[rows] = 0.0
        passed = (1.0 - restart) * moved
        total = np.bincount(links.owner, links.weight, len(rows))
        dangling = total == 0.0
        share = np.divide(passed, total, out=np.zeros_like(passed), where=~dangling)
        np.add.at(waiting, links.far, share.take(links.owner) * links.weight)
        waiting[: len(seeds)] += passed[dangling].sum() * seeds
        return Mass(settled, waiting)


def power_iteration(
    near: Rows, far: Rows, weight: Floats, seeds: Floats, *, restart: float, tolerance: float, max_iterations: int
) -> Floats:
    """The PageRank of each of ``len(seeds)`` entities: not negative, with the sum 1.

    Link i leads from entity ``near[i]`` to ``far[i]`` and has ``weight[i]`` > 0; ``seeds`` has the sum 1. Stops when
    the L1 change falls below ``tolerance``: the L1 error is then below tolerance × (1 − restart) / restart.
    """
    size = len(seeds)
    total = np.bincount(near, weight, size)
    chance = (1.0 - restart) * weight / total.take(near)
    dangling = total == 0.0
    rank = seeds
    for _ in range(max_iterations):
        flow = np.bincount(far, chance * rank.take(near), size)
        back = restart + (1.0 - restart) * rank[dangling].sum()
        before, rank = rank, flow + back * seeds
        if np.abs(rank - before).sum() < tolerance:
            break
    return rank


EPSILON: Final = 1e-5
"""See `graphsearch.traversal.pagerank`: at 1e-5 about 500 entities are read, in any graph."""
POWER_UNTIL: Final = 1_000
"""Largest scope, in entities, for which power iteration is chosen: it has to read all of them."""
POWER_READS: Final = 100_000
"""Most entities that power iteration reads; entities beyond count as without relations."""
COUNTED: Final = 1_000
"""Relations per entity and direction up to which degrees are counted and relations among the best are read."""
ALIKE: Final = 12
"""Decimals to which PageRanks are compared: differences by the order of summation count as equal."""


@attrs.frozen(kw_only=True)
class PersonalizedPageRank:
    """The ``k`` entities of the greatest PageRank, and all relations among them.

    The walk restarts with the probability ``restart`` at a seed, chosen in proportion to (1 − distance / 2) × log(N
    / degree), and else follows a relation in either direction, in proportion to its confidence; at an entity without
    relations it restarts. Of every entity at most ``fan_out`` relations per direction are followed, the strongest. The
    reach depends on ``restart``: the ``depth`` of a search does not bound it.

    * ``method``: "power" iterates over everything reachable, until r changes by less than ``tolerance`` (L1) or after
      ``max_iterations``; "push" reads only where enough mass arrives; "auto" is power in scopes of at most 1,000
      entities, and else push.

    Raises `InvalidInputError` for a number out of its range.
    """

    restart: float = 0.15
    tolerance: float = 1e-5
    max_iterations: int = 100
    max_entities: int = 20
    method: Literal["auto", "power", "push"] = "auto"
    fan_out: int = 100

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "personalised PageRank",
            check.number("restart", self.restart, 1e-3, 1.0),
            check.number("tolerance", self.tolerance, 1e-15, 1.0),
            check.number("max_iterations", self.max_iterations, 1),
            check.number("max_entities", self.max_entities, 1),
            check.one_of("method", self.method, ("auto", "power", "push")),
            check.number("fan_out", self.fan_out, 1),
        )

    async def traverse(self, seeds: Hits, *, depth: int, reader: Frontier) -> Subgraph:  # noqa: ARG002 - see above
        """The best entities, and all relations among them; ``rank`` is the PageRank of each."""
        explored, rank = await self.ranks(seeds, reader)
        top = _top(explored, rank, self.max_entities)
        found = await reader.expand(np.sort(explored.keys[top]), COUNTED) if len(top) else Steps.none(seeds.keys)
        return _among(top, rank, explored, found)

    async def ranks(self, seeds: Hits, reader: Frontier) -> tuple[Explored, Floats]:
        """The part of the graph read, and the PageRank of each entity reached; 0 for all others."""
        explored = Explored(seeds, self.fan_out)
        if not len(seeds):
            return explored, np.empty(0)
        size = await reader.entity_count()
        await explored.read(np.arange(len(seeds)), reader)
        start = starting_chances(seeds, await _degrees(explored, len(seeds), reader), size)
        by_power = self.method == "power" or (self.method == "auto" and size <= POWER_UNTIL)
        return explored, await (self._by_power if by_power else self._by_push)(explored, start, reader)

    async def _by_power(self, explored: Explored, start: Floats, reader: Frontier) -> Floats:
        done = len(start)
        while done < len(explored) and done < POWER_READS:
            rows = np.arange(done, min(len(explored), POWER_READS))
            done += len(rows)
            await explored.read(rows, reader)
        links = explored.links_of(np.arange(done))
        return power_iteration(
            links.owner,
            links.far,
            links.weight,
            np.concatenate((start, np.zeros(len(explored) - len(start)))),
            restart=self.restart,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        )

    async def _by_push(self, explored: Explored, start: Floats, reader: Frontier) -> Floats:
        mass = Mass.at(start).among(len(explored))
        for _ in range(self.max_iterations):
            rows = np.flatnonzero(mass.excessive(explored.weight, EPSILON))
            if not len(rows):
                break
            await explored.read(rows[~explored.was_read[rows]], reader)
            mass = mass.among(len(explored))
            rows = rows[mass.excessive(explored.weight, EPSILON)[rows]]  # some may have more weight than was known
            mass = mass.pushed(rows, explored.links_of(rows), start, self.restart)
        return mass.rank(self.restart)


def starting_chances(seeds: Hits, degrees: Rows, size: int) -> Floats:
    """The probability of each seed to start at: (1 − distance / 2) × log(N / degree), scaled to the sum 1.

    Negative values count as 0, and a degree of 0 as 1; if all are 0, the seeds are equally likely.
    """
    nearness = np.clip(1.0 - seeds.values / 2.0, 0.0, None)
    specificity = np.clip(np.log(max(size, 1) / np.maximum(degrees, 1)), 0.0, None)
    weight = nearness * specificity
    total = weight.sum()
    return weight / total if total > 0.0 else np.full(len(seeds), 1.0 / len(seeds))


async def _degrees(explored: Explored, seeds: int, reader: Frontier) -> Rows:
    """The number of visible relations of each seed, counted up to `COUNTED` per direction."""
    degrees = explored.degrees[:seeds]
    crowded = np.flatnonzero(degrees >= explored.fan_out)  # there may be more
    if len(crowded):
        found = await reader.expand(np.sort(explored.keys[crowded]), max(COUNTED, explored.fan_out))
        counted = np.bincount(KeyIndex(explored.keys[crowded]).of(found.rows.near), minlength=len(crowded))
        degrees[crowded] = counted
    return degrees


def _top(explored: Explored, rank: Floats, limit: int) -> Rows:
    """Rows of the ``limit`` entities of the greatest PageRank above 0, ties by key."""
    alike = rank.round(ALIKE)
    least = np.partition(alike, -limit)[-limit] if len(alike) > limit else 0.0
    rows = np.flatnonzero((alike >= least) & (rank > 0.0))
    best: Rows = rows[np.lexsort((explored.keys[rows], -alike[rows]))[:limit]]
    return best


def _among(top: Rows, rank: Floats, explored: Explored, steps: Steps) -> Subgraph:
    """The subgraph of some entities; a relation found from both of its ends counts once."""
    places = KeyIndex(explored.keys[top])
    inside = np.flatnonzero(places.of(steps.rows.far) != NONE)
    once, _ = first_rows(steps.rows.relations[inside])
    found = steps.keep(inside[once])
    near, far = places.of(found.rows.near), places.of(found.rows.far)
    none = np.full(len(top), NONE)
    return Subgraph(
        entities=places.keys,
        hops=explored.hops[top],
        importance=explored.importance[top],
        previous=none,
        via=none,
        rank=rank[top],
        source=np.where(found.rows.outgoing, near, far),
        target=np.where(found.rows.outgoing, far, near),
        **found.columns,
    )


class Explored:
    """Entities as rows in the order in which they were reached, the seeds first; and the relations of those expanded.

    A relation occurs once for each of its ends that was expanded: as a link from row ``near`` to row ``far``. Of every
    entity at most ``fan_out`` relations are read in either direction, the strongest; those of confidence 0 are ignored.
    * ``hops``: the distance of each entity from its nearest seed, over the relations read.
    * ``weight``: the sum of the confidences of each entity's relations: of all if read, else of those that led to it.
    """

    def __init__(self, seeds: Hits, fan_out: int) -> None:
        self.fan_out = fan_out
        self._places = KeyIndex(seeds.keys)
        self.hops: Rows = np.zeros(len(seeds), np.intp)
        self.importance: Floats = seeds.importance
        self.was_read: Mask = np.zeros(len(seeds), np.bool_)
        self.near: Rows = np.empty(0, np.intp)
        self.far: Rows = np.empty(0, np.intp)
        self.confidence: Floats = np.empty(0)
        self.weight: Floats = np.zeros(len(seeds))

    def __len__(self) -> int:
        return len(self._places)

    @property
    def keys(self) -> Keys:
        """The key of each entity."""
        return self._places.keys

    @property
    def degrees(self) -> Rows:
        """The number of relations read of each entity."""
        return np.bincount(self.near, minlength=len(self))

    def links_of(self, rows: Rows) -> Links:
        """The relations read of some entities, each weighted by its confidence."""
        owner = np.full(len(self), NONE)
        owner[rows] = np.arange(len(rows))
        owners = owner.take(self.near)
        (own,) = (owners != NONE).nonzero()
        return Links(owners.take(own), self.far.take(own), self.confidence.take(own))

    async def read(self, rows: Rows, reader: Frontier) -> None:
        """Read the relations of entities that were not read before, in order of their rows."""
        if not len(rows):
            return
        found = (await reader.expand(self.keys[rows], self.fan_out)).rows
        found = found.keep(found.confidence > 0.0)
        known, near = len(self), self._places.of(found.near)
        far = self._places.number(found.far)
        further = len(self) - known
        self.hops = np.concatenate((self.hops, np.full(further, np.iinfo(np.intp).max - 1)))
        np.minimum.at(self.hops, far, self.hops.take(near) + 1)
        self.importance = np.concatenate((self.importance, np.zeros(further)))
        self.importance[far] = found.far_importance
        self.was_read = np.concatenate((self.was_read, np.zeros(further, np.bool_)))
        self.was_read[rows] = True
        self.near, self.far = np.concatenate((self.near, near)), np.concatenate((self.far, far))
        self.confidence = np.concatenate((self.confidence, found.confidence))
        unread = ~self.was_read.take(self.far)
        led_to = np.bincount(self.far[unread], self.confidence[unread], len(self))
        self.weight = np.asarray(np.bincount(self.near, self.confidence, len(self)) + led_to, np.float64)

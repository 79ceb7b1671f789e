"""Personalised PageRank from the seeds: the entities that a random walk with restart visits most often.

Only what a walk needs of the graph is ever fetched.
"""

from __future__ import annotations

from typing import Final, Literal

import attrs
import numpy as np

from graphsearch.columns import NONE, Floats, Hits, Keys, Mask, Rows, Steps, Subgraph
from graphsearch.columns.key_index import KeyIndex, first_rows
from graphsearch.model import validation as check
from graphsearch.protocols import Frontier
from graphsearch.traversal.push import Links, Mass, power_iteration

EPSILON: Final = 1e-5
"""See `graphsearch.traversal.push`: at 1e-5 about 500 entities are read, in any graph."""
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
    rows = inside[once]
    found = steps.rows.keep(rows)
    near, far = places.of(found.near), places.of(found.far)
    none = np.full(len(top), NONE)
    return Subgraph(
        entities=places.keys,
        hops=explored.hops[top],
        importance=explored.importance[top],
        previous=none,
        via=none,
        rank=rank[top],
        relations=found.relations,
        source=np.where(found.outgoing, near, far),
        target=np.where(found.outgoing, far, near),
        confidence=found.confidence,
        freshness=steps.freshness[rows],
        prior=steps.prior[rows],
        feedback=found.feedback,
        signatures=steps.signatures[rows],
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

"""Label propagation: pure, deterministic for a graph and seed, and guaranteed to terminate.

Every node holds a label, initially its own, and takes over the best label among its neighbours, one node after the
other. The best label is chosen by the constraint of Barber and Clark (2009, "Detecting network communities by
propagating labels under constraints", Physical Review E 80, 026129): the weight of a node's links into a community,
less the weight expected by chance. Without it one label floods a graph that has hubs. Moving a node then raises the
modularity Q, where

    Q · m = Σ over pairs with equal labels of  w(i, j) − k(i) · k(j) / 2m

k is the sum of the weights of a node's links, m that of all links. Weights are whole numbers, so that gains are exact.
A community that falls apart is split, which does not lower Q. Since every move raises Q and a graph has finitely many
labellings, the procedure terminates.

Communities then join each other in the same way (Liu and Murata 2010, "Advanced modularity-specialized label
propagation algorithm", Physica A 389, 1493: single nodes get stuck in many small communities). Modularity alone would
merge small communities of a large graph for a single link between them; so two communities count as neighbours only if
the density of links between them is at least 0.15 times the density inside.
"""

from __future__ import annotations

from collections import deque
from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Rows

STEPS: Final = 2.0**20
"""A weight of 1. Weights are rounded to whole steps, so that their sums are exact in any order."""

_MIN_DENSITY: Final = 0.15
"""The least density between two communities, relative to the density inside, at which they may be merged.

From 0.1 to 0.2 planted communities are found equally well; above, sparse ones stay in pieces, and below, small ones
are merged.
"""


@attrs.frozen(eq=False)
class Links:
    """Weighted links between the nodes 0, 1, …, without self-loops or parallels; each is stored once for either end.

    The links of node i are rows ``starts[i]`` to ``starts[i + 1]``, in order of the far end.
    """

    starts: Rows
    near: Rows
    far: Rows
    weight: Floats
    """In `STEPS`."""
    strength: Floats
    """The sum of the weights of the links of each node."""

    @classmethod
    def of(cls, nodes: int, sources: Rows, targets: Rows, weights: Floats) -> Links:
        """Build from relations in any order, with weights in [0, 1]; parallel and opposite ones add up."""
        steps = np.rint(weights * STEPS)
        kept = (sources != targets) & (steps > 0)
        one, other, steps = sources[kept], targets[kept], steps[kept]
        near, far, weight = _summed(
            np.concatenate((one, other)), np.concatenate((other, one)), np.concatenate((steps, steps)), nodes
        )
        return cls(_starts(near, nodes), near, far, weight, sums(near, weight, nodes))

    def __len__(self) -> int:
        return len(self.strength)

    def around(self, nodes: Rows) -> Rows:
        """Some nodes and all of their neighbours, in order."""
        met = np.zeros(len(self), dtype=np.bool_)
        met[nodes] = True
        met[self.far[met[self.near]]] = True
        return np.flatnonzero(met)

    def grouped(self, group: Rows, likeness: float) -> Links:
        """Contract groups of nodes to single nodes; ``group`` is the number of each node's group, from 0.

        Two groups are linked if the density between them is at least ``likeness`` times the density inside the less
        dense of the two. Density is the weight of the links over the number of pairs. The strength of a group is the
        sum over its nodes, whichever links it keeps.
        """
        size = np.bincount(group).astype(np.float64)
        near, far, weight = _summed(group[self.near], group[self.far], self.weight, len(size))
        inside = near == far
        density = np.zeros(len(size))
        density[near[inside]] = weight[inside] / (size * (size - 1))[near[inside]]
        dense = weight / (size[near] * size[far]) >= likeness * np.minimum(density[near], density[far])
        kept = ~inside & dense
        near, far, weight = near[kept], far[kept], weight[kept]
        return Links(_starts(near, len(size)), near, far, weight, sums(group, self.strength, len(size)))


def propagated(links: Links, labels: Rows, *, seed: int = 0) -> Rows:
    """The community of each node, named by its lowest node, from any labels: node numbers, equal within a community.

    Every community is connected. The result is a fixed point: from it, every seed leads to itself.
    """
    while True:
        settled = _settled(links, labels, seed)
        merged = _merged(links, settled, seed)
        if np.array_equal(merged, lowest_members(labels)):
            return merged
        labels = merged


def _merged(links: Links, labels: Rows, seed: int) -> Rows:
    """Labels after the communities took the best label among communities."""
    _, community = np.unique(labels, return_inverse=True)
    communities = links.grouped(community, _MIN_DENSITY)
    return lowest_members(_settled(communities, np.arange(len(communities)), seed)[community])


def _settled(links: Links, labels: Rows, seed: int) -> Rows:
    """Labels after all nodes, and then those around each community that fell apart, took the best label around them."""
    restless: Rows = np.arange(len(links))
    while True:
        labels = _moved(links, labels, restless, seed)
        parts = connected_parts(links, labels)
        apart = np.flatnonzero(parts != lowest_members(labels))
        if not len(apart):
            return parts
        labels, restless = parts, links.around(apart)


def _moved(links: Links, labels: Rows, restless: Rows, seed: int) -> Rows:
    """Move nodes, in a random order, until none around a moved node gains by moving; ties go by that order too."""
    shuffled = np.random.default_rng(seed).permutation(len(links))
    rank, order = shuffled.tolist(), restless[np.argsort(shuffled[restless])].tolist()
    starts, far, weight = links.starts.tolist(), links.far.tolist(), links.weight.astype(np.int64).tolist()
    strength, mass = links.strength.astype(np.int64).tolist(), sums(labels, links.strength, len(links))
    total, mass = sum(strength), mass.astype(np.int64).tolist()
    held: list[int] = labels.tolist()
    ahead, waiting = deque(order), set(order)
    while ahead:
        node = ahead.popleft()
        waiting.discard(node)
        first, last = starts[node], starts[node + 1]
        own, share = held[node], strength[node]
        around = dict.fromkeys((own, *map(held.__getitem__, far[first:last])), 0)
        if len(around) == 1:
            continue
        for other, steps in zip(far[first:last], weight[first:last], strict=True):
            around[held[other]] += steps
        mass[own] -= share
        best, most = own, around[own] * total - share * mass[own]
        for label, steps in around.items():
            gain = steps * total - share * mass[label]
            if gain > most or (gain == most and best != own and rank[label] > rank[best]):
                best, most = label, gain
        mass[best] += share
        held[node] = best
        if best != own:
            fresh = [other for other in far[first:last] if held[other] != best and other not in waiting]
            ahead.extend(fresh)
            waiting.update(fresh)
    return np.array(held, np.intp)


def lowest_members(labels: Rows) -> Rows:
    """Replace each label by the lowest node that has it."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    lowest: Rows = first[inverse]
    return lowest


def connected_parts(links: Links, labels: Rows) -> Rows:
    """For each node, the lowest node that is connected to it through nodes of its own label."""
    inside = labels[links.near] == labels[links.far]
    near, far = links.near[inside], links.far[inside]
    parts: Rows = np.arange(len(links))
    while True:
        hooked = parts.copy()
        np.minimum.at(hooked, parts[near], parts[far])
        hooked = hooked[hooked]
        if np.array_equal(hooked, parts):
            return parts
        parts = hooked


def _summed(near: Rows, far: Rows, weight: Floats, nodes: int) -> tuple[Rows, Rows, Floats]:
    """Sort rows by (near, far) and add up the weights of each pair."""
    pair = near * nodes + far
    order = np.argsort(pair)
    pair = pair[order]
    first = run_starts(pair)
    if not len(first):
        return near, far, weight
    return near[order][first], far[order][first], np.add.reduceat(weight[order], first)


def sums(groups: Rows, values: Floats, count: int) -> Floats:
    """The sum of the values of each of the groups 0 … count − 1."""
    return np.bincount(groups, values, minlength=count).astype(np.float64, copy=False)


def run_starts(values: Rows) -> Rows:
    """The indices at which runs of equal values begin; the values must not be negative."""
    return np.flatnonzero(np.diff(values, prepend=-1))


def _starts(near: Rows, nodes: int) -> Rows:
    starts: Rows = np.searchsorted(near, np.arange(nodes + 1))
    return starts

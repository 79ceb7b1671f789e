"""An undirected graph as arrays, for label propagation."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Rows

STEPS: Final = 2.0**20
"""A weight of 1. Weights are rounded to whole steps, so that their sums are exact in any order."""


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

    def rows_of(self, nodes: Rows) -> Rows:
        """The rows of all links of some nodes, node by node."""
        first, counts = self.starts[nodes], self.degrees[nodes]
        rows: Rows = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return rows

    @property
    def degrees(self) -> Rows:
        """The number of neighbours of each node."""
        return np.diff(self.starts)

    def around(self, nodes: Rows) -> Rows:
        """Some nodes and all of their neighbours, in order."""
        met = np.zeros(len(self), dtype=np.bool_)
        met[nodes] = True
        met[self.far[self.rows_of(nodes)]] = True
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

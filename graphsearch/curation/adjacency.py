"""An undirected graph as arrays: what label propagation walks on."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Rows

STEPS: Final = 2.0**20
"""A weight of 1. Weights are whole numbers of steps, so that their sums are exact, in whatever order."""


@attrs.frozen(eq=False)
class Links:
    """Links without loops and parallels between the nodes 0, 1, …; each stands once at either of its ends.

    The links of node i are rows ``starts[i]`` to ``starts[i + 1]``, in order of the far end.
    """

    starts: Rows
    near: Rows
    far: Rows
    weight: Floats
    """In `STEPS`."""
    strength: Floats
    """Of each node: the sum of the weights of its links."""

    @classmethod
    def of(cls, nodes: int, sources: Rows, targets: Rows, weights: Floats) -> Links:
        """Relations in any order, their weights in [0, 1]; parallel and opposite ones add up."""
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
        """How many nodes each node is linked to."""
        return np.diff(self.starts)

    def around(self, nodes: Rows) -> Rows:
        """Some nodes with all of their neighbours, in order."""
        met = np.zeros(len(self), dtype=np.bool_)
        met[nodes] = True
        met[self.far[self.rows_of(nodes)]] = True
        return np.flatnonzero(met)

    def grouped(self, group: Rows, likeness: float) -> Links:
        """Groups of nodes as nodes: ``group`` is a number from 0 for each node.

        Two groups are linked where their nodes are linked ``likeness`` times as densely as those inside of the looser
        of the two; the density is the weight of the links over the number of pairs. The strength of a group is that
        of its nodes, whatever links it keeps.
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
    """Each label replaced by the lowest node that has it."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    lowest: Rows = first[inverse]
    return lowest


def connected_parts(links: Links, labels: Rows) -> Rows:
    """For each node, the lowest node that it is linked to through nodes of its own label."""
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
    """Rows in order of (near, far), those of one pair added up."""
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
    """Where the runs of equal values begin; the values are not negative."""
    return np.flatnonzero(np.diff(values, prepend=-1))


def _starts(near: Rows, nodes: int) -> Rows:
    starts: Rows = np.searchsorted(near, np.arange(nodes + 1))
    return starts

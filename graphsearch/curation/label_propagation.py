"""Label propagation over arrays: pure, deterministic for a graph and seed, and guaranteed to terminate.

Every node holds a label, initially its own, and takes over the best label among its neighbours. The best label is
chosen by the constraint of Barber and Clark (2009, "Detecting network communities by propagating labels under
constraints", Physical Review E 80, 026129): the weight of a node's links into a community, less the weight expected by
chance. Without it one label floods a graph that has hubs. Moving a single node then raises the modularity Q, where

    Q · m = Σ over pairs with equal labels of  s(i, j),      s(i, j) = w(i, j) − k(i) · k(j) / 2m

k is the sum of the weights of a node's links, m that of all links.

Nodes move simultaneously, which alone would let two neighbours swap labels endlessly. So the gain of each mover is
reduced by what the movers before it can take away. For two movers the true change of their pair is
s · ([same new] − [same old]), while each on its own counts s · ([its new is the other's old] − [same old]). The true
change less the counted one is
s · ([same old] + [same new] − [the one's new is the other's old] − [the other's new is the one's old]).
A node moves only if its gain is still positive after the negative parts of that. So each round raises Q, and the first
mover always moves. A community that falls apart is split, which does not lower Q. Since a graph has finitely many
labellings, the procedure terminates.

Communities then take over each other's labels in the same way (Liu and Murata 2010, "Advanced modularity-specialized
label propagation algorithm", Physica A 389, 1493: single nodes get stuck in many small communities). Modularity alone
would merge small communities of a large graph for a single link between them; so two communities count as neighbours
only if the density of links between them is at least 0.15 times the density inside.
"""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Mask, Rows

STEPS: Final = 2.0**20
"""A weight of 1. Weights are rounded to whole steps, so that their sums are exact in any order."""

_MIN_DENSITY: Final = 0.15
"""The least density between two communities, relative to the density inside, at which they may be merged.

From 0.1 to 0.2 planted communities are found equally well; above, sparse ones stay in pieces, and below, small ones
are merged.
"""

_ROUNDING: Final = 1e-3
"""The largest gain that may be a rounding error: 1e-9 of a weight of 1."""


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


def propagated(links: Links, *, seed: int = 0) -> Rows:
    """The community of each node, named by its lowest node; a fixed point of `refreshed` over all nodes."""
    everyone: Rows = np.arange(len(links))
    labels = everyone
    while True:
        after = refreshed(links, labels, everyone, seed=seed)
        if np.array_equal(after, labels):
            return labels
        labels = after


def refreshed(links: Links, labels: Rows, changed: Rows, *, seed: int = 0) -> Rows:
    """Update communities, only around the changed nodes and, in turn, around the nodes that then moved.

    ``labels`` are node numbers, equal within a community. Returns the lowest node of each node's community. Every
    community is connected: one that fell apart is split.
    """
    restless = links.around(changed)
    while True:
        settled = _settled(links, labels, restless, seed)
        moved = np.flatnonzero(settled != lowest_members(labels))
        labels = _merged(links, settled, np.union1d(restless, moved), seed)
        if np.array_equal(labels, settled):
            return labels
        restless = links.around(np.flatnonzero(labels != settled))


def _merged(links: Links, labels: Rows, touched: Rows, seed: int) -> Rows:
    """Labels after the communities of the touched nodes took the best label among communities."""
    _, community = np.unique(labels, return_inverse=True)
    communities = links.grouped(community, _MIN_DENSITY)
    alone: Rows = np.arange(len(communities))
    return lowest_members(_settled(communities, alone, np.unique(community[touched]), seed)[community])


def _settled(links: Links, labels: Rows, restless: Rows, seed: int) -> Rows:
    """Labels after the restless nodes, and those around each node that moved, took the best label around them."""
    propagation = _Propagation(links, seed)
    while True:
        labels = propagation.run(labels, restless)
        parts = connected_parts(links, labels)
        apart = np.flatnonzero(parts != lowest_members(labels))
        if not len(apart):
            return parts
        labels, restless = parts, links.around(apart)


@attrs.frozen(eq=False)
class _Moves:
    """Nodes, each once, that would gain by another label."""

    nodes: Rows
    old: Rows
    new: Rows
    gain: Floats

    def keep(self, mask: Mask) -> _Moves:
        return _Moves(self.nodes[mask], self.old[mask], self.new[mask], self.gain[mask])


class _Propagation:
    """Rounds of moves on one graph."""

    def __init__(self, links: Links, seed: int) -> None:
        self._links = links
        self._share = links.strength / max(links.strength.sum(), 1.0)
        """Times the strength of a community: the weight expected by chance between a node and it."""
        self._rank: Rows = np.random.default_rng(seed).permutation(len(links))
        """Breaks ties, between labels and between movers."""
        self._ranked: Rows = np.argsort(self._rank)

    def run(self, labels: Rows, restless: Rows) -> Rows:
        """Move nodes until none around a moved node gains by moving."""
        labels = labels.copy()
        while len(restless):
            wanted = self._wanted(labels, restless)
            allowed = self._compatible(wanted)
            moves = wanted.keep(allowed)
            labels[moves.nodes] = moves.new
            restless = np.union1d(wanted.nodes[~allowed], self._links.around(moves.nodes))
        return labels

    def _wanted(self, labels: Rows, nodes: Rows) -> _Moves:
        """The best other label around each of some nodes, if it is better than their own."""
        links, size = self._links, len(self._links)
        nodes = nodes[links.degrees[nodes] > 0]
        rows = links.rows_of(nodes)
        choice = np.repeat(np.arange(len(nodes)), links.degrees[nodes]) * size + labels[links.far[rows]]
        order = np.argsort(choice)
        choice = choice[order]
        first = run_starts(choice)
        if not len(first):
            return _Moves(nodes, nodes, nodes, np.empty(0))
        place, label = np.divmod(choice[first], size)
        weight = np.add.reduceat(links.weight[rows][order], first)

        total = sums(labels, links.strength, size)
        share, own = self._share[nodes], label == labels[nodes][place]
        stay = share * (links.strength[nodes] - total[labels[nodes]])
        stay[place[own]] += weight[own]
        score = np.where(own, -np.inf, weight - share[place] * total[label])
        starts = run_starts(place)
        best = np.maximum.reduceat(score, starts)
        rank = np.where(score == best[place], self._rank[label], -1)
        new = self._ranked[np.maximum.reduceat(rank, starts)]
        moves = _Moves(nodes, labels[nodes], new, best - stay)
        return moves.keep(moves.gain > _ROUNDING)

    def _compatible(self, moves: _Moves) -> Mask:
        """Which moves still gain after all moves before them; the largest gains come first."""
        links, count = self._links, len(moves.nodes)
        place = np.empty(count, dtype=np.intp)
        place[np.lexsort((self._rank[moves.nodes], -moves.gain))] = np.arange(count)
        mover = np.full(len(links), -1)
        mover[moves.nodes] = np.arange(count)

        rows = links.rows_of(moves.nodes)
        one, other = mover[links.near[rows]], mover[links.far[rows]]
        earlier = (other >= 0) & (place[other] < place[one])
        one, other, weight = one[earlier], other[earlier], links.weight[rows][earlier]
        crossings = (moves.new[one] == moves.old[other]).astype(np.float64) + (moves.new[other] == moves.old[one])
        lost = sums(one, weight * crossings, count)

        strength = links.strength[moves.nodes]
        crowd = _before(moves.old, place, strength) + _before(moves.new, place, strength)
        allowed: Mask = moves.gain - lost - self._share[moves.nodes] * crowd > _ROUNDING
        return allowed


def _before(group: Rows, place: Rows, values: Floats) -> Floats:
    """For each row, the sum of the values of the earlier rows of its group."""
    order = np.lexsort((place, group))
    running = np.cumsum(values[order]) - values[order]
    starts = run_starts(group[order])
    before = np.empty(len(order))
    before[order] = running - np.repeat(running[starts], np.diff(starts, append=len(order)))
    return before


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

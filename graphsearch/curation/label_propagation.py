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
from graphsearch.curation.adjacency import Links, connected_parts, lowest_members, run_starts, sums

_MIN_DENSITY: Final = 0.15
"""The least density between two communities, relative to the density inside, at which they may be merged.

From 0.1 to 0.2 planted communities are found equally well; above, sparse ones stay in pieces, and below, small ones
are merged.
"""

_ROUNDING: Final = 1e-3
"""The largest gain that may be a rounding error: 1e-9 of a weight of 1."""


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

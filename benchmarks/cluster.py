"""How evenly organisations of very different sizes lie on the nodes of a cluster: a simulation, without a server.

    python -m benchmarks.cluster [--organisations N] [--nodes N] [--shards N …] [--exponent X …] [--draws N]

The k-th largest organisation has a share of all relations in proportion to 1 / k ** exponent. An organisation goes to
one of the shards by a hash of its id. Shards are dealt to nodes in turn, as Citus creates them, or each, largest first,
to the node with least, as rebalancing by size does. Figures are medians of all draws, relative to the mean node.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

SEED: Final = 5

Sizes = NDArray[np.float64]


def shares(organisations: int, exponent: float) -> Sizes:
    """The share of each organisation, largest first."""
    found = np.arange(1, organisations + 1) ** -exponent
    return np.asarray(found / found.sum())


def simulate(sizes: Sizes, shards: int, nodes: int, random: np.random.Generator) -> dict[str, float]:
    """The largest node relative to the mean, for each way of placing shards, and the largest shard's share."""
    home = random.integers(shards, size=len(sizes))
    load: Sizes = np.bincount(home, sizes, shards).astype(np.float64)
    return {
        "in_turn": float(np.bincount(np.arange(shards) % nodes, load, nodes).max() * nodes),
        "by_size": _dealt(load, nodes) * nodes,
        "largest_shard": float(load.max()),
    }


def _dealt(loads: Sizes, nodes: int) -> float:
    """The largest node, if each shard, largest first, goes to the node with least."""
    filled = np.zeros(nodes)
    for load in np.sort(loads)[::-1]:
        filled[filled.argmin()] += load
    return float(filled.max())


def measure(organisations: int, nodes: int, shards: int, exponent: float, draws: int) -> dict[str, Any]:
    """One cluster."""
    random = np.random.default_rng(SEED)
    sizes = shares(organisations, exponent)
    drawn = [simulate(sizes, shards, nodes, random) for _ in range(draws)]
    figures = {name: round(float(np.median([each[name] for each in drawn])), 3) for name in drawn[0]}
    return {
        "benchmark": "cluster",
        "organisations": organisations,
        "nodes": nodes,
        "shards": shards,
        "exponent": exponent,
        "draws": draws,
        "largest_organisation": round(float(sizes[0]), 4),
        **figures,
    }


def main(given: Sequence[str] | None = None) -> None:
    """Print one JSON object for each number of shards and exponent."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--organisations", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--shards", type=int, nargs="*", default=[32, 64, 128, 256])
    parser.add_argument("--exponent", type=float, nargs="*", default=[0.5, 0.8, 1.0])
    parser.add_argument("--draws", type=int, default=200)
    options = parser.parse_args(given)
    for exponent in options.exponent:
        for shards in options.shards:
            report = measure(options.organisations, options.nodes, shards, exponent, options.draws)
            print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()

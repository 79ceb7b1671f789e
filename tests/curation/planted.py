"""Graphs with planted communities, and the quality of a partition."""

import attrs
import numpy as np

from graphsearch.curation.communities import Network
from graphsearch.model.identity import entity_id


@attrs.frozen(eq=False)
class Planted:
    """A network, and the community in which each of its entities was planted."""

    network: Network
    community: np.ndarray


def planted(size, communities, *, inside, outside, seed=0):
    """``inside`` links of each entity to its own community, ``outside`` to any."""
    random = np.random.default_rng(seed)
    community = random.integers(communities, size=size)
    near = np.repeat(np.arange(size), inside)
    fellows = [np.flatnonzero(community == each) for each in range(communities)]
    far = np.array([random.choice(fellows[community[node]]) for node in near.tolist()])
    sources = np.concatenate((near, random.integers(size, size=size * outside)))
    targets = np.concatenate((far, random.integers(size, size=size * outside)))
    return Planted(network(size, sources, targets), community)


def network(size, sources, targets, weights=None):
    """A network of people P0, P1, …"""
    names = [f"P{node}" for node in range(size)]
    return Network(
        ids=sorted(entity_id("person", name) for name in names),
        names=names,
        importance=np.full(size, 0.5),
        sources=np.asarray(sources, np.intp),
        targets=np.asarray(targets, np.intp),
        weights=np.ones(len(sources)) if weights is None else np.asarray(weights, np.float64),
    )


def modularity(network: Network, labels: np.ndarray) -> float:
    """Q of Newman and Girvan, by its definition; self-loops are left out."""
    kept = network.sources != network.targets
    sources, targets, weights = network.sources[kept], network.targets[kept], network.weights[kept]
    if not weights.sum():
        return 0.0
    degree = np.bincount(sources, weights, len(labels)) + np.bincount(targets, weights, len(labels))
    inside = weights[labels[sources] == labels[targets]].sum() / weights.sum()
    shares = np.bincount(labels, degree) / degree.sum()
    return float(inside - np.sum(shares**2))

"""Communities of a whole graph: 100,000 entities with 1,000,000 relations in less than 30 s.

    python -m benchmarks.communities [N …] [--json]

`detect_communities` anew, and from the communities found. The graph was generated in clusters: ``agreement`` is the
normalised mutual information of the result with them, 1 for identity. The bare cost is one sort of all links by numpy,
which no propagation can do without.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.command import Setting, run
from benchmarks.measuring import in_turns, rounded
from graphsearch.curation.communities import Network, detect_communities
from graphsearch.model import Community
from graphsearch.model.identity import entity_id

LIMIT_S: Final = 30.0


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    workload = setting.make(n)
    network = _network(workload)
    found = detect_communities(network)
    pairs = np.concatenate((workload.src, workload.dst)).astype(np.int64) * n + np.concatenate(
        (workload.dst, workload.src)
    )
    runs = max(1, setting.runs // 20)
    timed = await in_turns(
        {
            "detect": lambda: detect_communities(network),
            "refresh": lambda: detect_communities(network, found),
            "sort": lambda: np.argsort(pairs),
        },
        runs=runs,
    )
    seconds = timed["detect"].p50_ms / 1e3
    return {
        "benchmark": "communities",
        **setting.about(workload),
        "runs": runs,
        "communities": len(found),
        "agreement": rounded(agreement(labels_of(network, found), workload.cluster)),
        "ours": {name: timed[name].as_dict() for name in ("detect", "refresh")},
        "bare": {"sort_ms": rounded(timed["sort"].p50_ms)},
        "ratio": rounded(timed["detect"].p50_ms / timed["sort"].p50_ms),
        "target": f"< {LIMIT_S:g} s",
        "met": seconds < LIMIT_S,
    }


def _network(workload: Any) -> Network:
    """The entities and relations of a workload, with confidences of at least 0.5."""
    random = np.random.default_rng(2)
    return Network(
        ids=sorted(entity_id("concept", name) for name in workload.names),
        names=workload.names,
        importance=np.full(workload.n, 0.5),
        sources=workload.src.astype(np.intp),
        targets=workload.dst.astype(np.intp),
        weights=0.5 + random.random(workload.m) / 2,
    )


def labels_of(network: Network, found: tuple[Community, ...]) -> NDArray[np.intp]:
    """A number for each entity: of its community, or its own."""
    row = {id_: place for place, id_ in enumerate(network.ids)}
    labels = np.arange(len(row))
    for number, community in enumerate(found, start=len(row)):
        labels[[row[id_] for id_ in community.members]] = number
    return labels


def agreement(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Normalised mutual information of two partitions, in [0, 1]; 1 if neither separates anything."""
    _, one = np.unique(one, return_inverse=True)
    _, other = np.unique(other, return_inverse=True)
    apart = _entropy(one) + _entropy(other)
    return 2 * (1 - _entropy(one * (other.max() + 1) + other) / apart) if apart else 1.0


def _entropy(labels: NDArray[Any]) -> float:
    _, counts = np.unique(labels, return_counts=True)
    share = counts / counts.sum()
    return -float(np.sum(share * np.log(share)))


if __name__ == "__main__":
    run(measure, __doc__)

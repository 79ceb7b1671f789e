"""The order in which a search's triplets are printed, if it differs from that of the scores: causes before effects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import TopologicalSorter

import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Floats, Rows
from graphsearch.model import Triplet
from graphsearch.modes.findings import Findings


def printed_order(found: Findings, triplets: Sequence[Triplet], reader: Reader) -> tuple[int, ...] | None:
    """Indexes of the triplets, causes before effects, if PageRank found them; None to keep the order of scores.

    The order follows from all relations of the subgraph whose type is causal, shown or not.
    """
    graph = found.subgraph
    if graph.rank is None:
        return None
    causal = np.array([reader.signatures.types[row].causal for row in graph.signatures.tolist()], dtype=np.bool_)
    ranks = topological_ranks(len(graph.entities), graph.source[causal], graph.target[causal], graph.confidence[causal])
    row_of = {id_: row for row, id_ in enumerate(reader.store.entity_ids(graph.entities))}
    return prompt_order([(row_of[triplet.source.id], row_of[triplet.target.id]) for triplet in triplets], ranks)


Link = tuple[int, int]
"""From a cause to its effect, both rows."""


def topological_ranks(entities: int, causes: Rows, effects: Rows, confidence: Floats) -> list[int]:
    """For each of ``entities`` rows, the length of the longest chain of causes that leads to it; 0 without one.

    Column i is a causal relation from row ``causes[i]`` to row ``effects[i]``. Every cycle is broken at its relation of
    the lowest confidence; of equal ones, at the one from, then to, the later row.
    """
    before: list[list[int]] = [[] for _ in range(entities)]
    for cause, effect in _acyclic(causes, effects, confidence):
        before[effect].append(cause)
    ranks = [0] * entities
    for entity in TopologicalSorter(dict(enumerate(before))).static_order():
        ranks[entity] = max((ranks[cause] + 1 for cause in before[entity]), default=0)
    return ranks


def prompt_order(links: Iterable[Link], ranks: Sequence[int]) -> tuple[int, ...]:
    """The links in order of the topological rank of their source, ties by row, then likewise of their target.

    As indexes into ``links``; rows are by descending PageRank. Links between the same entities keep their order.
    """
    place = [(rank, row) for row, rank in enumerate(ranks)]
    given = list(links)
    return tuple(sorted(range(len(given)), key=lambda index: tuple(place[row] for row in given[index])))


def _acyclic(causes: Rows, effects: Rows, confidence: Floats) -> list[Link]:
    """The most confident links first, each unless it closes a cycle: so a cycle loses its least confident link."""
    surest = sorted(zip((-confidence).tolist(), causes.tolist(), effects.tolist(), strict=True))
    kept: dict[Link, None] = {}
    after: dict[int, list[int]] = {}
    for _, cause, effect in surest:
        if (cause, effect) not in kept and not _leads(effect, cause, after):
            kept[cause, effect] = None
            after.setdefault(cause, []).append(effect)
    return list(kept)


def _leads(start: int, goal: int, after: dict[int, list[int]]) -> bool:
    """Whether one entity can be reached from another, or they are the same."""
    seen, waiting = {start}, [start]
    while waiting and goal not in seen:
        further = [each for each in after.get(waiting.pop(), ()) if each not in seen]
        seen.update(further)
        waiting += further
    return goal in seen

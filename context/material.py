"""What a block can be made of: the memories and triplets found for a question, as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from graphsearch.context.sections import TripletText, share_of_observations
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import ElementKind, Triplet
from graphsearch.modes.request import SearchOptions
from graphsearch.protocols import Gate
from graphsearch.recall.request import RecallOptions
from graphsearch.recall.result import RecalledMemory, RecallResult
from graphsearch.rendering import memory_line, safe_text, short_triplet_line, triplet_line
from graphsearch.results import SearchResult
from graphsearch.summarising.summary import Summary

MEMORIES: Final = 50
"""How many memories are asked for: more than fit any default budget."""
FAINT: Final = 0.01
"""Triplets that score less have faded away: beside observations they get no room."""


@attrs.frozen(kw_only=True)
class Material:
    """Memories and triplets, best first, each with its line.

    ``prompt_order`` is that of `SearchResult`. ``share`` is the part of the budget that memories get first.
    ``triplets_found`` counts those left out here, too.
    """

    memories: tuple[RecalledMemory, ...] = ()
    memory_lines: tuple[str, ...] = ()
    triplets: tuple[Triplet, ...] = ()
    triplet_lines: tuple[TripletText, ...] = ()
    triplets_found: int = 0
    prompt_order: tuple[int, ...] | None = None
    share: float = 0.0
    summary: Summary | None = None
    denied: Mapping[ElementKind, int]


async def material(
    engine: GraphSearchEngine,
    query: str,
    gate: Gate,
    options: SearchOptions,
    recalling: RecallOptions,
    *,
    observations: bool,
    graph: bool,
) -> Material:
    """What is found for a question, read in one snapshot; ``observations`` and ``graph`` say what is searched for.

    Gate and moments are those of the search.
    """
    search: SearchOptions = {**options, "gate": gate}
    recall: RecallOptions = {
        "k": MEMORIES,
        **recalling,
        "as_of": options.get("as_of"),
        "known_at": options.get("known_at"),
        "gate": gate,
    }
    if not observations:
        return _of_triplets(await engine.search(query, **search))
    if not graph:
        return _of_memories(await engine.recall(query, **recall))
    found, recalled = await engine.search_and_recall(query, search=search, recall=recall)
    return _of_both(found, recalled, recall.get("health"))


def _of_triplets(found: SearchResult) -> Material:
    return Material(
        triplets=found.triplets,
        triplet_lines=_texts(found.triplets),
        triplets_found=len(found.triplets),
        prompt_order=found.prompt_order,
        summary=found.summary,
        denied=found.denied,
    )


def _of_memories(recalled: RecallResult) -> Material:
    lines: dict[str, RecalledMemory] = {}  # two memories of the same line are told once
    for each in recalled.memories:
        if line := memory_line(each.memory):
            lines.setdefault(line, each)
    return Material(memories=tuple(lines.values()), memory_lines=tuple(lines), denied=recalled.denied)


def _of_both(found: SearchResult, recalled: RecallResult, health: float | None) -> Material:
    """Observations alone where the graph is sparse: where nothing that it tells of the question still counts."""
    told, graph = _of_memories(recalled), _of_triplets(found)
    if not told.memories:
        return graph
    counting = [place for place, triplet in enumerate(found.triplets) if triplet.score.value >= FAINT]
    return attrs.evolve(
        graph,
        memories=told.memories,
        memory_lines=told.memory_lines,
        triplets=tuple(graph.triplets[place] for place in counting),
        triplet_lines=tuple(graph.triplet_lines[place] for place in counting),
        prompt_order=_among(counting, found.prompt_order),
        share=share_of_observations(recalled.analysis.plan, health),
    )


def _among(kept: Sequence[int], order: Sequence[int] | None) -> tuple[int, ...] | None:
    """An order of the triplets kept, from one of all."""
    if order is None:
        return None
    now = {place: row for row, place in enumerate(kept)}
    return tuple(now[place] for place in order if place in now)


def _texts(triplets: Sequence[Triplet]) -> tuple[TripletText, ...]:
    return tuple(
        TripletText(triplet_line(triplet), short_triplet_line(triplet), safe_text(triplet.relation.fact))
        for triplet in triplets
    )

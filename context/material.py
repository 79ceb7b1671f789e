"""What a block can be made of: the memories and triplets found for a question, as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from graphsearch.access.gate import Gate
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.context.excerpts import Terms, excerpt
from graphsearch.context.sections import TripletText, share_of_observations
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import ElementKind, Triplet
from graphsearch.modes.options import SearchOptions, UngatedSearchOptions
from graphsearch.modes.result import SearchResult
from graphsearch.recall.options import RecallOptions
from graphsearch.recall.result import RecalledMemory, RecallResult
from graphsearch.summaries.cited_summary import Summary
from graphsearch.text.rendering import memory_line, safe_text, short_triplet_line, triplet_line
from graphsearch.understanding.understood import Asked

MEMORIES: Final = 50
"""How many memories are asked for: more than fit any default budget."""
WORDS: Final = 50
"""A memory of more words is shown by an excerpt of so many (65 tokens): at fewer answers are lost, at more memories."""
ANSWERING: Final = 0.5
"""Share of the best relevance from which on a triplet is an answer, too: of several, none has all of the room."""
LEAST: Final = 0.2
"""The least relevance of an answer: that of one that lacks a third of the evidence of an ideal one."""
FAINT: Final = 0.01
"""Triplets that score less have faded away: beside observations they get no room."""


@attrs.frozen(kw_only=True)
class Material:
    """Memories and triplets, best first, each with its line.

    ``prompt_order`` is that of `SearchResult`. ``share`` is the part of the budget that memories get first.
    ``triplets_found`` counts those left out here, too. ``reason``: why nothing was found; empty where something was.
    ``asked``: what the question was understood to ask for, by a search that understands it.
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
    reason: str = ""
    asked: Asked | None = None


async def material(
    engine: GraphSearchEngine,
    query: str,
    gate: Gate,
    options: UngatedSearchOptions,
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
        "limit": MEMORIES,
        **recalling,
        "as_of": options.get("as_of"),
        "known_at": options.get("known_at"),
        "gate": gate,
    }
    terms = engine.store.analyser.terms
    if not observations:
        return _of_triplets(await engine.search(query, **search))
    if not graph:
        return _of_memories(await engine.recall(query, **recall), terms)
    found, recalled = await engine.search_and_recall(query, search=search, recall=recall)
    return _of_both(found, recalled, recall.get("health"), terms)


def _of_triplets(found: SearchResult) -> Material:
    return Material(
        triplets=found.triplets,
        triplet_lines=_texts(found.triplets),
        triplets_found=len(found.triplets),
        prompt_order=found.prompt_order,
        summary=found.summary,
        denied=found.denied,
        reason=found.reason,
        asked=found.asked,
    )


def _of_memories(recalled: RecallResult, terms: Terms) -> Material:
    lines: dict[str, RecalledMemory] = {}
    for each in recalled.memories:
        said = excerpt(each.memory.text, recalled.rarity, terms, WORDS)
        if line := memory_line(attrs.evolve(each.memory, text=said), until=each.until):
            lines.setdefault(line, each)
    return Material(
        memories=tuple(lines.values()), memory_lines=tuple(lines), denied=recalled.denied, reason=recalled.reason
    )


def _of_both(found: SearchResult, recalled: RecallResult, health: float | None, terms: Terms) -> Material:
    """Observations alone where the graph is sparse: where nothing that it tells of the question still counts."""
    told, graph = _of_memories(recalled, terms), _of_triplets(found)
    if not told.memories:
        return graph
    counting = [place for place, triplet in enumerate(found.triplets) if triplet.score >= FAINT and _says(triplet)]
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
    best = max((each.breakdown.proximity for each in triplets), default=0.0)
    least = max(ANSWERING * best, LEAST)
    return tuple(_text(triplet, least) for triplet in triplets)


def _text(triplet: Triplet, least: float) -> TripletText:
    says = _says(triplet)
    return TripletText(
        triplet_line(triplet, dated=says),
        short_triplet_line(triplet, dated=says),
        safe_text(triplet.relation.fact),
        answers=says and triplet.breakdown.proximity >= least,
    )


def _says(triplet: Triplet) -> bool:
    """Whether it says more than that two names stand together, of which no period is worth a word."""
    return triplet.relation.type not in CO_OCCURRENCE_TYPES

"""Recall: query the channels, fuse them, walk from the hits, and read the best memories whole.

A search learns from the facts of a scope which words are names. A recall learns it from the memories, which are more:
here every word may be a name, and `graphsearch.recall.leads` keeps those that are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from graphsearch._support.timing import Stopwatch
from graphsearch.access.reader import Reader
from graphsearch.columns import Hits
from graphsearch.model import ElementKind, Vector
from graphsearch.protocols import Traversal
from graphsearch.query.analysis import Analysis, analyse
from graphsearch.query.question_names import Anchor
from graphsearch.query.question_type import Intent, channel_weights
from graphsearch.recall.fusing import by_text, with_graph
from graphsearch.recall.graph_channel import Walked, walk_seeds, walked
from graphsearch.recall.leads import LOOKED_AT, Leads, leads
from graphsearch.recall.options import SEMANTIC_WEIGHT, RecallRequest, RecallScoring
from graphsearch.recall.passage_scores import by_passages
from graphsearch.recall.result import RecallResult
from graphsearch.recall.selection import Best, best_memories
from graphsearch.understanding.anchors import anchors_of
from graphsearch.understanding.linking import link
from graphsearch.understanding.name_lookup import candidate_ids, nameable
from graphsearch.understanding.type_profile import Wording
from graphsearch.understanding.words import tokens


async def recall(
    request: RecallRequest,
    vector: Vector | None,
    scoring: RecallScoring,
    traversal: Traversal,
    reader: Reader,
    stopwatch: Stopwatch,
) -> RecallResult:
    """The memories that answer a question best; ``vector`` is its embedding, if there is an embedder."""
    with stopwatch.stage("analysis"):
        anchors = await named_in(request.query, reader)
        analysis = analyse(request.query, as_of=reader.view.as_of, anchors=anchors)
        weights = weights_of(analysis, request, scoring, dense=vector is not None)
    with stopwatch.stage("searches"):
        found = await _searched(request.query, vector, weights, scoring, reader)
    with stopwatch.stage("text"):
        board = await by_text(found, analysis, weights, scoring, reader)
        lead = await leads(anchors if weights["graph"] else (), analysis, board.first(LOOKED_AT), reader)
    way: Walked | None = None
    trust = 0.0
    if weights["graph"] > 0:
        with stopwatch.stage("graph"):
            linked = await walk_seeds(lead.probabilities, scoring.related, traversal, reader)
            way = await walked(linked, board.keys, board.total, weights["graph"], scoring, reader)
            trust = trusted(way, lead, scoring, reader)
    with stopwatch.stage("fusion"):
        ranked = with_graph(board, found, way, weights, scoring, trust)
    with stopwatch.stage("hydration"):
        best = await best_memories(ranked, found, way, request, weights, lead, scoring, reader)
    return RecallResult(
        query=request.query,
        memories=best.memories,
        analysis=analysis,
        weights=weights,
        as_of=reader.view.as_of,
        known_at=reader.view.known_at,
        found=len(ranked.keys),
        relevance=best.relevance,
        denied=reader.denied,
        reason="" if best.memories else _why_nothing(request, len(ranked.keys), best),
        timings=stopwatch.milliseconds,
        rarity=lead.asked.rarity,
        floor=best.floor,
    )


def trusted(way: Walked | None, lead: Leads, scoring: RecallScoring, reader: Reader) -> float:
    """The trust in a walk, in [0, 1]: in full if rare names are enough of the question."""
    if way is None:
        return 0.0
    share = min(1.0, lead.covered(way.rare(reader)) / scoring.anchored)
    return max(scoring.unanchored, share**2)


def weights_of(
    analysis: Analysis, request: RecallRequest, scoring: RecallScoring, *, dense: bool
) -> Mapping[str, float]:
    """The weight of each channel for a question; 0 for those that were not requested."""
    intent = analysis.intent if scoring.by_intent else Intent.WHAT
    health = 1.0 if request.health is None else request.health
    asked = channel_weights(intent, deployment=scoring.deployment, health=health)
    worth = SEMANTIC_WEIGHT if scoring.semantic_weight is None else scoring.semantic_weight
    every = {
        "lexical": asked.lexical,
        "semantic": asked.semantic * worth if dense else 0.0,
        "graph": asked.graph,
        "temporal": scoring.temporal_weight if analysis.periods else 0.0,
    }
    return {name: weight if name in request.channels else 0.0 for name, weight in every.items()}


async def _searched(
    query: str, vector: Vector | None, weights: Mapping[str, float], scoring: RecallScoring, reader: Reader
) -> Mapping[str, Hits]:
    """The hits by words and by meaning; scores, higher is better."""
    limit = scoring.candidates
    worded = await reader.lexical(ElementKind.MEMORY, query, limit if weights["lexical"] else 0)
    found = {"lexical": await by_passages(worded, query, scoring.passage, reader)}
    if weights["semantic"] and vector is not None:
        hits = await reader.nearest(ElementKind.MEMORY, vector, limit)
        found["semantic"] = attrs.evolve(hits, values=1.0 - hits.values / 2.0)
    return found


def _why_nothing(request: RecallRequest, scored: int, best: Best) -> str:
    if not request.query.strip():
        return "nothing was asked"
    if best.with_text and best.relevance < best.floor:
        return f"nothing relevant: what is found comes to {best.relevance:.2f}, less than {best.floor:g}"
    if best.with_text:
        return f"none of {scored} memories scores {request.min_score:g} or more"
    if scored:
        return f"none of {scored} memories found has a text to show"
    return "no memory shares a word, a meaning or an entity with the question"


_NOTHING_KNOWN: Final = Wording(naming={}, telling={}, type_terms=frozenset())


async def named_in(question: str, reader: Reader) -> tuple[Anchor, ...]:
    """The visible entities that hold and are named in whole or in part, in the order of the question."""
    words = tokens(question)
    known = await nameable(await candidate_ids(question, words, reader), reader)
    return anchors_of(question, link(question, words, known, _NOTHING_KNOWN, reader.analyser.terms).links)

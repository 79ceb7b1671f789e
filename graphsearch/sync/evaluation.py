"""Evaluation, blocking. ``progress`` is called from another thread."""

from __future__ import annotations

from graphsearch.evaluation import answer_scores, evaluator, graph_scores
from graphsearch.evaluation.answer_scores import AnswerSet
from graphsearch.evaluation.blocks import BUDGET
from graphsearch.evaluation.comparing import Comparison
from graphsearch.evaluation.evaluator import Evaluated, Evaluation
from graphsearch.evaluation.graph_scores import EntitySet, TripletSet
from graphsearch.evaluation.question_set import QuestionSet
from graphsearch.ingest import Progress
from graphsearch.protocols import Embedder
from graphsearch.sync.bridge import BRIDGE
from graphsearch.sync.facade import behind
from graphsearch.sync.stores import Stores


def evaluate(
    given: QuestionSet, stores: Stores, evaluation: Evaluation, *, progress: Progress | None = None
) -> tuple[Evaluated, ...]:
    """As `graphsearch.evaluation.evaluate`."""
    return BRIDGE.run(evaluator.evaluate(given, behind(stores), evaluation, progress=progress))


def evaluate_triplets(
    given: TripletSet, stores: Stores, *, embedder: Embedder | None = None, progress: Progress | None = None
) -> Comparison:
    """As `graphsearch.evaluation.evaluate_triplets`."""
    return BRIDGE.run(graph_scores.evaluate_triplets(given, behind(stores), embedder=embedder, progress=progress))


def evaluate_entities(
    given: EntitySet, stores: Stores, *, embedder: Embedder | None = None, progress: Progress | None = None
) -> Comparison:
    """As `graphsearch.evaluation.evaluate_entities`."""
    return BRIDGE.run(graph_scores.evaluate_entities(given, behind(stores), embedder=embedder, progress=progress))


def evaluate_answers(
    given: AnswerSet,
    stores: Stores,
    *,
    embedder: Embedder | None = None,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> Comparison:
    """As `graphsearch.evaluation.evaluate_answers`."""
    result = answer_scores.evaluate_answers(given, behind(stores), embedder=embedder, budget=budget, progress=progress)
    return BRIDGE.run(result)

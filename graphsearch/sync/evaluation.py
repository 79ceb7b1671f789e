"""How well evidence is found, blocking."""

from __future__ import annotations

from graphsearch.evaluation import evaluating
from graphsearch.evaluation.evaluating import Evaluated, Evaluation
from graphsearch.evaluation.question_set import QuestionSet
from graphsearch.ingest import Progress
from graphsearch.sync.bridge import BRIDGE
from graphsearch.sync.facade import behind
from graphsearch.sync.stores import Stores


def evaluate(
    given: QuestionSet, stores: Stores, evaluation: Evaluation, *, progress: Progress | None = None
) -> tuple[Evaluated, ...]:
    """As `graphsearch.evaluation.evaluate`. ``progress`` is told from another thread."""
    return BRIDGE.run(evaluating.evaluate(given, behind(stores), evaluation, progress=progress))

"""Query analysis: everything that can be read from a question without a graph and without a model."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.query.analysis import Analysis as Analysis
    from graphsearch.query.analysis import analyse as analyse
    from graphsearch.query.anchor_candidates import Anchor as Anchor
    from graphsearch.query.intent import Intent as Intent
    from graphsearch.query.plan import Plan as Plan
    from graphsearch.query.question_type import QuestionType as QuestionType

_HOMES = {
    "Analysis": "graphsearch.query.analysis",
    "Anchor": "graphsearch.query.anchor_candidates",
    "Intent": "graphsearch.query.intent",
    "Plan": "graphsearch.query.plan",
    "QuestionType": "graphsearch.query.question_type",
    "analyse": "graphsearch.query.analysis",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)  # the reading of memories shares modules of this room

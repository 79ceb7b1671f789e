"""Query analysis: everything that can be read from a question without a graph and without a model."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.question.analysis import Analysis as Analysis
    from graphsearch.question.analysis import Anchor as Anchor
    from graphsearch.question.analysis import Intent as Intent
    from graphsearch.question.analysis import Plan as Plan
    from graphsearch.question.analysis import QuestionType as QuestionType
    from graphsearch.question.analysis import analyse as analyse

__getattr__, __dir__ = lazily(__name__)

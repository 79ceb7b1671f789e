"""How well evidence is found: question sets, and the measures of what was found for them."""

from typing import TYPE_CHECKING

from graphsearch.lazily import lazily

if TYPE_CHECKING:
    from graphsearch.evaluation.measuring import Costs as Costs
    from graphsearch.evaluation.measuring import Measured as Measured
    from graphsearch.evaluation.measuring import Run as Run
    from graphsearch.evaluation.measuring import measure as measure
    from graphsearch.evaluation.question_set import EvalQuestion as EvalQuestion
    from graphsearch.evaluation.question_set import Passage as Passage
    from graphsearch.evaluation.question_set import QuestionSet as QuestionSet
    from graphsearch.evaluation.question_set import Triple as Triple
    from graphsearch.evaluation.reading import read_question_set as read_question_set

_HOMES = {
    "Costs": "graphsearch.evaluation.measuring",
    "EvalQuestion": "graphsearch.evaluation.question_set",
    "Measured": "graphsearch.evaluation.measuring",
    "Passage": "graphsearch.evaluation.question_set",
    "QuestionSet": "graphsearch.evaluation.question_set",
    "Run": "graphsearch.evaluation.measuring",
    "Triple": "graphsearch.evaluation.question_set",
    "measure": "graphsearch.evaluation.measuring",
    "read_question_set": "graphsearch.evaluation.reading",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)

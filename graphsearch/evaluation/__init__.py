"""How well evidence is found: question sets, and the measures of what was found for them."""

from typing import TYPE_CHECKING

from graphsearch.lazily import lazily

if TYPE_CHECKING:
    from graphsearch.evaluation.corpus import TripleExtractor as TripleExtractor
    from graphsearch.evaluation.corpus import memories_of as memories_of
    from graphsearch.evaluation.evaluating import Channels as Channels
    from graphsearch.evaluation.evaluating import Evaluated as Evaluated
    from graphsearch.evaluation.evaluating import Evaluation as Evaluation
    from graphsearch.evaluation.evaluating import Stores as Stores
    from graphsearch.evaluation.evaluating import evaluate as evaluate
    from graphsearch.evaluation.measuring import Costs as Costs
    from graphsearch.evaluation.measuring import Measured as Measured
    from graphsearch.evaluation.measuring import Run as Run
    from graphsearch.evaluation.measuring import measure as measure
    from graphsearch.evaluation.question_set import EvalQuestion as EvalQuestion
    from graphsearch.evaluation.question_set import Passage as Passage
    from graphsearch.evaluation.question_set import QuestionSet as QuestionSet
    from graphsearch.evaluation.question_set import Triple as Triple
    from graphsearch.evaluation.reading import read_question_set as read_question_set
    from graphsearch.evaluation.sessions import Level as Level
    from graphsearch.evaluation.sessions import by_session as by_session

_HOMES = {
    "Channels": "graphsearch.evaluation.evaluating",
    "Costs": "graphsearch.evaluation.measuring",
    "EvalQuestion": "graphsearch.evaluation.question_set",
    "Evaluated": "graphsearch.evaluation.evaluating",
    "Evaluation": "graphsearch.evaluation.evaluating",
    "Level": "graphsearch.evaluation.sessions",
    "Measured": "graphsearch.evaluation.measuring",
    "Passage": "graphsearch.evaluation.question_set",
    "QuestionSet": "graphsearch.evaluation.question_set",
    "Run": "graphsearch.evaluation.measuring",
    "Stores": "graphsearch.evaluation.evaluating",
    "Triple": "graphsearch.evaluation.question_set",
    "TripleExtractor": "graphsearch.evaluation.corpus",
    "by_session": "graphsearch.evaluation.sessions",
    "evaluate": "graphsearch.evaluation.evaluating",
    "measure": "graphsearch.evaluation.measuring",
    "memories_of": "graphsearch.evaluation.corpus",
    "read_question_set": "graphsearch.evaluation.reading",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)

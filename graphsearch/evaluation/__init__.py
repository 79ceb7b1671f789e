"""How well what answers is found: memories, triplets, entities and names, beside each channel and plain BM25."""

from typing import TYPE_CHECKING

from graphsearch.lazily import lazily

if TYPE_CHECKING:
    from graphsearch.evaluation.answers import AnswerSet as AnswerSet
    from graphsearch.evaluation.answers import evaluate_answers as evaluate_answers
    from graphsearch.evaluation.answers import read_names as read_names
    from graphsearch.evaluation.baseline import PlainBM25 as PlainBM25
    from graphsearch.evaluation.comparing import Column as Column
    from graphsearch.evaluation.comparing import Comparison as Comparison
    from graphsearch.evaluation.comparing import Regret as Regret
    from graphsearch.evaluation.corpus import TripleExtractor as TripleExtractor
    from graphsearch.evaluation.corpus import memories_of as memories_of
    from graphsearch.evaluation.entities import EntitySet as EntitySet
    from graphsearch.evaluation.entities import evaluate_entities as evaluate_entities
    from graphsearch.evaluation.evaluating import Channels as Channels
    from graphsearch.evaluation.evaluating import Evaluated as Evaluated
    from graphsearch.evaluation.evaluating import Evaluation as Evaluation
    from graphsearch.evaluation.evaluating import evaluate as evaluate
    from graphsearch.evaluation.evaluating import regret_of as regret_of
    from graphsearch.evaluation.given_graph import GivenGraph as GivenGraph
    from graphsearch.evaluation.given_graph import read_graph as read_graph
    from graphsearch.evaluation.gold import GoldQuestion as GoldQuestion
    from graphsearch.evaluation.measuring import Costs as Costs
    from graphsearch.evaluation.measuring import Measured as Measured
    from graphsearch.evaluation.measuring import Run as Run
    from graphsearch.evaluation.measuring import measure as measure
    from graphsearch.evaluation.question_set import EvalQuestion as EvalQuestion
    from graphsearch.evaluation.question_set import Passage as Passage
    from graphsearch.evaluation.question_set import QuestionSet as QuestionSet
    from graphsearch.evaluation.question_set import Triple as Triple
    from graphsearch.evaluation.reading import read_question_set as read_question_set
    from graphsearch.evaluation.scopes import Stores as Stores
    from graphsearch.evaluation.sessions import Level as Level
    from graphsearch.evaluation.sessions import by_session as by_session
    from graphsearch.evaluation.triplets import TripletSet as TripletSet
    from graphsearch.evaluation.triplets import evaluate_triplets as evaluate_triplets

_HOMES = {
    "AnswerSet": "graphsearch.evaluation.answers",
    "Channels": "graphsearch.evaluation.evaluating",
    "Column": "graphsearch.evaluation.comparing",
    "Comparison": "graphsearch.evaluation.comparing",
    "Costs": "graphsearch.evaluation.measuring",
    "EntitySet": "graphsearch.evaluation.entities",
    "EvalQuestion": "graphsearch.evaluation.question_set",
    "Evaluated": "graphsearch.evaluation.evaluating",
    "Evaluation": "graphsearch.evaluation.evaluating",
    "GivenGraph": "graphsearch.evaluation.given_graph",
    "GoldQuestion": "graphsearch.evaluation.gold",
    "Level": "graphsearch.evaluation.sessions",
    "Measured": "graphsearch.evaluation.measuring",
    "Passage": "graphsearch.evaluation.question_set",
    "PlainBM25": "graphsearch.evaluation.baseline",
    "QuestionSet": "graphsearch.evaluation.question_set",
    "Regret": "graphsearch.evaluation.comparing",
    "Run": "graphsearch.evaluation.measuring",
    "Stores": "graphsearch.evaluation.scopes",
    "Triple": "graphsearch.evaluation.question_set",
    "TripleExtractor": "graphsearch.evaluation.corpus",
    "TripletSet": "graphsearch.evaluation.triplets",
    "by_session": "graphsearch.evaluation.sessions",
    "evaluate": "graphsearch.evaluation.evaluating",
    "evaluate_answers": "graphsearch.evaluation.answers",
    "evaluate_entities": "graphsearch.evaluation.entities",
    "evaluate_triplets": "graphsearch.evaluation.triplets",
    "measure": "graphsearch.evaluation.measuring",
    "memories_of": "graphsearch.evaluation.corpus",
    "read_graph": "graphsearch.evaluation.given_graph",
    "read_names": "graphsearch.evaluation.answers",
    "read_question_set": "graphsearch.evaluation.reading",
    "regret_of": "graphsearch.evaluation.evaluating",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)

"""Evaluation of search: memories, triplets, entities and names, against each channel and plain BM25."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.evaluation.answer_scores import AnswerSet as AnswerSet
    from graphsearch.evaluation.answer_scores import evaluate_answers as evaluate_answers
    from graphsearch.evaluation.answer_scores import read_names as read_names
    from graphsearch.evaluation.baseline import PlainBM25 as PlainBM25
    from graphsearch.evaluation.comparing import Column as Column
    from graphsearch.evaluation.comparing import Comparison as Comparison
    from graphsearch.evaluation.comparing import Regret as Regret
    from graphsearch.evaluation.corpus import TripleExtractor as TripleExtractor
    from graphsearch.evaluation.corpus import memories_of as memories_of
    from graphsearch.evaluation.entity_scores import EntitySet as EntitySet
    from graphsearch.evaluation.entity_scores import evaluate_entities as evaluate_entities
    from graphsearch.evaluation.evaluator import Channels as Channels
    from graphsearch.evaluation.evaluator import Evaluated as Evaluated
    from graphsearch.evaluation.evaluator import Evaluation as Evaluation
    from graphsearch.evaluation.evaluator import evaluate as evaluate
    from graphsearch.evaluation.evaluator import regret_of as regret_of
    from graphsearch.evaluation.given_graph import GivenGraph as GivenGraph
    from graphsearch.evaluation.given_graph import read_graph as read_graph
    from graphsearch.evaluation.gold import GoldQuestion as GoldQuestion
    from graphsearch.evaluation.metrics import Costs as Costs
    from graphsearch.evaluation.metrics import Measured as Measured
    from graphsearch.evaluation.metrics import Run as Run
    from graphsearch.evaluation.metrics import measure as measure
    from graphsearch.evaluation.question_files import read_question_set as read_question_set
    from graphsearch.evaluation.question_set import EvalQuestion as EvalQuestion
    from graphsearch.evaluation.question_set import Level as Level
    from graphsearch.evaluation.question_set import Passage as Passage
    from graphsearch.evaluation.question_set import QuestionSet as QuestionSet
    from graphsearch.evaluation.question_set import Triple as Triple
    from graphsearch.evaluation.question_set import by_session as by_session
    from graphsearch.evaluation.scopes import Stores as Stores
    from graphsearch.evaluation.triplet_scores import TripletSet as TripletSet
    from graphsearch.evaluation.triplet_scores import evaluate_triplets as evaluate_triplets

_HOMES = {
    "AnswerSet": "graphsearch.evaluation.answer_scores",
    "Channels": "graphsearch.evaluation.evaluator",
    "Column": "graphsearch.evaluation.comparing",
    "Comparison": "graphsearch.evaluation.comparing",
    "Costs": "graphsearch.evaluation.metrics",
    "EntitySet": "graphsearch.evaluation.entity_scores",
    "EvalQuestion": "graphsearch.evaluation.question_set",
    "Evaluated": "graphsearch.evaluation.evaluator",
    "Evaluation": "graphsearch.evaluation.evaluator",
    "GivenGraph": "graphsearch.evaluation.given_graph",
    "GoldQuestion": "graphsearch.evaluation.gold",
    "Level": "graphsearch.evaluation.question_set",
    "Measured": "graphsearch.evaluation.metrics",
    "Passage": "graphsearch.evaluation.question_set",
    "PlainBM25": "graphsearch.evaluation.baseline",
    "QuestionSet": "graphsearch.evaluation.question_set",
    "Regret": "graphsearch.evaluation.comparing",
    "Run": "graphsearch.evaluation.metrics",
    "Stores": "graphsearch.evaluation.scopes",
    "Triple": "graphsearch.evaluation.question_set",
    "TripleExtractor": "graphsearch.evaluation.corpus",
    "TripletSet": "graphsearch.evaluation.triplet_scores",
    "by_session": "graphsearch.evaluation.question_set",
    "evaluate": "graphsearch.evaluation.evaluator",
    "evaluate_answers": "graphsearch.evaluation.answer_scores",
    "evaluate_entities": "graphsearch.evaluation.entity_scores",
    "evaluate_triplets": "graphsearch.evaluation.triplet_scores",
    "measure": "graphsearch.evaluation.metrics",
    "memories_of": "graphsearch.evaluation.corpus",
    "read_graph": "graphsearch.evaluation.given_graph",
    "read_names": "graphsearch.evaluation.answer_scores",
    "read_question_set": "graphsearch.evaluation.question_files",
    "regret_of": "graphsearch.evaluation.evaluator",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)

"""Evaluation of search: memories, triplets, entities and names, against each channel and plain BM25."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.evaluation.comparing import Column as Column
    from graphsearch.evaluation.comparing import Comparison as Comparison
    from graphsearch.evaluation.comparing import Regret as Regret
    from graphsearch.evaluation.comparing import Run as Run
    from graphsearch.evaluation.comparing import measure as measure
    from graphsearch.evaluation.evaluator import AnswerSet as AnswerSet
    from graphsearch.evaluation.evaluator import Channels as Channels
    from graphsearch.evaluation.evaluator import EntitySet as EntitySet
    from graphsearch.evaluation.evaluator import Evaluation as Evaluation
    from graphsearch.evaluation.evaluator import Stores as Stores
    from graphsearch.evaluation.evaluator import TripletSet as TripletSet
    from graphsearch.evaluation.evaluator import evaluate as evaluate
    from graphsearch.evaluation.evaluator import evaluate_answers as evaluate_answers
    from graphsearch.evaluation.evaluator import evaluate_entities as evaluate_entities
    from graphsearch.evaluation.evaluator import evaluate_triplets as evaluate_triplets
    from graphsearch.evaluation.evaluator import memories_of as memories_of
    from graphsearch.evaluation.question_set import GivenGraph as GivenGraph
    from graphsearch.evaluation.question_set import GoldQuestion as GoldQuestion
    from graphsearch.evaluation.question_set import Level as Level
    from graphsearch.evaluation.question_set import Passage as Passage
    from graphsearch.evaluation.question_set import QuestionSet as QuestionSet
    from graphsearch.evaluation.question_set import Triple as Triple
    from graphsearch.evaluation.question_set import read_graph as read_graph
    from graphsearch.evaluation.question_set import read_names as read_names
    from graphsearch.evaluation.question_set import read_question_set as read_question_set
    from graphsearch.evaluation.ranks import PlainBM25 as PlainBM25

__getattr__, __dir__ = lazily(__name__)

"""Evaluation of search: memories, triplets, entities and names, against each channel and plain BM25."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.evaluation.comparing import Column as Column
    from graphsearch.evaluation.comparing import Comparison as Comparison
    from graphsearch.evaluation.comparing import Regret as Regret
    from graphsearch.evaluation.comparing import Run as Run
    from graphsearch.evaluation.comparing import measure as measure
    from graphsearch.evaluation.corpus import Stores as Stores
    from graphsearch.evaluation.corpus import TripleExtractor as TripleExtractor
    from graphsearch.evaluation.corpus import memories_of as memories_of
    from graphsearch.evaluation.evaluator import Channels as Channels
    from graphsearch.evaluation.evaluator import Evaluation as Evaluation
    from graphsearch.evaluation.evaluator import evaluate as evaluate
    from graphsearch.evaluation.gold import GivenGraph as GivenGraph
    from graphsearch.evaluation.gold import read_graph as read_graph
    from graphsearch.evaluation.graph_scores import AnswerSet as AnswerSet
    from graphsearch.evaluation.graph_scores import EntitySet as EntitySet
    from graphsearch.evaluation.graph_scores import TripletSet as TripletSet
    from graphsearch.evaluation.graph_scores import evaluate_answers as evaluate_answers
    from graphsearch.evaluation.graph_scores import evaluate_entities as evaluate_entities
    from graphsearch.evaluation.graph_scores import evaluate_triplets as evaluate_triplets
    from graphsearch.evaluation.graph_scores import read_names as read_names
    from graphsearch.evaluation.question_set import GoldQuestion as GoldQuestion
    from graphsearch.evaluation.question_set import Level as Level
    from graphsearch.evaluation.question_set import Passage as Passage
    from graphsearch.evaluation.question_set import QuestionSet as QuestionSet
    from graphsearch.evaluation.question_set import Triple as Triple
    from graphsearch.evaluation.question_set import by_session as by_session
    from graphsearch.evaluation.question_set import read_question_set as read_question_set
    from graphsearch.evaluation.ranks import PlainBM25 as PlainBM25

__getattr__, __dir__ = lazily(__name__)

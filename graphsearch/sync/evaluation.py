"""Evaluation, blocking. ``progress`` is called from another thread."""

from graphsearch.evaluation import answer_scores, evaluator, graph_scores
from graphsearch.sync.facade import blocking

evaluate = blocking(evaluator.evaluate)
evaluate_triplets = blocking(graph_scores.evaluate_triplets)
evaluate_entities = blocking(graph_scores.evaluate_entities)
evaluate_answers = blocking(answer_scores.evaluate_answers)

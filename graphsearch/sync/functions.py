"""Evaluation, export, import and changes of the embedding model, blocking: ``progress`` runs in another thread."""

from graphsearch.evaluation import evaluator, graph_scores
from graphsearch.moving import importing
from graphsearch.moving.foreign import converting
from graphsearch.reembedding import running
from graphsearch.sync.facade import blocking

evaluate = blocking(evaluator.evaluate)
evaluate_triplets = blocking(graph_scores.evaluate_triplets)
evaluate_entities = blocking(graph_scores.evaluate_entities)
evaluate_answers = blocking(graph_scores.evaluate_answers)
export_scope = blocking(importing.export_scope)
import_scope = blocking(importing.import_scope)
import_export = blocking(converting.import_export)
reembed = blocking(running.reembed)
estimate_reembedding = blocking(running.estimate_reembedding)

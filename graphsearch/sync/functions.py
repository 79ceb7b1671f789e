"""Evaluation, export, import and changes of the embedding model, blocking: ``progress`` runs in another thread."""

from graphsearch import reembedding
from graphsearch.evaluation import evaluator
from graphsearch.moving import importing
from graphsearch.moving.foreign import converting
from graphsearch.sync.facade import blocking

evaluate = blocking(evaluator.evaluate)
evaluate_triplets = blocking(evaluator.evaluate_triplets)
evaluate_entities = blocking(evaluator.evaluate_entities)
evaluate_answers = blocking(evaluator.evaluate_answers)
export_scope = blocking(importing.export_scope)
import_scope = blocking(importing.import_scope)
import_export = blocking(converting.import_export)
reembed = blocking(reembedding.reembed)
estimate_reembedding = blocking(reembedding.estimate_reembedding)

# Written by `python -m tests.sync.stubs`.

from graphsearch.evaluation.answer_scores import AnswerSet
from graphsearch.evaluation.blocks import BUDGET
from graphsearch.evaluation.comparing import Comparison
from graphsearch.evaluation.evaluator import Evaluated
from graphsearch.evaluation.evaluator import Evaluation
from graphsearch.evaluation.graph_scores import EntitySet
from graphsearch.evaluation.graph_scores import TripletSet
from graphsearch.evaluation.question_set import QuestionSet
from graphsearch.ingest import Progress
from graphsearch.protocols import Embedder
from graphsearch.sync.stores import Stores

def evaluate(given: QuestionSet, stores: Stores, evaluation: Evaluation, *, progress: Progress | None=None) -> tuple[Evaluated, ...]:
    """Evaluate each set of channels, in their order, then plain BM25 if requested.

    Questions without evidence are asked as well, to count those that get no answer. The scopes are removed at the end,
    also on failure. Raises `InvalidInputError` if nothing can be measured (no question has evidence; passages or
    questions lack the field to group by; sessions are to be found and a passage of evidence has none),
    `MissingExtraError` without the extra ``eval``, and what ingest and recall raise.
    """
    ...
def evaluate_triplets(given: TripletSet, stores: Stores, *, embedder: Embedder | None=None, progress: Progress | None=None) -> Comparison:
    """Evaluate every mode that uses no language model, and each channel alone, on finding the gold triplets.

    * "found": the share of questions with all gold triplets among the first 3, or 10 for two hops.
    * "R@10": the share of a question's gold triplets among the first 10, as the mean over questions.
    * "lost": the share of answerable questions that get nothing, "silenced": that of unanswerable ones.

    The scope is removed at the end, also on failure. Raises what writing and searching raise.
    """
    ...
def evaluate_entities(given: EntitySet, stores: Stores, *, embedder: Embedder | None=None, progress: Progress | None=None) -> Comparison:
    """Evaluate `rank_entities`, every mode that uses no language model, and each channel alone on finding entities.

    "hit@1" and "hit@5" are the shares of questions with an answer among the first 1 or 5 entities, "MRR" is the mean of
    1 / rank of the first answer among the first 10; "lost" and "silenced" are the shares of the answerable and of the
    unanswerable questions that get nothing. The entities of a mode are those of its triplets, the most relevant first
    (`SearchResult.entities`). The scope is removed at the end, also on failure.
    """
    ...
def evaluate_answers(given: AnswerSet, stores: Stores, *, embedder: Embedder | None=None, budget: int=BUDGET, progress: Progress | None=None) -> Comparison:
    """Evaluate how well the names that answer questions are found, after the conversations have been ingested.

    * "found": the share of questions whose names are all ends of the first 3 triplets, or 10 for two hops.
    * "R@10": the share of a question's names that are ends of the first 10 triplets, as the mean over questions.
    * "R@…tok": the share of its names in the block of ``budget`` tokens. The block of a channel has the memories that
      it recalls, that of BM25 the passages that it ranks first.
    * "lost" and "silenced": the shares of the answerable and of the unanswerable questions that get no triplet.

    The scope is removed at the end, also on failure. Raises what ingest, search and building blocks raise.
    """
    ...

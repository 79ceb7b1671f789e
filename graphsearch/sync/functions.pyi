# Written by `python -m tests.sync.stubs`.

from collections.abc import Sequence
from graphsearch.access.gate import Gate
from graphsearch.evaluation.comparing import Comparison
from graphsearch.evaluation.evaluator import AnswerSet
from graphsearch.evaluation.evaluator import EntitySet
from graphsearch.evaluation.evaluator import Evaluation
from graphsearch.evaluation.evaluator import TripletSet
from graphsearch.evaluation.question_set import QuestionSet
from graphsearch.evaluation.ranks import BUDGET
from graphsearch.ingest import Progress
from graphsearch.moving.foreign.converting import ExportFormat
from graphsearch.moving.foreign.converting import ForeignReport
from graphsearch.moving.importing import ExportReport
from graphsearch.moving.importing import ImportReport
from graphsearch.protocols import Embedder
from graphsearch.reembedding import BATCH
from graphsearch.reembedding import ReembedEstimate
from graphsearch.reembedding import ReembedReport
from graphsearch.reembedding import SAMPLE
from graphsearch.sync.engine import Ingestor
from graphsearch.sync.stores import GraphStore
from graphsearch.sync.stores import Stores
from pathlib import Path

def evaluate(given: QuestionSet, stores: Stores, evaluation: Evaluation, *, progress: Progress | None=None) -> Comparison:
    """Evaluate each set of channels, in their order, then plain BM25 if requested; "lexical,graph" names a set.

    Questions without evidence are asked as well, to count those that get no answer. The scopes are removed at the end,
    also on failure. Raises `InvalidInputError` if nothing can be measured (no question has evidence; passages or
    questions lack the field to group by; sessions are to be found and a passage of evidence has none), and what ingest
    and recall raise.
    """
    ...
def evaluate_triplets(given: TripletSet, stores: Stores, *, embedder: Embedder | None=None, progress: Progress | None=None) -> Comparison:
    """Evaluate every mode that uses no language model, and each channel alone, on finding the gold triplets.

    "found" is the share of questions with all gold triplets among the first 3, or 10 for two hops; "R@10" the mean
    share of a question's gold triplets among the first 10. The scope is removed at the end, also on failure. Raises
    what writing and searching raise.
    """
    ...
def evaluate_entities(given: EntitySet, stores: Stores, *, embedder: Embedder | None=None, progress: Progress | None=None) -> Comparison:
    """Evaluate `rank_entities`, every mode that uses no language model, and each channel alone on finding entities.

    "hit@1" and "hit@5" are the shares of questions with an answer among the first 1 or 5 entities, "MRR" is the mean of
    1 / rank of the first answer among the first 10. The entities of a mode are `SearchResult.entities`. The scope is
    removed at the end, also on failure. Raises `InvalidInputError` if no gold of a question is an entity.
    """
    ...
def evaluate_answers(given: AnswerSet, stores: Stores, *, embedder: Embedder | None=None, budget: int=BUDGET, progress: Progress | None=None) -> Comparison:
    """Evaluate how well the names that answer questions are found, after the conversations have been ingested.

    "found" and "R@10" are as for `evaluate_triplets`, of names that are ends of triplets; "R@…tok" is the mean share of
    a question's names in the block of ``budget`` tokens, of a channel that of the memories that it recalls, of BM25
    that of the passages that it ranks first. The scope is removed at the end, also on failure. Raises what ingest,
    search and building blocks raise.
    """
    ...
def export_scope(store: GraphStore, target: Path | str, *, gate: Gate | None=None, vectors: bool=True, progress: Progress | None=None) -> ExportReport:
    """Export a scope to a file of JSON lines; "-" is standard output, and a name in ".gz" is compressed.

    The file holds all that the scope holds, forgotten text excepted: elements with their creation times, claims,
    mentions, merges with what undoes them, links, communities, types, counters, feedback with its history, and the log
    of sessions. It is read from one snapshot, a page at a time, and replaces ``target`` as a whole, at the end. The
    same content makes the same bytes, from any store and with the same version of the library.

    A principal exports only a scope that they may see the whole of: `PartialViewError` otherwise. Without a ``gate``
    it is the owner who exports. Without ``vectors`` the file is smaller, and `import_scope` embeds the texts again.

    Raises `UnknownScopeError` for a scope that was never written to, and `InvalidInputError` for a file that cannot be
    written.
    """
    ...
def import_scope(store: GraphStore, source: Path | str, *, embedder: Embedder | None=None, gate: Gate | None=None, replace: bool=False, progress: Progress | None=None) -> ImportReport:
    """Import a file of `export_scope` into a scope; "-" is standard input, compressed files are recognised.

    All of the file or nothing is imported, in one transaction; a process that is killed leaves the scope as it was.
    Answers, feedback, merges to be undone and what the graph knew at any time are then as in the scope exported.

    Vectors are those of the file. An ``embedder`` of another model, or a file without vectors, has the texts embedded
    during the import: of entities and memories, and of facts if the exported scope had vectors of facts. Without
    vectors and without an ``embedder`` the scope has none; import again with ``replace`` to add them.

    A scope that holds anything raises `OccupiedScopeError`, unless ``replace`` is given, which removes it first. With a
    ``gate`` its principal needs WRITE for every element, MERGE for merged entities, FEEDBACK for elements with
    outcomes, and FORGET for all that ``replace`` removes: `AccessDeniedError` otherwise.

    Raises `ScopeFileError`, with the line and every fault in it, for a file that is cut, changed, of an unknown version
    or not valid, `AnalyserError` for one made with another analyser, and what the store and the embedder raise.
    """
    ...
def import_export(ingestor: Ingestor, files: Sequence[Path], *, format: ExportFormat | None=None, group: str | None=None) -> ForeignReport:
    """Import an export of another memory layer, of one file or several: convert it, and ingest what it holds.

    Texts whose extraction the export has are not extracted again. Importing a newer export of the same name (of the
    first file) writes what changed and forgets what is gone. ``format`` is recognised where that is certain. Raises
    `InvalidInputError` for a file that cannot be read, or of which nothing can be converted, and what `Ingestor.add`
    raises.
    """
    ...
def reembed(store: GraphStore, embedder: Embedder, *, restart: bool=False, per_second: float | None=None, batch: int=BATCH, progress: Progress | None=None) -> ReembedReport:
    """Change the embedding model of a scope: embed again whatever has a vector, and switch at one moment.

    Until then the scope is read and written with the old vectors, by any process. What is written, changed or forgotten
    meanwhile is right afterwards. Texts are embedded page by page, ``batch`` at a time and at most ``per_second``
    texts a second; the new vectors are stored beside the old ones. Whoever is interrupted continues when called again
    with the same model. The switch is one transaction; readers go on meanwhile, writers wait. The vector index of a
    large scope is made afterwards, and searches are exact until then.

    From the switch on, engines with the old embedder raise `EmbeddingModelError`.

    Raises `ReembeddingError` if a change to another model is unfinished, which ``restart`` discards, or if this one is
    discarded by somebody else; `EmbeddingModelError` for a scope without vectors, and what the store and the embedder
    raise.
    """
    ...
def estimate_reembedding(store: GraphStore, embedder: Embedder, *, sample: int=SAMPLE) -> ReembedEstimate:
    """Estimate what `reembed` with this model would embed, and how long; nothing is changed.

    All texts that are left are read and counted, page by page; the first ``sample`` of each kind are embedded.
    With 0 nothing but one letter is embedded. Raises what the store and the embedder raise.
    """
    ...

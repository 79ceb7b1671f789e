# Written by `python -m tests.sync.stubs`.

from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from graphsearch import engine
from graphsearch import feedback
from graphsearch.access.gate import Gate
from graphsearch.access.reader import EntityRef
from graphsearch.explaining.explanation import Explanation
from graphsearch.explaining.options import ExplainOptions
from graphsearch.ingest import ingestor
from graphsearch.ingest.report import IngestReport
from graphsearch.ingest.report import Progress
from graphsearch.ingest.report import RememberReport
from graphsearch.model import ElementRef
from graphsearch.model import FeedbackReport
from graphsearch.model import Memory
from graphsearch.model import Outcome
from graphsearch.model import Triplet
from graphsearch.modes.mode import Mode
from graphsearch.modes.options import SearchOptions
from graphsearch.modes.registry import DEFAULT_MODES
from graphsearch.modes.result import SearchResult
from graphsearch.protocols import Embedder
from graphsearch.protocols import Extractor
from graphsearch.protocols import LLM
from graphsearch.protocols import Traversal
from graphsearch.ranking.options import RankOptions
from graphsearch.ranking.result import RankResult
from graphsearch.recall.options import RecallOptions
from graphsearch.recall.options import RecallScoring
from graphsearch.recall.result import RecallResult
from graphsearch.scoring.triplet_score import ScoringOptions
from graphsearch.sync.facade import Facade
from graphsearch.sync.stores import GraphStore
from graphsearch.traversal.paths import Path
from pathlib import Path as pathlib_Path
from typing import Unpack
from uuid import UUID

class GraphSearchEngine(Facade[engine.GraphSearchEngine]):
    """As `graphsearch.GraphSearchEngine`, for a blocking store. The other parts are the asynchronous ones."""

    def __init__(self, *, store: GraphStore, embedder: Embedder | Callable[[str], Awaitable[Sequence[float]]] | None=None, llm: LLM | None=None, traversal: Traversal | None=None, modes: Mapping[str, Mode]=DEFAULT_MODES, scoring: ScoringOptions | None=None, recall_scoring: RecallScoring | None=None) -> None:
        ...

    @property
    def store(self) -> GraphStore:
        """The store."""
        ...

    @property
    def embedder(self) -> Embedder | None:
        """The embedder of questions."""
        ...

    @property
    def llm(self) -> LLM | None:
        """The language model of the modes."""
        ...

    @property
    def traversal(self) -> Traversal:
        """The traversal of the modes."""
        ...

    @property
    def modes(self) -> Mapping[str, Mode]:
        """Search modes by name."""
        ...

    @property
    def scoring(self) -> ScoringOptions:
        """The parameters of the triplet score."""
        ...

    @property
    def recall_scoring(self) -> RecallScoring:
        """The parameters of the memory score."""
        ...

    def explain(self, query: str, element: ElementRef | UUID | str, **options: Unpack[ExplainOptions]) -> Explanation:
        """Explain why a triplet, memory or entity is, or is not, in the result of the same options for a question.

        ``element`` is a relation or an entity by its id, a memory by its id as text, or any of them by `ElementRef`, in
        which an entity's id may be its name. The options are those of `search`, `recall` and `rank_entities`. Raises
        what these raise, and `UnknownElementError` for an element that does not exist or is not visible.
        """
        ...

    def neighbors(self, entity: EntityRef, *, depth: int=1, limit: int=25, as_of: datetime | None=None, gate: Gate | None=None) -> tuple[Triplet, ...]:
        """The best triplets around one entity, scored by hops. Raises `UnknownElementError`."""
        ...

    def path(self, source: EntityRef, target: EntityRef, *, max_hops: int=4, as_of: datetime | None=None, gate: Gate | None=None) -> Path | None:
        """The path with the fewest hops, then the strongest, or None if there is none within ``max_hops``.

        Raises `UnknownElementError` for an end that does not exist or is not visible.
        """
        ...

    def rank_entities(self, query: str, **options: Unpack[RankOptions]) -> RankResult:
        """The entities that answer a question, with the options of `RankOptions`.

        With an embedder, also by meaning. The feedback influence φ is that of ``scoring``. Raises `InvalidInputError`,
        `UnknownScopeError`, `EmbeddingModelError`, and what the store and the embedder raise.
        """
        ...

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> RecallResult:
        """The memories that answer a question best, with the options of `RecallOptions`.

        With an embedder, memories are also searched by meaning if the scope has vectors. Raises `InvalidInputError`,
        `UnknownScopeError`, `EmbeddingModelError`, and what the store and the embedder raise.
        """
        ...

    def search(self, query: str, **options: Unpack[SearchOptions]) -> SearchResult:
        """The triplets that answer a question best, with the options of `SearchOptions`.

        Raises `InvalidInputError`, `UnknownModeError`, `MissingDependencyError`, `UnknownScopeError`,
        `EmbeddingModelError`, and what the store, the embedder and the language model raise.
        """
        ...

    def search_and_recall(self, query: str, *, search: SearchOptions, recall: RecallOptions) -> tuple[SearchResult, RecallResult]:
        """Run `search` and `recall` as one question: one embedding, one snapshot, one gate.

        Gate and times are those of ``search``. Both results have the same ``denied``: the distinct elements hidden from
        either. Raises what `search` raises.
        """
        ...
class Ingestor(Facade[ingestor.Ingestor]):
    """As `graphsearch.Ingestor`. ``progress`` is called from another thread."""

    def __init__(self, engine: GraphSearchEngine, *, extractor: Extractor | None=None, judge: LLM | None=None, gate: Gate | None=None, facts: bool | None=None) -> None:
        ...

    def add(self, path: pathlib_Path, *, only: Iterable[str]=(), name: str | None=None, progress: Progress | None=None) -> IngestReport:
        """Ingest a folder or a file of Python source, JSON lines, Markdown and plain text.

        * ``only``: relative paths of the files and folders to ingest; default all.
        * ``name``: the name that identifies the folder in later ingests; default its own name.
        * ``progress``: called after every step.

        Content that is gone from the folder since the last ingest is forgotten. Names are resolved among the files of
        one call. Broken files and lines are reported in `IngestReport.faults` and do not stop the rest; the content of
        earlier versions of a broken file is kept. Raises `InvalidInputError` if there is nothing at ``path``,
        `EmbeddingModelError` if the scope has another model's vectors, `MissingExtraError` if there are texts and the
        extra of the default extractor is not installed, `AccessDeniedError` for changes that the gate does not allow,
        and what the store, the embedder and the extractor raise: then the batches written so far stay, and the next
        call continues from there.

        Texts that a language model could not read are faults; those that are left because its budget is spent are
        counted. The next call reads both; completed texts are not read again.
        """
        ...

    def remember(self, memories: Iterable[Memory], *, progress: Progress | None=None) -> RememberReport:
        """Ingest memories: extract entities and claims from their texts, embed both, and write them.

        A known, unchanged memory changes nothing; a changed one replaces what the old text proved; of two with one id
        the last counts. Written in batches of one transaction each. Memories that could not be read, or that are left
        because the budget of a language model is spent, are not written but reported, and the next call reads them; if
        the judge was asked about only some names of a memory, the decided ones are written. Raises `InvalidInputError`
        for an id that begins with "file:", before anything is written, and what `add` raises.
        """
        ...
class FeedbackService(Facade[feedback.FeedbackService]):
    """As `graphsearch.FeedbackService`."""

    def __init__(self, store: GraphStore) -> None:
        ...

    def apply(self, session_id: str, outcome: Outcome, *, gate: Gate) -> FeedbackReport:
        """Apply an outcome to every surfaced element on which the gate's principal may give feedback.

        Applied exactly once per (session, element): the same outcome again does nothing, another one replaces the
        first. A session without a log gives an empty report; elements deleted since are reported as missing.
        """
        ...

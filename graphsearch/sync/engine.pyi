# Written by `python -m tests.sync.stubs`.

from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from datetime import timedelta
from graphsearch import engine
from graphsearch import feedback
from graphsearch.access.gate import Gate
from graphsearch.access.reader import When
from graphsearch.access.references import EntityRef
from graphsearch.context import builder
from graphsearch.context.builder import ContextBlock
from graphsearch.context.builder import ContextRequest
from graphsearch.context.material import Material
from graphsearch.context.tokens import WorkType
from graphsearch.curation import curator
from graphsearch.curation import summarising
from graphsearch.curation.browsing import Backlink
from graphsearch.curation.browsing import EntityGraph
from graphsearch.curation.browsing import EntityRecall
from graphsearch.curation.browsing import Event
from graphsearch.curation.browsing import Related
from graphsearch.curation.entity_search import EntityHit
from graphsearch.curation.judging import JudgeReport
from graphsearch.curation.receipts import Receipt
from graphsearch.curation.receipts import Verification
from graphsearch.curation.summarising import SummariesReport
from graphsearch.engine import DEFAULT_MODES
from graphsearch.explaining.elements import Explanation
from graphsearch.explaining.elements import Provenance
from graphsearch.federation import engine as federation
from graphsearch.health.duplicates import ALIKE
from graphsearch.health.duplicates import Ambiguity
from graphsearch.health.duplicates import Duplicate
from graphsearch.health.formula import Health
from graphsearch.ingest import ingestor
from graphsearch.ingest.report import IngestReport
from graphsearch.ingest.report import Progress
from graphsearch.ingest.report import RememberReport
from graphsearch.ingest.write.options import DEFAULT_LIMITS
from graphsearch.ingest.write.options import IngestLimits
from graphsearch.ingest.write.options import IngestOptions
from graphsearch.ingest.write.texts import DEFAULT_EXTRACTOR
from graphsearch.llms.function import AskFunction
from graphsearch.model import Community
from graphsearch.model import Contradiction
from graphsearch.model import ElementRef
from graphsearch.model import Entity
from graphsearch.model import FeedbackReport
from graphsearch.model import Memory
from graphsearch.model import Merge
from graphsearch.model import Outcome
from graphsearch.model import RelationType
from graphsearch.model import Scope
from graphsearch.model import Statistics
from graphsearch.model import Triplet
from graphsearch.model import UndoReport
from graphsearch.model import WriteReport
from graphsearch.modes.mode import Mode
from graphsearch.modes.result import SearchRequest
from graphsearch.modes.result import SearchResult
from graphsearch.protocols import Embedder
from graphsearch.protocols import Extractor
from graphsearch.protocols import LLM
from graphsearch.protocols import TokenCounter
from graphsearch.protocols import Traversal
from graphsearch.protocols.rows import MemoryGroup
from graphsearch.ranking.entity_ranking import RankResult
from graphsearch.ranking.entity_ranking import RankingWeights
from graphsearch.ranking.recall_result import ChannelName
from graphsearch.ranking.recall_result import RecallRequest
from graphsearch.ranking.recall_result import RecallResult
from graphsearch.ranking.recall_result import RecallScoring
from graphsearch.ranking.recall_result import Workload
from graphsearch.ranking.triplet_score import ScoringOptions
from graphsearch.stores.graph import GraphStore as graphsearch_stores_graph_GraphStore
from graphsearch.sync.facade import Facade
from graphsearch.sync.stores import GraphStore
from graphsearch.traversal.paths import GraphPath
from pathlib import Path
from typing import Any
from typing import Literal
from typing import Unpack
from uuid import UUID

class GraphSearchEngine(Facade[engine.GraphSearchEngine]):
    """As `graphsearch.GraphSearchEngine`, for a blocking store. The other parts are the asynchronous ones."""
    embedder: Embedder | None
    llm: LLM | None
    traversal: Traversal
    modes: Mapping[str, Mode]
    scoring: ScoringOptions
    recall_scoring: RecallScoring

    @property
    def store(self) -> GraphStore:
        """The store."""
        ...

    def __init__(self, *, store: GraphStore, embedder: Embedder | Callable[[str], Awaitable[Sequence[float]]] | None=None, llm: LLM | AskFunction | None=None, traversal: Traversal | str | None=None, modes: Mapping[str, Mode]=DEFAULT_MODES, scoring: ScoringOptions | None=None, recall_scoring: RecallScoring | None=None) -> None:
        ...

    def explain(self, query: str, element: ElementRef | UUID | str, *, limit: int | None=None, min_score: float | None=None, diversity: float | None=None, as_of: datetime | None=None, known_at: datetime | None=None, gate: Gate | None=None, mode: str | None=None, seeds: int | None=None, depth: int | None=None, max_hops: int | None=None, since: datetime | None=None, min_edge_confidence: float | None=None, skip_types: Collection[str] | None=None, traversal: Traversal | str | None=None, channels: tuple[ChannelName, ...] | None=None, min_relevance: float | None=None, health: float | None=None, workload: Workload | str | None=None, ranking: str | None=None, weights: RankingWeights | None=None, candidates: int | None=None) -> Explanation:
        """Explain why a triplet, memory or entity is, or is not, in the result of the same options for a question.

        Raises what `search`, `recall` and `rank_entities` raise, and `UnknownElementError` for an element that does not
        exist or is not visible.
        """
        ...

    def neighbors(self, entity: EntityRef, *, depth: int=1, limit: int=25, gate: Gate | None=None, **when: Unpack[When]) -> tuple[Triplet, ...]:
        """Show the relations around an entity, with their scores.

        They are scored by hops. Raises `UnknownElementError`.
        """
        ...

    def path(self, source: EntityRef, target: EntityRef, *, max_hops: int=4, gate: Gate | None=None, **when: Unpack[When]) -> GraphPath | None:
        """Find the shortest path between two entities, the strongest among the shortest.

        None if there is none within ``max_hops``. Raises `UnknownElementError` for an end that does not exist or is not
        visible.
        """
        ...

    def rank_entities(self, query: str, *, min_score: float=0.0, diversity: float=0.0, as_of: datetime | None=None, known_at: datetime | None=None, gate: Gate | None=None, limit: int=5, ranking: str=..., weights: RankingWeights | None=None, candidates: int=20) -> RankResult:
        """Rank the entities that answer a question.

        With an embedder, also by meaning. The feedback influence φ is that of ``scoring``. Raises `InvalidInputError`,
        `UnknownScopeError`, `EmbeddingModelError`, and what the store and the embedder raise.
        """
        ...

    def recall(self, query: str, *, limit: int=10, min_score: float=0.0, diversity: float=0.0, as_of: datetime | None=None, known_at: datetime | None=None, gate: Gate | None=None, channels: tuple[ChannelName, ...]=('lexical', 'semantic', 'graph', 'temporal'), min_relevance: float | None=None, health: float | None=None, workload: Workload | str | None=None) -> RecallResult:
        """Recall the memories that answer a question best.

        With an embedder, memories are also searched by meaning if the scope has vectors. Raises `InvalidInputError`,
        `UnknownScopeError`, `EmbeddingModelError`, and what the store and the embedder raise.
        """
        ...

    def search(self, query: str, *, limit: int=10, min_score: float=0.0, diversity: float=0.0, as_of: datetime | None=None, known_at: datetime | None=None, gate: Gate | None=None, mode: str=..., seeds: int=10, depth: int=2, max_hops: int=3, since: datetime | None=None, min_edge_confidence: float=0.5, skip_types: Collection[str] | None=None, traversal: Traversal | str | None=None) -> SearchResult:
        """Find the triplets that answer a question best.

        Raises `InvalidInputError`, `UnknownModeError`, `MissingDependencyError`, `UnknownScopeError` that names a scope
        where nothing was written, `EmbeddingModelError`, and what the store, the embedder and the language model raise.
        """
        ...

    def search_and_recall(self, search: SearchRequest, recall: RecallRequest) -> tuple[SearchResult, RecallResult]:
        """Run `search` and `recall` of one question: one embedding, one snapshot, one gate.

        Gate and times are those of ``search``. Both results have the same ``denied``: the distinct elements hidden from
        either. Raises what `search` raises.
        """
        ...

    @property
    def stores(self) -> tuple[graphsearch_stores_graph_GraphStore, ...]:
        """The store, as the only one that is searched."""
        ...
class FederatedEngine(Facade[federation.FederatedEngine]):
    """As `graphsearch.federation.engine.FederatedEngine`, for blocking engines."""
    scoring: ScoringOptions
    recall_scoring: RecallScoring

    @property
    def engines(self) -> tuple[GraphSearchEngine, ...]:
        """The engines, in the order of the names of their scopes."""
        ...

    @property
    def stores(self) -> tuple[GraphStore, ...]:
        """The stores, in the same order."""
        ...

    def __init__(self, engines: Sequence[GraphSearchEngine]) -> None:
        ...

    def rank_entities(self, query: str, *, min_score: float=0.0, diversity: float=0.0, as_of: datetime | None=None, known_at: datetime | None=None, gate: Gate | None=None, limit: int=5, ranking: str=..., weights: RankingWeights | None=None, candidates: int=20) -> RankResult:
        """Rank the entities that answer a question.

        With an embedder, also by meaning. The feedback influence φ is that of ``scoring``. Raises `InvalidInputError`,
        `UnknownScopeError`, `EmbeddingModelError`, and what the store and the embedder raise.
        """
        ...

    def recall(self, query: str, *, limit: int=10, min_score: float=0.0, diversity: float=0.0, as_of: datetime | None=None, known_at: datetime | None=None, gate: Gate | None=None, channels: tuple[ChannelName, ...]=('lexical', 'semantic', 'graph', 'temporal'), min_relevance: float | None=None, health: float | None=None, workload: Workload | str | None=None) -> RecallResult:
        """Recall the memories that answer a question best.

        With an embedder, memories are also searched by meaning if the scope has vectors. Raises `InvalidInputError`,
        `UnknownScopeError`, `EmbeddingModelError`, and what the store and the embedder raise.
        """
        ...

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes, in the order of their names."""
        ...

    def search(self, query: str, *, limit: int=10, min_score: float=0.0, diversity: float=0.0, as_of: datetime | None=None, known_at: datetime | None=None, gate: Gate | None=None, mode: str=..., seeds: int=10, depth: int=2, max_hops: int=3, since: datetime | None=None, min_edge_confidence: float=0.5, skip_types: Collection[str] | None=None, traversal: Traversal | str | None=None) -> SearchResult:
        """Find the triplets that answer a question best.

        Raises `InvalidInputError`, `UnknownModeError`, `MissingDependencyError`, `UnknownScopeError` that names a scope
        where nothing was written, `EmbeddingModelError`, and what the store, the embedder and the language model raise.
        """
        ...

    def search_and_recall(self, search: SearchRequest, recall: RecallRequest) -> tuple[SearchResult, RecallResult]:
        """Run `search` and `recall` of one question: one embedding, one snapshot, one gate.

        Gate and times are those of ``search``. Both results have the same ``denied``: the distinct elements hidden from
        either. Raises what `search` raises.
        """
        ...
class Ingestor(Facade[ingestor.Ingestor]):
    """As `graphsearch.Ingestor`. ``progress`` is called from another thread."""

    def __init__(self, engine: GraphSearchEngine, *, extractor: Extractor | None=DEFAULT_EXTRACTOR, judge: LLM | AskFunction | None=None, gate: Gate | None=None, facts: bool | None=None, limits: IngestLimits=DEFAULT_LIMITS, options: IngestOptions | None=None) -> None:
        ...

    def add(self, path: Path | str, *, only: Iterable[str]=(), name: str | None=None, hidden: bool=False, progress: Progress | None=None) -> IngestReport:
        """Ingest a folder or a file: Python source, JSON lines, documents, tables, transcripts, exports of chats.

        * ``only``: relative paths of the files and folders to ingest; default all.
        * ``name``: the name that identifies the folder in later ingests; default its own name.
        * ``hidden``: also read hidden files and folders. They are skipped, as are private keys, unless ``path`` or
          ``only`` names them: see `IngestReport.skipped`, where files without a reader are counted, too.
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

    def remember(self, memories: Iterable[Memory], *, session_id: str='', progress: Progress | None=None) -> RememberReport:
        """Ingest memories: extract entities and claims from their texts, embed both, and write them.

        What a memory's session was shown by `graphsearch.context.ContextBuilder`, and ``session_id`` if it is given, is
        no new evidence when it is written back: see `RememberReport.echoes`.

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
        first. A session without a log gives an empty report; elements deleted since are reported as missing, and all of
        them if the scope was removed meanwhile and made anew.

        Raises `InvalidInputError` for an outcome that is none, `ForeignSessionError`, before anything is written,
        unless the gate's principal opened the session, and `ReadOnlyStoreError` where nothing can be written, even if
        there is nothing to apply.
        """
        ...
class Curator(Facade[curator.Curator]):
    """As `graphsearch.Curator`."""

    def __init__(self, engine: GraphSearchEngine, *, gate: Gate | None=None) -> None:
        ...

    def backlinks(self, *, entity: EntityRef | None=None, memory: str | None=None, limit: int | None=None, **when: Unpack[When]) -> tuple[Backlink, ...]:
        """List the memories that mention an entity, newest first, or those that refer to a memory; give one of the two.

        Those that `link_memories` linked to the memory come first, newest first; then those that share entities with
        it, by the sum of the rarity of these. What is hidden neither appears nor counts.
        """
        ...

    def communities(self, entity: EntityRef | None=None, *, limit: int | None=20) -> tuple[Community, ...]:
        """List the stored communities (groups of related entities), the largest first; of an entity, its own."""
        ...

    def contradictions(self, *, limit: int=20, **when: Unpack[When]) -> tuple[Contradiction, ...]:
        """List pairs of relations that cannot both hold, for a person to decide between them.

        Relations of functional types, by (source, type, ids), with their ends. They are those of the relations as
        folded from visible memories: as stored, pairs are missing that something hidden settled. They are in the order
        of the ids that the relations have in a graph without what is hidden.
        """
        ...

    def detect_communities(self, *, limit: int | None=None, seed: int=0) -> tuple[Community, ...]:
        """Detect and store all communities again, from the whole graph; list them, the largest first.

        Of all relations that hold now. Touches (write) every member.
        """
        ...

    def entity_graph(self, entity: EntityRef, *, depth: int=1, limit: int=100, **when: Unpack[When]) -> EntityGraph:
        """Show the entities around one and the relations among them, as node-link JSON.

        They are at most ``limit`` within ``depth`` hops:
        ``{"directed", "multigraph", "graph", "nodes", "links"}``, as ``networkx.node_link_graph(…, edges="links")``
        reads it; the key of a link is the id of its relation.
        """
        ...

    def entity_timeline(self, entity: EntityRef, *, since: datetime | None=None, until: datetime | None=None, **when: Unpack[When]) -> tuple[Event, ...]:
        """List what happened to an entity, in order: relations that began or ended, memories that mention it.

        Events at ``since`` ≤ t < ``until``.
        """
        ...

    def expire(self, age: timedelta, *, label: str | None=None, source: str | None=None) -> WriteReport:
        """Forget the memories with a label, from a source, or both, that are older than ``age``, as `forget` does.

        The age counts from ``occurred_at``, or, where it is not known, from when the memory was written. Call it
        regularly: a memory lives until the first call after its time. Raises `InvalidInputError` without a label or a
        source, and for an age of 0 or less.
        """
        ...

    def find_ambiguous(self, *, limit: int=20) -> tuple[Ambiguity, ...]:
        """List first names and surnames that several people have, with these people: whom they mean is open.

        Whom their mentions mean is open: `merge_entities` settles it, and `mark_distinct` rules a candidate out. The
        candidates are found when they are asked for, among what may be seen: a hidden one is neither shown nor counted.
        """
        ...

    def find_duplicates(self, *, limit: int=20, threshold: float=ALIKE) -> tuple[Duplicate, ...]:
        """List pairs of entities that may be one, the most similar first: merge them, or mark them as distinct.

        Their names are more alike than ``threshold``, in [0.6, 1]: by letters, or by a rule of names (`Likeness`):
        nicknames, short forms, a part of a name that fits one person alone, one name of two types. Code, files,
        addresses, dates and quantities have exact names and are left out, as are pairs that are merged or marked as
        distinct. Nothing is merged: above 0.92 a pair is near certain, other pairs are for review.
        """
        ...

    def forget(self, memory: str | None=None, *, dry_run: bool=False, **of: Unpack[MemoryGroup]) -> WriteReport:
        """Forget a memory, or all of a session, source, subject, owner or label. Irreversible; try it with dry_run.

        Give one of ``memory``, ``session_id``, ``source``, ``subject`` (what the memories are about, as they state it),
        ``owner`` (their attribute of that name, as policies read it) and ``label``; `InvalidInputError` otherwise. With
        ``dry_run``, only report what would be removed. Everything that rests on them alone goes with them.
        Returns what was removed, behind a gate that hides memories alone; an unknown memory changes nothing, and all
        counts are 0. Each transaction covers a thousand memories. Touches (forget) each of them.
        """
        ...

    def forget_with_receipt(self, memory: str | None=None, **of: Unpack[MemoryGroup]) -> Receipt:
        """Forget as forget does, and return a receipt that verify_receipt checks. Irreversible.

        A third party can check it. The content that its hash covers is read before anything is forgotten, in another
        transaction. Reads all relations of the scope.
        """
        ...

    def graph_health(self) -> Health:
        """Report the health of the graph and its problems, and store it, for recall and blocks."""
        ...

    def judge_duplicates(self, llm: LLM | AskFunction, *, limit: int=20, threshold: float=ALIKE, skip: Iterable[tuple[UUID, UUID]]=()) -> JudgeReport:
        """Have a language model judge possible duplicates: merge the same, mark the distinct.

        They are at most ``limit`` pairs of `find_duplicates`. Pairs judged to be one entity are merged into the older
        one (`undo_merge` reverts it). Neither comes up again, so that the next call continues where this one ended.
        Pairs that the model is unsure of stay unchanged and would be judged again unless ``skip`` has their ids: see
        ``report.unsure``. A model that fails changes nothing. Once every question of a round fails, for example because
        the budget of a `graphsearch.llms.BudgetedLLM` is spent, the model is not called again: changes made so far
        stay, and the report lists the pairs that are left, and why.

        Touches what `merge_entities` and `mark_distinct` touch; pairs for which either is denied are not judged, and
        are reported as left. The model sees names of the graph: therefore a curator without a gate raises
        `MissingDependencyError`; pass ``gate=ALLOW_ALL`` if all names may be shown.
        """
        ...

    def link_memories(self, from_id: str, to_id: str, *, type: str='relates_to') -> bool:
        """Link a memory to another; backlinks of the second then lists the first.

        True if the link is new. Touches (write) both.
        """
        ...

    def mark_distinct(self, one: EntityRef, other: EntityRef, *, distinct: bool=True) -> bool:
        """Record that two entities are distinct, so that find_duplicates leaves them out; or remove the mark.

        True if that changed anything. Touches (write) both.
        """
        ...

    def merge_entities(self, source: EntityRef, target: EntityRef, *, dry_run: bool=False, retype: bool=False) -> Merge:
        """Merge an entity into another that is the same; try it with dry_run first. undo_merge reverts it.

        Mentions, claims, relations and names of the source become the target's. With ``dry_run``, only report what
        would move; behind a gate that hides, of the visible alone. Touches (merge) both entities, the source's
        relations, and the memories that mention it. `InvalidInputError` for an entity with itself, for entities of two
        types, and if either was merged into another already, which rules out cycles. With ``retype``, entities of two
        types are merged in one step, and the target's type is that of both until the merge is undone.
        """
        ...

    def merges(self, entity: EntityRef | None=None) -> tuple[Merge, ...]:
        """List merges, including undone ones, in the order in which they were made; of an entity, its own."""
        ...

    def recall_entity(self, entity: EntityRef, *, limit: int=10, **when: Unpack[When]) -> EntityRecall:
        """Show everything known of an entity: relations, memories that mention it, role, place and community.

        At most ``limit`` relations, and as many memories.
        """
        ...

    def recall_related(self, entity: EntityRef, *, max_hops: int=2, limit: int=20, **when: Unpack[When]) -> tuple[Related, ...]:
        """List the entities that can be reached from one, the nearest first, with the relations in between.

        They are those within ``max_hops`` by the engine's traversal, by hops, then by strength.
        """
        ...

    def refresh_communities(self, *, limit: int | None=None, seed: int=0) -> tuple[Community, ...]:
        """Update the communities whose relations changed; list those that changed, the largest first.

        Touches (write) every member of those that changed.
        """
        ...

    def register_type(self, name: str, *, prior: float | None=None, half_life_days: float | None=None, hop_scores: Sequence[float] | None=None, functional: bool | None=None, causal: bool | None=None, skip: bool | None=None, state: bool | None=None) -> RelationType:
        """Register a type of relation, or change a known one: what is not given stays as it is.

        A type determines how its relations are folded, scored and printed; they are folded again.

        * ``prior``: the reliability of the type's relations, in [0, 1].
        * ``half_life_days``: the age at which they count half, in days; 0: they do not age.
        * ``hop_scores``: the scores by distance, see `RelationType`.
        * ``functional``: a source has one target at a time. ``causal``: the source is printed before the target.
        * ``skip``: searches leave them out. ``state``: they hold until something ends them.

        Touches (write) a relation of the type. Raises `InvalidInputError` that names every fault.
        """
        ...

    def relation_types(self) -> tuple[RelationType, ...]:
        """List the types of relations known from the start or registered, with their properties.

        A principal that may not see everything gets registered ones only if a visible relation has the type.
        """
        ...

    def remove_scope(self) -> Receipt:
        """Remove the project and everything in it, and return a receipt, which verify_receipt checks.

        Touches (forget) every element. What is written between reading the content for the receipt and the removal is
        removed as well, and not covered by its hash.
        """
        ...

    def search_entities(self, query: str, *, limit: int=10, type: str | None=None, **when: Unpack[When]) -> tuple[EntityHit, ...]:
        """Find entities by a name, a part of one, or a misspelt one, the best first."""
        ...

    def stats(self) -> Statistics:
        """Return the numbers of the scope."""
        ...

    def summarise_communities(self, llm: LLM | AskFunction, *, limit: int | None=None, min_size: int=summarising.MIN_SIZE, counter: TokenCounter | None=None, prompt_tokens: int=summarising.PROMPT_TOKENS, answer_tokens: int=summarising.ANSWER_TOKENS) -> SummariesReport:
        """Have a language model summarise the communities that are new or have changed; run it again to go on.

        Its sentences cite relations and memories. At most ``limit`` communities are asked for, the largest first, of at
        least ``min_size`` members, and only those without a summary of their present content. Each summary is stored
        once it is answered. Unusable answers, and prompts that the model turns down, are counted, and the others go on,
        unless the first four are turned down; once the budget of a `graphsearch.llms.BudgetedLLM` is spent, the rest is
        left. Any other error of the model is raised; what was stored before stays. ``prompt_tokens`` bounds each
        prompt, and ``answer_tokens`` each answer, by ``counter``; the default counts bytes, more than there are tokens.

        Touches (write) every member of a community that is asked for. The model sees texts of the graph: therefore a
        curator without a gate raises `MissingDependencyError`; pass ``gate=ALLOW_ALL`` if all may be shown.
        """
        ...

    def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Undo a merge: separate the two entities again.

        What was written since stays with the target, and what was forgotten stays forgotten. Touches (merge) both
        entities, their relations, and the memories that mention them, any of which may move back. Behind a gate that
        may hide anything of the scope the report has no counts. Raises `InvalidInputError` for a merge that was undone
        already.
        """
        ...

    def update_entity(self, entity: EntityRef, *, name: str | None=None, type: str | None=None, description: str | None=None, aliases: Sequence[str] | None=None, labels: Sequence[str] | None=None, attributes: Mapping[str, Any] | None=None, importance_weight: float | None=None) -> Entity:
        """Correct an entity: what is not given stays as it is, and a former name becomes an alias.

        Returns the corrected entity, whose id stays.

        * ``aliases``, ``labels`` and ``attributes``: the complete new values. Aliases found in memories are shown too.
        * ``importance_weight``: how much the entity matters, in [0, 1].

        An entity that memories name has its name and type from its mentions until its name is corrected, or its type
        is set to an unknown one. If the text that is embedded changes and the scope has vectors, it is embedded again:
        raises `MissingDependencyError` if the engine has no embedder, and `EmbeddingModelError` if it has another than
        the scope. Touches (write) the entity before and after the change.
        Raises `InvalidInputError` that names every fault, including a name that another entity of the type has.
        """
        ...

    def verify_receipt(self, receipt: Receipt) -> Verification:
        """Check a receipt of forgetting: that it is as it was made, and that nothing of what it names is left.

        Raises `InvalidInputError` for a receipt of another scope. Reads all relations of the scope.
        """
        ...

    def why(self, relation_id: UUID, **when: Unpack[When]) -> Provenance:
        """Show why the graph holds a relation: the memories that support it, their words, and what each contributes."""
        ...
class ContextBuilder(Facade[builder.ContextBuilder]):
    """As `graphsearch.context.ContextBuilder`."""

    def __init__(self, engine: GraphSearchEngine | FederatedEngine, *, counter: TokenCounter | None=None, budgets: Mapping[WorkType, int] | None=None, log: GraphStore | Sequence[GraphStore] | Literal['engine'] | None='engine') -> None:
        ...

    def budget_of(self, request: ContextRequest) -> int:
        """The tokens that a block may have."""
        ...

    def build(self, query: str, *, min_score: float=0.0, diversity: float=0.0, as_of: datetime | None=None, known_at: datetime | None=None, mode: str=..., seeds: int=10, depth: int=2, max_hops: int=3, since: datetime | None=None, min_edge_confidence: float=0.5, skip_types: Collection[str] | None=None, traversal: Traversal | str | None=None, gate: Gate, session_id: str, limit: int=200, budget: int | None=None, work_type: WorkType=..., observations: bool=True, graph: bool=True, channels: tuple[ChannelName, ...]=('lexical', 'semantic', 'graph', 'temporal'), health: float | None=None, workload: Workload | None=None) -> ContextBlock:
        """Build the block for a session, and log its elements for `feedback`.

        The first block with a text opens the session for the gate's principal; only this principal may build more
        under its id, or report its outcome.

        Raises what `search` and `recall` raise, `InvalidInputError`, `MissingVocabularyError`, `ForeignSessionError`
        for the session of another principal, and `ReadOnlyStoreError` where the block cannot be logged.
        """
        ...

    def feedback(self, session_id: str, outcome: Outcome, *, gate: Gate) -> FeedbackReport:
        """Move the weights of the elements surfaced to a session of the gate's principal: `FeedbackService.apply`.

        Raises `ReadOnlyStoreError` without a log.
        """
        ...

    def lay_out(self, found: Material, budget: int) -> ContextBlock:
        """The block of some material: of no session yet, and not logged."""
        ...
def build_graph_context_block(engine: GraphSearchEngine, query: str, *, min_score: float=0.0, diversity: float=0.0, as_of: datetime | None=None, known_at: datetime | None=None, mode: str=..., seeds: int=10, depth: int=2, max_hops: int=3, since: datetime | None=None, min_edge_confidence: float=0.5, skip_types: Collection[str] | None=None, traversal: Traversal | str | None=None, gate: Gate, session_id: str, limit: int=200, budget: int | None=None, work_type: WorkType=..., graph: bool=True, channels: tuple[ChannelName, ...]=('lexical', 'semantic', 'graph', 'temporal'), health: float | None=None, workload: Workload | None=None, observations: bool=False, counter: TokenCounter | None=None) -> ContextBlock:
    """`ContextBuilder.build` as a function, for a single block of triplets alone."""
    ...

# Written by `python -m tests.sync.stubs`.

from collections.abc import AsyncIterable
from collections.abc import Hashable
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from graphsearch.caching import EntityCache
from graphsearch.columns import Codes
from graphsearch.columns import Edges
from graphsearch.columns import Expansion
from graphsearch.columns import Hits
from graphsearch.columns import Keys
from graphsearch.columns import Mentioned
from graphsearch.columns import Turns
from graphsearch.evaluation.evaluator import Stores as AsyncStores
from graphsearch.model import AssertedEntity
from graphsearch.model import Batch
from graphsearch.model import Claim
from graphsearch.model import Community
from graphsearch.model import ElementKind
from graphsearch.model import ElementRef
from graphsearch.model import Entity
from graphsearch.model import FeedbackReport
from graphsearch.model import Group
from graphsearch.model import HealthRecord
from graphsearch.model import Injection
from graphsearch.model import Memory
from graphsearch.model import MemoryLink
from graphsearch.model import Mention
from graphsearch.model import Merge
from graphsearch.model import NameMatch
from graphsearch.model import Named
from graphsearch.model import Outcome
from graphsearch.model import OutcomeRecord
from graphsearch.model import Relation
from graphsearch.model import RelationType
from graphsearch.model import Scope
from graphsearch.model import SimilarName
from graphsearch.model import Statistics
from graphsearch.model import SurfaceForm
from graphsearch.model import UndoReport
from graphsearch.model import Vector
from graphsearch.model import View
from graphsearch.model import WriteReport
from graphsearch.model.proposals import Proposal
from graphsearch.model.proposals import ProposalState
from graphsearch.model.reembedding import Element
from graphsearch.model.reembedding import NewVector
from graphsearch.model.reembedding import Reembedding
from graphsearch.model.reembedding import Remake
from graphsearch.model.signatures import Signature
from graphsearch.model.signatures import SignatureTable
from graphsearch.model.stored import Key
from graphsearch.model.stored import Record
from graphsearch.model.stored import RecordKind
from graphsearch.model.stored import ScopeSettings
from graphsearch.protocols import Clock
from graphsearch.protocols.rows import MemoryFilters
from graphsearch.stores import graph
from graphsearch.stores import memory
from graphsearch.stores.writer.keeping import Pair
from graphsearch.sync.facade import Facade
from graphsearch.text.analyser import Analyser
from graphsearch.text.analyser import ENGLISH
from graphsearch.text.bm25 import TermCounts
from typing import Any
from typing import ClassVar
from typing import Unpack
from uuid import UUID

class GraphStore(Facade[graph.GraphStore]):
    """A graph in one scope, as `graphsearch.stores.graph.GraphStore`; wrap your own with `GraphStore.of(store)`.

    Rows, and transactions of rows, are between a graph and its store.
    """
    scope: Scope
    clock: Clock
    analyser: Analyser
    _without: ClassVar = frozenset({'rows', 'rows_by', 'page', 'forms', 'tree', 'counts', 'scope_row', 'writing'})

    def apply_outcome(self, session_id: str, outcome: Outcome, elements: Sequence[ElementRef], *, logged: Sequence[str]=()) -> FeedbackReport:
        """Move the feedback weights of elements, exactly once per (session, element).

        A first outcome y changes the weight w to α·y + (1 − α)·w, an exponentially weighted mean with α = 0.1. A later
        outcome of the same session replaces the first, as if it had been the only one: at the place seq among n it
        changes w by α·(1 − α)^(n − seq)·(y − the first).

        ``logged`` are the ids of the injections that surfaced them. Where one of these is not in the session's log, the
        scope was removed and made anew since the log was read: nothing moves, and all elements are missing.
        """
        ...

    def asserted(self, ids: Sequence[UUID]) -> Sequence[AssertedEntity]:
        """Entities as they were asserted, in the order of ``ids``: the form to change and write again."""
        ...

    def begin_reembedding(self, name: str, dimensions: int, *, restart: bool=False) -> bool:
        """Begin a change to a model, or continue it; return False if the scope has the model already.

        `ReembeddingError` if a change to another model is unfinished; with ``restart`` an unfinished change is
        discarded first. `EmbeddingModelError` for a scope without a model.
        """
        ...

    def bind_embedder(self, name: str, dimensions: int) -> None:
        """Declare the model of the scope's vectors; `EmbeddingModelError` if it already has another model."""
        ...

    def cancel_reembedding(self) -> bool:
        """Discard an unfinished change with its vectors; return whether there was one."""
        ...

    def communities(self, *, entity_ids: Sequence[UUID] | None=None, limit: int | None=None) -> Sequence[Community]:
        """Communities, the largest first, then by id; only those with any of ``entity_ids`` if given.

        Members that were deleted or merged into another entity are left out.
        """
        ...

    def decide(self, before: Proposal, after: Proposal) -> bool:
        """Put ``after`` in the place of ``before``, if that is still in its state of the same time; return whether.

        Of several who decide at once one does.
        """
        ...

    def degrees(self, ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """The number of unretracted relations of each entity, in both directions."""
        ...

    def delete(self, *, entities: Sequence[UUID]=(), relations: Sequence[UUID]=()) -> WriteReport:
        """Delete entities with their relations, claims and mentions, and single relations with their claims."""
        ...

    def distinct_pairs(self, entity_ids: Sequence[UUID]) -> Sequence[Pair]:
        """Pairs marked as distinct with any of the entities, the lower id first, in order."""
        ...

    def document_count(self, kind: ElementKind) -> int:
        """The number of elements of a kind with a word in their texts: the N of BM25, maintained without counting."""
        ...

    def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        """For each group of terms, the number of elements of a kind that have all of them in their texts.

        Terms are those of the store's `analyser`. An empty group counts every element with a word, the N of BM25,
        without counting them. Counts cover everything stored, visible or not.
        """
        ...

    def edges(self, *, after: UUID | None=None, limit: int=100000, view: View) -> Edges:
        """The next page, in order of id, of relations that pass the view."""
        ...

    def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """The elements behind keys of one kind, in their order, one for each key.

        A snapshot reads each element once; it may read the ends of relations in the same round trip.
        """
        ...

    def embedder_name(self) -> str | None:
        """The model declared by `bind_embedder`, or None."""
        ...

    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of entities."""
        ...

    def expand(self, keys: Keys, *, fan_out: int, view: View, ahead: int=0) -> Expansion:
        """Relations of a frontier that pass the view, strongest first; at most ``fan_out`` per entity and direction.

        ``ahead`` is the number of further hops that will be asked for: a store may read them in the same round trip.
        """
        ...

    def find_name_words(self, words: Sequence[str], *, prefix: bool=False, limit: int=50) -> Sequence[NameMatch]:
        """Entities with one of ``words`` in a name, or with ``prefix`` a word that starts with one of them.

        Words are those of `graphsearch.text.trigrams.name_words`. The ``name`` of a match is the requested word. At
        most ``limit`` matches per word, those with the lowest ids, by (id, word).
        """
        ...

    def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        """Entities whose name or an alias equals one of ``names``."""
        ...

    def first_written(self, entity_ids: Sequence[UUID], *, limit: int) -> Mapping[UUID, Sequence[tuple[datetime, str]]]:
        """The first ``limit`` memories that mention each entity, by (created_at, id); entities without any are absent.

        Of a merged entity as in `surface_forms`.
        """
        ...

    def forget(self, memory_ids: Sequence[str], *, dry_run: bool=False) -> WriteReport:
        """Delete memories with their mentions and claims, and fold the affected relations again.

        With ``dry_run``, only report what would be deleted.

        A relation without claims is deleted, and so is an affected entity without mentions and relations. Links are
        deleted with either end. The injection log no longer names what was deleted, and a relation whose fact has
        changed loses the vector of the old fact.
        """
        ...

    def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        """Entities in the order of ``ids``."""
        ...

    def get_memories(self, ids: Sequence[str]) -> Sequence[Memory]:
        """Memories in the order of ``ids``."""
        ...

    def get_relations(self, ids: Sequence[UUID]) -> Sequence[Relation]:
        """Relations in the order of ``ids``, including retracted ones."""
        ...

    def health_history(self) -> Sequence[HealthRecord]:
        """What `record_health` has stored, the oldest first; the last one is the present health."""
        ...

    def id_key(self) -> UUID:
        """The secret of the scope, random, by which ingest mints ids: `graphsearch.model.identity.keyed_id`."""
        ...

    def ids(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """The ids behind keys of a kind, in their order: of memories as text."""
        ...

    def injections(self, session_id: str) -> Sequence[Injection]:
        """The recorded injections of a session, oldest first; all are of the principal who opened it."""
        ...

    def left_out(self, keys: Keys, *, view: View) -> Mapping[str, int]:
        """Numbers of relations of these entities that the view excludes, each counted for the first applicable reason.

        The reasons, in order: "not_known", "not_held", "low_confidence", "skipped_type", "other_type"; reasons with no
        relations are absent. At most 1,000 relations per entity and direction are counted, the strongest first.
        """
        ...

    def link_memories(self, links: Sequence[MemoryLink]) -> int:
        """Link memories; return the number of new links. `InvalidInputError` names every memory that does not exist."""
        ...

    def list_claims(self, *, memory_ids: Sequence[str]=(), relation_ids: Sequence[UUID]=(), groups: Sequence[Group]=()) -> Sequence[Claim]:
        """Claims of any of the memories, behind any of the relations or folded in any of the groups.

        In fold order. A claim that a merge has turned into a claim of an entity about itself is not folded.
        """
        ...

    def list_entities(self, *, after: UUID | None=None, limit: int=100, type: str | None=None) -> Sequence[Entity]:
        """The next page of entities, of one type if given."""
        ...

    def list_memories(self, *, after: str | None=None, limit: int=100, **filters: Unpack[MemoryFilters]) -> Sequence[Memory]:
        """The next page of the memories that pass all filters."""
        ...

    def list_mentions(self, *, memory_ids: Sequence[str]=(), entity_ids: Sequence[UUID]=()) -> Sequence[Mention]:
        """Mentions in any of the memories or of any of the entities, by (memory, entity, span)."""
        ...

    def list_relations(self, *, after: UUID | None=None, limit: int=100, type: str | None=None, entity_id: UUID | None=None) -> Sequence[Relation]:
        """The next page of unretracted relations, of one type and of one entity if given."""
        ...

    def load(self, settings: ScopeSettings, pages: AsyncIterable[Sequence[Record]], *, replace: bool=False) -> None:
        """Load records, all or none, as the whole content of the scope; call `settle` afterwards.

        A page has records of one kind, in order of key; the pages come in the order of `RecordKind`. The scope is
        created if it does not exist, and is left as it was when anything raises, ``pages`` included. With ``replace``
        whatever it holds is removed first; without, a scope that holds anything raises `OccupiedScopeError`. Raises
        `AnalyserError` for records made with another analyser, and `RecordError` for a record out of order or one that
        refers to another that is not there.
        """
        ...

    def locate(self, ids: Sequence[UUID], *, view: View) -> Hits:
        """The entities with these ids that the view admits, in order of key."""
        ...

    def log_injection(self, injection: Injection) -> None:
        """Record the elements surfaced to a session; recording the same id again changes nothing.

        The first injection of a session opens it for its principal: of several principals who try at the same moment,
        one does. Raises `ForeignSessionError` for an injection of another principal, and records nothing of it. A
        session keeps its owner until the scope is removed, even when all that was surfaced to it is forgotten.
        """
        ...

    def mark_distinct(self, pairs: Sequence[Pair], *, distinct: bool=True) -> int:
        """Mark pairs of entities as distinct, not duplicates, or remove the mark; return the number of changed marks.

        `InvalidInputError` names every entity that does not exist, and every pair of an entity with itself.
        """
        ...

    def memory_ids(self, keys: Keys) -> Sequence[str]:
        """The ids behind keys of memories."""
        ...

    def memory_links(self, memory_ids: Sequence[str]) -> Sequence[MemoryLink]:
        """Links from and to any of the memories, without repeats, by (from, to, type)."""
        ...

    def mentioned(self, kind: ElementKind, keys: Keys, *, limit: int, view: View) -> Mentioned:
        """Memories that mention some entities, or entities mentioned by some memories; ``kind`` is that of the keys.

        An element with more than ``limit`` such neighbours has none returned: what is everywhere distinguishes nothing,
        and costs the most. The limit counts everything stored, visible or not.
        """
        ...

    def merge(self, source_id: UUID, target_id: UUID, *, dry_run: bool=False, retype: bool=False) -> Merge:
        """Merge one entity into another, which takes over its mentions, claims, relations and names.

        The source remains as a row with ``merged_into`` and is excluded from every search. Relations are folded again;
        asserted relations keep their ids; relations from the target to itself are dropped. ``dry_run`` only reports
        what would move. With ``retype``, entities of two types can be merged: the target's is that of both. Raises
        `UnknownElementError` for an entity that does not exist, and `InvalidInputError` for an entity that is already
        merged, for an entity with itself, and without ``retype`` for entities of different types.
        """
        ...

    def merges(self, entity_ids: Sequence[UUID]=()) -> Sequence[Merge]:
        """Merges in the order they were made, including undone ones; only those of ``entity_ids`` if given."""
        ...

    def named(self, names: Sequence[str], words: Sequence[str], *, limit: int, view: View) -> Named:
        """The matches of names, and of words that less than ``limit`` entities have in theirs; see `find_names`.

        Matches are by entities in the view or not.
        """
        ...

    def outcomes(self, elements: Sequence[ElementRef]) -> Sequence[OutcomeRecord]:
        """The outcomes that moved the weights of elements, by (element, seq)."""
        ...

    def outdated_vectors(self, kind: ElementKind, name: str, *, after: UUID | str | None=None, limit: int=256) -> Sequence[Element]:
        """The next elements of a kind, in order of id, that have a vector and no current one of the model ``name``.

        If no change to that model is unfinished, these are all elements with a vector.
        """
        ...

    def proposals(self, ids: Sequence[UUID] | None=None, *, state: ProposalState | None=None, after: UUID | None=None, limit: int=1000) -> Sequence[Proposal]:
        """Proposals, the oldest first: of some ids, in a state, and after the one with the id ``after``."""
        ...

    def propose(self, proposal: Proposal) -> None:
        """Store a new proposal, in a scope that is created if it does not exist; one of a known id changes nothing."""
        ...

    def put_new_vectors(self, kind: ElementKind, name: str, vectors: Sequence[NewVector]) -> int:
        """Keep vectors of the next model, of elements that still have one and the same text; return their number.

        `ReembeddingError` if no change to the model ``name`` is unfinished, `EmbeddingModelError` for vectors of
        another length, `InvalidInputError` for vectors that are no finite numbers.
        """
        ...

    def record_health(self, record: HealthRecord) -> None:
        """Store the health that a graph has now.

        At most `HEALTH_RECORDS` are kept, each of at least 1.25 times as many memories as the one before, or fewer; the
        last one is replaced until it is.
        """
        ...

    def records(self, kind: RecordKind, *, after: Key | None=None, limit: int=1000) -> Sequence[Record]:
        """The next page of records of a kind, in order of key."""
        ...

    def reembedding(self) -> Reembedding | None:
        """The unfinished change, or None."""
        ...

    def register_types(self, types: Sequence[RelationType]) -> None:
        """Add or replace relation types; claims of a type that becomes or ceases to be functional are folded again."""
        ...

    def related(self, keys: Keys, *, view: View) -> Expansion:
        """Relations as steps from their source to their target, in the order of their keys, visible or not."""
        ...

    def relation_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of relations."""
        ...

    def relation_types(self) -> Mapping[str, RelationType]:
        """Relation types by name: the defaults and the registered ones."""
        ...

    def remove_scope(self) -> None:
        """Delete the scope and everything in it; do nothing if it was never written."""
        ...

    def search_by_embedding(self, kind: ElementKind, vector: Vector, *, limit: int, view: View) -> Hits:
        """The nearest elements of a kind by cosine distance, in [0, 2], ties by key.

        `EmbeddingModelError` when the length of the vector is not the scope's.
        """
        ...

    def search_lexical(self, kind: ElementKind, query: str, *, limit: int, view: View, counts: TermCounts | None=None) -> Hits:
        """Elements of a kind by the BM25 of their text, best first, ties by key; any text is a valid query.

        ``counts`` replace the scope's own numbers of documents, so that scores of several scopes can be compared.
        """
        ...

    def settings(self) -> ScopeSettings:
        """The settings of the scope, with the numbers of its records."""
        ...

    def settle(self) -> int:
        """Build or extend the vector indexes of a large scope; return the number of vectors that were entered.

        Results are the same before and after; searches are faster after. Call it at the end of an import.
        """
        ...

    def signature_codes(self, *, shared: bool) -> Codes:
        """Codes, in order, of the signatures in use; reads the whole scope.

        Of the ``shared`` ones (`Signature`) only, without that, and possibly with some no longer in use.
        """
        ...

    def signature_table(self) -> SignatureTable | None:
        """Signatures available without I/O: all of this scope by row, or some with their codes; None without any."""
        ...

    def signatures(self, codes: Sequence[int]) -> Mapping[int, Signature]:
        """The content of signature codes."""
        ...

    def signed(self, codes: Sequence[int], *, limit: int) -> Keys:
        """The keys, in order, of the first ``limit`` unretracted relations with one of some signatures."""
        ...

    def similar_names(self, names: Sequence[str], *, threshold: float, limit: int=20) -> Mapping[str, Sequence[SimilarName]]:
        """For each of ``names`` the entities with a similar name or alias, best first, ties by id.

        Similarity is of trigrams. ``threshold`` is in [0.6, 1]; `InvalidInputError` below, where no index helps.
        """
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Let all reads inside, of this task and of those it starts, see one state of the graph. May be nested."""
        ...

    def statistics(self) -> Statistics:
        """Element counts of the scope."""
        ...

    def surface_forms(self, entity_ids: Sequence[UUID], *, limit: int) -> Sequence[SurfaceForm]:
        """Surface forms of mentions, by (entity, surface), each with the first ``limit`` of its memories.

        Those of a merged entity are the ones that mentioned it before, and count for the other as well.
        """
        ...

    def switch_embedder(self, name: str, remake: Remake, *, most: int) -> int:
        """Replace all vectors and the model of the scope in one transaction, if at most ``most`` are outdated.

        These are made by ``remake`` while other writers wait. Returns 0 if it was done, else at least how many vectors
        are outdated, with nothing changed. Call `settle` afterwards. `ReembeddingError` if no change to the model
        ``name`` is unfinished.
        """
        ...

    def turns(self, keys: Keys, *, view: View) -> Turns:
        """The memories directly before and after each in its session, in order of (position, id)."""
        ...

    def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Undo a merge: separate the two entities again.

        A target that exists through mentions alone, all of which were forgotten since, is deleted as by `forget`.

        Restores the state before the merge if nothing was written since. Whatever was written since, also about the
        source, stays with the target, but for what a memory states between the two, and its mentions of the source;
        forgotten memories stay forgotten. Raises `UnknownElementError` for a merge that does not exist and
        `InvalidInputError` for one that was undone already.
        """
        ...

    def unembedded_facts(self, *, after: UUID | None=None, limit: int=100) -> Sequence[Relation]:
        """The next page, in order of id, of unretracted relations with a fact that has no vector."""
        ...

    def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        """Stored vectors, float32 of shape (len(keys), dimensions) and length 1, in the order of the keys.

        An element without a vector has a row of zeros. A scope without an embedder has 0 dimensions.
        """
        ...

    def version(self) -> Hashable:
        """A token that changes with every change to elements, names, words or types.

        Equal tokens of one store mean that none of these has changed. Feedback and logs do not change it.
        """
        ...

    def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        """Words that entities are found by in addition to their texts, with their weights (`Batch.words`).

        Entities without any are left out. Weights are as stored: multiples of 1 / 64, at least 1 / 64.
        """
        ...

    def write(self, batch: Batch) -> WriteReport:
        """Write all of a batch, or nothing; see `Batch`. `InvalidInputError` names every dangling id.

        What ingest has minted for the type and name of one of ``entities`` is then merged into it.
        """
        ...

    def write_communities(self, communities: Sequence[Community], *, replacing: Sequence[UUID] | None=None) -> None:
        """Store communities; they replace those with the ids ``replacing`` and their own ids, or all if it is None.

        Labels are not stored but built from the current names of entities on reading. Members that no longer exist are
        dropped, and so are communities with fewer than two remaining members. A community keeps its stored summary if
        every member that it had stays; the summaries of ``communities`` are not read: see `write_summary`. What
        merges left of a community, if it is a single member, can join another. `InvalidInputError` when an entity would
        be in two communities.
        """
        ...

    def write_summary(self, community: Community, *, version: Hashable) -> bool:
        """Store the summary of a stored community; return False, and store nothing, if the graph has changed.

        ``version`` is that of the scope when the content of the summary was read; the community must have the same
        members as then. From then on every change that removes or rewrites anything that the summary may be made of
        drops it in the same transaction: a member that is removed, renamed, merged or separated; a relation with a
        member that is removed, retracted or reworded, or loses evidence; a memory that mentions a member, or is
        evidence of its relations, that is forgotten or rewritten. What is only added leaves it.
        """
        ...
class Stores(Facade[Any]):
    """A source of scopes; wrap one of your own with `Stores.of(stores)`."""
    asynchronous: AsyncStores

    def with_scope(self, *, org_id: str, project_id: str) -> GraphStore:
        """The graph of one scope. Raises `InvalidInputError` if either part is empty."""
        ...
class InMemoryGraphStore(Stores, Facade[memory.InMemoryGraphStore]):
    """As `graphsearch.stores.InMemoryGraphStore`."""

    def __init__(self, *, clock: Clock | None=None, analyser: Analyser=ENGLISH) -> None:
        ...
def cached(store: GraphStore, cache: EntityCache) -> GraphStore:
    """As `graphsearch.caching.cached`: the same store, with its entities read through a cache."""
    ...

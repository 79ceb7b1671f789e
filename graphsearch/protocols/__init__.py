"""The protocols of the parts of an engine: matching methods suffice, and only a store inherits (`stores.graph`)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable
from uuid import UUID

from graphsearch.columns import Codes, Edges, Expansion, Hits, Keys, Mentioned, Steps, Subgraph, Turns
from graphsearch.model import Action, ElementKind, Memory, Named, NameMatch, Principal, Scope, SimilarName, Vector, View
from graphsearch.model.signatures import Resource, Signature, SignatureTable
from graphsearch.protocols.rows import Counts, Port, Rows, ScopeRow
from graphsearch.text.analyser import Analyser
from graphsearch.text.bm25 import TermCounts

if TYPE_CHECKING:
    from graphsearch.model.extracted import ExtractedMemory, KnownName

InputType = Literal["query", "document"]


class Clock(Protocol):
    """A source of the current time, injected so that no other code reads the system clock."""

    def now(self) -> datetime:
        """The current time, timezone-aware."""
        ...


class Embedder(Protocol):
    """Embeds texts as vectors."""

    @property
    def name(self) -> str:
        """The name of the model; stored with the vectors, so that vectors of two models never mix."""
        ...

    @property
    def dimensions(self) -> int:
        """The number of dimensions of each vector."""
        ...

    async def embed(self, texts: Sequence[str], *, input_type: InputType) -> Vector:
        """Embed texts; float32 array of shape (len(texts), dimensions)."""
        ...


@runtime_checkable
class WordVectors(Protocol):
    """An embedder with a static table of word vectors, fast enough for thousands of look-ups per search."""

    def word_vectors(self, words: Sequence[str]) -> Vector:
        """Float32 array of shape (len(words), any); rows have length 1, or are zeros for unknown words."""
        ...


class LLM(Protocol):
    """A language model."""

    async def ask(self, text: str) -> str:
        """The model's answer to a prompt."""
        ...


class Extractor(Protocol):
    """Extracts entities and relations from memories, by frames (`graphsearch.ingest.reading`), a model or both.

    An extractor with an attribute ``batch`` receives at most that many memories per call; each batch is written before
    the next is extracted.
    """

    @property
    def name(self) -> str:
        """Name and version, as in "frames/1"; changes whenever the same text would be extracted differently."""
        ...

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        """The content of each memory, in order, or why it could not be read (`ExtractedMemory.unread`)."""
        ...


@runtime_checkable
class KnowingExtractor(Protocol):
    """An extractor that can be told which visible names of the scope occur in the texts."""

    def knowing(self, names: Sequence[KnownName]) -> Extractor:
        """The extractor for texts with these names."""
        ...


class Frontier(Protocol):
    """The reads of a traversal; every step is visible (see `graphsearch.access.reader.Reader`)."""

    async def expand(self, keys: Keys, fan_out: int, ahead: int = 0) -> Steps:
        """The strongest relations of entities, at most ``fan_out`` per entity and direction.

        ``ahead``: how many further hops will probably be asked for, from all that this one reaches.
        """
        ...

    async def entity_count(self) -> int:
        """The number of entities in the scope, hidden ones included."""
        ...


class Traversal(Protocol):
    """A strategy for walking the graph from seeds."""

    async def traverse(self, seeds: Hits, *, depth: int, reader: Frontier) -> Subgraph:
        """The subgraph within ``depth`` hops of the seeds."""
        ...


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def count(self, text: str) -> int:
        """The number of tokens, at least 0."""
        ...


class Authorizer(Protocol):
    """Decides what a principal may do. It denies when it cannot decide; it never raises for a single resource.

    An authorizer with a ``policy_version`` promises that its decisions depend only on that version, the principal, the
    action, the resource and the scope, so that they may be cached across requests.
    """

    @property
    def by_signature(self) -> bool:
        """True if no policy reads a resource's id, name or tags, so that one decision per signature suffices."""
        ...

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        """One decision per resource, in order; True means allowed."""
        ...


class Store(Rows, Protocol):
    """What a store implements, one scope of it: rows, searches and walks. All else is written once over these.

    Keys are the store's compact ids, in numpy arrays: comparable within one snapshot, each array for one kind of
    elements, and sorted like the ids. Reads, those of `Rows` too, are of the snapshot that they are in, else of the
    present, and raise `UnknownScopeError` where nothing was ever written. Arguments were checked by the caller, and
    types are in snake case.
    """

    # -- the scope -------------------------------------------------------------------------------------------------

    scope: Scope
    """The scope of all reads and writes."""
    clock: Clock
    """The source of ``created_at`` and of the defaults of ``as_of`` and ``known_at``."""
    analyser: Analyser
    """The analyser that produces the terms of texts and of questions."""

    def snapshot(self) -> AbstractAsyncContextManager[None]:
        """Let all reads inside, of this task and of those it starts, see one state of the graph. May be nested."""
        ...

    async def version(self) -> Hashable:
        """A token that changes with every change to elements, names, words or types.

        Equal tokens of one store mean that none of these has changed. Feedback and logs do not change it.
        """
        ...

    def ids(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """The ids behind keys of a kind, in their order: of memories as text."""
        ...

    async def scope_row(self) -> ScopeRow:
        """What is stored of the scope itself; the caller changes nothing of it."""
        ...

    # -- rows ------------------------------------------------------------------------------------------------------

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """The elements behind keys of one kind, in their order, one for each key.

        A snapshot reads each element once; it may read the ends of relations in the same round trip.
        """
        ...

    async def counts(self, kinds: Collection[str]) -> Counts:
        """The numbers of rows of some kinds; of entities and relations by type; and the largest degree."""
        ...

    # -- search ----------------------------------------------------------------------------------------------------
    # Hits hold keys and scores as columns, for elements that the view admits. Names are compared normalised and
    # case-folded; merged entities are not found by name. Vector searches may be approximate; all others are exact.

    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        """Entities whose name or an alias equals one of ``names``."""
        ...

    async def find_name_words(
        self, words: Sequence[str], *, prefix: bool = False, limit: int = 50
    ) -> Sequence[NameMatch]:
        """Entities with one of ``words`` in a name, or with ``prefix`` a word that starts with one of them.

        Words are those of `graphsearch.text.trigrams.name_words`. The ``name`` of a match is the requested word. At
        most ``limit`` matches per word, those with the lowest ids, by (id, word).
        """
        ...

    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        """For each of ``names`` the entities with a similar name or alias, best first, ties by id.

        Similarity is of trigrams. ``threshold`` is in [0.6, 1]; `InvalidInputError` below, where no index helps.
        """
        ...

    async def named(self, names: Sequence[str], words: Sequence[str], *, limit: int, view: View) -> Named:
        """The matches of names, and of words that less than ``limit`` entities have in theirs; see `find_names`.

        Matches are by entities in the view or not.
        """
        ...

    async def search_by_embedding(self, kind: ElementKind, vector: Vector, *, limit: int, view: View) -> Hits:
        """The nearest elements of a kind by cosine distance, in [0, 2], ties by key.

        `EmbeddingModelError` when the length of the vector is not the scope's.
        """
        ...

    async def search_lexical(
        self, kind: ElementKind, query: str, *, limit: int, view: View, counts: TermCounts | None = None
    ) -> Hits:
        """Elements of a kind by the BM25 of their text, best first, ties by key; any text is a valid query.

        ``counts`` replace the scope's own numbers of documents, so that scores of several scopes can be compared.
        """
        ...

    async def locate(self, ids: Sequence[UUID], *, view: View) -> Hits:
        """The entities with these ids that the view admits, in order of key."""
        ...

    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        """Stored vectors, float32 of shape (len(keys), dimensions) and length 1, in the order of the keys.

        An element without a vector has a row of zeros. A scope without an embedder has 0 dimensions.
        """
        ...

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        """For each group of terms, the number of elements of a kind that have all of them in their texts.

        Terms are those of the store's `analyser`. An empty group counts every element with a word, the N of BM25,
        without counting them. Counts cover everything stored, visible or not.
        """
        ...

    # -- walk ------------------------------------------------------------------------------------------------------

    async def expand(self, keys: Keys, *, fan_out: int, view: View, ahead: int = 0) -> Expansion:
        """Relations of a frontier that pass the view, strongest first; at most ``fan_out`` per entity and direction.

        ``ahead`` is the number of further hops that will be asked for: a store may read them in the same round trip.
        """
        ...

    async def related(self, keys: Keys, *, view: View) -> Expansion:
        """Relations as steps from their source to their target, in the order of their keys, visible or not."""
        ...

    async def edges(self, *, after: UUID | None = None, limit: int = 100_000, view: View) -> Edges:
        """The next page, in order of id, of relations that pass the view."""
        ...

    async def mentioned(self, kind: ElementKind, keys: Keys, *, limit: int, view: View) -> Mentioned:
        """Memories that mention some entities, or entities mentioned by some memories; ``kind`` is that of the keys.

        An element with more than ``limit`` such neighbours has none returned: what is everywhere distinguishes nothing,
        and costs the most. The limit counts everything stored, visible or not.
        """
        ...

    async def turns(self, keys: Keys, *, view: View) -> Turns:
        """The memories directly before and after each in its session, in order of (position, id)."""
        ...

    async def left_out(self, keys: Keys, *, view: View) -> Mapping[str, int]:
        """Numbers of relations of these entities that the view excludes, each counted for the first applicable reason.

        The reasons, in order: "not_known", "not_held", "low_confidence", "skipped_type", "other_type"; reasons with no
        relations are absent. At most 1,000 relations per entity and direction are counted, the strongest first.
        """
        ...

    async def signatures(self, codes: Sequence[int]) -> Mapping[int, Signature]:
        """The content of signature codes."""
        ...

    async def signature_codes(self, *, shared: bool) -> Codes:
        """Codes, in order, of the signatures in use; reads the whole scope.

        Of the ``shared`` ones (`Signature`) only, without that, and possibly with some no longer in use.
        """
        ...

    async def signed(self, codes: Sequence[int], *, limit: int) -> Keys:
        """The keys, in order, of the first ``limit`` unretracted relations with one of some signatures."""
        ...

    def signature_table(self) -> SignatureTable | None:
        """Signatures available without I/O: all of this scope by row, or some with their codes; None without any."""
        ...

    # -- write -----------------------------------------------------------------------------------------------------

    def writing(
        self, *, create: bool = False, alone: bool = True, changing: bool = False, renewing: bool = False
    ) -> AbstractAsyncContextManager[Port]:
        """One transaction that changes the scope, at its end all at once; not at all if anything is raised inside.

        ``create`` creates a scope that is not there; without, it raises `UnknownScopeError`. Those that are not
        ``alone`` only append to logs, and need not wait for each other. One that is ``changing`` changes the version.
        One that is ``renewing`` replaces all vectors: a store may drop their indexes before it begins.
        """
        ...

    async def settle(self) -> int:
        """Build or extend the vector indexes of a large scope; return the number of vectors that were entered.

        Results are the same before and after; searches are faster after. Call it at the end of an import.
        """
        ...

    async def remove_scope(self) -> None:
        """Delete the scope and everything in it; do nothing if it was never written."""

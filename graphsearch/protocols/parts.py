"""The parts of an engine other than the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from graphsearch.columns import Hits, Keys, Steps, Subgraph
from graphsearch.model import Action, Memory, Principal, Scope, Vector
from graphsearch.model.signatures import Resource

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

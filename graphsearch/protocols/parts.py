"""What an engine is made of beside a store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from graphsearch.columns import Hits, Keys, Steps, Subgraph
from graphsearch.model import Action, Memory, Principal, Scope, Vector
from graphsearch.model.signatures import Resource

if TYPE_CHECKING:
    from graphsearch.model.extracted import Said

InputType = Literal["query", "document"]


class Clock(Protocol):
    """Tells the time, so that nothing calls now() deep inside."""

    def now(self) -> datetime:
        """The present, timezone-aware."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """The model's name; stored with the vectors, so that no two models are mixed."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        ...

    async def embed(self, texts: Sequence[str], *, input_type: InputType) -> Vector:
        """Float32 array of shape (len(texts), dimensions)."""
        ...


@runtime_checkable
class WordVectors(Protocol):
    """An embedder that also knows single words by heart, so that a search may look up thousands of them."""

    def word_vectors(self, words: Sequence[str]) -> Vector:
        """Float32 array of shape (len(words), any), each row of length 1, or zeros for a word that is not known."""
        ...


class LLM(Protocol):
    """A language model."""

    async def ask(self, text: str) -> str:
        """The model's answer to a prompt."""
        ...


class Extractor(Protocol):
    """Reads memories. Rules do, as in `graphsearch.ingest.extract.rules`, and so may a model, beside them or instead.

    One that also has a ``batch`` is handed so many memories at a time, and they are written before it is handed more.
    """

    @property
    def name(self) -> str:
        """With a version, as in "rules/1": changes whenever the same text is understood anew."""
        ...

    async def extract(self, memories: Sequence[Memory]) -> Sequence[Said]:
        """What each memory says, in their order; of one that could not be read, why (`Said.unread`)."""
        ...


class Frontier(Protocol):
    """The reads of a traversal: next steps, all of them visible (see `graphsearch.access.reader.Reader`)."""

    async def expand(self, keys: Keys, fan_out: int) -> Steps:
        """The strongest relations of some entities, at most ``fan_out`` an entity and direction."""
        ...

    async def entity_count(self) -> int:
        """How many entities the whole scope has, hidden or not."""
        ...


class Traversal(Protocol):
    """A way to walk from seeds into the graph."""

    async def traverse(self, seeds: Hits, *, depth: int, reader: Frontier) -> Subgraph:
        """What lies within ``depth`` hops of the seeds."""
        ...


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def count(self, text: str) -> int:
        """Number of tokens, at least 0."""
        ...


class Authorizer(Protocol):
    """Decides what a principal may do. It denies when it cannot decide; it never raises for a single resource.

    One that also has a ``policy_version`` promises that a decision follows from that text, the principal, the action,
    the resource and the scope alone: what it allows may then be remembered from one question to the next.
    """

    @property
    def by_signature(self) -> bool:
        """True while no policy reads a resource's id, name or tags: it is then asked once a signature."""
        ...

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        """One answer a resource, in order; True is allowed."""
        ...

"""Walking from elements to their neighbours, and the signatures that decide about what is met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from graphsearch.columns import Codes, Edges, Expansion, Keys, Mentioned, Turns
from graphsearch.model import ElementKind, View
from graphsearch.model.signatures import Signature, SignatureTable
from graphsearch.protocols.effects import reads


class Walking(Protocol):
    """Steps over relations, mentions and sessions, as columns of keys and numbers."""

    @reads
    async def expand(self, keys: Keys, *, fan_out: int, view: View) -> Expansion:
        """Relations of a frontier that pass the view, strongest first: at most ``fan_out`` an entity and direction."""
        ...

    @reads
    async def related(self, keys: Keys, *, view: View) -> Expansion:
        """Relations as steps from their source to their target, in the order of their keys, in view or not."""
        ...

    @reads
    async def edges(self, *, after: UUID | None = None, limit: int = 100_000, view: View) -> Edges:
        """The next page, in order of id, of relations that pass the view."""
        ...

    @reads
    async def mentioned(self, kind: ElementKind, keys: Keys, *, limit: int, view: View) -> Mentioned:
        """Memories that mention some entities, or entities that some memories mention; ``kind`` is that of the keys.

        An element with more than ``limit`` such neighbours gives none: what is everywhere distinguishes nothing, and
        costs the most. They are counted over all that is stored, in view or not.
        """
        ...

    @reads
    async def turns(self, keys: Keys, *, view: View) -> Turns:
        """The memories right before and right after each in its session, in order of (position, id)."""
        ...

    @reads
    async def left_out(self, keys: Keys, *, view: View) -> Mapping[str, int]:
        """Numbers of relations of these entities that the view leaves out, each counted for the first reason that fits.

        The reasons, in order: "not_known", "not_held", "low_confidence", "skipped_type", "other_type"; only those that
        occur are named. At most 1,000 relations an entity and direction are counted, the strongest first.
        """
        ...

    @reads
    async def degrees(self, ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """The number of unretracted relations of each entity, both directions."""
        ...

    @reads
    async def signatures(self, codes: Sequence[int]) -> Mapping[int, Signature]:
        """The content of signature codes."""
        ...

    @reads
    async def shared_signatures(self) -> Codes:
        """Codes, in order, of the signatures that are shared (`Signature`), and possibly of some that were."""
        ...

    @reads
    def signature_table(self) -> SignatureTable | None:
        """Signatures at hand without waiting: all of this scope by row, or some with their codes; None without any."""
        ...

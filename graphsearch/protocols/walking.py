"""Walking from elements to their neighbours, and the signatures that decide on their visibility."""

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
        """Relations of a frontier that pass the view, strongest first; at most ``fan_out`` per entity and direction."""
        ...

    @reads
    async def related(self, keys: Keys, *, view: View) -> Expansion:
        """Relations as steps from their source to their target, in the order of their keys, visible or not."""
        ...

    @reads
    async def edges(self, *, after: UUID | None = None, limit: int = 100_000, view: View) -> Edges:
        """The next page, in order of id, of relations that pass the view."""
        ...

    @reads
    async def mentioned(self, kind: ElementKind, keys: Keys, *, limit: int, view: View) -> Mentioned:
        """Memories that mention some entities, or entities mentioned by some memories; ``kind`` is that of the keys.

        An element with more than ``limit`` such neighbours has none returned: what is everywhere distinguishes nothing,
        and costs the most. The limit counts everything stored, visible or not.
        """
        ...

    @reads
    async def turns(self, keys: Keys, *, view: View) -> Turns:
        """The memories directly before and after each in its session, in order of (position, id)."""
        ...

    @reads
    async def left_out(self, keys: Keys, *, view: View) -> Mapping[str, int]:
        """Numbers of relations of these entities that the view excludes, each counted for the first applicable reason.

        The reasons, in order: "not_known", "not_held", "low_confidence", "skipped_type", "other_type"; reasons with no
        relations are absent. At most 1,000 relations per entity and direction are counted, the strongest first.
        """
        ...

    @reads
    async def degrees(self, ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """The number of unretracted relations of each entity, in both directions."""
        ...

    @reads
    async def signatures(self, codes: Sequence[int]) -> Mapping[int, Signature]:
        """The content of signature codes."""
        ...

    @reads
    async def shared_signatures(self) -> Codes:
        """Codes, in order, of the signatures in use (`Signature`), and possibly of some no longer in use."""
        ...

    @reads
    async def signed(self, codes: Sequence[int], *, limit: int) -> Keys:
        """The keys, in order, of the first ``limit`` unretracted relations with one of some signatures."""
        ...

    @reads
    async def every_signature(self) -> Codes:
        """Codes, in order, of all signatures in use; reads the whole scope."""
        ...

    @reads
    def signature_table(self) -> SignatureTable | None:
        """Signatures available without I/O: all of this scope by row, or some with their codes; None without any."""
        ...

"""The reader of a store for one question: what its view leaves out and its gate hides is never returned.

Modes, traversals, recall and curation read through a `Reader` and nothing else. So the gate decides before anything is
ranked, walked or scored, and hidden elements do not affect any result.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

import attrs

from graphsearch.access.decisions import SignatureInterner
from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.access.gatekeeper import Gatekeeper
from graphsearch.access.searches import Searches
from graphsearch.access.window import Embed
from graphsearch.model import View
from graphsearch.protocols import GraphStore


class Reader(Searches):
    """Reads a store for one question, inside one snapshot; created by `reading`."""


@asynccontextmanager
async def reading(
    store: GraphStore,
    *,
    gate: Gate | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    min_edge_confidence: float = 0.5,
    since: datetime | None = None,
    embed: Embed | None = None,
) -> AsyncIterator[Reader]:
    """Open a snapshot of a store for one question; ``as_of`` and ``known_at`` default to the store's present.

    ``embed`` serves to find elements of which a part is hidden by the meaning of what may be seen.
    """
    async with store.snapshot():
        types = await store.relation_types()
        book = SignatureInterner(store, types, store.signature_table())
        now = store.clock.now()
        view = View(
            as_of=as_of or now,
            known_at=known_at or now,
            min_edge_confidence=min_edge_confidence,
            skipped_types=frozenset(name for name, known in types.items() if known.skip),
            since=since,
        )
        gatekeeper = Gatekeeper(store, (gate or ALLOW_ALL).bind(store.scope), book)
        if refolded := await gatekeeper.refolded():
            view = attrs.evolve(view, refolded=refolded)
        yield Reader(store, view, gatekeeper, types, embed=embed)

"""The reader of a store for one question: what its view leaves out and its gate hides is never returned.

Modes, traversals, recall and curation read through a `Reader` and nothing else. So the gate decides before anything is
ranked, walked or scored, and hidden elements do not affect any result. They refer to entities by `EntityRef`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final, TypedDict
from uuid import UUID

import attrs

from graphsearch.access.decisions import SignatureInterner
from graphsearch.access.evidence import VisibleEvidence
from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.access.gatekeeper import Gatekeeper
from graphsearch.access.past import known_by
from graphsearch.access.searches import Searches
from graphsearch.access.visible_documents import DocumentCache
from graphsearch.access.window import Embed
from graphsearch.errors import UnknownElementError
from graphsearch.model import Entity, NameMatch, View
from graphsearch.model.identity import normalise_name
from graphsearch.protocols import GraphStore
from graphsearch.text.analyser import terms


class Reader(Searches):
    """Reads a store for one question, inside one snapshot; created by `reading`."""


class ReadingOptions(TypedDict, total=False):
    """What a question decides of the snapshot that answers it; see `reading`."""

    gate: Gate | None
    as_of: datetime | None
    known_at: datetime | None
    min_edge_confidence: float
    since: datetime | None
    embed: Embed | None
    question: str


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
    documents: DocumentCache | None = None,
    now: datetime | None = None,
    question: str = "",
) -> AsyncIterator[Reader]:
    """Open a snapshot of a store for one question; ``as_of`` and ``known_at`` default to ``now``, the store's present.

    ``embed`` serves to find elements of which a part is hidden by the meaning of what may be seen. ``documents`` caches
    the texts from which the statistics of the visible are computed; those of the past are not cached. A type that is
    skipped is read for a ``question`` with its verb: "who did Bob meet?".
    """
    async with store.snapshot():
        types = await store.relation_types()
        book = SignatureInterner(store, types, store.signature_table())
        now = now or store.clock.now()
        view = View(
            as_of=as_of or now,
            known_at=known_at or now,
            min_edge_confidence=min_edge_confidence,
            skipped_types=frozenset(
                name for name, known in types.items() if known.skip and not _is_asked(name, question)
            ),
            since=since,
        )
        bound = known_by((gate or ALLOW_ALL).bind(store.scope), store, view, now)
        cache = documents if known_at is None and view.as_of >= now else None
        gatekeeper = Gatekeeper(store, bound, book, cache)
        if refolded := await gatekeeper.refolded():
            view = attrs.evolve(view, refolded=refolded)
        yield Reader(store, view, gatekeeper, types, VisibleEvidence(store, gatekeeper, types, now), embed=embed)


_IRREGULAR: Final[Mapping[str, str]] = {"met": "meet"}


def _is_asked(type_: str, question: str) -> bool:
    """Whether a question has the verb of a type."""
    verb = type_.partition("_")[0]
    return not set(terms(f"{verb} {_IRREGULAR.get(verb, '')}")).isdisjoint(terms(question))


EntityRef = UUID | str
"""A reference to an entity: its id, or a name or alias that only one entity has."""


async def resolve(entity: EntityRef, reader: Reader) -> UUID:
    """The id of the one entity that holds in the view and has that name. Raises `UnknownElementError`."""
    matches = await _matches(entity, reader)
    visible = await reader.locate(sorted({match.entity_id for match in matches}))
    return _only(entity, matches, reader.entity_ids(visible.keys), reader)


async def known(entity: EntityRef, reader: Reader) -> Entity:
    """The same for entities of any time; for a merged one, the entity it was merged into."""
    matches = await _matches(entity, reader)
    found = {match.entity_id: await _final(match.entity_id, reader) for match in matches}
    finals = [
        NameMatch(name=match.name, entity_id=final.id, alias=match.alias)
        for match in matches
        if (final := found[match.entity_id]) is not None
    ]
    visible = {each.id: each for each in found.values() if each}
    return visible[_only(entity, finals, visible, reader)]


async def _matches(entity: EntityRef, reader: Reader) -> Sequence[NameMatch]:
    if isinstance(entity, UUID):
        return [NameMatch(name="", entity_id=entity, alias=False)]
    return await reader.find_names([normalise_name(entity)])


async def _final(entity_id: UUID, reader: Reader) -> Entity | None:
    """The visible entity that one was finally merged into."""
    found = await reader.get_entities([entity_id])
    while found and found[0].merged_into is not None:
        found = await reader.get_entities([found[0].merged_into])
    return found[0] if found else None


def _only(entity: EntityRef, matches: Sequence[NameMatch], visible: Collection[UUID], reader: Reader) -> UUID:
    """Prefer names to aliases, among visible entities."""
    seen = [match for match in matches if match.entity_id in visible]
    ids = {match.entity_id for match in seen if not match.alias} or {match.entity_id for match in seen}
    if len(ids) != 1:
        found = f"{len(ids)} entities" if ids else "no entity"
        raise UnknownElementError(f"{found} called {str(entity)!r} in {reader.scope}; pass an id")
    return ids.pop()

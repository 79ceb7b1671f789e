"""The communities of a store: detect, store and refresh them, and show those whose members are all visible."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.references import EntityRef, known
from graphsearch.columns import Edges
from graphsearch.curation import communities as detection
from graphsearch.curation.communities import Network
from graphsearch.curation.permissions import PAGE, Access
from graphsearch.model import Action, Community, Entity, View
from graphsearch.model import validation as check
from graphsearch.protocols import GraphStore

_EDGES = 100_000
"""The number of relations read at a time."""


async def detect_communities(access: Access, *, seed: int = 0) -> tuple[Community, ...]:
    """See `graphsearch.curation.Curator.detect_communities`."""
    async with access.reading() as reader:
        await access.demand_whole("communities", reader)
        found = detection.detect_communities(await _network(access.store, reader.view), seed=seed)
    return await _stored(found, None, access)


async def refresh_communities(access: Access, *, seed: int = 0) -> tuple[Community, ...]:
    """See `graphsearch.curation.Curator.refresh_communities`."""
    async with access.reading() as reader:
        await access.demand_whole("communities", reader)
        former = await access.store.communities()
        network = await _network(access.store, reader.view)
        found = detection.refresh_communities(network, former, seed=seed)
    before = {each.id: each for each in former}
    after = {each.id: each for each in found}
    fresh = [each for each in found if not _same(each, before.get(each.id))]
    gone = [each for each in former if each.id not in after]
    return await _stored(fresh, gone, access) if fresh or gone else ()


async def communities(
    access: Access, *, entity: EntityRef | None = None, limit: int | None = 20
) -> tuple[Community, ...]:
    """See `graphsearch.curation.Curator.communities`."""
    check.refuse("communities", None if limit is None else check.number("limit", limit, 0))
    async with access.reading() as reader:
        ids = None if entity is None else [(await known(entity, reader)).id]
        return tuple(await reader.communities(entity_ids=ids, limit=limit))


async def _stored(
    fresh: Sequence[Community], gone: Sequence[Community] | None, access: Access
) -> tuple[Community, ...]:
    """Write communities, replacing all stored ones if ``gone`` is None, and return the visible ones."""
    touched = {member for each in (*fresh, *(gone or ())) for member in each.members}
    if access.gated:
        await access.demand(Action.WRITE, await _entities(sorted(touched), access.store))
    replacing = None if gone is None else [each.id for each in gone]
    await access.store.write_communities(fresh, replacing=replacing)
    async with access.reading() as reader:
        return tuple(await reader.wholly_visible(fresh))


def _same(found: Community, former: Community | None) -> bool:
    """Whether a community equals the stored one; labels are not stored."""
    return former is not None and attrs.evolve(found, label="") == attrs.evolve(former, label="")


async def _network(store: GraphStore, view: View) -> Network:
    """The entities and the relations between them that hold now, as columns."""
    pages: list[Edges] = []
    while not pages or len(pages[-1]):
        after = store.relation_ids(pages[-1].relations[-1:])[0] if pages else None
        pages.append(await store.edges(after=after, limit=_EDGES, view=view))
    sources = np.concatenate([page.sources for page in pages])
    targets = np.concatenate([page.targets for page in pages])
    keys, rows = np.unique(np.concatenate((sources, targets)), return_inverse=True)
    ids = store.entity_ids(keys)
    entities = {each.id: each for each in await _entities(ids, store)}
    return Network(
        ids=ids,
        names=[entities[id_].name for id_ in ids],
        importance=np.array([entities[id_].importance_weight for id_ in ids], np.float64),
        sources=rows[: len(sources)],
        targets=rows[len(sources) :],
        weights=np.concatenate([page.weights for page in pages]),
    )


async def _entities(ids: Sequence[UUID], store: GraphStore) -> list[Entity]:
    pages = [await store.get_entities(ids[start : start + PAGE]) for start in range(0, len(ids), PAGE)]
    return [entity for page in pages for entity in page]

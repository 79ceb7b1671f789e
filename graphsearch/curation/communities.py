"""Communities: entities that are linked to each other more than to the rest, found by label propagation.

The functions over a `Network` are pure; the others work on the graph of a scope. Communities that are detected anew
keep the ids of those that most of the same members were in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import nsmallest
from typing import Final
from uuid import UUID, uuid5

import attrs
import numpy as np

from graphsearch._support.paging import PAGE
from graphsearch.columns import Edges, Floats, Rows
from graphsearch.curation.label_propagation import STEPS, Links, propagated, run_starts
from graphsearch.model import Community, Entity, View
from graphsearch.stores.graph import GraphStore

_TOP_ENTITIES: Final = 5
_NAMES_IN_LABEL: Final = 3
"""The number of top entities named in a label."""
_EDGES = 100_000
"""The number of relations read at a time."""


@attrs.frozen(eq=False, kw_only=True)
class Network:
    """Entities, in order of id, and relations between rows of them, in any order.

    ``weights``, in [0, 1], are how strongly each relation links its ends, such as its confidence. They are rounded to
    steps of 2^-20, so that their sums are exact.
    """

    ids: Sequence[UUID]
    names: Sequence[str]
    importance: Floats
    sources: Rows
    targets: Rows
    weights: Floats


def detect_communities(network: Network, former: Iterable[Community] = (), *, seed: int = 0) -> tuple[Community, ...]:
    """The communities of a graph, largest first, then by id. Their strengths leave out self-loops.

    Equal for equal entities, relations and seed. It starts from the ``former`` communities, and leaves
    those as they are around which nothing changed. For the algorithm, its sources and why it terminates see
    `graphsearch.curation.label_propagation`.
    """
    links = Links.of(len(network.ids), network.sources, network.targets, network.weights)
    node = {id_: place for place, id_ in enumerate(network.ids)}
    labels: Rows = np.arange(len(links))
    for community in former:
        there = [node[id_] for id_ in community.members if id_ in node]
        labels[there] = min(there, default=0)
    return _communities(network, links, propagated(links, labels, seed=seed))


def _communities(network: Network, links: Links, labels: Rows) -> tuple[Community, ...]:
    """The communities that the labels of the nodes define, largest first, then by id."""
    inside = labels[links.near] == labels[links.far]
    degree: list[int] = np.bincount(links.near[inside], minlength=len(labels)).tolist()
    strength: list[float] = (links.strength / STEPS).tolist()

    def rank(node: int) -> tuple[int, float, str, int]:
        return -degree[node], -network.importance[node], network.names[node], node

    found = []
    for group in (each for each in _groups(labels) if len(each) > 1):
        members: list[int] = group.tolist()
        top = nsmallest(_TOP_ENTITIES, members, key=rank)
        ids = tuple(network.ids[node] for node in members)
        found.append(
            Community(
                id=uuid5(COMMUNITY, str(ids[0])),
                members=ids,
                strengths=[strength[node] for node in members],
                density=sum(degree[node] for node in members) / (len(ids) * (len(ids) - 1)),
                top=tuple(network.ids[node] for node in top),
                label=", ".join(network.names[node] for node in top[:_NAMES_IN_LABEL]),
            )
        )
    return tuple(sorted(found, key=lambda each: (-each.size, each.id)))


def _groups(labels: Rows) -> Iterator[Rows]:
    """The nodes of each label, in order."""
    order = np.argsort(labels, kind="stable")
    starts = run_starts(labels[order])
    yield from np.split(order, starts[1:])


def is_same(found: Community, former: Community | None) -> bool:
    """Whether a community was found as it is stored, but for its label and its summary."""
    return former is not None and found == attrs.evolve(former, label=found.label, summary=None)


async def read_entities(ids: Sequence[UUID], store: GraphStore) -> list[Entity]:
    """Read entities in the order of ``ids``, unfiltered; absent ones are left out."""
    parts = [ids[start : start + PAGE] for start in range(0, len(ids), PAGE)]
    return [each for some in parts for each in await store.get_entities(some)]


async def read_network(store: GraphStore, view: View) -> Network:
    """Read the entities and the relations between them that hold now; nothing of the scope may be hidden."""
    view = attrs.evolve(view, refolded=frozenset())  # with nothing hidden, relations state what is stored
    pages: list[Edges] = []
    while not pages or len(pages[-1]):
        after = store.relation_ids(pages[-1].relations[-1:])[0] if pages else None
        pages.append(await store.edges(after=after, limit=_EDGES, view=view))
    sources = np.concatenate([page.sources for page in pages])
    targets = np.concatenate([page.targets for page in pages])
    keys, rows = np.unique(np.concatenate((sources, targets)), return_inverse=True)
    ids = store.entity_ids(keys)
    entities = {each.id: each for each in await read_entities(ids, store)}
    return Network(
        ids=ids,
        names=[entities[id_].name for id_ in ids],
        importance=np.array([entities[id_].importance_weight for id_ in ids], np.float64),
        sources=rows[: len(sources)],
        targets=rows[len(sources) :],
        weights=np.concatenate([page.weights for page in pages]),
    )


COMMUNITY: Final = UUID("5b0c2a52-3a54-5d5f-9d0e-6a7b3b9f1c03")
"""The namespace of the ids of communities."""


def with_former_ids(found: Iterable[Community], former: Sequence[Community]) -> tuple[Community, ...]:
    """Communities with the ids of former ones, largest first, then by id.

    A community takes the id of the former one with which it shares the most members, if these are more than half of the
    former one's: at most one community has them. Others keep the id of their own, unless a former community has it,
    which went on elsewhere or ended. Ties go to the lower id.
    """
    of = {member: each for each in former for member in each.members}
    known = {each.id for each in former}
    named = [attrs.evolve(each, id=_inherited(each, of) or _own_id(each.id, known)) for each in found]
    return tuple(sorted(named, key=lambda each: (-each.size, each.id)))


def _own_id(id_: UUID, known: Collection[UUID]) -> UUID:
    return _own_id(uuid5(COMMUNITY, str(id_)), known) if id_ in known else id_


def _inherited(community: Community, of: dict[UUID, Community]) -> UUID | None:
    shared = Counter(of[member].id for member in community.members if member in of)
    sizes = {of[member].id: of[member].size for member in community.members if member in of}
    heirs = [(-count, key) for key, count in shared.items() if 2 * count > sizes[key]]
    return min(heirs)[1] if heirs else None

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
from graphsearch.columns import Codes, Edges, Floats, Rows
from graphsearch.curation.label_propagation import STEPS, Links, propagated, refreshed, run_starts
from graphsearch.errors import InvalidInputError
from graphsearch.model import Community, Entity, Relation, View
from graphsearch.model import validation as check
from graphsearch.protocols import GraphStore

_TOP_ENTITIES: Final = 5
_NAMES_IN_LABEL: Final = 3
"""The number of top entities named in a label."""
_EDGES = 100_000
"""The number of relations read at a time."""


@attrs.frozen(eq=False, kw_only=True)
class Network:
    """Entities, and relations between rows of them, in any order.

    ``weights``, in [0, 1], are how strongly each relation links its ends, such as its confidence. They are rounded to
    steps of 2^-20, so that their sums are exact. Raises `InvalidInputError` that names every fault.
    """

    ids: Sequence[UUID]
    names: Sequence[str]
    importance: Floats
    sources: Rows
    targets: Rows
    weights: Floats

    def __attrs_post_init__(self) -> None:
        entities, relations = len(self.ids), len(self.sources)
        check.refuse(
            "network",
            None if len(set(self.ids)) == entities else "ids must be distinct",
            _length("names", self.names, entities),
            _length("importance", self.importance, entities),
            _length("targets", self.targets, relations),
            _length("weights", self.weights, relations),
            _rows("sources", self.sources, entities),
            _rows("targets", self.targets, entities),
            None if ((self.weights >= 0) & (self.weights <= 1)).all() else "weights must be in [0, 1]",
        )

    @classmethod
    def of(cls, entities: Sequence[Entity], relations: Iterable[Relation]) -> Network:
        """Build from entities and relations, weighted by confidence; relations with an end outside are left out."""
        row = {entity.id: place for place, entity in enumerate(entities)}
        among = [each for each in relations if each.source_id in row and each.target_id in row]
        return cls(
            ids=[entity.id for entity in entities],
            names=[entity.name for entity in entities],
            importance=np.array([entity.importance_weight for entity in entities], np.float64),
            sources=np.array([row[each.source_id] for each in among], np.intp),
            targets=np.array([row[each.target_id] for each in among], np.intp),
            weights=np.array([each.confidence for each in among], np.float64),
        )


def detect_communities(network: Network, *, seed: int = 0) -> tuple[Community, ...]:
    """The communities of a graph, largest first, then by id. Their strengths leave out self-loops.

    Equal for equal entities, relations and seed, in any order. For the algorithm, its sources and why it terminates see
    `graphsearch.curation.label_propagation`.
    """
    ordered = _Ordered(network)
    return ordered.communities(propagated(ordered.links, seed=seed))


def refresh_communities(
    network: Network, former: Iterable[Community], changed: Collection[UUID] | None = None, *, seed: int = 0
) -> tuple[Community, ...]:
    """Update the ``former`` communities of a graph, looking only around what changed.

    ``changed`` are the entities with a relation that was added, removed or reweighted, without deleted entities; None
    finds them by comparing strengths. Where nothing changed, the result equals ``former``; after
    `detect_communities`, passing every entity as changed leaves its result as it is. Raises `InvalidInputError` if an
    entity is in two of the former communities.
    """
    ordered = _Ordered(network)
    known = tuple(former)
    labels = ordered.labels_of(known)
    rows = ordered.changed_since(known) if changed is None else ordered.rows_of(changed)
    return ordered.communities(refreshed(ordered.links, labels, rows, seed=seed))


class _Ordered:
    """A network with its entities as nodes in order of id."""

    def __init__(self, network: Network) -> None:
        ids = network.ids
        order = sorted(range(len(ids)), key=lambda place: ids[place].int)
        node = np.empty(len(order), dtype=np.intp)
        node[order] = np.arange(len(order))
        self._ids = [ids[place] for place in order]
        self._names = [network.names[place] for place in order]
        self._importance: list[float] = network.importance[order].tolist() if order else []
        self._row = {id_: row for row, id_ in enumerate(self._ids)}
        self.links = Links.of(len(order), node[network.sources], node[network.targets], network.weights)
        self._strength = self.links.strength / STEPS

    def rows_of(self, ids: Iterable[UUID]) -> Rows:
        """The nodes of the entities that are in the network."""
        return np.array([self._row[id_] for id_ in ids if id_ in self._row], np.intp)

    def labels_of(self, communities: Iterable[Community]) -> Rows:
        """For each node, the lowest node of its community; the node itself if it is in none."""
        labels: Rows = np.arange(len(self._ids))
        met: set[UUID] = set()
        for community in communities:
            if not met.isdisjoint(community.members):
                raise InvalidInputError("former communities", ["an entity must not be in two of them"])
            met.update(community.members)
            rows = self.rows_of(community.members)
            labels[rows] = rows.min(initial=len(labels))
        return labels

    def changed_since(self, communities: Iterable[Community]) -> Rows:
        """The nodes whose strength has changed; the former strength of a node that was in no community is 0.

        This misses an entity that exchanged one relation for another of equal weight, but finds its neighbours.
        """
        former = np.zeros(len(self._ids))
        for community in communities:
            strengths = zip(community.members, community.strengths, strict=True)
            there = {self._row[id_]: strength for id_, strength in strengths if id_ in self._row}
            former[list(there)] = list(there.values())
        return np.flatnonzero(former != self._strength)

    def communities(self, labels: Rows) -> tuple[Community, ...]:
        """The communities that the labels of the nodes define."""
        inside = labels[self.links.near] == labels[self.links.far]
        degree: Codes = np.bincount(self.links.near[inside], minlength=len(labels))
        found = [self._community(members, degree) for members in _groups(labels) if len(members) > 1]
        return tuple(sorted(found, key=lambda community: (-community.size, community.id)))

    def _community(self, members: Rows, degree: Codes) -> Community:
        inside = dict(zip(members.tolist(), degree[members].tolist(), strict=True))

        def rank(row: int) -> tuple[int, float, str, int]:
            return -inside[row], -self._importance[row], self._names[row], row

        top = nsmallest(_TOP_ENTITIES, inside, key=rank)
        ids = tuple(self._ids[row] for row in inside)
        return Community(
            id=uuid5(COMMUNITY, str(ids[0])),
            members=ids,
            strengths=self._strength[members].tolist(),
            density=sum(inside.values()) / (len(ids) * (len(ids) - 1)),
            top=tuple(self._ids[row] for row in top),
            label=", ".join(self._names[row] for row in top[:_NAMES_IN_LABEL]),
        )


def _groups(labels: Rows) -> Iterator[Rows]:
    """The nodes of each label, in order."""
    order = np.argsort(labels, kind="stable")
    starts = run_starts(labels[order])
    yield from np.split(order, starts[1:])


def _length(field: str, values: Sequence[object] | Rows | Floats, length: int) -> str | None:
    return None if len(values) == length else f"{field} must have {length} items, not {len(values)}"


def _rows(field: str, rows: Rows, length: int) -> str | None:
    return None if not len(rows) or (rows.min() >= 0 and rows.max() < length) else f"{field} must be rows of ids"


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
    which went on elsewhere or ended: then they take one that nothing has. Ties go to the lower id.
    """
    communities = list(found)
    of = {member: each for each in former for member in each.members}
    known = {each.id for each in former}
    taken: dict[UUID, UUID] = {}
    for each in communities:
        if heir := _inherited(each, of):
            taken[each.id] = heir
    used = {*known, *taken.values()}
    named = []
    for each in communities:
        key = taken.get(each.id) or _own_id(each, used)
        used.add(key)
        named.append(attrs.evolve(each, id=key))
    return tuple(sorted(named, key=lambda each: (-each.size, each.id)))


def _inherited(community: Community, of: dict[UUID, Community]) -> UUID | None:
    shared = Counter(of[member].id for member in community.members if member in of)
    sizes = {of[member].id: of[member].size for member in community.members if member in of}
    heirs = [(-count, key) for key, count in shared.items() if 2 * count > sizes[key]]
    return min(heirs)[1] if heirs else None


def _own_id(community: Community, used: Collection[UUID]) -> UUID:
    """The id by the least member, or by further ones, that no community has."""
    names = (community.id, *(uuid5(COMMUNITY, str(member)) for member in community.members))
    return next((key for key in names if key not in used), uuid5(COMMUNITY, f"{community.id} {len(used)}"))

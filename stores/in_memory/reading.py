"""Reading a state: pure functions that answer in whole elements or in columns."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from math import inf, sqrt
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.claims.folding import DatedClaim
from graphsearch.columns import Expansion, FarEnds, Floats, Hits, Keys, Mask
from graphsearch.model import Claim, ElementKind, Group, Mention, Relation, Statistics, Vector, View, validation
from graphsearch.stores.in_memory.check import wrong_vector
from graphsearch.stores.in_memory.index import (
    Rows,
    Table,
    Visibility,
    hits,
    importances,
    learnt_column,
    written_column,
)
from graphsearch.stores.in_memory.proof import claims_behind, claims_in
from graphsearch.stores.in_memory.search import Matrix, Postings
from graphsearch.stores.in_memory.state import State
from graphsearch.stores.in_memory.walk import Adjacency, Support
from graphsearch.stores.listing import claim_place, mention_place

LOOKED_AT: Final = 1_000
"""Relations an entity and direction that `left_out` looks at."""

_VISIBILITY: Final[Mapping[ElementKind, Callable[[Table], Visibility]]] = {
    ElementKind.ENTITY: Visibility.of_entities,
    ElementKind.RELATION: Visibility.of_relations,
    ElementKind.MEMORY: Visibility.of_memories,
}

# -- what is derived ----------------------------------------------------------------------------------------------


def table(state: State, kind: ElementKind) -> Table:
    """The rows of a kind."""
    return state.once(_table, kind)


def _table(state: State, kind: ElementKind) -> Table:
    elements = state.elements(kind)
    return state.derive(Table.build, elements.items, elements.codes)


def visibility(state: State, kind: ElementKind) -> Visibility:
    """What views ask of a kind's rows."""
    return state.once(_visibility, kind)


def _visibility(state: State, kind: ElementKind) -> Visibility:
    return state.derive(_VISIBILITY[kind], table(state, kind))


def adjacency(state: State) -> Adjacency:
    """Who is joined to whom."""
    entities, relations = table(state, ElementKind.ENTITY), table(state, ElementKind.RELATION)
    return state.derive(Adjacency.build, entities, relations, state.types)


def _importance(state: State) -> Floats:
    return state.derive(importances, table(state, ElementKind.ENTITY))


def _feedback(state: State, kind: ElementKind) -> Floats:
    rows = table(state, kind)
    return state.derive(learnt_column, rows, state.derive(written_column, rows), state.elements(kind).weights)


# -- whole elements -----------------------------------------------------------------------------------------------


def behind(state: State, kind: ElementKind, keys: Keys) -> list[Any]:
    """The elements behind keys."""
    rows = table(state, kind)
    if state.elements(kind).weights:
        ids = [rows.ids[row] for row in keys.tolist()]
        return state.elements(kind).those(ids)
    return [rows.items[row] for row in keys.tolist()]


def page(
    state: State, kind: ElementKind, after: UUID | str | None, limit: int, keep: Callable[[Any], bool]
) -> list[Any]:
    """The next elements in order of id that are to be kept."""
    validation.refuse("page", validation.number("limit", limit, 0))
    elements, ids = state.elements(kind), table(state, kind).ids
    start = 0 if after is None else bisect_right(ids, after)
    kept = (key for key in islice(ids, start, None) if keep(elements.items[key]))
    return [elements.get(key) for key in islice(kept, limit)]


def page_around(
    state: State, entity_id: UUID, after: UUID | None, limit: int, keep: Callable[[Relation], bool]
) -> list[Relation]:
    """The next relations of an entity, either way, in order of id, that are to be kept."""
    validation.refuse("page", validation.number("limit", limit, 0))
    row = table(state, ElementKind.ENTITY).row_of.get(entity_id)
    ids = table(state, ElementKind.RELATION).ids
    around = [] if row is None else [ids[each] for each in adjacency(state).around(row).tolist()]
    rest = (key for key in around if after is None or key > after)
    kept = (key for key in rest if keep(state.relations.items[key]))
    return [relation for key in islice(kept, limit) if (relation := state.relations.get(key))]


def mentions(state: State, memory_ids: Iterable[str], entity_ids: Iterable[UUID]) -> list[Mention]:
    """Mentions in any of the memories or of any of the entities."""
    wanted, entities = set(memory_ids), set(entity_ids)
    memories = wanted.union(*(state.mentioned.get(entity, ()) for entity in entities))
    found = [
        mention
        for memory in memories
        for mention in state.mentions.get(memory, ())
        if memory in wanted or mention.entity_id in entities
    ]
    return sorted(found, key=mention_place)


def claims(
    state: State, memory_ids: Iterable[str], relation_ids: Iterable[UUID], groups: Iterable[Group]
) -> list[Claim]:
    """Claims of any of the memories, behind any of the relations or folded in any of the groups."""
    found = {claim for memory in set(memory_ids) for claim in state.claims.get(memory, ())}
    for key in relation_ids:
        if relation := state.relations.items.get(key):
            found.update(claims_behind(state, relation))
    for group in groups:
        found.update(claims_in(group, state.groups.get(group, ()), state.claims, state.merging.said, state.types))
    dated = [DatedClaim(claim, state.memories.items[claim.memory_id].occurred_at) for claim in found]
    return [each.claim for each in sorted(dated, key=claim_place)]


# -- finding ------------------------------------------------------------------------------------------------------


def nearest(state: State, kind: ElementKind, vector: Vector, limit: int, view: View) -> Hits:
    """The nearest elements in view."""
    query = np.asarray(vector, np.float32)
    if query.ndim != 1 or (state.dimensions is not None and len(query) != state.dimensions):
        raise wrong_vector(state, query.size)
    norm = sqrt(query @ query)
    validation.refuse("query vector", None if 0.0 < norm < inf else "must be finite and not zero")
    matrix = state.once(_matrix, kind)
    if not len(matrix.rows):
        return _hits(state, kind, matrix.rows, np.empty(0))
    seen = visibility(state, kind).filter(view)
    visible = seen and seen(slice(None) if matrix.every else matrix.rows)
    return _hits(state, kind, *matrix.nearest(query / norm, limit, visible))


def _matrix(state: State, kind: ElementKind) -> Matrix:
    return state.derive(Matrix.build, table(state, kind), state.elements(kind).vectors)


def vectors(state: State, kind: ElementKind, keys: Rows) -> Vector:
    """The vectors of some rows of a kind, normalised; zeros where there is none."""
    matrix = state.once(_matrix, kind)
    return matrix.of(keys) if len(matrix.rows) else np.zeros((len(keys), state.dimensions or 0), np.float32)


def lexical(state: State, kind: ElementKind, query: str, limit: int, view: View) -> Hits:
    """The elements in view that match a text best."""
    postings = state.once(_postings, kind)
    seen = visibility(state, kind).filter(view)
    return _hits(state, kind, *postings.best(state.analyser.terms(query), limit, seen and seen(slice(None))))


def document_frequencies(state: State, kind: ElementKind, groups: Sequence[Sequence[str]]) -> list[int]:
    """How many elements of a kind have all terms of each group."""
    postings = state.once(_postings, kind)
    return [postings.containing(group) for group in groups]


def _postings(state: State, kind: ElementKind) -> Postings:
    return state.derive(Postings.build, table(state, kind), state.elements(kind).documents)


def locate(state: State, ids: Sequence[UUID], view: View) -> Hits:
    """The entities of these ids that are in view."""
    rows = np.unique(table(state, ElementKind.ENTITY).rows(list(ids)))
    seen = visibility(state, ElementKind.ENTITY).filter(view)
    rows = rows if seen is None else rows[seen(rows)]
    return _hits(state, ElementKind.ENTITY, rows, np.zeros(len(rows)))


def _hits(state: State, kind: ElementKind, rows: Rows, values: Floats) -> Hits:
    importance = state.once(_importance) if kind is ElementKind.ENTITY else None
    return hits(table(state, kind), rows, values, importance)


# -- walking ------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Ground:
    """What hops are read from."""

    entities: Table
    relations: Table
    entities_seen: Visibility
    relations_seen: Visibility
    edges: Adjacency
    support: Support
    ends: FarEnds
    """All entities."""
    feedback: Floats

    @classmethod
    def of(cls, state: State) -> Ground:
        """All of it, for one state."""
        entities, relations = table(state, ElementKind.ENTITY), table(state, ElementKind.RELATION)
        return cls(
            entities=entities,
            relations=relations,
            entities_seen=visibility(state, ElementKind.ENTITY),
            relations_seen=visibility(state, ElementKind.RELATION),
            edges=adjacency(state),
            support=state.derive(Support.build, relations, state.memories.items),
            ends=FarEnds(keys=np.arange(len(entities.ids)), signatures=entities.codes, importance=_importance(state)),
            feedback=_feedback(state, ElementKind.RELATION),
        )

    def steps(self, relations: Rows, far: Rows, view: View, *, starts: Keys, start: Rows, outgoing: Mask) -> Expansion:
        """Relations as steps to the entities at their far ends."""
        holds = self.entities_seen.filter(view)
        return Expansion(
            starts=starts,
            start=start,
            ends=self.ends,
            end=far,
            outgoing=outgoing,
            relations=relations,
            confidence=self.relations_seen.confidence.take(relations),
            since=self.support.since(relations, view.as_of.timestamp()),
            feedback=self.feedback.take(relations),
            signatures=self.relations.codes.take(relations),
            far_holds=holds and holds(far),
        )


def expand(state: State, keys: Keys, fan_out: int, view: View) -> Expansion:
    """One hop from a frontier."""
    return walk(state.once(Ground.of), keys, fan_out, view)


def walk(ground: Ground, keys: Keys, fan_out: int, view: View) -> Expansion:
    """One hop on some ground."""
    edges = ground.edges
    places, side = edges.strongest(keys, fan_out, ground.relations_seen.filter(view))
    found, far = edges.relations.take(places), edges.far.take(places)
    return ground.steps(found, far, view, starts=keys, start=side >> 1, outgoing=(side & 1) == 0)


def left_out(state: State, keys: Keys, view: View) -> dict[str, int]:
    """How many relations of some entities the view leaves out, by reason."""
    ground = state.once(Ground.of)
    if ground.relations_seen.filter(view) is None:
        return {}
    places, _ = ground.edges.strongest(keys, LOOKED_AT, None)
    return ground.relations_seen.left_out(view, np.unique(ground.edges.relations[places]))


# -- counting -----------------------------------------------------------------------------------------------------


def degrees(state: State) -> Rows:
    """The number of unretracted relations of every entity, by row."""
    return state.derive(_degrees, adjacency(state), table(state, ElementKind.RELATION))


def _degrees(edges: Adjacency, rows: Table) -> Rows:
    return edges.degrees(np.array([relation.retracted_at is None for relation in rows.items], np.float64))


def statistics(state: State) -> Statistics:
    """Counts of a scope; relations are those not retracted."""
    live = [relation for relation in state.relations.items.values() if relation.retracted_at is None]
    degree = degrees(state)
    return Statistics(
        entities=len(state.entities.items),
        relations=len(live),
        memories=len(state.memories.items),
        claims=sum(map(len, state.claims.values())),
        mentions=sum(map(len, state.mentions.values())),
        entities_by_type=dict(sorted(Counter(entity.type for entity in state.entities.items.values()).items())),
        relations_by_type=dict(sorted(Counter(relation.type for relation in live).items())),
        embedder=state.embedder,
        dimensions=state.dimensions,
        max_degree=int(degree.max(initial=0)),
        mean_degree=float(degree.mean()) if len(degree) else 0.0,
        counters=state.counters,
    )

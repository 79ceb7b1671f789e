"""Run a graph query: find its start, the relations it follows, and those of them that answer it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.access.window import ROUNDS, widest
from graphsearch.columns import Hits, Keys, Mask, Steps, Subgraph
from graphsearch.graph_query.query import Direction, GraphQuery
from graphsearch.query.anchor_candidates import Anchor
from graphsearch.understanding.anchors import find_anchors

STARTED: Final = 100
"""Entities that a query without anchors starts from, the first by id."""


def narrowed(query: GraphQuery, reader: Reader) -> Reader:
    """A reader for the relations that a query follows, so that other types do not crowd them out."""
    return reader.viewing(attrs.evolve(reader.view, only_types=query.relation_types))


@attrs.frozen(eq=False)
class Directed:
    """A frontier whose relations are followed in one direction: the traversal's replacement for its reader."""

    reader: Reader
    direction: Direction

    async def expand(self, keys: Keys, fan_out: int) -> Steps:
        """The strongest relations of some entities in the direction, at most ``fan_out`` per entity."""
        steps = await self.reader.expand(keys, fan_out)
        if self.direction is Direction.BOTH:
            return steps
        kept = steps.rows.outgoing == (self.direction is Direction.OUT)
        return Steps(steps.rows.keep(kept), steps.signatures[kept], steps.freshness[kept], steps.prior[kept])

    async def entity_count(self) -> int:
        """The number of entities of the whole scope."""
        return await self.reader.entity_count()


async def anchors_of(query: GraphQuery, question: str, reader: Reader) -> tuple[Anchor, ...]:
    """The distinct entities that the query names; their spans are those in the question, if it has the name."""
    found: dict[UUID, Anchor] = {}
    for name in query.anchors:
        quoted = name.replace('"', " ")
        for anchor in await find_anchors(f'"{quoted}"', reader):
            found.setdefault(anchor.entity_id, attrs.evolve(anchor, spans=_spans(anchor.name, question)))
    return tuple(found.values())


def _spans(name: str, question: str) -> tuple[tuple[int, int], ...]:
    start = question.casefold().find(name.casefold())
    return () if start < 0 or len(question) != len(question.casefold()) else ((start, start + len(name)),)


async def starts(query: GraphQuery, named: tuple[Anchor, ...], reader: Reader) -> Hits:
    """The start of a query: its anchors, else entities by its types.

    At the near ends of relations of its types, or without these, at entities of its types.
    """
    if query.anchors:
        return await reader.locate([anchor.entity_id for anchor in named])
    if query.relation_types:
        return await _at_relations(query, reader)
    return await _of_types(query, reader)


async def _at_relations(query: GraphQuery, reader: Reader) -> Hits:
    limit = STARTED
    ends, more = await _near_ends(query, limit, reader)
    while more and len(ends) < STARTED and limit < widest(STARTED):
        limit *= 2
        ends, more = await _near_ends(query, limit, reader)
    return await reader.locate(ends[:STARTED])


async def _near_ends(query: GraphQuery, limit: int, reader: Reader) -> tuple[Sequence[UUID], bool]:
    """The distinct entities at the near ends of the first relations; and whether there are more relations."""
    page = await reader.page(limit=limit)
    rows = page.steps.rows
    ends = reader.entity_ids(rows.far if query.direction is Direction.IN else rows.near)
    return list(dict.fromkeys(ends)), page.read == limit


async def _of_types(query: GraphQuery, reader: Reader) -> Hits:
    ids: list[UUID] = []
    for type_ in query.entity_types:
        after, found = None, 0
        for _ in range(ROUNDS):
            page, after = await reader.list_entities(after=after, limit=STARTED, type=type_)
            seen = await reader.locate([entity.id for entity in page])
            ids += list(reader.entity_ids(seen.keys))[: STARTED - found]
            found += len(seen)
            if found >= STARTED or after is None:
                break
    return await reader.locate(sorted(ids)[:STARTED])


async def answering(query: GraphQuery, subgraph: Subgraph, reader: Reader) -> Mask | None:
    """Which relations lead to an entity of the requested types, away from the anchors; None if all answer."""
    if not query.entity_types or not len(subgraph.relations):
        return None
    located = await reader.locate(reader.entity_ids(subgraph.entities))
    wanted = [type_ in query.entity_types for type_ in await reader.entity_types(located)]
    fitting = np.isin(subgraph.entities, located.keys[np.array(wanted, np.bool_)])
    source, target = fitting[subgraph.source], fitting[subgraph.target]
    if not query.anchors:
        mask: Mask = source | target
        return mask
    further = subgraph.hops[subgraph.target] - subgraph.hops[subgraph.source]
    return np.where(further > 0, target, np.where(further < 0, source, source | target))

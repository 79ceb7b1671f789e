"""The profile of a scope's relation types, read through a gate and cached for one version of the scope."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import Final

import numpy as np

from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader
from graphsearch.access.window import widest
from graphsearch.columns import Keys
from graphsearch.model import ElementKind, Relation, Scope
from graphsearch.protocols import GraphStore
from graphsearch.understanding.question_tokens import relation_line
from graphsearch.understanding.type_profile import EXAMPLES, Example, TypeProfile, type_profile

SAMPLED: Final = 2_000
"""Visible relations that examples are taken from, the first by id. Ids are hashes: this is a fair sample."""
KEPT: Final = 64
"""Number of cached profiles: one per gate and least confidence."""


class ProfileCache:
    """The latest profiles of one store, each for one version of its scope, one gate and one least confidence.

    The profile of another version replaces the previous one: nothing forgotten survives the next question.
    """

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._kept: OrderedDict[Hashable, tuple[Hashable, TypeProfile]] = OrderedDict()

    async def profile(self, reader: Reader, gate: Gate | None, known_at: datetime | None) -> TypeProfile:
        """The profile of what is visible and known; cached for the present and for gates that decide by signature."""
        seen = _seen(gate, reader.scope)
        if seen is None or known_at is not None:
            return await read_profile(reader)
        shown, version = (seen, reader.view.min_edge_confidence), await self._store.version()
        known = self._kept.get(shown)
        if known is None or known[0] != version:
            known = self._kept[shown] = version, await read_profile(reader)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(shown)
        return known[1]


def _seen(gate: Gate | None, scope: Scope) -> Hashable | None:
    """A key of gates that show the same elements; None if a gate has no such key."""
    if gate is None or gate.allows_all:
        return ()
    bound = gate.bind(scope)
    return bound.question if bound.by_signature else None


async def read_profile(reader: Reader) -> TypeProfile:
    """The profile of the relations that are visible and known, whenever they hold."""
    wide = reader.whenever()
    keys = await _sampled(wide)
    relations = await wide.relations(keys)
    vectors = await wide.vectors(ElementKind.RELATION, keys)
    return type_profile(await _examples(relations, wide), vectors, reader.analyser)


async def _sampled(reader: Reader) -> Keys:
    """The first few visible relations of each type, among the first `SAMPLED` by id."""
    taken: Counter[str] = Counter()
    pages: list[Keys] = []
    after, left, looked = None, SAMPLED, 0
    while left > 0 and looked < widest(SAMPLED):
        page = await reader.page(after=after, limit=SAMPLED)
        steps = page.steps
        types = reader.signatures.type_names(steps.signatures[:left].tolist())
        pages.append(steps.rows.relations[_first_of_each(types, taken)])
        left -= len(types)
        looked += page.read
        if page.read < SAMPLED:
            break
        after = page.last
    return np.concatenate(pages)


def _first_of_each(types: Sequence[str], taken: Counter[str]) -> list[int]:
    """The rows of at most `EXAMPLES` of each type, including those ``taken`` before."""
    rows = []
    for row, name in enumerate(types):
        if taken[name] < EXAMPLES:
            taken[name] += 1
            rows.append(row)
    return rows


async def _examples(relations: Sequence[Relation], reader: Reader) -> list[Example]:
    ids = sorted({end for each in relations for end in (each.source_id, each.target_id)})
    ends = {entity.id: entity for entity in await reader.get_entities(ids)}
    return [
        Example(
            type=each.type,
            source_kind=ends[each.source_id].type,
            target_kind=ends[each.target_id].type,
            names=tuple(
                name for end in (each.source_id, each.target_id) for name in (ends[end].name, *ends[end].aliases)
            ),
            line=relation_line(ends[each.source_id].name, each.type, ends[each.target_id].name, each.fact),
            fact=each.fact,
        )
        for each in relations
    ]

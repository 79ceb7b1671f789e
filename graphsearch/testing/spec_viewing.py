"""Views: periods and types, in addition to points in time."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import numpy as np

from graphsearch.model import ElementKind, View
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import day, ids_of, person, put, relation, vector, view
from graphsearch.testing.spec import StoreSpec

ADA, BOB, CYD = person("Ada"), person("Bob"), person("Cyd", valid_from=day(10), valid_to=day(20))
EARLY = relation(ADA, BOB, "knew", valid_to=day(10), fact="ada early")
SHORT = relation(ADA, BOB, "hired", valid_from=day(12), valid_to=day(14), fact="ada short")
LONG = relation(BOB, ADA, "knows", valid_from=day(13), fact="ada long")
ALWAYS = relation(ADA, ADA, "likes", fact="ada always")
RELATIONS = (EARLY, SHORT, LONG, ALWAYS)


async def _seen(store: GraphStore, seen: View) -> set[UUID]:
    """The relations in a view, on which all reads agree."""
    async with store.snapshot():
        ada = await store.locate([ADA.id], view=view())
        walked = set(store.relation_ids((await store.expand(ada.keys, fan_out=25, view=seen)).relations))
        assert set(store.relation_ids((await store.edges(view=seen)).relations)) == walked
        for found in (
            await store.search_lexical(ElementKind.RELATION, "ada", limit=9, view=seen),
            await store.search_by_embedding(ElementKind.RELATION, vector(1, 0), limit=9, view=seen),
        ):
            assert set(ids_of(store, ElementKind.RELATION, found)) == walked
        assert sum((await store.left_out(ada.keys, view=seen)).values()) == len(RELATIONS) - len(walked)
        return walked


class ViewingSpec(StoreSpec):
    """Time windows and types."""

    async def _written(self, store: GraphStore) -> None:
        await store.bind_embedder("two", 2)
        vectors = {each.id: vector(1, 0) for each in RELATIONS}
        await put(store, ADA, BOB, CYD, *RELATIONS, vectors=vectors)

    async def test_a_window_shows_what_held_at_any_moment_of_it(self, store: GraphStore) -> None:
        await self._written(store)
        cases: list[tuple[float, float, set[UUID]]] = [
            (1, 30, {EARLY.id, SHORT.id, LONG.id}),
            (10, 11, set()),
            (9.5, 11, {EARLY.id}),
            (10, 12, {SHORT.id}),
            (14, 30, {LONG.id}),
            (13, 13, {SHORT.id, LONG.id}),
        ]
        for since, until, expected in cases:
            seen = view(day(until), store.clock.now(), since=day(since))
            assert await _seen(store, seen) == expected | {ALWAYS.id}

    async def test_entities_are_in_a_window_too(self, store: GraphStore) -> None:
        await self._written(store)
        for since, until, expected in ((1, 9, False), (1, 10, True), (19, 40, True), (20, 40, False)):
            seen = view(day(until), store.clock.now(), since=day(since))
            assert bool(len(await store.locate([CYD.id], view=seen))) is expected

    async def test_only_the_types_asked_for_are_seen(self, store: GraphStore) -> None:
        await self._written(store)
        options: dict[str, Any] = {"since": day(0)}
        for names, expected in (
            ({"likes"}, {ALWAYS.id}),
            ({"knew", "knows", "absent"}, {EARLY.id, LONG.id}),
            ({"absent"}, set()),
            ({"like%", "l_kes", "LIKES", "like"}, set()),
            (set(), {each.id for each in RELATIONS}),
        ):
            assert await _seen(store, view(only_types=names, **options)) == expected
        assert await _seen(store, view(only_types={"likes", "knows"}, skipped_types={"likes"})) == {LONG.id}

    async def test_types_asked_for_are_not_crowded_out_by_others(self, store: GraphStore) -> None:
        others = [person(f"p{number}") for number in range(30)]
        crowd = [relation(ADA, each, "knows", confidence=0.99) for each in others]
        rare = relation(ADA, BOB, "leads", confidence=0.6)
        await put(store, ADA, BOB, *others, *crowd, rare)
        async with store.snapshot():
            ada = await store.locate([ADA.id], view=view())
            found = await store.expand(ada.keys, fan_out=2, view=view(only_types={"leads"}))
            assert store.relation_ids(found.relations) == [rare.id]
            assert np.isclose(found.confidence, 0.6).all()
            everything = view(only_types={"leads"}, min_edge_confidence=0.7)
            assert await store.left_out(ada.keys, view=everything) == {"low_confidence": 1, "other_type": 30}

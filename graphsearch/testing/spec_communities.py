"""Communities, stored as detected and shown as of now; and edges for detecting them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from graphsearch.model import Community, Entity, Memory, View
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.samples import claim, day, mention, person, put, relation, view
from graphsearch.testing.spec import StoreSpec

PEOPLE = tuple(person(name) for name in ("Ada", "Bob", "Cy", "Di", "Eve", "Flo", "Gus"))
ADA, BOB, CY, DI, EVE, FLO, GUS = PEOPLE


def community(number: int, *people: Entity, **fields: Any) -> Community:
    """A community of people, the first of whom are its top."""
    members = sorted(each.id for each in people)
    made: dict[str, Any] = {
        "strengths": [float(place + 1) for place, _ in enumerate(members)],
        "density": 0.5,
        "top": [each.id for each in people[:5]],
        "label": ", ".join(each.name for each in people[:3]),
        **fields,
    }
    return Community(id=UUID(int=number), members=members, **made)


async def write_people(store: GraphStore) -> GraphStore:
    """Write the people."""
    await put(store, *PEOPLE)
    return store


async def _edges(store: GraphStore, seen: View, limit: int) -> list[tuple[UUID, UUID, UUID, float]]:
    """All edges in pages: relation, source, target, weight."""
    found: list[tuple[UUID, UUID, UUID, float]] = []
    async with store.snapshot():
        while True:
            page = await store.edges(after=found[-1][0] if found else None, limit=limit, view=seen)
            ends = (store.relation_ids(page.relations), store.entity_ids(page.sources), store.entity_ids(page.targets))
            found += zip(*ends, page.weights.tolist(), strict=True)
            assert len(page) <= limit
            if len(page) < limit:
                return found


class CommunitiesSpec(StoreSpec):
    """`edges`, `write_communities`, `communities`, `record_health`, `health_history`."""

    @pytest.mark.parametrize("limit", [1, 2, 100])
    async def test_edges_are_the_relations_in_view(self, store: GraphStore, limit: int) -> None:
        relations = (
            relation(ADA, BOB, confidence=0.75),
            relation(BOB, ADA, valid_from=day(1), valid_to=day(9), confidence=0.5),
            relation(BOB, BOB, created_at=day(3)),
            relation(CY, DI, created_at=day(0), retracted_at=day(4)),
            relation(CY, ADA, "met_with", created_at=day(0)),
            relation(DI, ADA, confidence=0.25, created_at=day(0)),
        )
        await put(store, *PEOPLE, *relations)
        stored = {each.id: each for each in await store.get_relations([each.id for each in relations])}

        async def check(seen: View) -> set[UUID]:
            found = await _edges(store, seen, limit)
            assert [key for key, *_ in found] == sorted(key for key, *_ in found)
            for key, source, target, weight in found:
                assert (source, target) == (stored[key].source_id, stored[key].target_id)
                assert weight == stored[key].confidence
            return {key for key, *_ in found}

        ids = [each.id for each in relations]
        assert await check(view(min_edge_confidence=0)) == {ids[0], ids[2], ids[4], ids[5]}
        assert await check(view(skipped_types={"met_with"})) == {ids[0], ids[2]}
        past = view(day(2), known_at=store.clock.now(), min_edge_confidence=0)
        assert await check(past) == {ids[0], ids[1], ids[2], ids[4], ids[5]}
        assert await check(view(day(2), min_edge_confidence=0)) == {ids[3], ids[4], ids[5]}

    async def test_communities_are_read_the_largest_first(self, store: GraphStore) -> None:
        await write_people(store)
        pair, three, other = community(3, EVE, FLO), community(2, ADA, BOB, CY), community(1, DI, GUS)
        await store.write_communities([pair, three, other])
        assert await store.communities() == [three, other, pair]
        assert await store.communities(limit=2) == [three, other]
        assert await store.communities(entity_ids=[FLO.id, ADA.id, EVE.id]) == [three, pair]
        assert await store.communities(entity_ids=[FLO.id, ADA.id], limit=1) == [three]
        assert await store.communities(entity_ids=[]) == []
        assert await store.communities(entity_ids=[UUID(int=9)]) == []

    async def test_a_new_partition_takes_the_place_of_the_old_one(self, store: GraphStore) -> None:
        await write_people(store)
        await store.write_communities([community(1, ADA, BOB), community(2, CY, DI)])
        await store.write_communities([community(2, ADA, DI, density=0.25), community(3, BOB, CY)])
        assert await store.communities() == [community(2, ADA, DI, density=0.25), community(3, BOB, CY)]
        await store.write_communities([])
        assert await store.communities() == []

    async def test_a_part_of_a_partition_is_replaced(self, store: GraphStore) -> None:
        await write_people(store)
        one, two, three = community(1, ADA, BOB), community(2, CY, DI), community(3, EVE, FLO)
        await store.write_communities([one, two, three])
        grown, merged = community(3, EVE, FLO, GUS), community(4, ADA, BOB, CY, DI)
        await store.write_communities([merged, grown], replacing=[one.id, two.id, UUID(int=99)])
        assert await store.communities() == [merged, grown]
        await store.write_communities([], replacing=[grown.id])
        assert await store.communities() == [merged]

    async def test_a_forgotten_entity_is_no_member_and_named_nowhere(self, store: GraphStore) -> None:
        memory = Memory(id="m")
        await put(store, *PEOPLE, memory, mention(memory, ADA), claim(memory, ADA, BOB), relation(BOB, CY))
        await store.write_communities([community(1, ADA, BOB, CY, label="Ada, Bob, Cy")])
        await store.forget(["m"])
        (left,) = await store.communities()
        assert (left.size, left.label) == (2, "Bob, Cy")

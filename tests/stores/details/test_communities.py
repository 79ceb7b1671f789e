"""Communities and summaries of what has changed. Beside the conformance suite."""

from __future__ import annotations

from uuid import UUID

import attrs
import pytest

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.errors import InvalidInputError
from graphsearch.model import (
    HealthRecord,
    Memory,
)
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.writer.keeping import HEALTH_RECORDS
from graphsearch.testing.samples import claim, day, mention, put, relation
from graphsearch.testing.spec import StoreSpec
from tests.stores.details.test_summaries import (
    ADA,
    BOB,
    CY,
    DI,
    EVE,
    FLO,
    GUS,
    ONE,
    PEOPLE,
    TWO,
    community,
    read_summaries,
    summarised,
    summary,
    write_people,
)
from tests.stores.on_both import InMemory, InPostgres


def _health(memories: int, value: float | None) -> HealthRecord:
    return HealthRecord(
        at=day(memories % 100), value=value, memories=memories, entities=memories + 1, size=memories + 2
    )


class CommunitiesDetails(StoreSpec):
    """Communities and summaries of what has changed."""

    async def test_an_entity_is_in_one_community(self, store: GraphStore) -> None:
        await write_people(store)
        one = community(1, ADA, BOB)
        await store.write_communities([one])
        for given, fault in (
            ([community(2, BOB, CY)], f"entity {BOB.id} would be in two of them"),
            ([community(2, CY, DI), community(3, DI, EVE)], f"entity {DI.id} would be in two of them"),
            ([community(2, CY, DI), community(2, EVE, FLO)], f"two of them have the id {UUID(int=2)}"),
        ):
            with pytest.raises(InvalidInputError) as refused:
                await store.write_communities(given, replacing=[])
            assert refused.value.faults == (fault,)
            assert await store.communities() == [one]

    async def test_members_that_are_gone_are_left_out(self, store: GraphStore) -> None:
        await put(store, *PEOPLE[:4])
        await store.write_communities([community(1, GUS, ADA, BOB), community(2, CY, EVE), community(3, FLO, DI)])
        (left,) = await store.communities()
        assert (left.id, set(left.members), left.label) == (UUID(int=1), {ADA.id, BOB.id}, "Ada, Bob")
        found = community(1, GUS, ADA, BOB)
        assert left.strengths == tuple(found.strengths[found.members.index(each)] for each in left.members)

    async def test_a_deleted_entity_is_no_member(self, store: GraphStore) -> None:
        await write_people(store)
        three, pair = community(1, ADA, BOB, CY), community(2, DI, EVE)
        await store.write_communities([three, pair])
        await store.delete(entities=[BOB.id, DI.id])
        (left,) = await store.communities()
        assert left == attrs.evolve(three.without({BOB.id}) or three, label="Ada, Cy")
        assert await store.communities(entity_ids=[EVE.id]) == []
        await write_people(store)
        assert await store.communities() == [left]
        await store.write_communities([community(7, DI, EVE)], replacing=[])
        assert len(await store.communities()) == 2

    async def test_a_label_is_made_of_the_names_of_today(self, store: GraphStore) -> None:
        await write_people(store)
        await store.write_communities([community(1, ADA, BOB, label="made up")])
        await put(store, attrs.evolve(ADA, name="Countess"))
        assert [each.label for each in await store.communities()] == ["Countess, Bob"]

    async def test_a_merged_entity_is_no_member_until_the_merge_is_undone(self, store: GraphStore) -> None:
        await write_people(store)
        three, pair = community(1, ADA, BOB, CY), community(2, DI, EVE)
        await store.write_communities([three, pair])
        merges = [await store.merge(each.id, FLO.id) for each in (ADA, EVE)]
        assert [(each.size, each.label) for each in await store.communities()] == [(2, "Bob, Cy")]
        assert await store.communities(entity_ids=[ADA.id, DI.id]) == []
        for each in reversed(merges):
            await store.undo_merge(each.id)
        assert await store.communities() == [three, pair]

    async def test_the_health_of_a_graph_is_stored_with_it(self, store: GraphStore) -> None:
        await write_people(store)
        assert await store.health_history() == ()
        first, second = _health(40, 0.5), _health(41, None)
        await store.record_health(first)
        await store.record_health(second)
        assert list(await store.health_history()) == [first, second]
        version = await store.version()
        third = _health(49, 0.75)
        await store.record_health(third)  # the second had hardly grown
        assert list(await store.health_history()) == [first, third]
        fourth = _health(50, 1.0)
        await store.record_health(fourth)
        assert list(await store.health_history()) == [first, fourth]
        await store.record_health(_health(30, 0.25))  # shrunk
        await store.record_health(_health(31, 0.25))
        assert [each.memories for each in await store.health_history()] == [40, 50, 30, 31]
        assert await store.version() == version

    async def test_the_records_of_health_are_bounded(self, store: GraphStore) -> None:
        await write_people(store)
        for number in range(HEALTH_RECORDS + 4):
            await store.record_health(_health(2**number, 0.5))
        kept = [each.memories for each in await store.health_history()]
        assert kept == [2**number for number in range(4, HEALTH_RECORDS + 4)]

    async def test_a_summary_does_not_change_the_version(self, store: GraphStore) -> None:
        await summarised(store)
        version = await store.version()
        (one,) = await store.communities(entity_ids=[ADA.id])
        assert await store.write_summary(one, version=version)
        assert await store.version() == version

    async def test_a_summary_of_what_has_changed_is_not_stored(self, store: GraphStore) -> None:
        await summarised(store)
        version, (one,) = await store.version(), await store.communities(entity_ids=[ADA.id])
        await store.forget(["secret"])
        assert not await store.write_summary(one, version=version)
        assert (await read_summaries(store))[ONE] is None
        fresh = attrs.evolve(one, summary=summary("Bob."))
        for other in (community(9, ADA, BOB, CY), community(1, ADA, BOB)):
            made = attrs.evolve(other, summary=fresh.summary)
            assert not await store.write_summary(made, version=await store.version())
        assert await store.write_summary(fresh, version=await store.version())
        assert (await read_summaries(store))[ONE] == fresh.summary

    async def test_a_community_keeps_its_summary_while_its_members_stay(self, store: GraphStore) -> None:
        await summarised(store)
        await store.write_communities([community(1, ADA, BOB, CY, GUS), community(2, DI, EVE)])
        assert await read_summaries(store) == {ONE: summary(), TWO: None}
        await store.write_communities([community(7, DI, FLO)], replacing=[TWO])
        assert await read_summaries(store) == {ONE: summary(), UUID(int=7): None}
        left = community(1, ADA, BOB, GUS)
        await store.write_communities([attrs.evolve(left, summary=summary())], replacing=[ONE])
        assert (await read_summaries(store))[ONE] is None

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


class TestInMemory(InMemory, CommunitiesDetails):
    pass


class TestPostgres(InPostgres, CommunitiesDetails):
    pass

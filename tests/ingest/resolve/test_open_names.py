"""A part of the names of several people means none of them: it is a name of an entity of its own."""

from __future__ import annotations

import itertools

import pytest

from graphsearch.ingest import Ingestor
from graphsearch.model import Memory
from graphsearch.stores.graph import GraphStore
from tests.ingest.folders import Parts
from tests.ingest.resolve.surfaces import person, resolve

BERG = Memory(id="berg", text="Anna Berg from the Harbour team met the mayor.", session_id="harbour")
VOSS = Memory(id="voss", text="Anna Voss from the Billing team sent the invoice.", session_id="billing")


async def test_who_was_called_so_while_alone_is_not_meant_later(scoped: GraphStore) -> None:
    ingestor = Ingestor(Parts(store=scoped))
    await ingestor.remember([BERG])
    await ingestor.remember([Memory(id="alone", text="I met Anna today.")])
    await ingestor.remember([VOSS])
    await ingestor.remember([Memory(id="later", text="I met Anna again.")])
    entities = {each.id: each.name for each in await scoped.list_entities()}
    found = await scoped.list_mentions(memory_ids=["alone", "later"])
    assert {each.memory_id: entities[each.entity_id] for each in found} == {"alone": "Anna Berg", "later": "Anna"}


async def test_whoever_a_curator_merged_an_open_name_into_is_meant(scoped: GraphStore) -> None:
    ingestor = Ingestor(Parts(store=scoped))
    await ingestor.remember([BERG, VOSS, Memory(id="note", text="I met Anna today.")])
    ids = {each.name: each.id for each in await scoped.list_entities()}
    merge = await scoped.merge(ids["Anna"], ids["Anna Voss"])
    await ingestor.remember([Memory(id="later", text="I met Anna again.")])
    assert [each.entity_id for each in await scoped.list_mentions(memory_ids=["later"])] == [ids["Anna Voss"]]
    await scoped.undo_merge(merge.id)
    await ingestor.remember([Memory(id="latest", text="I met Anna again.")])
    assert [each.entity_id for each in await scoped.list_mentions(memory_ids=["latest"])] == [ids["Anna"]]


async def test_a_part_that_fits_several_people_is_an_entity_of_its_own() -> None:
    berg, voss = person("Anna Berg", "Anna"), person("Anna Voss")
    for order in itertools.permutations((berg, voss, person("Bo Berg"), person("Hannah Lind"))):
        (found,) = await resolve("Anna", known=order)
        assert (found.entity.name, found.entity.aliases) == ("Anna", ())


async def test_an_open_name_is_an_entity_of_its_own_though_another_has_its_id() -> None:
    (found,) = await resolve("Anna", known=[person("Anna", "Anna Berg"), person("Anna Voss")])
    assert found.entity.id != person("Anna").id
    (again,) = await resolve("Anna", known=[person("Anna", "Anna Berg"), person("Anna Voss"), found.entity])
    assert again.entity == found.entity


@pytest.mark.parametrize("given", ["the Countess", "Zed", "Anna Berg"])
async def test_a_name_that_was_given_to_one_is_never_open(given: str) -> None:
    (found,) = await resolve(given, known=[person("Anna Berg", given), person("Anna Voss"), person("Zedekiah Lind")])
    assert found.entity.name == "Anna Berg"

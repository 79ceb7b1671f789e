"""Which of several people a part of a name means: only what the context of its memory leaves is believed."""

from __future__ import annotations

import itertools

import pytest

from graphsearch.ingest import Ingestor
from graphsearch.model import Memory
from graphsearch.protocols import GraphStore
from tests.ingest.folders import Parts
from tests.ingest.resolve.surfaces import person, resolve

BERG = Memory(id="berg", text="Anna Berg from the Harbour team met the mayor.", session_id="harbour")
VOSS = Memory(id="voss", text="Anna Voss from the Billing team sent the invoice.", session_id="billing")


async def meant(scoped: GraphStore, *memories: Memory, at_once: bool = False) -> dict[str, str]:
    """The name of the entity that each memory means by "Anna" or "Sam"; memories come after those of both Annas."""
    ingestor = Ingestor(Parts(store=scoped))
    every = (BERG, VOSS, *memories)
    for call in [every] if at_once else [[each] for each in every]:
        await ingestor.remember(call)
    mentions = await scoped.list_mentions(memory_ids=[each.id for each in memories])
    entities = {each.id: each.name for each in await scoped.list_entities()}
    return {each.memory_id: entities[each.entity_id] for each in mentions if each.surface == "Anna"}


def note(text: str, session: str = "", source: str = "") -> Memory:
    return Memory(id="note", text=text, session_id=session, source=source)


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(
    ("memory", "who"),
    [
        (note("Anna fixed the crane schedule."), "Anna"),
        (note("I met Anna today.", "elsewhere"), "Anna"),
        (note("We met Anna from the Kitchen team."), "Anna"),
        (note("Anna, that is Anna Voss, met the mayor."), "Anna Voss"),
        (note("I met Anna today.", "harbour"), "Anna Berg"),
        (note("I met Anna today.", "billing"), "Anna Voss"),
        (note("I met Anna, and Anna Voss, and Anna Berg.", "harbour"), "Anna"),
    ],
)
async def test_only_what_the_context_leaves_is_believed(
    scoped: GraphStore, memory: Memory, who: str, *, at_once: bool
) -> None:
    assert await meant(scoped, memory, at_once=at_once) == {"note": who}


async def test_a_source_is_a_conversation_where_there_is_no_session(scoped: GraphStore) -> None:
    named = Memory(id="named", text="Anna Voss is on holiday.", source="diary.md")
    assert await meant(scoped, named, note("I met Anna today.", source="diary.md")) == {"note": "Anna Voss"}


async def test_who_was_called_so_while_alone_is_a_candidate_and_no_more(scoped: GraphStore) -> None:
    ingestor = Ingestor(Parts(store=scoped))
    texts = [("I met Anna today.", "harbour"), ("I met Anna again.", "elsewhere")]
    await ingestor.remember([BERG])
    await ingestor.remember([Memory(id="alone", text="I met Anna today.", session_id="garden")])
    await ingestor.remember([VOSS])
    await ingestor.remember([Memory(id=at, text=text, session_id=at) for text, at in texts])
    entities = {each.id: each.name for each in await scoped.list_entities()}
    found = await scoped.list_mentions(memory_ids=["alone", "harbour", "elsewhere"])
    assert {each.memory_id: entities[each.entity_id] for each in found} == {
        "alone": "Anna Berg",
        "harbour": "Anna Berg",
        "elsewhere": "Anna",
    }


async def test_whoever_a_curator_merged_an_open_name_into_is_meant(scoped: GraphStore) -> None:
    await meant(scoped, note("I met Anna today."))
    ids = {each.name: each.id for each in await scoped.list_entities()}
    merge = await scoped.merge(ids["Anna"], ids["Anna Voss"])
    ingestor = Ingestor(Parts(store=scoped))
    await ingestor.remember([Memory(id="later", text="I met Anna again.")])
    assert [each.entity_id for each in await scoped.list_mentions(memory_ids=["later"])] == [ids["Anna Voss"]]
    await scoped.undo_merge(merge.id)
    await ingestor.remember([Memory(id="latest", text="I met Anna again.")])
    assert [each.entity_id for each in await scoped.list_mentions(memory_ids=["latest"])] == [ids["Anna"]]


async def test_candidates_are_the_people_whose_whole_names_a_part_fits() -> None:
    berg, voss = person("Anna Berg", "Anna"), person("Anna Voss")
    for order in itertools.permutations((berg, voss, person("Bo Berg"), person("Hannah Lind"))):
        (found,) = await resolve("Anna", known=order)
        assert {each.name for each in found.candidates} == {"Anna Berg", "Anna Voss"}
        assert (found.entity.name, found.entity.aliases) == ("Anna", ())


async def test_an_open_name_is_an_entity_of_its_own_though_another_has_its_id() -> None:
    (found,) = await resolve("Anna", known=[person("Anna", "Anna Berg"), person("Anna Voss")])
    assert found.entity.id != person("Anna").id
    (again,) = await resolve("Anna", known=[person("Anna", "Anna Berg"), person("Anna Voss"), found.entity])
    assert again.entity == found.entity


@pytest.mark.parametrize("given", ["the Countess", "Zed", "Anna Berg"])
async def test_a_name_that_was_given_to_one_is_never_open(given: str) -> None:
    (found,) = await resolve(given, known=[person("Anna Berg", given), person("Anna Voss"), person("Zedekiah Lind")])
    assert (found.entity.name, found.candidates) == ("Anna Berg", ())

"""Which of several people a part of a name means: only what the context of its memory leaves is believed."""

from __future__ import annotations

import itertools

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory, Principal
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import portrait
from tests.ingest.folders import Parts
from tests.ingest.resolve.surfaces import person, resolve
from tests.ingest.write.test_permission import Refusing

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
        (note("Anna of the Billing team called Tom Reddan."), "Anna Voss"),
        (note("We met Anna from the Harbour team."), "Anna Berg"),
        (note("We met Anna from the Kitchen team."), "Anna of the Kitchen team"),
        (note("Anna, that is Anna Voss, met the mayor."), "Anna Voss"),
        (note("I met Anna today.", "harbour"), "Anna Berg"),
        (note("I met Anna today.", "billing"), "Anna Voss"),
        (note("I met Anna from the Billing team.", "harbour"), "Anna Voss"),
        (note("I met Anna, and Anna Voss, and Anna Berg.", "harbour"), "Anna"),
        (note("Anna reports to Anna Voss."), "Anna"),
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


async def who_is_meant(scoped: GraphStore, memory_id: str) -> str:
    [mention] = [each for each in await scoped.list_mentions(memory_ids=[memory_id]) if each.surface == "Anna"]
    [entity] = await scoped.get_entities([mention.entity_id])
    return entity.name


async def test_a_conversation_that_names_one_in_full_settles_what_was_open(scoped: GraphStore) -> None:
    ingestor = Ingestor(Parts(store=scoped))
    await meant(scoped, Memory(id="note", text="Anna reports to Bo Lind.", session_id="s"))
    await ingestor.remember([Memory(id="other", text="I met Anna.", session_id="t")])
    await ingestor.remember([Memory(id="full", text="I met Anna Voss.", session_id="s")])
    assert (await who_is_meant(scoped, "note"), await who_is_meant(scoped, "other")) == ("Anna Voss", "Anna")
    ids = {each.name: each.id for each in await scoped.list_entities()}
    relations = await scoped.list_relations(entity_id=ids["Anna Voss"], type="reports_to")
    assert [each.target_id for each in relations] == [ids["Bo Lind"]]
    [link] = await scoped.memory_links(["note"])
    assert (link.from_id, link.to_id, link.type) == ("full", "note", "settles")
    await ingestor.remember([Memory(id="third", text="I met Anna Berg and Anna Voss.", session_id="t")])
    assert await who_is_meant(scoped, "other") == "Anna"
    assert ids["Anna"] in {each.id for each in await scoped.list_entities()}


async def uncounted(store: GraphStore) -> object:
    """The portrait of a scope without its counters, which count what was forgotten as well."""
    found = await portrait(store)
    return {**found, "statistics": attrs.evolve(found["statistics"], counters={})}


async def test_a_name_is_open_again_when_what_settled_it_is_forgotten(scoped: GraphStore) -> None:
    ingestor, curator = Ingestor(Parts(store=scoped)), Curator(GraphSearchEngine(store=scoped))
    await meant(scoped, Memory(id="note", text="Anna reports to Bo Lind.", session_id="s"))
    before = await uncounted(scoped)
    assert [each.entity.name for each in await curator.find_ambiguous()] == ["Anna"]
    full = [Memory(id=id_, text="I met Anna Voss.", session_id="s") for id_ in ("full", "again")]
    await ingestor.remember(full[:1])
    await ingestor.remember(full[1:])
    assert await who_is_meant(scoped, "note") == "Anna Voss"
    await curator.forget("full")
    assert await who_is_meant(scoped, "note") == "Anna Voss"  # the other one would have settled it as well
    await curator.forget("again")
    assert await who_is_meant(scoped, "note") == "Anna"
    assert await uncounted(scoped) == before
    assert [each.entity.name for each in await curator.find_ambiguous()] == ["Anna"]


@pytest.mark.parametrize("change", ["merged", "rewritten", "refused"])
async def test_a_name_that_was_decided_otherwise_meanwhile_stays_decided(scoped: GraphStore, change: str) -> None:
    ingestor, gate = Ingestor(Parts(store=scoped)), None
    await meant(scoped, Memory(id="note", text="Anna reports to Bo Lind.", session_id="s"))
    await ingestor.remember([Memory(id="other", text="I met Anna.", session_id="t")])
    await ingestor.remember([Memory(id="full", text="I met Anna Voss.", session_id="s")])
    if change == "merged":
        ids = {each.name: each.id for each in await scoped.list_entities()}
        await scoped.merge(ids["Anna"], ids["Anna Voss"])
    elif change == "rewritten":
        await ingestor.remember([Memory(id="note", text="Anna Voss reports to Bo Lind.", session_id="s")])
    else:
        gate = Gate(Refusing(frozenset({"note"})), Principal(id="bot"))
    await Curator(GraphSearchEngine(store=scoped), gate=gate).forget("full")
    mentions = await scoped.list_mentions(memory_ids=["note"])
    names = {each.id: each.name for each in await scoped.get_entities([each.entity_id for each in mentions])}
    assert set(names.values()) == {"Anna Voss", "Bo Lind"}


async def test_an_open_name_that_is_known_to_be_somebody_else_stays_open(scoped: GraphStore) -> None:
    await meant(scoped, Memory(id="note", text="I met Anna today.", session_id="s"))
    ids = {each.name: each.id for each in await scoped.list_entities()}
    await scoped.mark_distinct([(ids["Anna"], ids["Anna Voss"])])
    await Ingestor(Parts(store=scoped)).remember([Memory(id="full", text="I met Anna Voss.", session_id="s")])
    assert await who_is_meant(scoped, "note") == "Anna"


@pytest.mark.parametrize("refused", ["note", "reports_to"])
async def test_what_may_not_be_written_stays_open(scoped: GraphStore, refused: str) -> None:
    await meant(scoped, Memory(id="note", text="Anna reports to Bo Lind.", session_id="s"))
    gate = Gate(Refusing(frozenset({refused})), Principal(id="bot"))
    full = Memory(id="full", text="I met Anna Voss.", session_id="s")
    await Ingestor(Parts(store=scoped), gate=gate).remember([full])
    assert await who_is_meant(scoped, "note") == "Anna"


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

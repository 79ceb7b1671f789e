"""What is known of one entity and its neighbourhood, its timeline, and backlinks."""

from typing import Any

import attrs
import networkx as nx  # type: ignore[import-untyped]
import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator, EventKind
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError, UnknownElementError
from graphsearch.model import Batch, Memory, Relation
from graphsearch.testing.samples import day, mention, person
from graphsearch.traversal.paths import KHopTraversal
from tests.curation.team import (
    ACME,
    ADA,
    BATCH,
    BOB,
    EVE,
    FRIENDS,
    GLOBEX,
    GREG,
    HOME,
    MOVED,
    PARIS,
    SECRET,
    Labels,
    engine_over,
)
from tests.graphs import edge, people
from tests.graphs import person as id_of


@pytest.fixture
async def engine(scoped):
    return await engine_over(scoped)


def hiding(engine):
    return Curator(engine, gate=Gate(Labels(), GREG))


def without(*memories):
    """The batch with some memories labelled secret."""
    secret = {memory.id for memory in memories}
    return attrs.evolve(
        BATCH,
        memories=[attrs.evolve(each, labels=(SECRET,) if each.id in secret else ()) for each in BATCH.memories],
    )


def where(standing):
    return (standing.entity.id, standing.relation.valid_from) if standing else ()


# -- one entity ---------------------------------------------------------------------------------------------------


async def test_all_about_one_entity(engine):
    curator = Curator(engine)
    await curator.detect_communities()
    found = await curator.recall_entity("countess")
    assert (found.entity.id, found.entity.aliases) == (ADA.id, ("Ada", "Countess"))
    assert {(each.relation.type, each.target.name) for each in found.triplets} == {
        ("works_at", "Globex"),
        ("lives_in", "Paris"),
        ("knows", "Bob Noyce"),
    }
    assert [memory.id for memory in found.memories] == ["friends", "again", "home", "moved", "hired"]
    assert where(found.most_recent_role) == (GLOBEX.id, day(50))
    assert where(found.most_recent_location) == (PARIS.id, day(60))
    assert (found.community,) == await curator.communities(ADA.id)
    few = await curator.recall_entity(ADA.id, limit=1)
    assert few.triplets == found.triplets[:1]
    assert few.memories == found.memories[:1]
    none = await curator.recall_entity(ADA.id, limit=0)
    assert (none.triplets, none.memories) == ((), ())


async def test_of_whom_little_is_known(engine):
    found = await Curator(engine).recall_entity("Eve Curie")
    assert found.entity == attrs.evolve(EVE, created_at=found.entity.created_at)
    assert (found.triplets, found.memories, found.community) == ((), (), None)
    assert (found.most_recent_role, found.most_recent_location) == (None, None)


async def test_a_role_that_has_ended_is_still_the_most_recent_and_one_to_come_is_not(scoped):
    past = Relation(source_id=BOB.id, type="works_at", target_id=ACME.id, valid_from=day(1), valid_to=day(9))
    older = Relation(source_id=BOB.id, type="works_at", target_id=GLOBEX.id, valid_to=day(1))
    later = Relation(source_id=BOB.id, type="works_at", target_id=PARIS.id, valid_from=day(9999))
    batch = Batch(entities=[BOB, ACME, GLOBEX, PARIS], relations=[past, older, later])
    found = await Curator(await engine_over(scoped, batch)).recall_entity(BOB.id)
    assert where(found.most_recent_role)[:1] == (ACME.id,)
    assert found.triplets == ()


async def test_an_entity_of_the_past_is_recalled_without_relations(scoped):
    gone = person("Methuselah", valid_to=day(1))
    engine = await engine_over(
        scoped, Batch(entities=[gone, BOB], relations=[Relation(source_id=gone.id, type="knows", target_id=BOB.id)])
    )
    found = await Curator(engine).recall_entity("Methuselah")
    assert (found.entity.id, found.triplets) == (gone.id, ())
    assert await Curator(engine).recall_related(gone.id) == ()
    assert (await Curator(engine).entity_graph(gone.id))["nodes"] == []


async def test_names_and_limits_that_will_not_do(engine):
    curator = Curator(engine)
    for entity in ("Nobody", "", "a\0b", id_of("Nobody")):
        with pytest.raises(UnknownElementError):
            await curator.recall_entity(entity)
    for wrong in (
        curator.recall_entity(ADA.id, limit=-1),
        curator.recall_related(ADA.id, limit=-1),
        curator.recall_related(ADA.id, max_hops=-1),
        curator.entity_graph(ADA.id, limit=0),
        curator.entity_graph(ADA.id, depth=-1),
        curator.communities(limit=-1),
        curator.contradictions(limit=-1),
        curator.backlinks(entity=ADA.id, limit=-1),
        curator.backlinks(),
        curator.backlinks(entity=ADA.id, memory="home"),
    ):
        with pytest.raises(InvalidInputError):
            await wrong


async def test_hidden_memories_are_not_recalled_and_shape_nothing(scoped):
    engine = await engine_over(scoped, without(FRIENDS, HOME))
    found = await hiding(engine).recall_entity(ADA.id)
    assert found.entity.aliases == ("Ada",)
    assert [memory.id for memory in found.memories] == ["again", "moved", "hired"]
    assert found.most_recent_location is None
    [knows] = [each.relation for each in found.triplets if each.relation.type == "knows"]
    assert (knows.confidence, knows.evidence, knows.fact) == (0.6, ("again",), "")
    with pytest.raises(UnknownElementError):
        await hiding(engine).recall_entity("Countess Somebody")


async def test_hidden_entities_are_no_ends(scoped):
    secret = [attrs.evolve(each, labels=(SECRET,)) if each in (PARIS, GLOBEX) else each for each in BATCH.entities]
    engine = await engine_over(scoped, attrs.evolve(BATCH, entities=secret))
    await Curator(engine).detect_communities()
    found = await hiding(engine).recall_entity(ADA.id)
    assert {each.target.name for each in found.triplets} == {"Bob Noyce", "Acme"}  # for all one may know
    assert where(found.most_recent_role)[:1] == (ACME.id,)
    assert (found.most_recent_location, found.community) == (None, None)
    assert {each.entity.name for each in await hiding(engine).recall_related(ADA.id)} == {"Bob Noyce", "Acme"}
    with pytest.raises(UnknownElementError):
        await hiding(engine).recall_entity(PARIS.id)


# -- around it ----------------------------------------------------------------------------------------------------


async def test_related_entities_by_hops_then_strength(scoped):
    batch = people(
        edge("Ada", "knows", "Bob", confidence=0.6),
        edge("Cyd", "knows", "Ada", confidence=0.9),
        edge("Bob", "knows", "Dan", confidence=0.8),
        edge("Dan", "knows", "Eve", confidence=0.8),
        names="Ada Bob Cyd Dan Eve",
    )
    curator = Curator(await engine_over(scoped, batch))
    found = await curator.recall_related("Ada")
    assert [(each.entity.name, each.hops, round(each.strength, 6)) for each in found] == [
        ("Cyd", 1, 0.9),
        ("Bob", 1, 0.6),
        ("Dan", 2, 0.6),
    ]
    assert [relation.id for relation in found[2].path] == [batch.relations[0].id, batch.relations[2].id]
    assert [each.entity.name for each in await curator.recall_related("Ada", max_hops=3)][-1] == "Eve"
    assert await curator.recall_related("Ada", limit=1) == found[:1]
    assert await curator.recall_related("Ada", max_hops=0) == ()


async def test_the_engines_traversal_is_used(scoped):
    batch = people(edge("Ada", "knows", "Bob"), edge("Ada", "likes", "Cyd", confidence=0.6), names="Ada Bob Cyd")
    await scoped.write(batch)
    engine = GraphSearchEngine(store=scoped, traversal=KHopTraversal(fan_out=1))
    assert [each.entity.name for each in await Curator(engine).recall_related("Ada")] == ["Bob"]


async def test_the_graph_is_node_link_json(engine):
    found = await Curator(engine).entity_graph("Ada Lovelace")
    loaded = nx.node_link_graph(found, edges="links")
    assert (loaded.is_directed(), loaded.is_multigraph()) == (True, True)
    assert {loaded.nodes[node]["name"] for node in loaded} == {"Ada Lovelace", "Bob Noyce", "Globex", "Paris"}
    assert loaded.nodes[str(ADA.id)]["hops"] == 0
    assert {data["type"] for _, _, data in loaded.out_edges(str(ADA.id), data=True)} == {
        "knows",
        "lives_in",
        "works_at",
    }
    [link] = [link for link in found["links"] if link["type"] == "works_at"]
    assert (link["valid_from"], link["valid_to"]) == (day(50).isoformat(), None)
    wide = await Curator(engine).entity_graph(ADA.id, depth=2)
    assert "Acme" in {node["name"] for node in wide["nodes"]}  # where Bob works
    few = await Curator(engine).entity_graph(ADA.id, depth=2, limit=2)
    assert few["nodes"][0]["name"] == "Ada Lovelace"
    assert (len(few["nodes"]), len(few["links"])) == (2, 1)
    alone = await Curator(engine).entity_graph(ADA.id, depth=0)
    assert (len(alone["nodes"]), alone["links"]) == (1, [])


async def test_the_graph_ends_at_what_is_hidden(scoped):
    engine = await engine_over(scoped, without(MOVED, HOME))
    found = await hiding(engine).entity_graph(ADA.id)
    assert {node["name"] for node in found["nodes"]} == {"Ada Lovelace", "Bob Noyce", "Acme"}


# -- leading back -------------------------------------------------------------------------------------------------


async def test_backlinks_of_an_entity_are_the_memories_that_mention_it(engine):
    found = await Curator(engine).backlinks(entity="Countess")
    assert [(each.memory.id, [mention.surface for mention in each.mentions]) for each in found] == [
        ("friends", ["Countess"]),
        ("again", ["Ada"]),
        ("home", ["Ada"]),
        ("moved", ["Ada"]),
        ("hired", ["Ada"]),
    ]
    assert await Curator(engine).backlinks(entity=ADA.id, limit=2) == found[:2]


async def test_backlinks_of_a_memory_are_those_linked_to_it(engine, scoped):
    curator = Curator(engine)
    await scoped.write(Batch(memories=[Memory(id="undated")]))
    assert await curator.link_memories("again", "home")
    assert await curator.link_memories("undated", "home", type="Explains")
    assert await curator.link_memories("again", "home", type="corrects")
    assert not await curator.link_memories("again", "home")
    await curator.link_memories("home", "hired")
    found = [each for each in await curator.backlinks(memory="home") if each.links]
    assert found == list((await curator.backlinks(memory="home"))[:2])
    assert [(each.memory.id, [link.type for link in each.links]) for each in found] == [
        ("again", ["corrects", "relates_to"]),
        ("undated", ["explains"]),
    ]
    assert [each.links for each in await curator.backlinks(memory="moved")] == [()] * 4


async def test_backlinks_of_a_memory_share_its_entities_the_rarest_first(scoped):
    memories = [Memory(id=name) for name in ("asked", "common", "rare", "both", "none")]
    asked, common, rare, both, none = memories
    spoken = [(asked, ADA), (asked, ACME), (common, ADA), (both, ADA), (both, ACME), (rare, ACME), (none, BOB)]
    others = [Memory(id=f"other {number}") for number in range(5)]
    mentions = [mention(memory, entity) for memory, entity in [*spoken, *((each, ADA) for each in others)]]
    batch = Batch(entities=[ADA, BOB, ACME], memories=[*memories, *others], mentions=mentions)
    curator = Curator(await engine_over(scoped, batch))
    found = await curator.backlinks(memory="asked")
    assert [each.memory.id for each in found[:3]] == ["both", "rare", "common"]
    assert "none" not in {each.memory.id for each in found}
    assert found[0].entities == (ACME.id, ADA.id)
    assert found[0].score == pytest.approx(found[1].score + found[2].score)
    assert {each.entity_id for each in found[1].mentions} == {ACME.id}
    assert await curator.backlinks(memory="asked", limit=2) == found[:2]
    await curator.link_memories("none", "asked")
    assert [each.memory.id for each in await curator.backlinks(memory="asked")][:2] == ["none", "both"]
    assert await curator.backlinks(memory="none") == ()


async def test_hidden_memories_make_no_shared_entity_common(scoped):
    batch = Batch(
        entities=[ADA, ACME, attrs.evolve(BOB, labels=(SECRET,))],
        memories=[Memory(id="asked"), Memory(id="ada"), Memory(id="acme"), Memory(id="bob")]
        + [Memory(id=f"hidden {number}", labels=(SECRET,)) for number in range(3)],
        mentions=[
            *(mention(Memory(id="asked"), each) for each in (ADA, ACME, BOB)),
            *(mention(Memory(id=each.name.split()[0].lower()), each) for each in (ADA, ACME, BOB)),
            *(mention(Memory(id=f"hidden {number}"), ADA) for number in range(3)),
        ],
    )
    engine = await engine_over(scoped, batch)
    found = await hiding(engine).backlinks(memory="asked")
    assert [each.memory.id for each in found] == ["acme", "ada"]
    assert found[0].score == found[1].score
    assert len(await Curator(engine).backlinks(memory="asked")) == 6


async def test_links_that_will_not_do(engine):
    curator = Curator(engine)
    with pytest.raises(UnknownElementError, match="no memory 'gone'"):
        await curator.link_memories("home", "gone")
    with pytest.raises(UnknownElementError):
        await curator.backlinks(memory="gone")
    with pytest.raises(InvalidInputError, match="itself"):
        await curator.link_memories("home", "home")


async def test_hidden_memories_lead_nowhere(scoped):
    engine = await engine_over(scoped, without(HOME))
    for memory in ("again", "home"):
        await Curator(engine).link_memories(memory, "moved")
    curator = hiding(engine)
    assert [each.memory.id for each in await curator.backlinks(memory="moved") if each.links] == ["again"]
    assert "home" not in {each.memory.id for each in await curator.backlinks(memory="moved")}
    assert "home" not in {each.memory.id for each in await curator.backlinks(entity=ADA.id)}
    for gone in (curator.backlinks(memory="home"), curator.link_memories("again", "home")):
        with pytest.raises(UnknownElementError):
            await gone


def rows(events):
    return [
        (round((event.at - day(0)).days), event.kind.value, event.entity.name if event.entity else event.memory.id)
        for event in events
    ]


async def test_periods_and_mentions_in_order(scoped):
    curator = Curator(await engine_over(scoped))
    events = await curator.entity_timeline("Ada Lovelace")
    assert rows(events) == [
        (10, "started", "Acme"),
        (10, "mentioned", "hired"),
        (50, "ended", "Acme"),
        (50, "started", "Globex"),
        (50, "mentioned", "moved"),
        (60, "started", "Paris"),
        (60, "mentioned", "home"),
        (70, "started", "Bob Noyce"),
        (70, "mentioned", "again"),
        (90, "mentioned", "friends"),
    ]
    assert events[2].relation == events[0].relation
    assert [event.relation and event.relation.type for event in events[:3]] == ["works_at", None, "works_at"]
    assert rows(await curator.entity_timeline(ADA.id, since=day(50), until=day(70))) == rows(events)[2:7]
    assert rows(await curator.entity_timeline("Acme")) == [
        (10, "started", "Ada Lovelace"),
        (10, "started", "Bob Noyce"),
        (10, "mentioned", "hired"),
        (50, "ended", "Ada Lovelace"),
    ]


async def test_what_has_no_date_is_no_event(scoped):
    knows = Relation(source_id=ADA.id, type="knows", target_id=BOB.id)
    undated = Memory(id="m")
    batch = Batch(entities=[ADA, BOB], relations=[knows], memories=[undated], mentions=[mention(undated, ADA)])
    assert await Curator(await engine_over(scoped, batch)).entity_timeline(ADA.id) == ()


async def test_a_self_loop_is_listed_once(scoped):
    loop = Relation(source_id=ADA.id, type="likes", target_id=ADA.id, valid_from=day(1), valid_to=day(2))
    events = await Curator(await engine_over(scoped, Batch(entities=[ADA], relations=[loop]))).entity_timeline(ADA.id)
    assert [event.kind for event in events] == [EventKind.STARTED, EventKind.ENDED]


async def test_many_relations_are_read_page_by_page(scoped, monkeypatch):
    monkeypatch.setattr("graphsearch._support.paging.PAGE", 2)
    periods = [
        Relation(source_id=ADA.id, type="visits", target_id=BOB.id, valid_from=day(number), valid_to=day(number + 1))
        for number in range(0, 14, 2)
    ]
    engine = await engine_over(scoped, Batch(entities=[ADA, BOB], relations=periods))
    assert len(await Curator(engine).entity_timeline(ADA.id)) == 14


async def test_bad_input(scoped):
    curator = Curator(await engine_over(scoped))
    for since, until in ((day(2), day(1)), (day(1).replace(tzinfo=None), None)):
        with pytest.raises(InvalidInputError, match="since"):
            await curator.entity_timeline(ADA.id, since=since, until=until)
    with pytest.raises(UnknownElementError):
        await curator.entity_timeline("Nobody")


async def test_what_is_hidden_did_not_happen(scoped):
    secret = {FRIENDS.id, HOME.id}
    memories = [attrs.evolve(each, labels=(SECRET,)) if each.id in secret else each for each in BATCH.memories]
    entities = [attrs.evolve(each, labels=(SECRET,)) if each == BOB else each for each in BATCH.entities]
    engine = await engine_over(scoped, attrs.evolve(BATCH, memories=memories, entities=entities))
    events = await Curator(engine, gate=Gate(Labels(), GREG)).entity_timeline(ADA.id)
    assert {name for _, _, name in rows(events)} == {"Acme", "Globex", "hired", "moved", "again"}


# -- as of another moment -----------------------------------------------------------------------------------------


async def test_what_held_then(engine):
    curator = Curator(engine)
    then: dict[str, Any] = {"as_of": day(30)}
    assert {each.relation.target_id for each in (await curator.recall_entity(ADA.id, **then)).triplets} == {ACME.id}
    assert where((await curator.recall_entity(ADA.id, **then)).most_recent_role) == (ACME.id, day(10))
    assert [each.entity.id for each in await curator.recall_related(ADA.id, max_hops=1, **then)] == [ACME.id]
    assert {each["id"] for each in (await curator.entity_graph(ADA.id, **then))["nodes"]} == {str(ADA.id), str(ACME.id)}
    path = await engine.path(ADA.id, BOB.id, **then)
    assert [each.name for each in path.entities] == ["Ada Lovelace", "Acme", "Bob Noyce"]
    (related, *_) = await curator.recall_related(ADA.id)
    assert related.names == {ADA.id: "Ada Lovelace", related.entity.id: related.entity.name}


async def test_what_was_known_then(scoped, clock):
    early, late = without(), attrs.evolve(BATCH, memories=[FRIENDS], mentions=[], claims=[])
    clock.set(day(100))
    named = {each.id for each in (HOME, FRIENDS)}
    parts: dict[str, Any] = {
        name: [each for each in getattr(BATCH, name) if each.memory_id in named] for name in ("mentions", "claims")
    }
    first: dict[str, Any] = {
        name: [each for each in getattr(BATCH, name) if each.memory_id not in named] for name in parts
    }
    known = [each for each in early.memories if each.id not in named]
    engine = await engine_over(scoped, attrs.evolve(BATCH, memories=known, **first))
    clock.set(day(200))
    await scoped.write(attrs.evolve(late, memories=[HOME, FRIENDS], **parts))
    clock.set(day(300))
    curator = Curator(engine)
    then: dict[str, Any] = {"known_at": day(150)}
    for when, lives in (({}, True), (then, False)):
        found = await curator.recall_entity(ADA.id, **when)
        assert (PARIS.id in {each.relation.target_id for each in found.triplets}) is lives
        assert (HOME.id in {each.id for each in found.memories}) is lives
        events = await curator.entity_timeline(ADA.id, **when)
        assert (PARIS.id in {each.entity.id for each in events if each.entity}) is lives
        assert (HOME.id in {each.memory.id for each in await curator.backlinks(entity=ADA.id, **when)}) is lives
        assert (PARIS.id in {each.relation.target_id for each in await engine.neighbors(ADA.id, **when)}) is lives
        assert bool(await curator.search_entities("Countess", **when)) is lives
        (knows,) = [each.relation for each in await engine.neighbors(ADA.id, **when) if each.relation.type == "knows"]
        proofs = (await curator.why(knows.id, **when)).proofs
        assert (FRIENDS.id in {each.memory.id for each in proofs}) is lives
    assert await engine.path(ADA.id, PARIS.id) is not None
    with pytest.raises(UnknownElementError):
        await curator.recall_entity("Countess", **then)

"""An entity that exists through mentions alone exists, is named and has its type as its visible mentions say."""

from datetime import timedelta
from uuid import UUID

import pytest

from graphsearch.access.reader import reading
from graphsearch.curation.curator import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import UnknownElementError
from graphsearch.ingest.ingestor import Ingestor
from graphsearch.ingest.reading.extractor import TextExtractor
from graphsearch.model import Batch, Claim, Entity, Memory, Mention
from graphsearch.modes.natural_language import visible_schema
from graphsearch.modes.result import SearchMode
from graphsearch.testing.fakes import HashEmbedder
from tests.gates import POLICIES, allowing, no_secrets
from tests.graphs import days_ago

EMBEDDER = HashEmbedder(16)
JANE, ACME = UUID(int=1), UUID(int=2)


async def write(store, *memories):
    """Memories as (id, label, surface, type): each mentions Jane, who works at Acme."""
    await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
    first = memories[0]
    await store.write(
        Batch(
            entities=[Entity(id=ACME, type="organization", name="Acme")],
            named=[Entity(id=JANE, type="concept", name=first[2])],
            memories=[
                Memory(id=id_, labels=label, occurred_at=days_ago(9 - place))
                for place, (id_, label, *_) in enumerate(memories)
            ],
            mentions=[
                Mention(memory_id=id_, entity_id=JANE, surface=surface, type=type_)
                for id_, _, surface, type_ in memories
            ],
            claims=[
                Claim(memory_id=id_, source_id=JANE, type="works_at", target_id=ACME, confidence=0.9)
                for id_, *_ in memories
            ],
            vectors={JANE: EMBEDDER.vector(first[2]), ACME: EMBEDDER.vector("Acme")},
        )
    )
    return GraphSearchEngine(store=store, embedder=EMBEDDER)


@POLICIES
async def test_who_is_named_by_a_hidden_memory_alone_is_nobody(scoped, by_signature):
    hidden = Memory(
        id="m", text="Carla Winter works at Nightfall Holdings.", labels=["secret"], occurred_at=days_ago(1)
    )
    engine, gate = GraphSearchEngine(store=scoped), no_secrets(by_signature=by_signature)
    visible = Memory(id="n", text="Ada Moss lives in Galway.", occurred_at=days_ago(1))
    await Ingestor(engine, extractor=TextExtractor()).remember([hidden, visible])
    assert await Curator(engine).search_entities("nightfall")
    curator = Curator(engine, gate=gate)
    for query in ("nightfall", "Carla Winter", "carl", "wintre"):
        assert await curator.search_entities(query) == ()
    for verb in (curator.recall_entity, curator.entity_graph, curator.entity_timeline, curator.recall_related):
        with pytest.raises(UnknownElementError):
            await verb("Carla Winter")
    found = await engine.search("where does Carla Winter work?", mode=SearchMode.NEIGHBORHOOD, gate=gate)
    assert (found.triplets, found.anchors, found.reason) == ((), (), "the question names nothing visible")


@POLICIES
async def test_a_name_that_only_a_hidden_memory_has_is_replaced_by_the_first_visible_one(scoped, by_signature):
    engine = await write(
        scoped, ("h", ["secret"], "Jane Roe", "person"), ("a", (), "jr", "person"), ("b", (), "Captain", "person")
    )
    gate = no_secrets(by_signature=by_signature)
    curator = Curator(engine, gate=gate)
    seen = (await curator.recall_entity("jr")).entity
    assert (seen.id, seen.name, seen.aliases) == (JANE, "jr", ("Captain",))
    assert (await Curator(engine).recall_entity("jr")).entity.name == "Jane Roe"
    with pytest.raises(UnknownElementError):
        await curator.recall_entity("Jane Roe")
    [triplet] = await engine.neighbors("jr", gate=gate)
    assert triplet.source == seen
    path = await engine.path("jr", "Acme", gate=gate)
    assert path is not None
    assert path.entities[0] == seen
    for mode in (SearchMode.NEIGHBORHOOD, SearchMode.GRAPH_COMPLETION, SearchMode.TRIPLET_COMPLETION):
        named = await engine.search("where does jr work?", mode=mode, gate=gate)
        assert "Jane" not in str(named)
        hidden = await engine.search("where does Jane Roe work?", mode=mode, gate=gate)
        nobody = await engine.search("where does Zoe Nil work?", mode=mode, gate=gate)
        assert [each.source.name for each in hidden.triplets] == [each.source.name for each in nobody.triplets]
        assert hidden.anchors == ()
    explained = await engine.explain("where does jr work?", triplet.relation.id, gate=gate)
    assert "Jane" not in str(explained)


@POLICIES
async def test_a_type_that_only_a_hidden_memory_states_is_not_shown(scoped, by_signature):
    engine = await write(scoped, ("h", ["secret"], "Jane", "person"), ("a", (), "Jane", ""))
    gate = no_secrets(by_signature=by_signature)
    assert (await Curator(engine, gate=gate).recall_entity("Jane")).entity.type == "concept"
    assert (await Curator(engine).recall_entity("Jane")).entity.type == "person"
    async with reading(scoped, gate=gate) as reader:
        assert (await visible_schema(reader)).entity_types == {"concept": 1, "organization": 1}
    async with reading(scoped) as reader:
        assert (await visible_schema(reader)).entity_types == {"organization": 1, "person": 1}


@POLICIES
async def test_policies_decide_on_the_visible_type(scoped, by_signature):
    def rule(resource):
        return "secret" not in resource.labels and resource.type != "person"

    engine = await write(scoped, ("h", ["secret"], "Jane", "person"), ("a", (), "Jane", ""))
    curator = Curator(engine, gate=allowing(rule, by_signature=by_signature))
    assert (await curator.recall_entity("Jane")).entity.type == "concept"
    assert len(await engine.neighbors("Acme", gate=allowing(rule, by_signature=by_signature))) == 1
    await scoped.write(
        Batch(memories=[Memory(id="c")], mentions=[Mention(memory_id="c", entity_id=JANE, surface="J", type="person")])
    )
    with pytest.raises(UnknownElementError):
        await curator.recall_entity("Jane")
    assert await engine.neighbors("Acme", gate=allowing(rule, by_signature=by_signature)) == ()


@POLICIES
async def test_who_is_of_a_hidden_type_by_all_memories_is_hidden(scoped, by_signature):
    engine = await write(scoped, ("a", (), "Jane", "person"))
    gate = allowing(lambda resource: resource.type != "person", by_signature=by_signature)
    assert await engine.neighbors("Acme", gate=gate) == ()
    assert await Curator(engine, gate=gate).search_entities("Jane") == ()


@POLICIES
async def test_what_only_somebody_of_a_hidden_type_ended_goes_on(scoped, by_signature):
    """A hidden memory calls Jane a person, a visible one a tool, which is hidden; Ada works at Acme, then at Jane."""
    ada = Entity(id=UUID(int=3), type="person", name="Ada")
    await write(scoped, ("h", ["secret"], "Jane", "person"), ("a", (), "Jane", "tool"))
    memories = [Memory(id=id_, occurred_at=days_ago(days)) for id_, days in (("first", 5), ("second", 4))]
    claims = [
        Claim(memory_id=each.id, source_id=ada.id, type="works_at", target_id=target, confidence=0.9)
        for each, target in zip(memories, (ACME, JANE), strict=True)
    ]
    await scoped.write(Batch(entities=[ada], memories=memories, claims=claims))
    engine = GraphSearchEngine(store=scoped)
    gate = allowing(
        lambda resource: "secret" not in resource.labels and resource.type != "tool", by_signature=by_signature
    )
    assert [each.target.id for each in await engine.neighbors("Ada")] == [JANE]
    assert [each.target.id for each in await engine.neighbors("Ada", gate=gate)] == [ACME]


async def test_policies_that_read_names_read_the_visible_one(scoped):
    engine = await write(scoped, ("h", ["secret"], "Jane Roe", "person"), ("a", (), "jr", "person"))
    gate = allowing(lambda resource: "secret" not in resource.labels and resource.name != "Jane Roe")
    assert (await Curator(engine, gate=gate).recall_entity("jr")).entity.name == "jr"


@POLICIES
async def test_an_asserted_entity_is_seen_whoever_mentions_it(scoped, by_signature):
    engine = await write(scoped, ("h", ["secret"], "Jane Roe", "person"))
    await scoped.write(
        Batch(
            memories=[Memory(id="i", labels=["secret"])],
            mentions=[Mention(memory_id="i", entity_id=ACME, surface="AC")],
        )
    )
    seen = (await Curator(engine, gate=no_secrets(by_signature=by_signature)).recall_entity("Acme")).entity
    assert (seen.name, seen.aliases) == ("Acme", ())


@POLICIES
async def test_who_is_no_longer_hidden_is_seen_again(scoped, by_signature):
    engine = await write(scoped, ("h", ["secret"], "Jane Roe", "person"))
    curator = Curator(engine, gate=no_secrets(by_signature=by_signature))
    with pytest.raises(UnknownElementError):
        await curator.recall_entity("Jane Roe")
    [memory] = await scoped.get_memories(["h"])
    mentions, claims = await scoped.list_mentions(memory_ids=["h"]), await scoped.list_claims(memory_ids=["h"])
    shown = Memory(id="h", occurred_at=memory.occurred_at)
    await scoped.write(Batch(memories=[shown], mentions=mentions, claims=claims))
    assert (await curator.recall_entity("Jane Roe")).entity.name == "Jane Roe"


@POLICIES
async def test_the_hidden_names_of_what_was_merged(scoped, by_signature):
    engine = await write(scoped, ("h", ["secret"], "Jane Roe", "person"), ("a", (), "jr", "person"))
    other = UUID(int=3)
    await scoped.write(
        Batch(
            named=[Entity(id=other, type="concept", name="Janet")],
            memories=[Memory(id="k", labels=["secret"], occurred_at=days_ago(3))],
            mentions=[Mention(memory_id="k", entity_id=other, surface="Janet", type="person")],
        )
    )
    await scoped.merge(other, JANE)
    curator = Curator(engine, gate=no_secrets(by_signature=by_signature))
    seen = (await curator.recall_entity("jr")).entity
    assert (seen.name, seen.aliases) == ("jr", ())
    [merge] = await Curator(engine).merges()
    await scoped.undo_merge(merge.id)
    with pytest.raises(UnknownElementError):
        await curator.recall_entity("Janet")


@POLICIES
async def test_what_hidden_memories_alone_mentioned_is_nobody_after_a_merge_either(scoped, by_signature):
    engine = await write(scoped, ("h", ["secret"], "Jane Roe", "organization"))
    await scoped.write(
        Batch(memories=[Memory(id="a")], mentions=[Mention(memory_id="a", entity_id=ACME, surface="Acme")])
    )
    await scoped.merge(JANE, ACME)
    curator = Curator(engine, gate=no_secrets(by_signature=by_signature))
    assert await curator.merges() == ()
    with pytest.raises(UnknownElementError):
        await curator.recall_entity(JANE)
    assert (await curator.recall_entity(ACME)).entity.aliases == ()


@pytest.mark.parametrize("more", [0, 9])  # more than are read at first
@POLICIES
async def test_an_entity_is_as_old_as_its_first_visible_memory(scoped, clock, by_signature, more):
    days = []
    for name, labels in (
        ("hidden", ["secret"]),
        *((f"hid{at}", ["secret"]) for at in range(more)),
        ("a", ()),
        ("b", ()),
    ):
        await write(scoped, (name, labels, "Jane", "person"))
        days.append(clock.now())
        clock.advance(days=1)
    curator = Curator(GraphSearchEngine(store=scoped), gate=no_secrets(by_signature=by_signature))
    assert (await curator.recall_entity("Jane")).entity.created_at == days[-2]
    assert (await curator.recall_entity("Acme")).entity.created_at == days[0]  # which is asserted
    assert (await Curator(GraphSearchEngine(store=scoped)).recall_entity("Jane")).entity.created_at == days[0]


@POLICIES
async def test_an_entity_that_a_visible_memory_mentioned_first_is_as_old_as_stored(scoped, clock, by_signature):
    created = clock.now()
    for name, labels in (("z", ()), ("hidden", ["secret"]), ("a", ())):
        await write(scoped, (name, labels, "Jane", "person"))
        clock.advance(days=1)
    curator = Curator(GraphSearchEngine(store=scoped), gate=no_secrets(by_signature=by_signature))
    assert (await curator.recall_entity("Jane")).entity.created_at == created


async def absorb(store, name, *, aliases=(), labels=(), into=ACME):
    """Assert an organization and merge it into another."""
    other = Entity(type="organization", name=name, aliases=aliases, labels=labels)
    await store.write(Batch(entities=[other]))
    return await store.merge(other.id, into)


async def aliases_of(store, gate, entity=ACME):
    return set((await Curator(GraphSearchEngine(store=store), gate=gate).recall_entity(entity)).entity.aliases)


@POLICIES
async def test_of_what_was_merged_only_that_which_may_be_seen_gives_names(scoped, by_signature):
    await write(scoped, ("h", ["secret"], "Jane", "person"))
    await scoped.write(
        Batch(
            memories=[Memory(id="i", labels=["secret"])],
            mentions=[Mention(memory_id="i", entity_id=ACME, surface="AC")],
        )
    )
    await absorb(scoped, "Nightfall", aliases=["NF"], labels=["secret"])
    middle = await absorb(scoped, "Zenith", aliases=["Zen"])
    undone = await absorb(scoped, "Yonder", aliases=["Yon"])
    await scoped.undo_merge(undone.id)
    below = Entity(type="organization", name="Xavier", aliases=["Xav"])
    await scoped.write(Batch(entities=[below]))
    await scoped.undo_merge(middle.id)
    await scoped.merge(below.id, middle.source_id)
    await scoped.merge(middle.source_id, ACME)
    names = {"Zenith", "Zen", "Xavier", "Xav"}
    assert await aliases_of(scoped, no_secrets(by_signature=by_signature)) == names
    assert await aliases_of(scoped, None) == names | {"AC", "Nightfall", "NF"}


@POLICIES
async def test_a_merged_name_that_visible_memories_have_too_stays(scoped, by_signature):
    await write(scoped, ("h", ["secret"], "Jane", "person"))
    other = UUID(int=3)
    memories = [Memory(id="j", labels=["secret"]), Memory(id="k")]
    await scoped.write(
        Batch(
            named=[Entity(id=other, type="organization", name="AC")],
            memories=memories,
            mentions=[
                Mention(memory_id="j", entity_id=other, surface="AC", type="organization"),
                Mention(memory_id="k", entity_id=other, surface="AC Ltd", type="organization"),
            ],
        )
    )
    await scoped.merge(other, ACME)
    assert await aliases_of(scoped, no_secrets(by_signature=by_signature)) == {"AC", "AC Ltd"}


@POLICIES
async def test_code_is_named_by_its_qualified_name_whatever_is_hidden(scoped, by_signature):
    connect = UUID(int=3)
    await scoped.write(
        Batch(
            named=[Entity(id=connect, type="function", name="ssl.connect")],
            memories=[Memory(id="h", labels=["secret"]), Memory(id="a")],
            mentions=[
                Mention(memory_id="h", entity_id=connect, surface="ssl.connect", type="function"),
                Mention(memory_id="a", entity_id=connect, surface="connect", type="function"),
            ],
        )
    )
    for gate in (None, no_secrets(by_signature=by_signature)):
        seen = (await Curator(GraphSearchEngine(store=scoped), gate=gate).recall_entity(connect)).entity
        assert (seen.type, seen.name, seen.aliases) == ("function", "ssl.connect", ())


@POLICIES
async def test_who_is_named_anew_has_the_name_of_the_memory_that_occurred_first(scoped, by_signature):
    await write(scoped, ("h", ["secret"], "Jane Roe", "person"), ("b", (), "jr", "person"), ("a", (), "Ro", "person"))
    curator = Curator(GraphSearchEngine(store=scoped), gate=no_secrets(by_signature=by_signature))
    assert (await curator.recall_entity(JANE)).entity.name == "jr"


@POLICIES
async def test_a_hidden_memory_behind_many_visible_ones_makes_no_entity_older(scoped, clock, by_signature):
    await write(scoped, ("z", ["secret"], "Jane", "person"))
    clock.advance(days=1)
    first = clock.now()
    for number in range(9):  # more than are read at first
        await write(scoped, (f"a{number}", (), "Jane", "person"))
        clock.advance(days=1)
    curator = Curator(GraphSearchEngine(store=scoped), gate=no_secrets(by_signature=by_signature))
    assert (await curator.recall_entity(JANE)).entity.created_at == first


@POLICIES
async def test_an_entity_that_was_there_before_any_memory_mentioned_it_is_as_old_as_stored(scoped, clock, by_signature):
    created = clock.now()
    await scoped.write(Batch(named=[Entity(id=JANE, type="concept", name="Jane")]))
    for name, labels in (("hidden", ["secret"]), ("a", ())):
        clock.advance(days=1)
        await write(scoped, (name, labels, "Jane", "person"))
    curator = Curator(GraphSearchEngine(store=scoped), gate=no_secrets(by_signature=by_signature))
    assert (await curator.recall_entity(JANE)).entity.created_at == created


@POLICIES
async def test_an_entity_is_no_older_than_what_was_written_into_older_memories(scoped, clock, by_signature):
    old = [Memory(id="h", labels=["secret"], occurred_at=days_ago(9)), Memory(id="a", occurred_at=days_ago(8))]
    await scoped.write(Batch(memories=old))
    clock.advance(days=5)
    await write(scoped, ("h", ["secret"], "Jane", "person"))
    stated = clock.now()
    clock.advance(days=5)
    await write(scoped, ("a", (), "Jane", "person"))
    curator = Curator(GraphSearchEngine(store=scoped), gate=no_secrets(by_signature=by_signature))
    [hidden, visible] = await scoped.get_memories(["h", "a"])
    assert (hidden.created_at, visible.created_at) == (stated - timedelta(days=5),) * 2
    assert (await curator.recall_entity(JANE)).entity.created_at == stated

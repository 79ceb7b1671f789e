"""Changing entities: merges are authorized and can be undone, and an entity is corrected."""

from uuid import UUID

import attrs
import numpy as np
import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import (
    AccessDeniedError,
    EmbeddingModelError,
    InvalidInputError,
    MissingDependencyError,
    UnknownElementError,
)
from graphsearch.model import Batch, ElementKind, Entity, Memory, Relation
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.samples import day, ids_of, mention, person, portrait, view
from graphsearch.text.bm25 import embedding_text
from tests.curation.team import ACME, ADA, BOB, EVE, FRIENDS, GREG, MEMORIES, SECRET, Labels, engine_over

AUGUSTA = person("Augusta King")


@pytest.fixture
async def engine(scoped):
    engine = await engine_over(scoped)
    await scoped.write(
        Batch(entities=[AUGUSTA], relations=[Relation(source_id=AUGUSTA.id, type="likes", target_id=BOB.id)])
    )
    return engine


@pytest.fixture
def curator(engine):
    return Curator(engine)


async def test_a_merge_moves_everything_and_undoing_it_moves_it_back(curator, scoped):
    before = await portrait(scoped)
    planned = await curator.merge_entities("Augusta King", "Ada Lovelace", dry_run=True)
    assert await portrait(scoped) == before
    assert await curator.merges() == ()
    made = await curator.merge_entities("Augusta King", ADA.id)
    assert (made.source_id, made.target_id, made.relations) == (AUGUSTA.id, ADA.id, 1)
    assert (made.mentions, made.claims, made.relations) == (planned.mentions, planned.claims, planned.relations)
    recalled = await curator.recall_entity("augusta king")
    assert recalled.entity.id == ADA.id
    assert "Augusta King" in recalled.entity.aliases
    assert (BOB.id, "likes") in {(each.target.id, each.relation.type) for each in recalled.triplets}
    assert await curator.merges("Ada Lovelace") == await curator.merges(AUGUSTA.id) == (made,)
    assert await curator.merges(BOB.id) == ()
    undone = await curator.undo_merge(made.id)
    assert (undone.relations, undone.stayed, undone.forgotten) == (1, 0, 0)
    assert await portrait(scoped) == before
    assert (await curator.recall_entity("augusta king")).entity.id == AUGUSTA.id
    assert [each.undone_at is None for each in await curator.merges()] == [False]


async def test_a_merged_entity_resolves_to_its_target(curator):
    await curator.merge_entities(AUGUSTA.id, ADA.id)
    await curator.merge_entities(ADA.id, EVE.id)
    assert (await curator.recall_entity(AUGUSTA.id)).entity.id == EVE.id
    assert {"Augusta King", "Ada Lovelace"} <= set((await curator.recall_entity("Augusta King")).entity.aliases)
    assert (await curator.update_entity(AUGUSTA.id, importance_weight=0.9)).id == EVE.id
    with pytest.raises(InvalidInputError, match="merge into that"):
        await curator.merge_entities(EVE.id, AUGUSTA.id)  # the third side of a cycle


async def test_what_cannot_be_one_is_refused(curator, scoped):
    await curator.merge_entities(AUGUSTA.id, ADA.id)
    before = await portrait(scoped)
    for source, target, message in (
        (ADA.id, ADA.id, "into itself"),
        ("Ada Lovelace", "Acme", "a person and a organisation|a person and an organisation"),
        (ADA.id, AUGUSTA.id, "undo that first"),
        (AUGUSTA.id, BOB.id, "already"),
        (BOB.id, AUGUSTA.id, "merge into that"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            await curator.merge_entities(source, target)
    assert await portrait(scoped) == before


async def test_entities_that_are_absent_or_ambiguous(curator, scoped):
    await scoped.write(Batch(entities=[Entity(type="tool", name="Ada Lovelace")]))
    for source, target in (("Nobody", BOB.id), (BOB.id, UUID(int=7)), ("Ada Lovelace", BOB.id)):
        with pytest.raises(UnknownElementError, match=r"no entity|2 entities"):
            await curator.merge_entities(source, target)
    with pytest.raises(UnknownElementError, match="no merge"):
        await curator.undo_merge(UUID(int=7))


async def test_another_scope_is_another_world(curator):
    elsewhere = await engine_over(
        InMemoryGraphStore().with_scope(org_id="acme", project_id="other"),
        Batch(entities=[Entity(type="person", name="Zoe")]),
    )
    with pytest.raises(UnknownElementError):
        await curator.merge_entities(ADA.id, (await elsewhere.store.list_entities())[0].id)


async def test_undoing_twice_is_refused(curator):
    made = await curator.merge_entities(AUGUSTA.id, ADA.id)
    await curator.undo_merge(made.id)
    with pytest.raises(InvalidInputError, match="undone"):
        await curator.undo_merge(made.id)


async def test_every_element_that_a_merge_touches_is_authorized(engine, scoped):
    authorizer = Labels()
    curator = Curator(engine, gate=Gate(authorizer, GREG))
    resting = {str(ADA.id), str(EVE.id), *(memory.id for memory in MEMORIES)}
    moving = {str(each.id) for each in await scoped.list_relations(entity_id=ADA.id)}
    made = await curator.merge_entities(ADA.id, EVE.id)
    assert authorizer.asked_for("merge") == resting | moving
    authorizer.asked.clear()
    moved = {str(each.id) for each in await scoped.list_relations(entity_id=EVE.id)}
    assert len(moved) == len(moving)
    await curator.undo_merge(made.id)
    assert authorizer.asked_for("merge") == resting | moved


@pytest.mark.parametrize("hidden", ["source", "relation", "memory"])
async def test_one_denied_element_refuses_the_whole(engine, scoped, hidden):
    if hidden == "source":
        await scoped.write(Batch(entities=[attrs.evolve(AUGUSTA, labels=(SECRET,))]))
    elif hidden == "relation":
        likes = Relation(source_id=AUGUSTA.id, type="likes", target_id=BOB.id, labels=(SECRET,))
        await scoped.write(Batch(relations=[likes]))
    else:
        mentions = await scoped.list_mentions(memory_ids=[FRIENDS.id])
        claims = await scoped.list_claims(memory_ids=[FRIENDS.id])
        secret = attrs.evolve(FRIENDS, labels=(SECRET,))
        await scoped.write(Batch(memories=[secret], mentions=mentions, claims=claims))
    before = await portrait(scoped)
    source = ADA if hidden == "memory" else AUGUSTA
    curator = Curator(engine, gate=Gate(Labels(action="merge"), GREG))
    for dry_run in (True, False):
        with pytest.raises(AccessDeniedError, match=r"^merge is denied"):
            await curator.merge_entities(source.id, EVE.id, dry_run=dry_run)
    assert await portrait(scoped) == before
    made = await Curator(engine).merge_entities(source.id, EVE.id)
    with pytest.raises(AccessDeniedError):
        await curator.undo_merge(made.id)


async def test_merges_of_what_is_hidden_are_not_there(engine, scoped):
    await scoped.write(Batch(entities=[attrs.evolve(AUGUSTA, labels=(SECRET,))]))
    made = await Curator(engine).merge_entities(AUGUSTA.id, ADA.id)
    curator = Curator(engine, gate=Gate(Labels(), GREG))
    assert await curator.merges() == ()
    with pytest.raises(UnknownElementError, match=f"no merge {made.id}"):
        await curator.undo_merge(made.id)
    assert (await curator.recall_entity(ADA.id)).entity.aliases == ("Ada", "Countess")
    with pytest.raises(UnknownElementError):
        await curator.merge_entities(ACME.id, "Augusta")


async def test_everything_can_be_corrected_and_the_id_stays(scoped):
    curator = Curator(await engine_over(scoped))
    now = await curator.update_entity(
        "Ada Lovelace",
        name="Ada King",
        type="Scientist",
        description="Wrote the first program.",
        aliases=["A. K.", "Ada King"],
        labels=["famous"],
        attributes={"born": 1815},
        importance_weight=0.8,
    )
    assert [now] == list(await scoped.get_entities([ADA.id]))
    assert (now.name, now.type, now.description) == ("Ada King", "scientist", "Wrote the first program.")
    assert now.aliases[:2] == ("A. K.", "Ada Lovelace")
    assert (now.labels, dict(now.attributes), now.importance_weight) == (("famous",), {"born": 1815}, 0.8)
    for name in ("ada king", "Ada Lovelace", "Countess", "a. k."):
        assert (await curator.recall_entity(name)).entity.id == ADA.id
    assert len((await curator.recall_entity(ADA.id)).memories) == 5


async def test_nothing_to_correct_changes_nothing(scoped, clock):
    curator = Curator(await engine_over(scoped))
    before = await portrait(scoped)
    clock.advance(days=1)
    [stored] = await scoped.get_entities([ADA.id])
    assert await curator.update_entity(ADA.id) == stored
    assert await curator.update_entity(ADA.id, name="Ada Lovelace", importance_weight=0.5) == stored
    assert {**await portrait(scoped), "columns": 0} == {**before, "columns": 0}


async def test_another_way_to_write_a_name_is_no_alias(scoped):
    curator = Curator(await engine_over(scoped))
    assert (await curator.update_entity(BOB.id, name="bob  NOYCE")).aliases == ("Bob",)


async def test_a_name_that_memories_say_goes_with_them(scoped):
    memory = Memory(id="m", text="Bobby")
    bobby = person("Bobby")
    batch = Batch(named=[bobby], memories=[memory, Memory(id="n")], mentions=[mention(memory, bobby)])
    curator = Curator(await engine_over(scoped, batch))
    assert (await curator.update_entity(bobby.id, name="Robert")).aliases == ("Bobby",)
    await scoped.write(Batch(memories=[Memory(id="n")], mentions=[mention(Memory(id="n"), bobby, surface="Rob")]))
    await curator.forget("m")
    [left] = await scoped.get_entities([bobby.id])
    assert (left.name, left.aliases) == ("Robert", ("Rob",))


async def test_an_entity_that_keeps_the_name_memories_gave_it_still_loses_it_with_them(scoped):
    first, second = Memory(id="m", text="Bobby"), Memory(id="n", text="Rob")
    bobby = person("Bobby")
    mentions = [mention(first, bobby), mention(second, bobby, surface="Rob")]
    curator = Curator(await engine_over(scoped, Batch(named=[bobby], memories=[first, second], mentions=mentions)))
    assert (await curator.update_entity(bobby.id, description="A friend.")).name == "Bobby"
    await curator.forget("m")
    assert [each.name for each in await scoped.get_entities([bobby.id])] == ["Rob"]


async def test_a_name_that_no_memory_uses_stays_as_alias(scoped):
    memory = Memory(id="m")
    bobby = person("Bobby Noyce")
    batch = Batch(named=[bobby], memories=[memory], mentions=[mention(memory, bobby, surface="Bobby")])
    now = await Curator(await engine_over(scoped, batch)).update_entity(bobby.id, name="Robert")
    assert now.aliases == ("Bobby Noyce", "Bobby")


class Counting(HashEmbedder):
    """Counts the texts it embeds."""

    asked = 0

    async def embed(self, texts, *, input_type="document"):
        self.asked += len(texts)
        return await super().embed(texts, input_type=input_type)


async def test_a_new_text_is_embedded_again(scoped):
    await engine_over(scoped, embedded=True)
    embedder = Counting(16)
    curator = Curator(GraphSearchEngine(store=scoped, embedder=embedder))
    now = await curator.update_entity(ADA.id, description="quantum chess")
    vector = embedder.vector(embedding_text(now))
    hits = await scoped.search_by_embedding(ElementKind.ENTITY, vector, limit=1, view=view())
    assert ids_of(scoped, ElementKind.ENTITY, hits) == [ADA.id]
    assert hits.values == pytest.approx(np.zeros(1), abs=1e-3)
    await curator.update_entity(ADA.id, labels=["famous"])
    assert embedder.asked == 1


async def test_no_vector_is_left_of_another_text(scoped):
    await engine_over(scoped, embedded=True)
    before = await portrait(scoped)
    for embedder, error in ((None, MissingDependencyError), (HashEmbedder(8), EmbeddingModelError)):
        curator = Curator(GraphSearchEngine(store=scoped, embedder=embedder))
        with pytest.raises(error):
            await curator.update_entity(ADA.id, name="Ada King")
    assert await portrait(scoped) == before


@pytest.mark.parametrize(
    ("corrections", "message"),
    [
        ({"name": " "}, "name must not be empty"),
        ({"type": ""}, "type must not be empty"),
        ({"importance_weight": 2.0}, "importance_weight must be"),
        ({"attributes": {"x": float("nan")}}, "finite"),
        ({"name": "a\0b", "importance_weight": -1.0}, "NUL.*importance_weight"),
        ({"name": "BOB NOYCE"}, f"another person has this name, {BOB.id}: merge"),
    ],
)
async def test_what_may_not_be_is_refused(scoped, corrections, message):
    curator = Curator(await engine_over(scoped))
    before = await portrait(scoped)
    with pytest.raises(InvalidInputError, match=message):
        await curator.update_entity(ADA.id, **corrections)
    assert await portrait(scoped) == before


async def test_who_is_not_there_cannot_be_corrected(scoped):
    with pytest.raises(UnknownElementError):
        await Curator(await engine_over(scoped)).update_entity("Nobody", name="Somebody")


async def test_it_is_asked_of_the_entity_as_it_was_and_as_it_will_be(scoped):
    engine = await engine_over(scoped)
    await scoped.write(Batch(entities=[attrs.evolve(BOB, labels=(SECRET,))]))
    before = await portrait(scoped)
    curator = Curator(engine, gate=Gate(Labels(action="write"), GREG))
    for forbidden in (
        curator.update_entity(ADA.id, labels=[SECRET]),
        curator.update_entity(BOB.id, labels=[]),
        curator.update_entity(BOB.id, name="Robert"),
    ):
        with pytest.raises(AccessDeniedError):
            await forbidden
    assert await portrait(scoped) == before
    hiding = Curator(engine, gate=Gate(Labels(), GREG))
    with pytest.raises(UnknownElementError):
        await hiding.update_entity(BOB.id, name="Robert")
    assert (await hiding.update_entity(ADA.id, name="Bob Noyce")).name == "Bob Noyce"  # the other one is not disclosed


KESTREL = Entity(type="concept", name="Kestrel")
NAMED_BATCH = Batch(
    named=[KESTREL],
    memories=[Memory(id="bare"), Memory(id="typed", occurred_at=day(1))],
    mentions=[mention(Memory(id="bare"), KESTREL), mention(Memory(id="typed"), KESTREL, type="project")],
)


@pytest.mark.parametrize(
    ("corrections", "before", "after"),
    [
        ({"description": "A bird."}, "project", "concept"),
        ({"type": "bird"}, "bird", "bird"),
        ({"type": "project"}, "project", "project"),
        ({"type": "concept"}, "concept", "concept"),
        ({"name": "Falcon"}, "project", "project"),
    ],
)
async def test_a_type_of_a_mention_goes_with_its_memory_but_a_given_one_stays(scoped, corrections, before, after):
    embedder = HashEmbedder()
    await scoped.bind_embedder(embedder.name, embedder.dimensions)
    await scoped.write(NAMED_BATCH)
    curator = Curator(GraphSearchEngine(store=scoped, embedder=embedder))
    now = await curator.update_entity(KESTREL.id, **corrections)
    assert now.type == before
    if "name" in corrections or "description" in corrections:
        assert await _is_embedded(scoped, now)
    await curator.forget("typed")
    [left] = await scoped.get_entities([KESTREL.id])
    assert left == attrs.evolve(now, type=after)
    if before != after:
        assert await _is_embedded(scoped, left)


async def _is_embedded(store, entity):
    async with store.snapshot():
        vector = HashEmbedder().vector(embedding_text(entity))
        hits = await store.search_by_embedding(ElementKind.ENTITY, vector, limit=1, view=view(store.clock.now()))
        return ids_of(store, ElementKind.ENTITY, hits) == [entity.id] and hits.values[0] < 1e-3


async def test_an_engine_that_embeds_otherwise_leaves_what_is_reworded_without_a_vector(scoped):
    embedder = HashEmbedder()
    await scoped.bind_embedder(embedder.name, embedder.dimensions)
    await scoped.write(NAMED_BATCH)
    await scoped.write(Batch(vectors={KESTREL.id: embedder.vector("Kestrel (project)")}))
    await Curator(GraphSearchEngine(store=scoped, embedder=HashEmbedder(16))).forget("typed")
    async with scoped.snapshot():
        now = view(scoped.clock.now())
        assert not len(await scoped.search_by_embedding(ElementKind.ENTITY, embedder.vector("x"), limit=1, view=now))


async def test_a_merge_that_is_undone_after_the_type_was_forgotten_embeds_again(scoped):
    embedder, falcon = HashEmbedder(), Entity(type="concept", name="Falcon")
    await scoped.bind_embedder(embedder.name, embedder.dimensions)
    memory = Memory(id="other")
    await scoped.write(NAMED_BATCH)
    await scoped.write(Batch(named=[falcon], memories=[memory], mentions=[mention(memory, falcon, type="project")]))
    curator = Curator(GraphSearchEngine(store=scoped, embedder=embedder))
    made = await curator.merge_entities(falcon.id, KESTREL.id)
    await curator.forget("typed")
    assert (await scoped.get_entities([KESTREL.id]))[0].type == "project"
    report = await curator.undo_merge(made.id)
    [left] = await scoped.get_entities([KESTREL.id])
    assert (left.type, report.reworded) == ("concept", (KESTREL.id,))
    assert await _is_embedded(scoped, left)

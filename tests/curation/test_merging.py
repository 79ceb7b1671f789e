"""Merging through the curator: every touched element is authorized, invalid merges are refused, all can be undone."""

from uuid import UUID

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator
from graphsearch.errors import AccessDeniedError, InvalidInputError, UnknownElementError
from graphsearch.model import Batch, Entity, Relation
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.samples import person, portrait
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
        with pytest.raises(AccessDeniedError, match=r"^merge is denied for 1 of the \d+ elements") as caught:
            await curator.merge_entities(source.id, EVE.id, dry_run=dry_run)
        assert caught.value.denied == 1
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

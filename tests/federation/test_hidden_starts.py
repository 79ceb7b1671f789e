"""A relation that something hidden began in one scope is the one that another scope has, in a question to both."""

from datetime import UTC, datetime

import pytest

from graphsearch import ContextBuilder, GraphSearchEngine, Outcome
from graphsearch.federation.engine import FederatedEngine
from graphsearch.model import Batch, Claim, ElementKind, ElementRef, Entity, Memory
from graphsearch.testing.fakes import HashEmbedder
from tests.gates import no_secrets

ADA, OSLO = Entity(type="person", name="Ada"), Entity(type="place", name="Oslo")
HIDDEN, SHOWN = datetime(2020, 1, 1, tzinfo=UTC), datetime(2022, 1, 1, tzinfo=UTC)
QUESTION = "Where does Ada live?"


def stated(id_, since, labels=()):
    """A memory of a home, and its claim."""
    claim = Claim(
        memory_id=id_,
        source_id=ADA.id,
        type="lives_in",
        target_id=OSLO.id,
        confidence=0.8,
        valid_from=since,
        fact="Ada lives in Oslo.",
    )
    return Memory(id=id_, text="Ada lives in Oslo.", labels=labels, occurred_at=since), claim


async def engine_of(store, *memories_and_claims):
    """The engine of a scope in which a home is stated."""
    memories, claims = zip(*memories_and_claims, strict=True)
    embedder = HashEmbedder(32)
    vectors = {each.id: embedder.vector(each.name) for each in (ADA, OSLO)}
    await store.bind_embedder(embedder.name, embedder.dimensions)
    await store.write(Batch(entities=[ADA, OSLO], memories=memories, claims=claims, vectors=vectors))
    return GraphSearchEngine(store=store, embedder=embedder)


@pytest.fixture
async def homes(scopes):
    """Two scopes that state the same home; in the first something hidden says that it began earlier."""
    me = await engine_of(scopes("me"), stated("m0", HIDDEN, ("secret",)), stated("m1", SHOWN))
    return me, await engine_of(scopes("team"), stated("m1", SHOWN))


GATE = no_secrets()


async def own_id(engine):
    (relation,) = await engine.store.list_relations()
    return relation.id


async def test_it_is_one_relation_that_each_scope_has_under_its_own_id(homes):
    me, team = homes
    assert await own_id(me) != await own_id(team)
    (found,) = (await FederatedEngine(homes).search(QUESTION, gate=GATE)).triplets
    assert (found.relation.id, found.relation.valid_from) == (await own_id(team), SHOWN)
    assert found.origins == {me.store.scope: ("m1",), team.store.scope: ("m1",)}
    for engine in homes:
        assert found.id_in(engine.store.scope) == await own_id(engine)
        about = ElementRef(ElementKind.RELATION, str(found.id_in(engine.store.scope)))
        assert (await engine.explain(QUESTION, about, gate=GATE)).rank == 1


async def test_each_log_has_its_own_id_and_an_outcome_reaches_it(homes):
    builder = ContextBuilder(FederatedEngine(homes))
    await builder.build(QUESTION, gate=GATE, session_id="s-1", budget=400)
    for engine in homes:
        (entry,) = await engine.store.injections("s-1")
        (logged,) = (each for each in entry.elements if each.kind is ElementKind.RELATION)
        assert logged.key == await own_id(engine)
    report = await builder.feedback("s-1", Outcome.ACCEPTED, gate=GATE)
    assert report.missing == ()
    for engine in homes:
        (relation,) = await engine.store.list_relations()
        assert relation.feedback_weight > 0.5


async def test_a_page_of_relations_ends_at_the_id_that_a_scope_has(homes):
    me, team = homes
    ids = await own_id(me), await own_id(team)
    assert ids == tuple(sorted(ids))  # so that the first page ends before the joint id
    async with FederatedEngine(homes)._open(gate=GATE) as reader:
        page = await reader.page(limit=1)
        assert page.last == ids[0]
        assert reader.relation_ids(page.steps.rows.relations) == [ids[1]]


async def test_one_scope_alone_answers_with_its_own_id(homes):
    me, _ = homes
    (found,) = (await FederatedEngine([me]).search(QUESTION, gate=GATE)).triplets
    assert found.relation.id == found.id_in(me.store.scope) == await own_id(me)

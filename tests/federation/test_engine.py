"""Federated search: one ranking of several scopes, and the walls between them."""

import asyncio
from itertools import permutations

import pytest

from graphsearch import GraphSearchEngine, Ingestor, InMemoryGraphStore, SearchMode
from graphsearch.access.reader import Reader
from graphsearch.errors import EmbeddingModelError, InvalidInputError, UnknownScopeError
from graphsearch.federation.engine import FederatedEngine, JointReader
from graphsearch.model import Batch, Entity, Relation
from graphsearch.testing.fakes import HashEmbedder
from tests.federation.scopes import QUESTIONS, TEXTS, answers, engine_with, engines_of, member, memories_of
from tests.gates import allowing

POLICIES = pytest.mark.parametrize(
    ("scopes", "by_signature"), [("memory", False), ("postgres", True)], indirect=["scopes"]
)


def projects(found):
    return {scope.project_id for scope in found.scopes}


async def test_one_ranking_has_the_best_of_every_scope(scopes):
    federated = FederatedEngine(await engines_of(scopes))
    found = await federated.search("Where is Globex based?", limit=3)
    assert [scope.project_id for scope in found.scopes] == ["company", "me", "team"]
    best = found.triplets[0]
    assert (best.relation.fact, projects(best)) == ("Globex is based in Zurich.", {"company"})
    shared = next(each for each in found.triplets if each.relation.fact == "Ada works at Globex.")
    assert {scope.project_id: ids for scope, ids in shared.origins.items()} == {"company": ("m1",), "me": ("m1",)}
    recalled = await federated.recall("Who leads Apollo?", limit=3)
    assert {(each.memory.id, *projects(each)) for each in recalled.memories[:2]} == {("m2", "team"), ("m2", "company")}
    ranked = await federated.rank_entities("Where is Globex based?", limit=8)
    globex = next(each for each in ranked.entities if each.entity.name == "Globex")
    assert projects(globex) == {"company", "me", "team"}
    assert len({each.entity.id for each in ranked.entities}) == len(ranked.entities)


async def test_a_walk_passes_from_one_scope_to_another(scopes):
    federated = FederatedEngine(await engines_of(scopes))
    found = await federated.search("Who manages Bob?", mode=SearchMode.NEIGHBORHOOD, depth=3, limit=20)
    assert {"Ada manages Bob.", "Ada works at Globex."} <= {each.relation.fact for each in found.triplets}


async def test_a_relation_whose_end_one_scope_merged_has_the_ends_of_its_triplet(scopes):
    ada, bob, carl = (Entity(type="person", name=name) for name in ("Ada", "Bob", "Carl"))
    engines = await engines_of(scopes, {"me": (), "team": ()})
    for engine in engines:
        asserted = Relation(source_id=ada.id, type="knows", target_id=carl.id, fact="Ada knows Carl.", confidence=0.9)
        await engine.store.write(Batch(entities=[ada, bob, carl], relations=[asserted]))
    await engines[0].store.merge(ada.id, bob.id)
    for question in ("Who knows Carl?", "Who is Ada?", "Who is Bob?"):
        found = await FederatedEngine(engines).search(question, mode=SearchMode.NEIGHBORHOOD, limit=20)
        assert found.triplets
        for each in found.triplets:
            assert (each.relation.source_id, each.relation.target_id) == (each.source.id, each.target.id)


async def test_the_answers_of_a_single_scope_are_those_of_its_engine(scopes):
    engine = await engine_with(scopes("all"), memories_of([text for texts in TEXTS.values() for text in texts]))
    for question in QUESTIONS:
        for gate in (None, member(engine)):
            assert await answers(FederatedEngine([engine]), question, gate) == await answers(engine, question, gate)


async def test_the_order_of_the_scopes_does_not_matter(scopes):
    engines = await engines_of(scopes)
    for question in QUESTIONS[:1]:
        first = await answers(FederatedEngine(engines), question)
        for others in list(permutations(engines))[1::2]:
            assert await answers(FederatedEngine(others), question) == first


async def test_both_stores_answer_alike(scopes, clock):
    engines = await engines_of(scopes)
    source = InMemoryGraphStore(clock=clock)
    org = engines[0].store.scope.org_id
    others = await engines_of(lambda name: source.with_scope(org_id=org, project_id=name))
    for question in QUESTIONS:
        one = await FederatedEngine(engines).search(question, limit=9)
        other = await FederatedEngine(others).search(question, limit=9)
        assert [each.relation.id for each in one.triplets] == [each.relation.id for each in other.triplets]
        assert [each.score for each in one.triplets] == pytest.approx([each.score for each in other.triplets], abs=1e-5)
        recalled = [await FederatedEngine(each).recall(question) for each in (engines, others)]
        first, second = ([(each.memory.id, each.scopes) for each in found.memories] for found in recalled)
        assert first == second


# -- walls --------------------------------------------------------------------------------------------------------


async def test_a_scope_that_the_principal_may_not_enter_shapes_nothing(scopes):
    engines = await engines_of(scopes)
    me, team, company = engines
    gate = member(me, team)
    for question in QUESTIONS[:2]:
        without = await answers(FederatedEngine([me, team]), question, gate)
        assert await answers(FederatedEngine([me, team, company]), question, gate) == without
    found = await FederatedEngine(engines).search(QUESTIONS[2], gate=gate)
    assert not any(found.denied.values())


@POLICIES
async def test_a_scope_of_which_everything_is_hidden_shapes_nothing(scopes, by_signature):
    me, team, _ = await engines_of(scopes)
    secret = await engine_with(scopes("secret"), memories_of(TEXTS["company"], labels=("secret",)))
    gate = allowing(lambda resource: "secret" not in resource.labels, by_signature=by_signature)
    for question in QUESTIONS[:2]:
        without = await answers(FederatedEngine([me, team]), question, gate)
        assert await answers(FederatedEngine([secret, me, team]), question, gate) == without


@POLICIES
async def test_what_is_hidden_in_a_scope_shapes_nothing(scopes, by_signature):
    me, team, _ = await engines_of(scopes)
    more = [
        *memories_of(TEXTS["company"]),
        *memories_of(["Ada left Globex.", "Globex is based in Oslo."], "s", labels=("secret",)),
    ]
    hiding = await engine_with(scopes("hiding"), more)
    plain = await engine_with(scopes("hiding2"), memories_of(TEXTS["company"]))
    gate = allowing(lambda each: "secret" not in each.labels, by_signature=by_signature, statistics="visible")

    def texts(found):
        return [(each[0].text, each[1]) for each in found[2]], [(each[0].fact, each[3].value) for each in found[0]]

    for question in QUESTIONS[:2]:
        shown = texts(await answers(FederatedEngine([hiding, me, team]), question, gate))
        assert shown == texts(await answers(FederatedEngine([plain, me, team]), question, gate))


async def test_questions_at_the_same_time_share_a_single_connection(scopes):
    federated = FederatedEngine(await engines_of(scopes))
    found = await asyncio.gather(*(federated.recall(question) for question in QUESTIONS * 2))
    assert all(each.memories for each in found)


# -- refusals -----------------------------------------------------------------------------------------------------


async def test_an_unknown_scope_is_named(scopes):
    engines = await engines_of(scopes)
    nowhere = GraphSearchEngine(store=scopes("nowhere"), embedder=HashEmbedder(32))
    with pytest.raises(UnknownScopeError, match="nowhere"):
        await FederatedEngine([*engines, nowhere]).search(QUESTIONS[0])
    gate = member(*engines)  # not of the unknown one: whether it exists shows in nothing
    assert (await FederatedEngine([*engines, nowhere]).search(QUESTIONS[0], gate=gate)).triplets


async def test_scopes_are_named_once_and_are_of_one_organisation(scopes, clock):
    one = GraphSearchEngine(store=scopes("me"))
    other = GraphSearchEngine(store=InMemoryGraphStore(clock=clock).with_scope(org_id="other", project_id="me"))
    with pytest.raises(InvalidInputError, match=r"one organisation, not of acme-.*, other"):
        FederatedEngine([one, other])
    with pytest.raises(InvalidInputError, match="/me: name each scope once"):
        FederatedEngine([one, one])
    with pytest.raises(InvalidInputError, match="name a scope at least"):
        FederatedEngine([])


async def test_vectors_of_different_models_are_not_compared(scopes):
    me, _, _ = await engines_of(scopes)
    with pytest.raises(EmbeddingModelError, match="one model"):
        FederatedEngine([me, GraphSearchEngine(store=scopes("team"), embedder=HashEmbedder(16))])
    other = GraphSearchEngine(store=scopes("other"), embedder=HashEmbedder(16))
    await Ingestor(other).remember(memories_of(["Ada sings."]))
    mixed = FederatedEngine([me, GraphSearchEngine(store=scopes("other"), embedder=HashEmbedder(32))])
    with pytest.raises(EmbeddingModelError, match="/other by"):
        await mixed.recall(QUESTIONS[0])


def test_a_joint_reader_has_an_answer_of_its_own_for_every_read_of_a_question():
    inherited = {name for name in dir(Reader) if not name.startswith("_")} - vars(JointReader).keys()
    assert inherited == {
        *("entity_count", "type_of", "whenever"),  # through other methods, and the types of all
        *(
            "admitted",
            "changes",
            "counts_visible",
            "embedded",
            "is_past",
            "partial",
            "stored",
            "unchanged",
        ),  # own reads
        *("memory", "mentions", "relation", "shown", "unmerged_entities", "visible_ids"),  # of curation, explanations
        *("find_names", "find_name_words", "sees_anything", "sees_everything", "similar_names"),  # of single scopes
        "visible_relation_ids",  # of each scope, as joint ids
    }

"""Which triplets come first, through an engine on every store."""

from typing import Any
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest.write.writer import embed_facts
from graphsearch.model import Batch, Claim, Entity, Memory, RelationType
from graphsearch.modes.result import SearchMode
from graphsearch.ranking import retrieval as room
from graphsearch.ranking.triplet_relevance import PARTS
from graphsearch.ranking.triplet_score import ScoringOptions
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.gates import POLICIES, no_secrets
from tests.graphs import days_ago, edge, people, person
from tests.properties import examples
from tests.question.harbour import ENTITIES, HASHED, RELATIONS, harbour_engine, lines, meaning, related

HOPS, FACTS, BEST = SearchMode.NEIGHBORHOOD, SearchMode.TRIPLET_COMPLETION, SearchMode.GRAPH_COMPLETION


# -- what the number is made of -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [HOPS, FACTS, BEST])
async def test_the_parts_of_a_triplets_relevance_add_up_to_it(scoped, mode):
    engine = await harbour_engine(scoped)
    for question in ("who leads the Gannets?", "which crew does Orla row for?", "paraffin for North Light"):
        found = await engine.search(question, mode=mode)
        assert found.triplets
        for each in found.triplets:
            score = each.breakdown
            assert 0.0 < score.proximity <= 1.0
            assert set(score.relevance) == set(PARTS)
            assert sum(score.relevance.values()) == pytest.approx(score.proximity)
            assert score.value == pytest.approx(score.proximity_part + score.importance_part + score.feedback_part)


async def test_both_stores_and_any_order_of_writing_give_the_same(scoped):
    engine = await harbour_engine(scoped)
    other = InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="turned")
    turned = await harbour_engine(other, entities=tuple(ENTITIES.values())[::-1], relations=RELATIONS[::-1])
    for question in (
        "who leads the Gannets?",
        "which crew does Orla row for?",
        "who leads the crew that keeps Cobb Light?",
        "the lens of the beacon",
    ):
        here, there = await engine.search(question), await turned.search(question)
        assert lines(here) == lines(there)
        assert [each.score for each in here.triplets] == pytest.approx(
            [each.score for each in there.triplets], rel=1e-5
        )
        assert here.reason == there.reason
        again = await engine.search(question)
        assert [each.score for each in again.triplets] == [each.score for each in here.triplets]


# -- two hops -----------------------------------------------------------------------------------------------------


async def test_what_is_asked_of_something_one_hop_on_is_found(scoped):
    engine = await harbour_engine(scoped, embedder=meaning())
    for question, expected in {
        "Who leads the crew that keeps Cobb Light?": ("Jory Pascoe", "leads", "Petrels"),
        "who leads the crew that keeps skerry beacon?": ("Wen Carlyon", "leads", "Terns"),
        "Who leads the crew that Birdie rows for?": ("Wen Carlyon", "leads", "Terns"),
    }.items():
        for mode in (BEST, HOPS):
            found = await engine.search(question, mode=mode)
            assert expected in lines(found)[:5], (question, lines(found))
            place = lines(found).index(expected)
            score = found.triplets[place].breakdown
            assert score.relevance["hops"] > 0
            assert score.relevance["source"] == score.relevance["target"] == 0
            of_others = [each for each in lines(found) if each[1] == "leads" and each != expected]
            assert all(lines(found).index(each) > place for each in of_others)


# -- importance, feedback and reliability -------------------------------------------------------------------------


async def test_importance_and_feedback_order_what_is_equally_relevant(scoped):
    names = "Hub Low Mid High"
    rows = [edge("Hub", "knows", name, confidence=0.9) for name in ("Low", "Mid", "High")]
    weighed = {"Low": {"importance_weight": 0.1}, "Mid": {"importance_weight": 0.5}, "High": {"importance_weight": 0.9}}
    await scoped.write(people(*rows, names=names, **weighed))
    found = await GraphSearchEngine(store=scoped).search("whom does Hub know?", mode=HOPS)
    assert [each.target.name for each in found.triplets] == ["High", "Mid", "Low"]
    assert len({each.breakdown.proximity for each in found.triplets}) == 1


async def test_feedback_orders_what_is_equally_relevant(scoped):
    weights = {"Low": 0.1, "Mid": 0.5, "High": 0.9}
    rows = [edge("Hub", "knows", name, feedback_weight=weight) for name, weight in weights.items()]
    await scoped.write(people(*rows, names="Hub Low Mid High"))
    found = await GraphSearchEngine(store=scoped).search("whom does Hub know?", mode=HOPS)
    assert [each.target.name for each in found.triplets] == ["High", "Mid", "Low"]


async def test_importance_and_feedback_never_lift_what_is_not_asked_for(scoped):
    asked = (ENTITIES["Tamsin Roe"].id, "leads")
    relations = [
        attrs.evolve(each, feedback_weight=0.0 if (each.source_id, each.type) == asked else 1.0) for each in RELATIONS
    ]
    entities = [
        attrs.evolve(each, importance_weight=0.0 if each.name in {"Tamsin Roe", "Gannets"} else 1.0)
        for each in ENTITIES.values()
    ]
    engine = await harbour_engine(scoped, entities=entities, relations=relations)
    for mode in (HOPS, BEST):
        found = await engine.search("who leads the Gannets?", mode=mode)
        assert lines(found)[0] == ("Tamsin Roe", "leads", "Gannets")
        assert found.triplets[0].breakdown.feedback_part == found.triplets[0].breakdown.importance_part == 0.0


async def test_a_score_without_relevance_is_none(scoped):
    engine = await harbour_engine(scoped, scoring=ScoringOptions(feedback_influence=1.0))
    liked = await engine.search("who leads the Gannets?")
    for each in liked.triplets:
        assert each.score == pytest.approx(each.breakdown.proximity * 0.5)  # no outcome so far


async def test_confidence_orders_what_is_equally_relevant(scoped):
    rows = [edge("Hub", "knows", name, confidence=sure) for name, sure in (("Ann", 0.6), ("Bea", 0.9), ("Cal", 0.7))]
    await scoped.write(people(*rows, names="Hub Ann Bea Cal"))
    found = await GraphSearchEngine(store=scoped).search("whom does Hub know?", mode=HOPS)
    assert [each.target.name for each in found.triplets] == ["Bea", "Cal", "Ann"]


async def test_what_lasts_does_not_age_while_it_holds(scoped):
    old = [
        attrs.evolve(each, valid_from=days_ago(700), supported_at=days_ago(700)) if each.type == "leads" else each
        for each in RELATIONS
    ]
    engine = await harbour_engine(scoped, relations=old)
    assert lines(await engine.search("who leads the Gannets?"))[0] == ("Tamsin Roe", "leads", "Gannets")
    leads = RelationType(name="leads", half_life_days=30)
    for lasting in (attrs.evolve(leads, functional=True), attrs.evolve(leads, state=True)):
        await scoped.register_types([lasting])
        assert lines(await engine.search("who leads the Gannets?"))[0] == ("Tamsin Roe", "leads", "Gannets")
    await scoped.register_types([leads])  # what does not last ages
    assert lines(await engine.search("who leads the Gannets?"))[0] != ("Tamsin Roe", "leads", "Gannets")


async def test_what_no_longer_holds_is_not_in_an_answer_about_the_present(scoped):
    former = related("Jory Pascoe", "leads", "Gannets", "Jory Pascoe leads the Gannets", valid_to=days_ago(9))
    engine = await harbour_engine(scoped, relations=[*RELATIONS, former])
    for mode in (HOPS, FACTS, BEST):
        found = lines(await engine.search("who leads the Gannets?", mode=mode))
        assert ("Tamsin Roe", "leads", "Gannets") in found
        assert ("Jory Pascoe", "leads", "Gannets") not in found


# -- hubs, and what no walk reaches -------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [HOPS, BEST])
async def test_a_hubs_answer_is_found_behind_its_25_strongest_relations(scoped, mode):
    mates = [Entity(type="person", name=f"Mate N{number:02}") for number in range(40)]
    rows = [
        attrs.evolve(related("Moss Teague", "rows_for", "Terns"), source_id=each.id, confidence=0.99) for each in mates
    ]
    rows = [attrs.evolve(each, id=UUID(int=number)) for number, each in enumerate(rows, 1)]
    weak = related("Moss Teague", "guards", "Terns", "Moss Teague guards the Terns", confidence=0.55)
    engine = await harbour_engine(scoped, entities=[*ENTITIES.values(), *mates], relations=[*RELATIONS, *rows, weak])
    found = await engine.search("who guards the Terns?", mode=mode)
    assert lines(found)[0] == ("Moss Teague", "guards", "Terns")


async def test_a_fact_that_says_it_is_found_where_no_walk_leads(scoped):
    """Nothing is named, and the ends of the fact are called nothing like what is asked."""
    ends = [Entity(type="person", name=name) for name in ("Xanthe Bligh", "Yorick Dunn")]
    row = attrs.evolve(
        related("Moss Teague", "did", "Terns", "cured a seal of a fever with seaweed and honey"),
        source_id=ends[0].id,
        target_id=ends[1].id,
        id=UUID(int=5),
    )
    engine = await harbour_engine(
        scoped, embedder=meaning(), entities=[*ENTITIES.values(), *ends], relations=[*RELATIONS, row]
    )
    expected = ("Xanthe Bligh", "did", "Yorick Dunn")
    for question in ("how was the seal cured of its fever?", "did seaweed cure the seal?"):
        for seeds, depth in ((1, 0), (10, 2)):
            found = await engine.search(question, seeds=seeds, depth=depth)
            assert lines(found)[0] == expected, question
            score = found.triplets[0].breakdown
            assert score.relevance["fact_meaning"] > 0


async def test_a_fact_that_many_words_say_is_found_without_vectors(scoped):
    engine = await harbour_engine(scoped, facts=False)
    found = await engine.search("polishes the lenses of the beacon")
    assert lines(found)[0] == ("Wen Carlyon", "duty_b", "Skerry Beacon")
    assert all(each.breakdown.relevance["fact_meaning"] == 0 for each in found.triplets)


async def test_a_type_that_only_examples_describe_is_asked_for_by_them(scoped):
    engine = await harbour_engine(scoped, embedder=meaning())
    found = await engine.search("who shines up the glass of Cobb Light?")
    assert lines(found)[0] == ("Moss Teague", "duty_b", "Cobb Light")
    unnamed = [attrs.evolve(each, fact="") if each.type == "duty_b" else each for each in RELATIONS]
    other = InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="bare")
    bare = await harbour_engine(other, embedder=meaning(), relations=unnamed)
    found = await bare.search("who shines up the glass of Cobb Light?")
    assert found.interpretation is not None
    assert "duty_b" not in [each.type for each in found.interpretation.relations[:1]]


# -- how many are read --------------------------------------------------------------------------------------------


async def test_what_is_read_whole_is_limited_and_more_are_read_where_more_are_asked_for(scoped, monkeypatch):
    engine = await harbour_engine(scoped)
    whole = await engine.search("who leads the Gannets?", limit=40)
    monkeypatch.setattr(room, "READ", 3)
    few = await engine.search("who leads the Gannets?", limit=2)
    assert lines(few) == lines(whole)[:2]
    many = await engine.search("who leads the Gannets?", limit=40)
    assert lines(many) == lines(whole)
    assert many.found == few.found == whole.found


@pytest.mark.parametrize(("prior", "shown"), [(1e-4, True), (1e-7, False), (0.0, False)])
async def test_a_relation_is_ranked_however_little_reliable_but_not_shown_with_nothing(scoped, prior, shown):
    await scoped.register_types([RelationType(name="mutters_about", prior=prior)])
    rumour = related("Moss Teague", "mutters_about", "Gannets", "Moss Teague mutters about the Gannets")
    engine = await harbour_engine(scoped, relations=[*RELATIONS, rumour])
    found = await engine.search("who mutters about the Gannets?", limit=40)
    scores = [each.breakdown for each in found.triplets if each.relation.type == "mutters_about"]
    assert [each.prior for each in scores] == [prior] * shown
    assert all(each.proximity > 0.5 for each in scores)
    assert lines(found), "the others are ranked all the same"


# -- behind a gate ------------------------------------------------------------------------------------------------


@POLICIES
async def test_what_is_hidden_shapes_no_answer(scoped, by_signature):
    secret: dict[str, Any] = {"labels": ("secret",)}
    spy = Entity(type="spy", name="Orla Fane", aliases=["Gannet"], **secret)
    hidden = [
        related("Jory Pascoe", "leads", "Gannets", "Jory Pascoe secretly leads the Gannets", **secret),
        related("Jory Pascoe", "commands", "Gannets", "commands", **secret),
        attrs.evolve(related("Moss Teague", "leads", "Terns", "Orla Fane leads"), source_id=spy.id, id=UUID(int=3)),
    ]
    engine = await harbour_engine(scoped, entities=[*ENTITIES.values(), spy], relations=[*RELATIONS, *hidden])
    other = InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="bare")
    bare = await harbour_engine(other)
    gate = no_secrets(by_signature=by_signature)
    for question in ("who leads the Gannets?", "who commands the gannets?", "which crew does Orla row for?"):
        shown, without = await engine.search(question, gate=gate, mode=HOPS), await bare.search(question, mode=HOPS)
        assert shown.interpretation == without.interpretation
        assert [each.score for each in shown.triplets] == [each.score for each in without.triplets]
        assert shown.reason == without.reason
    found = await engine.search("who leads the Gannets?", gate=gate)
    assert lines(found)[0] == ("Tamsin Roe", "leads", "Gannets")
    assert ("Jory Pascoe", "leads", "Gannets") not in lines(found)
    assert lines(await engine.search("who commands the gannets?"))[0] == ("Jory Pascoe", "commands", "Gannets")


@POLICIES
async def test_a_visible_sentence_counts_in_place_of_a_hidden_one(scoped, by_signature):
    old, new = Memory(id="old", occurred_at=days_ago(9)), Memory(id="new", occurred_at=days_ago(1), labels=["secret"])
    open_ = Claim(
        memory_id="old",
        source_id=person("Ada"),
        type="met",
        target_id=person("Bob"),
        fact="Ada met Bob",
        confidence=0.8,
    )
    shut = attrs.evolve(open_, memory_id="new", fact="Ada robbed Bob of a ruby")
    plain = attrs.evolve(open_, type="paid", fact="Ada paid Bob for a ruby")
    await scoped.write(
        Batch(entities=people(names="Ada Bob").entities, memories=(old, new), claims=(open_, shut, plain))
    )
    await embed_facts(scoped, HASHED)
    engine = GraphSearchEngine(store=scoped, embedder=HASHED)
    question = "was it a ruby that Ada robbed Bob of?"
    open_to_all = {each.relation.type: each for each in (await engine.search(question)).triplets}
    assert open_to_all["met"].breakdown.relevance["fact_meaning"] > 0
    found = await engine.search(question, gate=no_secrets(by_signature=by_signature))
    gated = {each.relation.type: each for each in found.triplets}
    assert gated["met"].relation.fact == "Ada met Bob"
    await scoped.forget(["new"])
    await embed_facts(scoped, HASHED)
    alone = {each.relation.type: each for each in (await engine.search(question)).triplets}
    assert gated["met"].breakdown.relevance == alone["met"].breakdown.relevance
    assert gated["paid"].breakdown.relevance["fact_meaning"] > 0


# -- any small graph ----------------------------------------------------------------------------------------------

NAMES = ["Ada", "Bob", "Cyd", "Dan"]
rows = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(["knows", "leads", "pays"]),
        st.sampled_from(NAMES),
        st.sampled_from([0.5, 0.8]),
    ),
    max_size=8,
    unique_by=lambda row: row[:3],
)
questions = st.lists(st.sampled_from(["who", "leads", "Ada", "bob", "pays", "what", "of", "Zoe", "?"]), max_size=5)


@examples(15)
@given(rows, questions.map(" ".join))
async def test_any_answer_is_in_order_in_range_and_the_same_again(found, question):
    store = InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="any")
    relations = [edge(*row[:3], confidence=row[3], fact=" ".join(row[:3])) for row in found]
    await store.write(people(*relations, names=" ".join(NAMES)))
    await embed_facts(store, HASHED)
    engine = GraphSearchEngine(store=store, embedder=HASHED)
    for mode in (HOPS, FACTS, BEST):
        answer = await engine.search(question, mode=mode, limit=5)
        scores = [each.score for each in answer.triplets]
        assert scores == sorted(scores, reverse=True)
        assert all(0.0 <= each <= 1.0 for each in scores)
        assert bool(answer.reason) == (not answer.triplets)
        again = await engine.search(question, mode=mode, limit=5)
        assert (again.triplets, again.interpretation, again.reason) == (
            answer.triplets,
            answer.interpretation,
            answer.reason,
        )

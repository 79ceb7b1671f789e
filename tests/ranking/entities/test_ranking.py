"""The entities that a question asks for, on every store: their order, their numbers by hand, and what moves them."""

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import EmbeddingModelError, InvalidInputError, UnknownScopeError
from graphsearch.model import Batch, ElementKind, ElementRef, Entity, Memory, Mention, Outcome
from graphsearch.model.codec import encode
from graphsearch.ranking.entity_ranking import Ranking, RankingWeights, RankRequest, Years
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.text.analyser import Analyser
from tests.gates import POLICIES, no_secrets
from tests.ranking.entities.office import (
    BECERRA,
    CALIFORNIA,
    ENTITIES,
    HARRIS,
    LONE,
    OFFICE,
    office,
    person,
    relation,
    year,
)

WHO = "Who was attorney general of California in 2020?"


def names(result):
    return [each.entity.name for each in result.entities]


def values(found):
    return {factor.name: factor.value for factor in found.factors}


async def test_who_was_it_in_2020(scoped):
    engine = await office(scoped)
    result = await engine.rank_entities(WHO)
    assert names(result)[0] == "Xavier Becerra"
    becerra, harris = (
        next(each for each in result.entities if each.entity.name == name)
        for name in ("Xavier Becerra", "Kamala Harris")
    )
    assert (values(becerra)["temporal"], values(harris)["temporal"]) == (1.0, 0.3)
    assert (becerra.dates, harris.dates) == ((Years(2017, 2021),), (Years(2011, 2017),))
    assert (result.reason, result.found, result.ranking) == ("", 4, Ranking.QUESTION_AWARE)


async def test_rrf_is_the_sum_of_reciprocal_ranks(scoped):
    engine = await office(scoped)
    result = await engine.rank_entities(WHO, ranking=Ranking.RRF, limit=20)
    sums = [sum(1 / (60 + part.rank) for part in each.channels.values()) for each in result.entities]
    assert [part.contribution for each in result.entities for part in each.channels.values()] == pytest.approx(
        [1 / (60 + part.rank) for each in result.entities for part in each.channels.values()]
    )
    assert {name for each in result.entities for name in each.channels} <= {"relations", "lexical", "semantic"}
    assert [values(each)["original"] for each in result.entities] == pytest.approx([each / max(sums) for each in sums])
    assert sums == sorted(sums, reverse=True)
    explained = await engine.explain(WHO, ElementRef(ElementKind.ENTITY, str(BECERRA.id)), ranking=Ranking.RRF)
    assert explained.score == next(each.score for each in result.entities if each.entity.id == BECERRA.id)


async def test_every_number_by_hand(scoped):
    """Without an embedder. The greatest number of connections is that of Harris: 3."""
    engine = await office(scoped)
    result = await engine.rank_entities(WHO, ranking=Ranking.QUESTION_AWARE)
    by_name = {each.entity.name: each for each in result.entities}
    assert sorted(each.channels["lexical"].rank for each in result.entities) == [1, 2, 3, 4]
    original = {name: sum(part.contribution for part in each.channels.values()) for name, each in by_name.items()}
    for name, each in by_name.items():
        assert each.channels["importance"].contribution == pytest.approx(0.15)  # 0.3 · 0.5
        assert values(each)["original"] == pytest.approx(original[name] / max(original.values()))
    becerra = by_name["Xavier Becerra"]
    # terms: attorney, general, california, 2020. Nothing in the name, 3 of 4 in the description, 2 of 4 in connected
    # names ("Attorney General's Office"), none in "term_start 2017 term_end 2021"; "California" stands whole.
    # (1.5 · 3/4 + 1.0 · 2/4 + 2.0) / 9 = 3.625 / 9. By words Becerra is as good as Harris, whom no other comes before.
    expected = {
        "original": (1.0, 0.30),
        "connection": (0.666666667, 0.15),
        "temporal": (1.0, 0.20),
        "query_match": (0.402777778, 0.20),
        "entity_type": (1.0, 0.15),
    }
    assert {factor.name: (factor.value, factor.weight) for factor in becerra.factors} == {
        name: pytest.approx(pair) for name, pair in expected.items()
    }
    assert becerra.relevance == pytest.approx(0.830555556)  # 0.3 + 0.1 + 0.2 + 0.080555556 + 0.15, the best
    assert becerra.score == pytest.approx(0.85)  # 0.7 · 1 + 0.3 · 0.5


async def test_connections_are_returned_with_each_entity(scoped):
    engine = await office(scoped)
    result = await engine.rank_entities(WHO)
    shown = {
        each.entity.name: (each.connections, each.connected_names, each.relation_types) for each in result.entities
    }
    assert shown["Kamala Harris"] == (
        3,
        ("Attorney General's Office", "California", "Xavier Becerra"),
        ("knows", "leads", "lives_in"),
    )
    assert shown["Attorney General's Office"][2] == ("leads", "located_in")
    assert shown["Xavier Becerra"][:2] == (2, ("Attorney General's Office", "Kamala Harris"))


async def test_what_leads_to_itself_counts_once_and_a_neighbour_is_named_once(scoped):
    ada, bob = person("Ada"), person("Bob")
    relations = [relation(ada, "knows", ada), relation(ada, "knows", bob), relation(ada, "manages", bob)]
    engine = await office(scoped, entities=(ada, bob), relations=relations)
    (found,) = (await engine.rank_entities("Ada")).entities
    assert (found.connections, found.connected_names) == (3, ("Bob",))


async def test_ten_names_are_returned_those_of_the_most_reliable_relations(scoped):
    hub, others = person("Hub"), [person(f"P{number:02}") for number in range(14)]
    relations = [relation(hub, "knows", other, confidence=0.6 + number / 100) for number, other in enumerate(others)]
    engine = await office(scoped, entities=(hub, *others), relations=relations)
    (found,) = (await engine.rank_entities("Hub")).entities
    assert (found.connections, found.connected_names) == (14, tuple(f"P{number:02}" for number in range(13, 3, -1)))


async def test_words_and_meaning_are_fused(scoped):
    engine = await office(scoped, embedded=True)
    result = await engine.rank_entities("attorney general", ranking="connection")
    first = result.entities[0]
    # An embedder that states no weight has 0.5, of which the cosine has twice as much.
    assert {name: part.weight for name, part in first.channels.items()} == {
        "lexical": 1.0,
        "semantic": 1.0,
        "importance": 0.3,
    }
    for part in first.channels.values():
        assert part.contribution == pytest.approx(part.weight * part.score)
    near = [each.channels["semantic"].score for each in result.entities if "semantic" in each.channels]
    assert all(score > 0.0 for score in near), "what is as far as the unrelated is not near"
    assert "Lone Ranger" in names(await engine.rank_entities("ranger", ranking="rrf"))


@pytest.mark.parametrize(
    ("ranking", "weights"),
    [
        ("rrf", {"original": 1.0}),
        ("connection", {"original": 0.7, "connection": 0.3}),
        ("temporal", {"original": 0.5, "connection": 0.2, "temporal": 0.3}),
        ("multi_factor", {"original": 0.35, "connection": 0.15, "temporal": 0.25, "query_match": 0.25}),
    ],
)
async def test_each_ranking_has_its_weights(scoped, ranking, weights):
    engine = await office(scoped)
    best = (await engine.rank_entities(WHO, ranking=ranking)).entities[0]
    assert {factor.name: factor.weight for factor in best.factors} == pytest.approx(weights)


async def test_weights_of_ones_own(scoped):
    engine = await office(scoped)
    best = (await engine.rank_entities(WHO, weights=RankingWeights(connection=1.0))).entities[0]
    assert (best.connections, [factor.name for factor in best.factors]) == (3, ["connection"])


async def test_limits(scoped):
    engine = await office(scoped)
    assert len((await engine.rank_entities(WHO, limit=2)).entities) == 2
    narrow = await engine.rank_entities(WHO, candidates=1)
    assert (len(narrow.entities), narrow.found) == (1, 4)
    everything = await engine.rank_entities(WHO)
    floor = everything.entities[1].score
    assert names(await engine.rank_entities(WHO, min_score=floor)) == names(everything)[:2]


async def test_nothing_relevant_is_an_empty_result_that_says_so(scoped):
    engine = await office(scoped)
    for query, reason in {
        "": "nothing was asked",
        "  ": "nothing was asked",
        "the of and": "no visible entity shares a word or a meaning",
        "quasar": "no visible entity shares a word or a meaning",
        "&|! <-> (x": "no visible entity shares a word or a meaning",
    }.items():
        result = await engine.rank_entities(query)
        assert (result.entities, result.found) == ((), 0)
        assert reason in result.reason
    nothing = await engine.rank_entities(WHO, min_score=1.0)
    assert (nothing.entities, nothing.found) == ((), 4)
    assert nothing.reason == "none of 4 entities scores 1 or more"


async def test_a_very_long_question_in_another_script(scoped):
    engine = await office(scoped, embedded=True)
    assert "California" in names(await engine.rank_entities("加利福尼亚州 " * 3_000 + "Golden State"))


async def test_diversity_passes_over_what_repeats(scoped):
    twins = [Entity(type=kind, name="Storage Team", description="keeps the disks") for kind in ("team", "guild")]
    other = Entity(type="project", name="Storage rewrite", description="a new format")
    engine = await office(scoped, entities=(*twins, other), relations=())
    plain = await engine.rank_entities("storage team", limit=2)
    assert names(plain) == ["Storage Team", "Storage Team"]
    diverse = await engine.rank_entities("storage team", limit=2, diversity=0.6)
    assert names(diverse) == ["Storage Team", "Storage rewrite"]


async def test_feedback_moves_a_score_by_its_share(scoped):
    engine = await office(scoped)
    before = {each.entity.id: each for each in (await engine.rank_entities(WHO)).entities}
    await scoped.apply_outcome("s1", Outcome.ACCEPTED, [ElementRef(ElementKind.ENTITY, str(HARRIS.id))])
    after = {each.entity.id: each for each in (await engine.rank_entities(WHO)).entities}
    assert after[HARRIS.id].score - before[HARRIS.id].score == pytest.approx(0.015)  # 0.3 · 0.05
    assert after[BECERRA.id].score == before[BECERRA.id].score


async def test_times(scoped):
    old = person("Ada Old", valid_from=year(2000), valid_to=year(2010))
    new = person("Ada New", valid_from=year(2010))
    past = relation(new, "knows", LONE, valid_to=year(2020))
    engine = await office(scoped, entities=(old, new, LONE), relations=[past])
    assert names(await engine.rank_entities("Ada")) == ["Ada New"]
    assert names(await engine.rank_entities("Ada", as_of=year(2005))) == ["Ada Old"]
    (found,) = (await engine.rank_entities("Ada in 2015", as_of=year(2015))).entities
    assert (found.connections, found.dates, values(found)["temporal"]) == (1, (Years(2010, None),), 0.8)
    assert (await engine.rank_entities("Ada")).entities[0].connections == 0
    assert (await engine.rank_entities("Ada", known_at=year(2015))).entities == ()


async def test_attributes_and_labels_match(scoped):
    city = Entity(
        type="place",
        name="Springfield",
        attributes={"twin": {"towns": ["Shelbyville", 7]}, "motto": None},
        labels=["harbour"],
    )
    engine = await office(scoped, entities=(city,), relations=())
    (plain,) = (await engine.rank_entities("springfield")).entities
    (found,) = (await engine.rank_entities("springfield shelbyville harbour")).entities
    assert values(plain)["query_match"] == pytest.approx(0.333333333)  # 3 of 9
    assert values(found)["query_match"] == pytest.approx(0.166666667)  # a third of 3 + 1 + 0.5, of 9


async def test_words_are_those_of_the_stores_analyser():
    first_letters = Analyser(name="first-letters/1", stem=lambda word: word[:3])
    store = InMemoryGraphStore(analyser=first_letters).with_scope(org_id="acme", project_id="web")
    engine = await office(store)
    assert "California" in names(await engine.rank_entities("calamity"))


async def test_who_stands_at_the_other_end_of_what_is_asked_comes_first(scoped):
    engine = await office(scoped)
    for query, answer in {
        "Who leads the Attorney General's Office?": "Xavier Becerra",
        "Where does Kamala Harris live?": "California",
    }.items():
        found = (await engine.rank_entities(query, ranking="rrf")).entities[0]
        assert (found.entity.name, found.channels["relations"].score) == (answer, 1.0)
    alone = (await engine.rank_entities("Kamala Harris")).entities
    assert all("relations" not in each.channels for each in alone), "a name alone asks for what it names"


async def test_an_answer_that_is_found_by_nothing_else_is_there(scoped):
    ada, others = person("Ada"), [person(f"P{number:03}", description="knows Ada") for number in range(120)]
    stranger = person("Zed")
    engine = await office(scoped, entities=(ada, stranger, *others), relations=[relation(ada, "knows", stranger)])
    found = (await engine.rank_entities("Whom does Ada know?")).entities[0]
    assert (found.entity.name, sorted(found.channels)) == ("Zed", ["importance", "relations"])


async def test_where_nothing_is_named_connections_count_for_nothing(scoped):
    keeper = person("Zed", description="tends the lamps")
    engine = await office(scoped, entities=(*ENTITIES, keeper))
    for query, counted in {"somebody who tends lamps": False, "who knows Kamala Harris": True}.items():
        best = (await engine.rank_entities(query)).entities[0]
        assert ({"connection", "query_match"} <= values(best).keys()) == counted


# -- gates --------------------------------------------------------------------------------------------------------


@POLICIES
async def test_what_is_hidden_counts_for_nothing(scoped, by_signature):
    spy = person("Spy of California", labels=["secret"])
    hidden = [relation(BECERRA, "pays", spy), relation(BECERRA, "owes", CALIFORNIA, labels=["secret"])]
    entities, relations = (BECERRA, HARRIS, OFFICE, CALIFORNIA), [relation(HARRIS, "leads", OFFICE)]
    engine = await office(scoped, entities=(*entities, spy), relations=[*relations, *hidden])
    result = await engine.rank_entities(WHO, gate=no_secrets(by_signature=by_signature))
    assert "Spy of California" not in names(result)
    entities_by_name = {each.entity.name: each for each in result.entities}
    assert entities_by_name["Xavier Becerra"].connections == 0
    assert entities_by_name["Xavier Becerra"].connected_names == ()
    assert sum(result.denied.values()) >= 2
    open_ = await engine.rank_entities(WHO)
    assert {each.entity.name: each.connections for each in open_.entities}["Xavier Becerra"] == 2


@POLICIES
async def test_an_alias_that_only_a_hidden_memory_tells_scores_nothing(scoped, by_signature):
    ada, countess = person("Ada"), person("Countess Báthory")
    await office(scoped, entities=(ada, countess), relations=())
    memory = Memory(id="m1", text="The Countess was here.", labels=["secret"])
    mention = Mention(memory_id="m1", entity_id=ada.id, surface="The Countess")
    await scoped.write(Batch(memories=[memory], mentions=[mention]))
    engine = GraphSearchEngine(store=scoped)
    gate = no_secrets(by_signature=by_signature)
    assert set(names(await engine.rank_entities("countess"))) == {"Ada", "Countess Báthory"}
    gated = await engine.rank_entities("countess", gate=gate)
    assert names(gated) == ["Countess Báthory"]
    (found,) = (await engine.rank_entities("Ada", gate=gate)).entities
    assert found.entity.aliases == ()


async def test_hidden_aliases_take_nobodys_place(scoped):
    """More entities have the word by a hidden alias than a search gives: it is asked again."""
    named = person("Zed Quorum")
    called = [person(f"P{number:03}") for number in range(130)]
    memory = Memory(id="m1", text="quorum", labels=["secret"])
    mentions = [Mention(memory_id="m1", entity_id=each.id, surface="quorum") for each in called]
    await scoped.write(Batch(entities=[named, *called], memories=[memory], mentions=mentions))
    engine = GraphSearchEngine(store=scoped)
    assert (await engine.rank_entities("quorum")).found == 100
    result = await engine.rank_entities("quorum", gate=no_secrets(by_signature=False))
    assert (names(result), result.found) == (["Zed Quorum"], 1)


# -- faults -------------------------------------------------------------------------------------------------------


async def test_bad_requests_are_refused_with_every_fault(scoped):
    engine = await office(scoped)
    with pytest.raises(InvalidInputError) as error:
        await engine.rank_entities("\0", ranking="best", limit=0, candidates=0, min_score=2, diversity=-1)
    assert len(error.value.faults) == 6
    with pytest.raises(InvalidInputError, match="timezone-aware"):
        RankRequest(query="x", as_of=year(2020).replace(tzinfo=None))


async def test_an_unknown_scope_and_another_model_are_errors(scoped):
    with pytest.raises(UnknownScopeError):
        await GraphSearchEngine(store=scoped).rank_entities("Ada")
    await office(scoped, embedded=True)
    with pytest.raises(EmbeddingModelError):
        await GraphSearchEngine(store=scoped, embedder=HashEmbedder(16)).rank_entities("Ada")


async def test_json(scoped):
    engine = await office(scoped)
    data = encode(await engine.rank_entities(WHO, limit=1))
    (best,) = data["entities"]
    assert (data["analysis"]["question_type"], best["entity"]["name"], best["dates"]) == (
        "who",
        "Xavier Becerra",
        [{"first": 2017, "last": 2021}],
    )
    assert sum(part["contribution"] for part in best["parts"]) == pytest.approx(best["score"])

"""What connects the entities that a question names, on every store."""

from itertools import pairwise

import pytest

from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch, Entity, Relation, RelationType
from graphsearch.modes.result import SearchMode
from graphsearch.question.analysis import Plan
from graphsearch.ranking.triplet_score import MAX_NAMES, ScoringOptions
from graphsearch.testing.fakes import NOON
from graphsearch.traversal.pagerank import PersonalizedPageRank
from tests.gates import allowing
from tests.graphs import edge, people, person
from tests.question.harbour import meaning

HOPS = SearchMode.NEIGHBORHOOD
QUESTION = "who on Xia's team worked with Yan?"
NOW = {"supported_at": NOON}


def team(**yan):
    """Xia and Zed report to Mia; Zed works with Yan, Wim with nobody of the team."""
    return (
        edge("Xia", "reports_to", "Mia", confidence=0.95, **NOW),
        edge("Zed", "reports_to", "Mia", confidence=0.90, **NOW),
        edge("Zed", "collaborated_with", "Yan", **{"confidence": 0.95, **NOW, **yan}),
        edge("Wim", "collaborated_with", "Pat", confidence=0.95, **NOW),
    )


NAMES = "Mia Pat Wim Xia Yan Zed"


def hiding(*names):
    return allowing(lambda resource: resource.name not in names)


@pytest.fixture
async def engine(scoped):
    return GraphSearchEngine(store=scoped)


def scores(found):
    return {connection.entity.name: round(connection.score, 6) for connection in found.connections}


def ways(connection):
    """From whom, through whom."""
    return {path.entities[0].name: [entity.name for entity in path.entities[1:]] for path in connection.paths.values()}


# -- the worked example -------------------------------------------------------------------------------------------


async def test_who_on_the_team_of_one_worked_with_another(engine):
    works = RelationType(name="collaborated_with", prior=1.0, half_life_days=30.0)
    await engine.store.register_types([works])
    await engine.store.write(people(*team(), names=NAMES))
    found = await engine.search(QUESTION, mode=HOPS)
    assert [anchor.name for anchor in found.anchors] == ["Xia", "Yan"]
    zed = next(each for each in found.connections if each.entity.name == "Zed")
    # from Xia: two hops, min(0.95, 0.90); from Yan: one hop, 0.95; hop score of the longer: 0.35
    assert zed.score == pytest.approx(min(0.90, 0.95) * 0.35)
    assert ways(zed) == {"Xia": ["Mia", "Zed"], "Yan": ["Zed"]}
    reports, leads, works_with, _ = team()
    paths = {path.entities[0].name: path for path in zed.paths.values()}
    assert set(zed.paths) == {person("Xia"), person("Yan")}
    assert [relation.id for relation in paths["Xia"].relations] == [reports.id, leads.id]
    assert [relation.id for relation in paths["Yan"].relations] == [works_with.id]
    assert (paths["Xia"].strength, paths["Yan"].strength) == pytest.approx((0.90, 0.95))
    assert scores(found) == {"Zed": 0.315, "Mia": 0.315}
    shown = {triplet.relation.id for triplet in found.triplets}
    assert {reports.id, leads.id, works_with.id} <= shown
    assert found.analysis.plan is Plan.ENTITY_CENTRIC


async def test_the_prior_and_the_age_of_a_type_count_on_a_path(engine):
    await engine.store.write(people(*team(), names=NAMES))
    found = await engine.search(QUESTION, mode=HOPS)
    assert scores(found)["Zed"] == pytest.approx(0.95 * 0.8 * 0.35)  # collaborated_with has prior 0.8
    later = NOON.replace(month=2, day=14)  # thirty days: half of what was
    assert scores(await engine.search(QUESTION, mode=HOPS, as_of=later))["Zed"] == pytest.approx(
        0.95 * 0.8 * 0.5 * 0.35, abs=1e-6
    )


async def test_a_team_that_is_asked_for_is_no_third_name(engine):
    """The worked question as people write it, in a scope that has a team of that name."""
    rows = [edge(name, "belongs_to", "Platform Team", confidence=sure) for name, sure in (("Ann", 0.9), ("Bea", 0.95))]
    people_ = [Entity(type="person", name=name) for name in ("Ann", "Bea")]
    await engine.store.write(Batch(entities=[*people_, Entity(type="person", name="Platform Team")], relations=rows))
    for question in ("is Ann on Bea's team?", "Is Ann on Bea’s team?", "who of Bea's team knows Ann?"):
        found = await engine.search(question, mode=HOPS)
        assert [anchor.name for anchor in found.anchors] in (["Ann", "Bea"], ["Bea", "Ann"])
        assert scores(found) == {"Platform Team": pytest.approx(0.54)}


async def test_blocks_show_what_two_names_lead_to(scoped):
    """By default, with nothing else to say; but not where the words ask for a relation."""
    names = ("Ann", "Bea", "Dora")
    rows = [
        edge(name, "belongs_to", "Hub", confidence=sure) for name, sure in zip(names, (0.9, 0.95, 0.9), strict=True)
    ]
    rows += [edge("Fay", "sings_with", "Gus"), edge("Gus", "paints", "Fay"), edge("Ines", "repairs", "Gus")]
    await scoped.write(people(*rows, names="Ann Bea Dora Hub Fay Gus Ines"))
    await scoped.bind_embedder(meaning().name, meaning().dimensions)
    engine = GraphSearchEngine(store=scoped, embedder=meaning())
    for question in ("what do Ann and Bea share?", "how is Ann related to Bea?"):
        found = await engine.search(question)
        assert scores(found)["Hub"] == 0.54
        block = await ContextBuilder(engine).build(question, gate=hiding(), session_id=question)
        assert "- Ann --belongs_to--> Hub" in block.text
        assert "- Bea --belongs_to--> Hub" in block.text
    assert not (await engine.search("does Ann sing with Bea?")).triplets


# -- what is a connection -----------------------------------------------------------------------------------------


async def test_one_name_connects_nothing_and_two_apart_neither(engine):
    await engine.store.write(people(*team(), names=NAMES))
    assert (await engine.search("who is Xia?", mode=HOPS)).connections == ()
    assert (await engine.search("what of Xia and Pat?", mode=HOPS)).connections == ()
    assert (await engine.search("what of Nobody?", mode=HOPS)).connections == ()


async def test_three_names_must_all_lead_there(engine):
    spokes = [edge(name, "knows", "Hub", confidence=sure) for name, sure in (("Ann", 0.9), ("Bea", 0.8), ("Cyd", 0.7))]
    await engine.store.write(people(*spokes, edge("Ann", "knows", "Bea"), names="Ann Bea Cyd Hub"))
    found = await engine.search("what do Ann, Bea and Cyd share?", mode=HOPS)
    assert scores(found) == {"Hub": pytest.approx(0.7 * 0.6)}
    assert ways(found.connections[0]) == {"Ann": ["Hub"], "Bea": ["Hub"], "Cyd": ["Hub"]}
    only_two = await engine.search("what do Ann and Bea share?", mode=HOPS)
    assert scores(only_two) == {"Hub": pytest.approx(0.8 * 0.6), "Cyd": pytest.approx(0.7 * 0.35)}


async def test_a_name_of_several_entities_leads_where_any_of_them_does(engine):
    other = Entity(type="project", name="Ann")
    to_hub = Relation(source_id=other.id, type="knows", target_id=person("Hub"))
    batch = people(edge("Bea", "knows", "Hub"), names="Ann Bea Hub")
    await engine.store.write(Batch(entities=(*batch.entities, other), relations=(*batch.relations, to_hub)))
    (hub,) = (await engine.search("what do Ann and Bea share?", mode=HOPS)).connections
    assert set(hub.paths) == {other.id, person("Bea")}


async def test_the_best_comes_first_and_no_more_than_asked_for(engine):
    links = [
        edge(name, "knows", hub, confidence=sure)
        for hub, sure in (("Hut", 0.6), ("Hub", 0.9), ("Hob", 0.6))
        for name in ("Ann", "Bea")
    ]
    await engine.store.write(people(*links, names="Ann Bea Hob Hub Hut"))
    found = await engine.search("Ann and Bea", mode=HOPS)
    last = sorted(["Hob", "Hut"], key=person)  # ties by id
    assert [each.entity.name for each in found.connections] == ["Hub", *last]
    assert len((await engine.search("Ann and Bea", mode=HOPS, limit=2)).connections) == 2
    assert scores(await engine.search("Ann and Bea", mode=HOPS, min_score=0.5)) == {"Hub": 0.54}


async def test_a_path_has_the_fewest_hops_then_the_surest_last_relation(engine):
    links = [
        edge("Ann", "knows", "Via", confidence=0.6),
        edge("Ann", "knows", "Way", confidence=0.9),
        edge("Via", "knows", "Hub", confidence=0.9),
        edge("Way", "knows", "Hub", confidence=0.7),
        edge("Bea", "knows", "Hub", confidence=1.0),
    ]
    await engine.store.write(people(*links, names="Ann Bea Hub Via Way"))
    hub = next(
        each for each in (await engine.search("Ann and Bea", mode=HOPS)).connections if each.entity.name == "Hub"
    )
    assert ways(hub)["Ann"] == ["Via", "Hub"]
    assert hub.score == pytest.approx(0.6 * 0.35)


async def test_hops_are_bounded_and_beyond_the_table_nothing_counts(engine):
    line = ["Ann", "Bob", "Cyd", "Dan", "Eve", "Bea"]
    links = [edge(one, "knows", other) for one, other in pairwise(line)]
    await engine.store.write(people(*links, names=" ".join(line)))
    assert scores(await engine.search("Ann and Bea", mode=HOPS, max_hops=2)) == {}
    assert scores(await engine.search("Ann and Bea", mode=HOPS)) == {"Cyd": 0.15, "Dan": 0.15}
    await engine.store.register_types([RelationType(name="knows", hop_scores=(1.0, 0.5, 0.2))])
    assert scores(await engine.search("Ann and Bea", mode=HOPS)) == {}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"path_confidence": "product"}, 0.8 * 0.9 * 0.35),
        ({"combine": "worst"}, 0.35),
        ({"hop_table": "by_confidence"}, 0.8 * 0.5 * 0.8),
    ],
)
async def test_the_alternatives_of_the_score(scoped, options, expected):
    links = [
        edge("Ann", "knows", "Via", confidence=0.8),
        edge("Via", "knows", "Hub", confidence=0.9),
        edge("Bea", "knows", "Hub", confidence=0.9),
    ]
    await scoped.write(people(*links, names="Ann Bea Hub Via"))
    engine = GraphSearchEngine(store=scoped, scoring=ScoringOptions(**options))
    hub = next(
        each for each in (await engine.search("Ann and Bea", mode=HOPS)).connections if each.entity.name == "Hub"
    )
    assert hub.score == pytest.approx(expected)


async def test_other_traversals_connect_too(scoped):
    await scoped.write(people(*team(), names=NAMES))
    engine = GraphSearchEngine(store=scoped, traversal=PersonalizedPageRank())
    found = await engine.search(QUESTION, mode=HOPS)
    assert scores(found)["Zed"] == pytest.approx(0.95 * 0.8 * 0.35)


async def test_of_many_names_it_is_not_asked_what_they_share(engine):
    names = [f"N{chr(97 + number)}n" for number in range(MAX_NAMES + 1)]
    links = [edge(name, "knows", "Hub") for name in names]
    await engine.store.write(people(*links, names=" ".join([*names, "Hub"])))
    assert scores(await engine.search(" and ".join(names[:-1]), mode=HOPS))["Hub"] == 0.6
    assert scores(await engine.search(" and ".join(names), mode=HOPS)) == {}


# -- behind a gate ------------------------------------------------------------------------------------------------


async def test_a_path_never_leads_through_what_is_hidden(engine):
    round_about = [edge("Xia", "knows", "Wim", confidence=0.6), edge("Wim", "knows", "Zed", confidence=0.6)]
    await engine.store.write(people(*team(), *round_about, names=NAMES))
    zed = next(
        each
        for each in (await engine.search(QUESTION, mode=HOPS, gate=hiding("Mia"))).connections
        if each.entity.name == "Zed"
    )
    assert ways(zed)["Xia"] == ["Wim", "Zed"]
    assert zed.score == pytest.approx(0.6 * 0.35)
    assert (await engine.search(QUESTION, mode=HOPS, gate=hiding("Zed"))).connections == ()
    hidden = await engine.search(QUESTION, mode=HOPS, gate=hiding("Yan"))
    assert ([anchor.name for anchor in hidden.anchors], hidden.connections) == (["Xia"], ())

"""The relevance floor, the reasons of empty answers, and triplets that differ, on every store."""

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.modes.options import SearchMode
from graphsearch.query.plan import Plan
from graphsearch.scoring.similarity import alike_in_terms
from graphsearch.scoring.triplet_score import ScoringOptions
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.text.rendering import triplet_line
from tests.gates import allowing
from tests.graphs import edge, people

HOPS, FACTS = SearchMode.NEIGHBORHOOD, SearchMode.TRIPLET_COMPLETION
ONLY_HOPS = ScoringOptions(feedback_influence=0.0, importance_influence=0.0)
LINKS = [edge("Ada", "knows", name, confidence=sure) for name, sure in (("Bob", 0.9), ("Cyd", 0.7), ("Dan", 0.5))]
DENYING = allowing(lambda _: False, by_signature=True)


@pytest.fixture
async def engine(scoped):
    await scoped.write(people(*LINKS, names="Ada Bob Cyd Dan Eve"))
    return GraphSearchEngine(store=scoped, scoring=ONLY_HOPS, embedder=HashEmbedder(16))


# -- the floor ----------------------------------------------------------------------------------------------------


async def test_what_scores_less_than_the_floor_is_left_out_and_counted(engine):
    for floor, left in ((0.0, 3), (0.5, 3), (0.6, 2), (0.9, 1), (0.95, 0)):
        found = await engine.search("Ada", mode=HOPS, min_score=floor)
        assert len(found.triplets) == left
        assert (found.found, found.below_floor) == (3, 3 - left)
    assert found.reason == "none of 3 relations scores 0.95 or more"
    assert len((await engine.search("Ada", mode=HOPS, min_score=0.6, limit=1)).triplets) == 1


@pytest.mark.parametrize("option", ["min_score", "diversity"])
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
async def test_options_out_of_range_are_refused(engine, option, value):
    with pytest.raises(InvalidInputError, match=option):
        await engine.search("Ada", mode=HOPS, **{option: value})


# -- reasons ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "mode", "reason"),
    [
        ("", HOPS, "nothing was asked"),
        (" \n", SearchMode.GRAPH_COMPLETION, "nothing was asked"),
        ("where is it?", HOPS, "the question names nothing known"),
        ("what of Eve?", HOPS, "nothing that is known of Eve answers what is asked"),
        ("Ada?", SearchMode.GRAPH_COMPLETION, ""),
        ("who taught Zoe?", SearchMode.GRAPH_COMPLETION, "nothing is known of Zoe"),
        ("what about teaching?", SearchMode.GRAPH_COMPLETION, "nothing that is known has to do with the question"),
        ("what of Ada?", FACTS, "nothing that is known of Ada answers what is asked"),
        ("what of Ada?", HOPS, ""),
    ],
)
async def test_an_empty_answer_says_why(engine, question, mode, reason):
    found = await engine.search(question, mode=mode)
    assert found.reason == reason
    assert bool(found.triplets) == (not reason)


async def test_what_is_hidden_is_no_reason_of_its_own(engine):
    hidden = await engine.search("what of Ada?", mode=HOPS, gate=DENYING)
    absent = await engine.search("what of Zoe?", mode=HOPS)
    assert hidden.reason == absent.reason == "the question names nothing known"
    for mode in (SearchMode.GRAPH_COMPLETION, FACTS):
        reasons = [
            (await engine.search(f"who knows {name}?", mode=mode, gate=DENYING)).reason for name in ("Ada", "Zoe")
        ]
        assert reasons == ["nothing is known of Ada", "nothing is known of Zoe"]


async def test_the_plan_comes_with_the_answer(engine):
    assert (await engine.search("what of Ada?", mode=HOPS)).analysis.plan is Plan.ENTITY_CENTRIC
    assert (await engine.search("what of Zoe in 2019?", mode=HOPS)).analysis.plan is Plan.TEMPORAL


# -- diversity ----------------------------------------------------------------------------------------------------


@pytest.fixture
async def repetitive(scoped):
    links = [
        edge("Ada", "knows", "Bob", confidence=0.90),
        edge("Ada", "knows_well", "Bob", confidence=0.89),
        edge("Ada", "knows_best", "Bob", confidence=0.88),
        edge("Ada", "founded", "Mill", confidence=0.80),
    ]
    await scoped.write(people(*links, names="Ada Bob Mill"))
    return GraphSearchEngine(store=scoped, scoring=ONLY_HOPS)


async def types(engine, **options):
    return [triplet.relation.type for triplet in (await engine.search("Ada", mode=HOPS, **options)).triplets]


async def test_without_diversity_the_order_is_that_of_the_scores(repetitive):
    assert await types(repetitive) == ["knows", "knows_well", "knows_best", "founded"]
    assert await types(repetitive, limit=2) == ["knows", "knows_well"]


async def test_the_second_pick_is_the_one_that_repeats_the_first_least(repetitive):
    assert await types(repetitive, diversity=0.5, limit=2) == ["knows", "founded"]
    everything = await types(repetitive, diversity=0.5)
    assert everything[:2] == ["knows", "founded"]
    assert sorted(everything) == sorted(await types(repetitive))
    found = (await repetitive.search("Ada", mode=HOPS)).triplets
    like_first = alike_in_terms([triplet_line(each) for each in found])(0)
    values = [0.5 * each.score - 0.5 * like for each, like in zip(found, like_first, strict=True)]
    best = max(range(1, len(found)), key=values.__getitem__)
    assert found[best].relation.type == "founded"


async def test_a_little_diversity_changes_little(repetitive):
    assert await types(repetitive, diversity=0.01) == await types(repetitive)


async def test_diversity_never_lifts_what_lies_below_the_floor(repetitive):
    assert await types(repetitive, diversity=1.0, min_score=0.85, limit=4) == ["knows", "knows_well", "knows_best"]
    assert await types(repetitive, diversity=0.5, min_score=0.95) == []

"""The relevance floor, the reasons of empty answers, triplets that differ, and causes printed before effects."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.modes.mode import prompt_order, topological_ranks
from graphsearch.modes.result import SearchMode
from graphsearch.question.analysis import Plan
from graphsearch.ranking.scores import alike_in_terms
from graphsearch.ranking.triplet_score import ScoringOptions
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.text.rendering import triplet_line
from tests.gates import allowing
from tests.graphs import edge, people

HOPS, FACTS = SearchMode.NEIGHBORHOOD, SearchMode.TRIPLET_COMPLETION
ONLY_HOPS = ScoringOptions(feedback_influence=0.0, importance_influence=0.0)
LINKS = [edge("Ada", "knows", name, confidence=sure) for name, sure in (("Bob", 0.9), ("Cyd", 0.7), ("Dan", 0.5))]
DENYING = allowing(lambda _: False, by_signature=True)


@pytest.fixture(scope="module")
async def engine(kept):
    await kept.write(people(*LINKS, names="Ada Bob Cyd Dan Eve"))
    return GraphSearchEngine(store=kept, scoring=ONLY_HOPS, embedder=HashEmbedder(16))


async def test_what_scores_less_than_the_floor_is_left_out_and_counted(engine):
    for floor, left in ((0.0, 3), (0.3, 3), (0.36, 2), (0.54, 1), (0.57, 0)):
        found = await engine.search("Ada", mode=HOPS, min_score=floor)
        assert len(found.triplets) == left
        assert (found.found, found.below_floor) == (3, 3 - left)
    assert found.reason == "none of 3 relations scores 0.57 or more"
    assert len((await engine.search("Ada", mode=HOPS, min_score=0.36, limit=1)).triplets) == 1


@pytest.mark.parametrize("option", ["min_score", "diversity"])
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
async def test_options_out_of_range_are_refused(engine, option, value):
    with pytest.raises(InvalidInputError, match=option):
        await engine.search("Ada", mode=HOPS, **{option: value})


@pytest.mark.parametrize(
    ("question", "mode", "reason"),
    [
        ("", HOPS, "nothing was asked"),
        (" \n", SearchMode.GRAPH_COMPLETION, "nothing was asked"),
        ("where is it?", HOPS, "the question names nothing visible"),
        ("what of Eve?", HOPS, "nothing visible of Eve answers what is asked"),
        ("Ada?", SearchMode.GRAPH_COMPLETION, ""),
        ("who taught Zoe?", SearchMode.GRAPH_COMPLETION, "nothing visible is known of Zoe"),
        ("what about teaching?", SearchMode.GRAPH_COMPLETION, "nothing visible has to do with the question"),
        ("what of Ada?", FACTS, "nothing visible of Ada answers what is asked"),
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
    assert hidden.reason == absent.reason == "the question names nothing visible"
    for mode in (SearchMode.GRAPH_COMPLETION, FACTS):
        reasons = [
            (await engine.search(f"who knows {name}?", mode=mode, gate=DENYING)).reason for name in ("Ada", "Zoe")
        ]
        assert reasons == ["nothing visible is known of Ada", "nothing visible is known of Zoe"]


async def test_the_plan_comes_with_the_answer(engine):
    assert (await engine.search("what of Ada?", mode=HOPS)).analysis.plan is Plan.ENTITY_CENTRIC
    assert (await engine.search("what of Zoe in 2019?", mode=HOPS)).analysis.plan is Plan.TEMPORAL


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
    like_first = alike_in_terms([triplet_line(each) for each in found])[0]
    values = [0.5 * each.score - 0.5 * like for each, like in zip(found, like_first, strict=True)]
    best = max(range(1, len(found)), key=values.__getitem__)
    assert found[best].relation.type == "founded"


async def test_a_little_diversity_changes_little(repetitive):
    assert await types(repetitive, diversity=0.01) == await types(repetitive)


async def test_diversity_never_lifts_what_lies_below_the_floor(repetitive):
    assert await types(repetitive, diversity=1.0, min_score=0.51, limit=4) == ["knows", "knows_well", "knows_best"]
    assert await types(repetitive, diversity=0.5, min_score=0.57) == []


def ranks(entities, *links):
    causes, effects, confidence = (np.array(column) for column in zip(*links, strict=True)) if links else [[]] * 3
    return topological_ranks(
        entities, np.array(causes, np.intp), np.array(effects, np.intp), np.array(confidence, float)
    )


def test_an_effect_comes_after_its_longest_chain_of_causes():
    assert ranks(4, (2, 0, 0.9), (0, 1, 0.9), (2, 1, 0.9)) == [1, 2, 0, 0]
    assert ranks(2) == [0, 0]


def test_a_cycle_is_broken_at_its_least_sure_relation():
    cycle = [(0, 1, 0.9), (1, 2, 0.6), (2, 0, 0.8)]
    assert ranks(3, *cycle) == [1, 2, 0]  # 2 → 0 → 1, without 1 → 2
    assert ranks(3, *cycle[::-1]) == [1, 2, 0]
    assert ranks(1, (0, 0, 1.0)) == [0]


def test_two_cycles_that_share_a_relation_lose_what_each_is_least_sure_of():
    # 0 → 1 is in both; 1 → 0 and 2 → 0 are the least sure of theirs
    assert ranks(3, (0, 1, 0.9), (1, 0, 0.5), (1, 2, 0.8), (2, 0, 0.7)) == [0, 1, 2]


def test_of_equally_sure_relations_the_one_from_a_later_row_goes():
    assert ranks(2, (1, 0, 0.9), (0, 1, 0.9)) == [0, 1]


def test_a_relation_found_twice_counts_once():
    assert ranks(2, (0, 1, 0.9), (0, 1, 0.6), (1, 0, 0.7)) == [0, 1]


def test_a_long_chain_is_no_deep_recursion():
    size = 1500
    assert ranks(size, *[(row + 1, row, 0.9) for row in range(size - 1)])[0] == size - 1


def test_links_are_printed_causes_first_then_by_pagerank():
    # rows are by descending PageRank; 2 causes 0, which causes 1; 3 causes nothing
    order = prompt_order([(0, 1), (3, 1), (2, 0), (3, 2), (3, 2)], ranks(4, (2, 0, 0.9), (0, 1, 0.9)))
    assert order == (2, 3, 4, 1, 0)
    assert prompt_order([], []) == ()


rows = st.integers(0, 5)
relations = st.lists(st.tuples(rows, rows, st.sampled_from([0.5, 0.7, 0.9])), max_size=15)


@given(relations, st.randoms(use_true_random=False))
def test_every_cycle_is_broken_and_what_breaks_none_is_kept(links, random):
    found = ranks(6, *links)
    assert all(0 <= rank < 6 for rank in found)
    shuffled = links[:]
    random.shuffle(shuffled)
    assert ranks(6, *shuffled) == found
    best = max((sure for *_, sure in links), default=0)
    for cause, effect, sure in links:  # the surest of all is only lost to its equals, or to itself
        if sure == best and not any(other == best for c, e, other in links if (c, e) != (cause, effect)):
            assert found[cause] < found[effect] or cause == effect

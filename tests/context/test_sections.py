"""Two sections under one budget: never exceeded, no repetition, and nothing unused that the other could use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.context.sections import (
    SHARES,
    Page,
    ShownLines,
    TripletText,
    lay_out,
    pack,
    share_of_observations,
)
from graphsearch.query.analysis import Plan
from graphsearch.text.rendering import OBSERVATIONS, TRIPLETS
from tests.context.test_budget import CHARACTERS, COUNTERS


def texts(*lines: str) -> list[TripletText]:
    return [TripletText(line, line, "") for line in lines]


def triplet_of(fact: str) -> TripletText:
    return TripletText(f"- a --b--> c — {fact}", "- a --b--> c", fact)


sentences = st.text(alphabet="ab é", min_size=1, max_size=30).map(lambda text: f"- {text}")
memories = st.lists(sentences, max_size=8, unique=True)
triplets = st.lists(sentences.map(lambda line: TripletText(f"{line} — a b", line, "a b")), max_size=8)


@pytest.mark.parametrize("name", COUNTERS)
@given(
    memories=memories,
    triplets=triplets,
    budget=st.integers(0, 300),
    share=st.floats(0, 1),
    random=st.randoms(use_true_random=False),
)
def test_never_over_budget_for_any_counter(name, memories, triplets, budget, share, random):
    counter, order = COUNTERS[name], list(range(len(triplets)))
    random.shuffle(order)
    page = lay_out(memories, triplets, budget=budget, share=share, counter=counter, order=order)
    assert not page.text or counter.count(page.text) <= budget
    assert list(page.memories) == sorted(set(page.memories))
    assert list(page.triplets) == [index for index in order if index in page.triplets]
    observations = [memories[index] for index in page.memories]
    graph = [triplets[index].after("\n".join(observations)) for index in page.triplets]
    expected = [*([OBSERVATIONS] if observations else []), *observations, *([TRIPLETS] if graph else []), *graph]
    assert page.text == "\n".join(expected)


@given(memories, triplets, st.integers(0, 300), st.floats(0, 1))
def test_with_a_counter_that_adds_up_no_further_memory_would_fit(memories, triplets, budget, share):
    page = lay_out(memories, triplets, budget=budget, share=share, counter=CHARACTERS)
    graph = "\n".join([TRIPLETS, *(triplets[index].line for index in page.triplets)]) if page.triplets else ""
    for index, line in enumerate(memories):
        if index not in page.memories:
            kept = [memories[other] for other in page.memories]
            shown = [OBSERVATIONS, *kept, line]
            assert len("\n".join([*shown, graph] if graph else shown)) > budget or ShownLines(kept).holds(line)


@given(memories, triplets, st.integers(0, 300), st.floats(0, 1))
def test_a_section_alone_has_the_whole_budget(memories, triplets, budget, share):
    alone = lay_out(memories, [], budget=budget, share=share, counter=CHARACTERS)
    assert alone.memories == pack(memories, budget, CHARACTERS, heading=OBSERVATIONS)
    alone = lay_out([], triplets, budget=budget, share=share, counter=CHARACTERS)
    assert alone.triplets == pack([each.line for each in triplets], budget, CHARACTERS, heading=TRIPLETS)


def test_the_share_is_reserved_and_what_is_left_goes_to_the_other():
    memories, triplets = ["- " + letter * 8 for letter in "abcdef"], texts("- 1", "- 2")
    whole = len("\n".join([OBSERVATIONS, *memories, TRIPLETS, "- 1", "- 2"]))
    assert lay_out(memories, triplets, budget=whole, share=0.5, counter=CHARACTERS).memories == (0, 1, 2, 3, 4, 5)
    tight = lay_out(memories, triplets, budget=whole - 1, share=0.5, counter=CHARACTERS)
    assert (tight.memories, tight.triplets) == ((0, 1, 2, 3, 4), (0, 1))
    tight = lay_out(memories, triplets, budget=whole - 1, share=1.0, counter=CHARACTERS)
    assert (tight.memories, tight.triplets) == ((0, 1, 2, 3, 4, 5), (0,))


def test_a_memory_that_is_too_long_is_skipped_and_the_next_tried():
    memories = ["- " + "long " * 40, "- b"]
    page = lay_out(memories, texts("- 1"), budget=100, share=0.9, counter=CHARACTERS)
    assert page == Page((1,), (0,), f"{OBSERVATIONS}\n- b\n{TRIPLETS}\n- 1")


def test_the_best_memory_that_fits_at_all_is_shown_before_any_triplet():
    memories = ["- " + "long " * 12, "- " + "long " * 11]
    budget = len(f"{OBSERVATIONS}\n{memories[1]}")
    page = lay_out(memories, texts("- 1"), budget=budget, share=0.9, counter=CHARACTERS)
    assert (page.memories, page.triplets) == ((1,), ())


def test_a_fact_in_an_observation_is_not_repeated():
    memories = ["- 2026-01-02 Ada: Ada joined Acme. It rained."]
    page = lay_out(
        memories, [triplet_of("Ada joined Acme."), triplet_of("Bob left.")], budget=500, share=0.9, counter=CHARACTERS
    )
    assert page.text.split("\n")[2:] == [TRIPLETS, "- a --b--> c", "- a --b--> c — Bob left."]


def test_what_does_not_add_up_loses_triplets_first_and_the_worst_of_them():
    memories, triplets = ["- a", "- b"], texts("- 1", "- 2")
    full = f"{OBSERVATIONS}\n- a\n- b\n{TRIPLETS}\n- 1\n- 2"

    class OnlyShort:
        def __init__(self, longest: int) -> None:
            self.longest = longest

        def count(self, text: str) -> int:
            return 11 if len(text) > self.longest else 0

    def laid_out(longest: int) -> str:
        return lay_out(memories, triplets, budget=10, share=0.9, counter=OnlyShort(longest), order=(1, 0)).text

    assert laid_out(len(full)) == full.replace("- 1\n- 2", "- 2\n- 1")
    assert laid_out(len(full) - 1) == full.removesuffix("\n- 2")
    assert laid_out(len(full) - 5) == f"{OBSERVATIONS}\n- a\n- b"
    assert laid_out(len(f"{OBSERVATIONS}\n- a\n")) == f"{OBSERVATIONS}\n- a"


def test_each_plan_has_its_share():
    assert set(SHARES) == set(Plan)
    assert all(0.5 < share < 1 for share in SHARES.values())
    assert share_of_observations(Plan.ENTITY_CENTRIC) == pytest.approx(0.90)
    assert share_of_observations(Plan.TEMPORAL) > share_of_observations(Plan.BALANCED)
    assert share_of_observations(Plan.EXPLORATORY) < share_of_observations(Plan.BALANCED)


@pytest.mark.parametrize(("health", "share"), [(1.0, 0.90), (0.70, 0.90), (0.35, 0.95), (0.0, 1.0)])
def test_an_unhealthy_graph_has_less_of_the_budget(health, share):
    assert share_of_observations(Plan.BALANCED, health) == pytest.approx(share)


ANSWER = TripletText(
    "- Tom --lives_in--> Galway (since 2024-08-01) — Tom moved to Galway.", "", "Tom moved.", answers=True
)


def test_a_triplet_that_answers_comes_first_with_its_sentence():
    memories, lunch = ["- Tom moved to Galway. It rained.", "- Lunch is at noon."], triplet_of("lunch")
    page = lay_out(memories, [lunch, ANSWER], budget=300, share=0.9, counter=CHARACTERS)
    assert page.text.split("\n")[0] == TRIPLETS
    assert ANSWER.line in page.text
    assert (page.memories, page.triplets) == ((0, 1), (0, 1))


def test_the_fact_of_an_answer_is_not_repeated_by_an_observation():
    memories = ["- 2024-08-01 Tom moved to Galway.", "- Lunch is at noon."]
    page = lay_out(memories, [ANSWER], budget=500, share=0.9, counter=CHARACTERS)
    assert page.memories == (1,)


def test_answers_leave_room_for_observations():
    answers = [TripletText(f"- a --b--> {letter * 40}", "", "", answers=True) for letter in "cde"]
    memories = ["- " + letter * 20 for letter in "xyz"]
    page = lay_out(memories, answers, budget=220, share=0.9, counter=CHARACTERS)
    assert page.memories == (0, 1, 2)
    assert len(page.triplets) == 1


LONG = "- 2024-03-01 Tom: The portal was moved over to the new machines in Leeds by the whole team last night."


@pytest.mark.parametrize(
    ("line", "held"),
    [
        (LONG, True),
        (LONG.replace("2024-03-01", "2024-05-09"), True),
        (LONG.replace("2024-03-01", "2024-03-01 (until 2024-05-09)"), True),
        (LONG.replace("was moved", "got moved"), True),
        (LONG.replace("Leeds", "Galway"), False),
        (LONG.replace("new machines", "12 machines"), False),
        (LONG.replace("was moved", "was not moved"), False),
        (LONG.replace("was moved", "wasn't moved"), False),
        ("- Tom: The portal was moved.", True),
        ("- Tom: Lunch is at noon.", False),
    ],
)
def test_a_line_is_held_by_another_but_for_an_insignificant_word(line, held):
    assert ShownLines([LONG]).holds(line) is held


def test_nothing_holds_a_line_before_any_is_shown():
    shown = ShownLines()
    assert not shown.holds(LONG)
    shown.add(LONG)
    assert shown.holds(LONG)

"""Two sections under one budget: never exceeded, no repetition, and nothing unused that the other could use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.context.material import (
    LENGTHS,
    RELATED,
    ShownLines,
    TripletText,
    lay_out,
    no_room,
    pack,
)
from graphsearch.text.rendering import OBSERVATIONS, TRIPLETS
from tests.context.test_budget import CHARACTERS, COUNTERS


def texts(*lines: str) -> list[TripletText]:
    return [TripletText(line, line, "") for line in lines]


def triplet_of(fact: str) -> TripletText:
    return TripletText(f"- a --b--> c — {fact}", "- a --b--> c", fact)


sentences = st.text(alphabet="ab é", min_size=1, max_size=30).map(lambda text: f"- {text}")
memories = st.lists(sentences, max_size=8, unique=True)
triplets = st.lists(sentences.map(lambda line: TripletText(f"{line} — a b", line, "a b")), max_size=8)


def forms(*lines: str) -> list[tuple[str, ...]]:
    return [(line, line, line) for line in lines]


@pytest.mark.parametrize("name", COUNTERS)
@given(memories=memories, triplets=triplets, budget=st.integers(0, 300), random=st.randoms(use_true_random=False))
def test_never_over_budget_for_any_counter(name, memories, triplets, budget, random):
    counter, order, printed = COUNTERS[name], list(range(len(triplets))), list(range(len(memories)))
    random.shuffle(order)
    random.shuffle(printed)
    page = lay_out(
        forms(*memories), triplets, budget=budget, counter=counter, heading="## H", memory_order=printed, order=order
    )
    assert not page.text or counter.count(page.text) <= budget
    assert list(page.memories) == [index for index in printed if index in page.memories]
    assert list(page.triplets) == [index for index in order if index in page.triplets]
    observations = [memories[index] for index in page.memories]
    graph = [triplets[index].after("\n".join(observations)) for index in page.triplets]
    expected = [*(["## H"] if observations else []), *observations, *([TRIPLETS] if graph else []), *graph]
    assert page.text == "\n".join(expected)


@given(memories, triplets, st.integers(0, 300))
def test_a_section_alone_has_the_whole_budget(memories, triplets, budget):
    alone = lay_out(forms(*memories), [], budget=budget, counter=CHARACTERS)
    assert alone.memories == pack(memories, budget, CHARACTERS, heading=OBSERVATIONS)[0]
    alone = lay_out([], triplets, budget=budget, counter=CHARACTERS)
    assert alone.triplets == pack([each.line for each in triplets], budget, CHARACTERS, heading=TRIPLETS)[0]


def test_what_does_not_answer_has_a_part_of_the_budget_beside_observations():
    many = texts(*(f"- {number}" * 4 for number in range(30)))
    page = lay_out(forms("- b"), many, budget=600, counter=CHARACTERS)
    graph = page.text.partition("\n- b\n")[2]
    assert 0.5 * RELATED * 600 < len(graph) <= RELATED * 600


def test_a_memory_that_is_too_long_is_skipped_and_the_next_tried():
    page = lay_out(forms("- " + "long " * 50, "- b"), texts("- 1"), budget=200, counter=CHARACTERS)
    assert page.text == f"{OBSERVATIONS}\n- b\n{TRIPLETS}\n- 1"
    assert page.memories_omitted == {0: no_room(253, 135, 200)}


def test_lines_are_shorter_further_down_and_the_best_is_cut_until_it_fits():
    memories = [
        (f"- {name} {'long ' * 20}", f"- {name} {'long ' * 10}", f"- {name} short", f"- {name}") for name in "abcdefg"
    ]
    shown = lay_out(memories, [], budget=900, counter=CHARACTERS).text.split("\n")[1:]
    assert shown == [forms[sum(place >= length for length in LENGTHS)] for place, forms in enumerate(memories)]
    for form in memories[0]:
        budget = len(f"{OBSERVATIONS}\n{form}")
        assert lay_out(memories[:1], [], budget=budget, counter=CHARACTERS).text == f"{OBSERVATIONS}\n{form}"
    assert lay_out(memories[:1], [], budget=len(memories[0][-1]), counter=CHARACTERS).text == ""


def test_what_is_left_makes_lines_whole_that_were_cut_by_little_the_best_first():
    memories = [(f"- {name} {'long ' * 5}", *[f"- {name} {'long ' * 4}"] * 2, "- x") for name in "abcdef"]
    spare = len("long ")

    def wholes(left: int) -> str:
        least = len(OBSERVATIONS) + sum(
            1 + len(cut if place >= LENGTHS[0] else whole) for place, (whole, cut, *_) in enumerate(memories)
        )
        lines = lay_out(memories, [], budget=least + left, counter=CHARACTERS).text.split("\n")[1:]
        return "".join(line[2] for line, (whole, *_) in zip(lines, memories, strict=True) if line == whole)

    assert [wholes(left) for left in (0, spare - 1, spare, 2 * spare, 99)] == ["ab", "ab", "abc", "abcd", "abcdef"]


def test_a_fact_in_an_observation_is_not_repeated():
    memories = forms("- 2026-01-02 Ada: Ada joined Acme. It rained.")
    found = [triplet_of("Ada joined Acme."), triplet_of("Bob left.")]
    page = lay_out(memories, found, budget=500, counter=CHARACTERS)
    assert page.text.split("\n")[2:] == [TRIPLETS, "- a --b--> c", "- a --b--> c — Bob left."]


def test_what_does_not_add_up_loses_triplets_first_and_the_worst_of_them():
    memories, triplets = forms("- a", "- b"), texts("- 1", "- 2")
    full = f"{OBSERVATIONS}\n- a\n- b\n{TRIPLETS}\n- 1\n- 2"

    class OnlyShort:
        def __init__(self, longest: int) -> None:
            self.longest = longest

        def count(self, text: str) -> int:
            return 11 if len(text) > self.longest else 0

    def laid_out(longest: int) -> str:
        return lay_out(memories, triplets, budget=10, counter=OnlyShort(longest), order=(1, 0)).text

    assert laid_out(len(full)) == full.replace("- 1\n- 2", "- 2\n- 1")
    assert laid_out(len(full) - 1) == full.removesuffix("\n- 2")
    assert laid_out(len(full) - 5) == f"{OBSERVATIONS}\n- a\n- b"
    assert laid_out(len(f"{OBSERVATIONS}\n- a\n")) == f"{OBSERVATIONS}\n- a"


ANSWER = TripletText(
    "- Tom --lives_in--> Galway (since 2024-08-01) — Tom moved to Galway.", "", "Tom moved.", answers=True
)


def test_a_triplet_that_answers_comes_first_with_its_sentence():
    memories, lunch = forms("- Tom moved to Galway. It rained.", "- Lunch is at noon."), triplet_of("lunch")
    page = lay_out(memories, [lunch, ANSWER], budget=300, counter=CHARACTERS)
    assert page.text.split("\n")[0] == TRIPLETS
    assert ANSWER.line in page.text
    assert (page.memories, page.triplets) == ((0, 1), (0, 1))


def test_the_fact_of_an_answer_is_not_repeated_by_an_observation():
    memories = forms("- 2024-08-01 Tom moved to Galway.", "- Lunch is at noon.")
    page = lay_out(memories, [ANSWER], budget=500, counter=CHARACTERS)
    assert page.memories == (1,)


def test_answers_come_before_observations_and_leave_room_for_them():
    answers = [TripletText(f"- a --b--> {letter * 25}", "", "", answers=True) for letter in "cdefg"]
    memories = forms(*("- " + letter * 20 for letter in "xyz"))
    page = lay_out(memories, answers[:3], budget=260, counter=CHARACTERS)
    assert (page.triplets, page.memories) == ((0, 1, 2), (0, 1, 2)[: len(page.memories)])
    page = lay_out(memories, answers, budget=260, counter=CHARACTERS)
    assert len(page.triplets) < len(answers)
    assert page.memories


LONG = "- 2024-03-01 Tom: The portal was moved over to the new machines in Leeds by the whole team last night."


@pytest.mark.parametrize(
    ("line", "held"),
    [
        (LONG, True),
        (LONG.replace("2024-03-01", "2024-05-09"), True),
        (LONG.replace("2024-03-01", "2024-03-01 (until 2024-05-09)"), True),
        (LONG.replace("2024-03-01", "2024-03-01 (until 2024-05-09; now Adyen)"), True),
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

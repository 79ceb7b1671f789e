"""A block never exceeds its budget, with any counter and any lines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.context.material import ShownLines, compose, pack
from graphsearch.context.tokens import DEFAULT_BUDGETS, WorkType

HEADING = "## H"


class Counter:
    """A counter made of a function."""

    def __init__(self, rule: Callable[[str], int]) -> None:
        self._rule = rule

    def count(self, text: str) -> int:
        return self._rule(text)


CHARACTERS = Counter(len)
COUNTERS = {
    "characters": CHARACTERS,
    "words": Counter(lambda text: len(text.split())),
    "rounded down": Counter(lambda text: len(text) // 4),
    "whole text dearer than its parts": Counter(lambda text: len(text) ** 2 // 10),
    "dear line breaks": Counter(lambda text: len(text) + 7 * text.count("\n")),
    "capricious": Counter(lambda text: hashlib.sha256(text.encode()).digest()[0]),
}

lines_of_text = st.lists(st.text(alphabet="ab é", min_size=1, max_size=30), max_size=12)


@pytest.mark.parametrize("name", COUNTERS)
@given(lines=lines_of_text, budget=st.integers(0, 200))
def test_never_over_budget_for_any_counter(name: str, lines: list[str], budget: int) -> None:
    counter = COUNTERS[name]
    chosen, _ = pack(lines, budget, counter, heading=HEADING)
    text = compose(HEADING, [lines[index] for index in chosen])
    assert list(chosen) == sorted(set(chosen))
    assert not text or counter.count(text) <= budget
    assert text.split("\n") == ([HEADING, *(lines[index] for index in chosen)] if chosen else [""])


@given(lines=lines_of_text, budget=st.integers(0, 200))
def test_with_a_counter_that_adds_up_nothing_more_would_fit(lines: list[str], budget: int) -> None:
    chosen, _ = pack(lines, budget, CHARACTERS, heading=HEADING)
    kept = [lines[index] for index in chosen]
    for index, line in enumerate(lines):
        if index not in chosen:
            before = [lines[other] for other in chosen if other < index]
            assert len(compose(HEADING, [*before, line])) > budget or ShownLines(before).holds(line)
    assert not kept or len(compose(HEADING, kept)) <= budget


def test_heading_and_line_breaks_count_to_the_last_token() -> None:
    assert pack(["abc"], len("## H\nabc"), CHARACTERS, heading=HEADING)[0] == (0,)
    assert pack(["abc"], len("## H\nabc") - 1, CHARACTERS, heading=HEADING)[0] == ()
    assert pack(["abc", "de"], len("## H\nabc\nde"), CHARACTERS, heading=HEADING)[0] == (0, 1)


def test_a_line_that_does_not_fit_is_skipped_and_the_next_tried() -> None:
    assert pack(["a" * 50, "b", "c" * 50, "d"], 10, CHARACTERS, heading=HEADING)[0] == (1, 3)


def test_nothing_to_say_is_an_empty_text() -> None:
    assert compose(HEADING, []) == ""
    assert pack([], 100, CHARACTERS, heading=HEADING)[0] == ()


def test_budgets_by_type_of_work() -> None:
    assert {work.value: budget for work, budget in DEFAULT_BUDGETS.items()} == {
        "bug_fix": 750,
        "feature": 400,
        "refactor": 600,
        "chore": 0,
        "unknown": 500,
    }
    assert set(DEFAULT_BUDGETS) == set(WorkType)


def test_what_fits_is_chosen_by_place_and_given_in_another_order():
    lines = ["best", "far too long to fit", "good", "fair"]
    room = len(compose(HEADING, ["best", "good"])) + 1
    assert pack(lines, room, CHARACTERS, heading=HEADING)[0] == (0, 2)
    assert pack(lines, room, CHARACTERS, heading=HEADING, order=(3, 2, 1, 0))[0] == (2, 0)


@given(lines_of_text, st.integers(0, 200), st.sampled_from(sorted(COUNTERS)), st.randoms(use_true_random=False))
def test_a_block_in_another_order_fits_too(lines, budget, name, random):
    order = list(range(len(lines)))
    random.shuffle(order)
    chosen, _ = pack(lines, budget, COUNTERS[name], heading=HEADING, order=order)
    assert not chosen or COUNTERS[name].count(compose(HEADING, [lines[index] for index in chosen])) <= budget
    assert list(chosen) == [index for index in order if index in chosen]

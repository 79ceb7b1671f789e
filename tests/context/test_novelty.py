"""Lines that add nothing to the lines already shown."""

import pytest

from graphsearch.context.novelty import ShownLines

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

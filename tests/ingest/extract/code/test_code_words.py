"""Weighted words of definitions, by hand-computed cases."""

import pytest

from graphsearch.ingest.extract.code.definitions import outline
from graphsearch.ingest.extract.code.weighted_words import MOST, words

SOURCE = '''"""About doors.

Their bolts.
"""

# Nobody's remark.
LOCKED = "locked"  # a state


# Opens slowly.
@cached
def unlatch(self, wooden, *rest):
    """Open it.

    Whoever knocks.
    """
    # Greasing helps.
    if wooden:
        return hinge.turn("creak")

    def inner():
        return "squeak"  # inside


class Gate:
    # Heavy.
    def shut(self):
        pass
'''


def found(source=SOURCE):
    return words(outline("doors.py", source))


def share(weight, length, usual):
    return round(weight / (0.25 + 0.75 * length / usual), 4)


def test_each_field_weighs_by_its_length():
    inside = found()
    # Two comments of two words each, "cached" belongs to the scope around, and "wooden" is an argument and a name.
    assert inside["doors.unlatch"] == pytest.approx(
        {
            "whoever": share(0.7, 2, 20),
            "knocks": share(0.7, 2, 20),
            **dict.fromkeys(("opens", "slowly", "greasing", "helps"), share(0.5, 4, 20)),
            "rest": share(0.5, 2, 3),
            "wooden": share(0.5, 2, 3) + share(0.3, 3, 10),
            "creak": share(0.3, 1, 8),
            "hinge": share(0.3, 3, 10),
            "turn": share(0.3, 3, 10),
        },
        abs=2e-4,
    )


def test_bases_and_async_stand_in_the_head():
    inside = found("class DoorStuck(HouseError, Generic[Door]):\n    async def push(self, wooden): ...\n")
    assert inside["doors.DoorStuck"] == dict.fromkeys(("house", "error", "generic", "door"), share(0.5, 4, 3))
    assert inside["doors.DoorStuck.push"] == dict.fromkeys(("async", "wooden"), share(0.5, 2, 3))


def test_what_stands_in_an_inner_scope_is_its_own():
    inside = found()
    assert inside["doors.unlatch.inner"].keys() == {"squeak", "inside"}
    assert inside["doors.Gate"] == {}
    assert inside["doors.Gate.shut"].keys() == {"heavy"}
    assert {"bolts", "nobody", "remark", "locked", "state"} <= inside["doors"].keys()


def test_a_name_defined_again_keeps_the_words_of_the_first():
    source = "def a():\n    return one\n\n\ndef a():\n    return two\n"
    assert found(source)["doors.a"].keys() == {"one"}


def test_data_are_not_read_and_only_the_heaviest_words_are_kept():
    names = ", ".join(f"name{number}" for number in range(400))
    inside = found(f"def a():\n    return {names}, '{'long ' * 60}'\n")["doors.a"]
    assert len(inside) <= MOST
    assert "long" not in inside


def test_comments_end_where_the_tokenizer_does():
    """The parser takes a form feed between indents, which the tokenizer counts anew."""
    source = "def a():\n    # told\n    if x:\n        b\n  \f    c\n    # untold\n"
    assert "told" in found(source)["doors.a"]


def test_a_file_without_comments_has_none():
    assert found("x = 1\n")["doors"] == {"x": share(0.3, 1, 10)}

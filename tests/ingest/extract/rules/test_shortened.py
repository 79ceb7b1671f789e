"""Shortened names in relations that end, and "it" across turns."""

import pytest

from tests.ingest.extract.rules.conversing import ended, hear, stated

WORKS = "Ana Reed: I work at Harkin Motors."


@pytest.mark.parametrize("text", ["I've left Harkin", "I've left Harkin's", "I no longer work at Harkin."])
def test_a_short_name_ends_what_is_there(text: str) -> None:
    said = hear(WORKS, f"Ana Reed: {text}")
    assert {surface.name for each in said for surface in each.surfaces} == {"Ana Reed", "Harkin Motors"}
    assert ended(WORKS, f"Ana Reed: {text}") == [("Ana Reed", "works_at", "Harkin Motors")]


def test_others_say_so_too_and_the_end_of_a_name_will_do() -> None:
    assert ended(WORKS, "Bo Cole: Ana has left Harkin.") == [("Ana", "works_at", "Harkin Motors")]
    assert ended("Ana Reed: I'm on the Safety Committee.", "Ana Reed: I left the Committee.") == [
        ("Ana Reed", "member_of", "Safety Committee")
    ]


def test_a_short_name_of_two_or_of_something_else_is_left_alone() -> None:
    two = "Ana Reed: I work at Harkin Motors. I work at Harkin Dairy."
    assert ended(two, "Ana Reed: I've left Harkin") == [("Ana Reed", "works_at", "Harkin")]
    assert ended("Bo Cole: I work at Harkin Motors.", "Ana Reed: I left Harkin") == [("Ana Reed", "works_at", "Harkin")]
    assert ended(WORKS, "Ana Reed: I've left Pellow") == [("Ana Reed", "works_at", "Pellow")]


def test_what_is_handed_over_ends() -> None:
    assert ended("Ana Reed: I lead the Summer Fair. I've handed it over.") == [("Ana Reed", "leads", "Summer Fair")]
    assert ended("Ana Reed: I'm not in the Oak Choir any more.") == [("Ana Reed", "member_of", "Oak Choir")]
    assert ended("Ana Reed: I lead the Summer Fair. I handed the keys over.") == []


def test_it_is_what_the_turn_before_was_about() -> None:
    built = "Ana Reed: I built the Plot Map thing over the summer, it's live"
    assert stated(built, "Ana Reed: it needs GridLeaf to draw") == [
        ("Ana Reed", "created", "Plot Map"),
        ("Plot Map", "depends_on", "GridLeaf"),
    ]
    assert ("Plot Map", "depends_on", "GridLeaf") in stated(
        "Ana Reed: I wrote Plot Map. It runs on TreeBase.", "Ana Reed: and it needs GridLeaf as well"
    )


@pytest.mark.parametrize(
    "said",
    [
        ["Ana Reed: We saw Plot Map.", "Bo Cole: it needs GridLeaf"],
        ["Ana Reed: We saw Plot Map and LoomBook.", "Ana Reed: it needs GridLeaf"],
        ["Ana Reed: We saw Bo.", "Ana Reed: it needs GridLeaf"],
        ["Ana Reed: We saw Plot Map.", "Bo Cole: nice", "Ana Reed: it needs GridLeaf"],
        ["Ana Reed: We saw Plot Map.", "Ana Reed: does it need GridLeaf?"],
    ],
)
def test_it_may_be_anything(said: list[str]) -> None:
    assert stated(*said) == []

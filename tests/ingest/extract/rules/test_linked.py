"""Names with connecting words: one name, or two next to each other."""

import time

import pytest

from graphsearch.ingest.extract.rules.phrases import compound_names
from tests.ingest.extract.rules.conversing import hear, stated


def names(*said: str) -> set[str]:
    return {surface.name for each in hear(*said) for surface in each.surfaces if surface.span}


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (["Ana: We met the Friends of the Museum."], "Friends of the Museum"),
        (["Ana: I run Voices of Harrow."], "Voices of Harrow"),
        (["Ana: Sam sponsors Head of the Lake.", "Bo: I lead Head of the Lake."], "Head of the Lake"),
        (["Ana: Dash to the Pier is back.", "Bo: When is it?"], "Dash to the Pier"),
        (["Ana: Dash to the Sun is back."], "Dash to the Sun"),
        (["Ana: I run Learn to Weave.", "Bo: we need Learn to Weave."], "Learn to Weave"),
        (["Ana: I run Music at Noon.", "Bo: Is Music at Noon on?"], "Music at Noon"),
        (["Ana: Bread and Roses needs a venue.", "Bo: we love Bread and Roses."], "Bread and Roses"),
        (["Ana: I run Learn to Weave.", "Bo: But Learn to Weave Monday is off."], "Learn to Weave"),
    ],
)
def test_one_name(said: list[str], name: str) -> None:
    assert name in names(*said)


@pytest.mark.parametrize(
    "said",
    [
        ["Ana: We moved Ada to Leeds.", "Bo: Ada likes it. We moved Ada to Leeds."],
        ["Ana: We moved Ada to Leeds."],
        ["Ana: We saw Ada in Leeds. Ada in Leeds runs a shop."],
        ["Ana: Ada and Gil report to me.", "Bo: Ada and Gil are late. Ada and Gil again!"],
        ["Ada Moss: hello", "Bo: Leeds to Ada is far. Leeds to Ada, again."],
        ["Ana: She is Head of Leeds now. As Head of Leeds she decides."],
        ["Ana: Most of the Leeds people came."],
        ["Ana: Thanks to Leeds is what I say."],
    ],
)
def test_names_that_stay_apart(said: list[str]) -> None:
    assert not any(" to " in name or " in " in name or " and " in name or " of " in name for name in names(*said))


def test_a_common_word_may_be_part_of_a_name() -> None:
    assert "Winter Film League" in names("Ana: Winter Film League starts.", "Bo: we love the Winter Film League")
    assert "Film League" in names("Ana: Winter Film League starts.", "Bo: we love the Film League")


def test_such_names_are_related_as_others_are() -> None:
    assert stated("Ana: I run Learn to Weave.", "Bo: Learn to Weave relies on LoomBook.") == [
        ("Ana", "leads", "Learn to Weave"),
        ("Learn to Weave", "depends_on", "LoomBook"),
    ]


def test_many_such_names_take_linear_time() -> None:
    def cost(size: int) -> float:
        texts = [f"We run Learn to Weave{number}. Is Learn to Weave{number} on?" for number in range(size)]
        start = time.process_time()
        found = compound_names(texts, frozenset())
        assert sum(len([*found.find(text, 0, len(text))]) for text in texts) == 2 * size
        return time.process_time() - start

    small, large = (min(cost(size) for _ in range(2)) for size in (500, 4_000))
    assert large < 0.1 + 8 * 4 * small

"""No text becomes a part of a page."""

import pytest
from hypothesis import given

from graphsearch.display.pages import LONGEST, bar, block, element, page, quiet, table
from tests.display.reading import Page
from tests.exporting.answers import anything


def visible(text):
    return "".join(each if each.isprintable() or each == "\n" else " " * each.isspace() for each in text)


def cut(text):
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


@given(anything, anything, anything)
def test_what_is_read_is_the_text_without_what_cannot_be_seen(one, two, three):
    shown = Page(page(element("b", one), table(["a"], [[two, bar(0.5, title=three)]]), quiet(three), block(one)))
    assert shown.text == "".join(
        (cut(visible(one)), "a", cut(visible(two)), "0.5000", cut(visible(three)), visible(one))
    )
    assert shown.titles == [three] * bool(three)


def test_elements_stand_in_one_another():
    assert element("p", "a < b ", element("b", "c")) == "<p>a &lt; b <b>c</b></p>"


def test_order_is_not_turned_around():
    assert Page(quiet("invoice\u202egnp.exe")).text == "invoicegnp.exe"


@pytest.mark.parametrize(("value", "length"), [(0.0, "0.00em"), (0.5, "2.00em"), (1.0, "4.00em"), (7.0, "4.00em")])
def test_a_bar_is_as_long_as_its_value(value, length):
    assert f"width:{length}" in bar(value)
    assert Page(bar(value)).text == f"{value:.4f}"

"""Sentence segmentation."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.text.sentences import sentences


def split(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada left. Bob stayed!", ["Ada left.", "Bob stayed!"]),
        ("Is it so? Yes.", ["Is it so?", "Yes."]),
        ("Dr. Priya Sharma met Mr. Lee. They spoke.", ["Dr. Priya Sharma met Mr. Lee.", "They spoke."]),
        ("J. R. R. Tolkien wrote it. J.K. Rowling did not.", ["J. R. R. Tolkien wrote it.", "J.K. Rowling did not."]),
        ("It was I. Then he left.", ["It was I.", "Then he left."]),
        ("It rose by 3.5 percent. See v1.2.3 now.", ["It rose by 3.5 percent.", "See v1.2.3 now."]),
        ("See https://a.example/b.c?d=1. Then go.", ["See https://a.example/b.c?d=1.", "Then go."]),
        ("Well... maybe not. Or… yes", ["Well... maybe not.", "Or… yes"]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("“Stop!” he said. (It was late.) Bye.", ["“Stop!” he said.", "(It was late.)", "Bye."]),
        ("We met e.g. Bob on Jan. 5. Good.", ["We met e.g. Bob on Jan. 5.", "Good."]),
        ("He sat. Then he rose.", ["He sat.", "Then he rose."]),
        (
            "Tools:\n- Kafka is used\n- Redis too\n1. First\n2. Second",
            ["Tools:", "Kafka is used", "Redis too", "First", "Second"],
        ),
        ("# Heading of it\nText here", ["Heading of it", "Text here"]),
        ("> Ada said so\n> twice", ["Ada said so", "twice"]),
        ("Ada left Acme\nBob joined", ["Ada left Acme", "Bob joined"]),
        ("a short line\nthat goes on", ["a short line\nthat goes on"]),
        (
            "This line is long enough that it was wrapped by Ada\nLovelace herself.",
            ["This line is long enough that it was wrapped by Ada\nLovelace herself."],
        ),
        ("One\n\ntwo", ["One", "two"]),
        ("李雷在这里工作。他很好！是吗？", ["李雷在这里工作。", "他很好！", "是吗？"]),
        ("She left Acme Corp. in Leeds. They wept.", ["She left Acme Corp. in Leeds.", "They wept."]),
        ("ada left. bob stayed", ["ada left.", "bob stayed"]),
        ("1. Do it. 2. Rest.", ["Do it.", "Rest."]),
        ("- [ ] Ask Ada\n- [x] Ask Bob", ["Ask Ada", "Ask Bob"]),
        (" \n\t ... !!", []),
        ("", []),
    ],
)
def test_rules(text, expected):
    assert split(text) == expected


@given(st.text(st.sampled_from("aA .!?\n\"'-#>`~1)。…\u00a0"), max_size=80) | st.text(max_size=200))
def test_spans_lie_in_the_text_in_order_and_apart(text):
    found = sentences(text)
    assert all(0 <= span.start < span.end <= len(text) for span in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(text[span.start : span.end].strip() == text[span.start : span.end] for span in found)
    assert found == sentences(text)

"""Documents to chunks."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.sources.documents import CHUNK_SIZE, document_memories

GUIDE = """Before all.

# Guide

Intro.

## Install **now**

Run `make`.

```python
# no heading

x = 1
```

## Use [it](a.md) #

One.

Two.

Other
-----

Last.
"""


def chunks(text, **given):
    return document_memories(text, **{"document_id": "doc", **given})


def test_headings_are_subjects():
    found = chunks(GUIDE, subject="guide.md", source="guide.md", occurred_at=datetime(2024, 1, 1, tzinfo=UTC))
    assert [(each.subject, each.text) for each in found] == [
        ("guide.md", "Before all."),
        ("Guide", "Intro."),
        ("Install now", "Run `make`.\n\n```python\n# no heading\n\nx = 1\n```"),
        ("Use it", "One.\n\nTwo."),
        ("Other", "Last."),
    ]
    assert found[2].attributes["headings"] == ["Guide", "Install now"]
    assert found[0].attributes == {}
    assert [each.position for each in found] == [0, 1, 2, 3, 4]
    assert {(each.source, str(each.occurred_at)[:10]) for each in found} == {("guide.md", "2024-01-01")}


def test_plain_text_has_no_headings():
    (only,) = chunks("# Guide\n\nText", markdown=False)
    assert only.text == "# Guide\n\nText"
    assert only.subject == ""


def test_an_edit_leaves_the_ids_of_other_sections_alone():
    before, after = chunks(GUIDE), chunks(GUIDE.replace("One.", "One more.\n\nAnd another."))
    assert [one.id == other.id for one, other in zip(before, after, strict=True)] == [True, True, True, False, True]
    assert {each.id for each in chunks(GUIDE, document_id="other")}.isdisjoint(each.id for each in before)


def test_the_same_text_twice_has_two_ids():
    found = chunks("# A\n\nSame.\n\n# A\n\nSame.\n\n# B\n\nSame.")
    assert len({each.id for each in found}) == 3


def test_long_paragraphs_are_cut_between_sentences():
    found = chunks("Ada works here. " * 300, size=200)
    assert all(each.text.startswith("Ada") and each.text.endswith("here.") for each in found)
    assert all(len(each.text) <= 200 for each in found)
    assert [len(each.text) for each in chunks("x" * 450, size=200)] == [200, 200, 50]
    code = "```\n" + "line = 1\n" * 60 + "```"
    assert all(line in ("```", "line = 1") for each in chunks(code, size=100) for line in each.text.split("\n"))


def test_paragraphs_are_put_together_while_they_fit():
    found = chunks("\n\n".join(["word " * 40] * 12))
    assert all(len(each.text) <= CHUNK_SIZE for each in found)
    assert len(found) == 3


@pytest.mark.parametrize("given", [{"document_id": " "}, {"size": 3}])
def test_bad_input_is_refused(given):
    with pytest.raises(InvalidInputError):
        chunks("text", **given)


@given(st.text(st.sampled_from("ab .#\n`=-~!"), max_size=300), st.integers(100, 140), st.booleans())
def test_nothing_is_lost_but_space_and_headings(text, size, markdown):
    found = chunks(text, size=size, markdown=markdown)
    assert all(each.text.strip() == each.text and 0 < len(each.text) <= size for each in found)
    assert len({each.id for each in found}) == len(found)
    assert found == chunks(text, size=size, markdown=markdown)
    if not markdown:
        assert "".join("".join(each.text for each in found).split()) == "".join(text.split())

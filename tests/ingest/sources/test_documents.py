"""Documents to chunks; in a folder, chunks that are read, followed when they change, and faults by line."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError
from graphsearch.ingest import Ingestor, TextExtractor
from graphsearch.ingest.extract.extraction import Fault
from graphsearch.ingest.sources.documents import CHUNK_SIZE, document_memories
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory
from graphsearch.stores.graph import GraphStore
from tests.ingest.folders import Parts, graph, names, put_lines, triplets

HEADED = """Before all.

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
    found = chunks(HEADED, subject="guide.md", source="guide.md", occurred_at=datetime(2024, 1, 1, tzinfo=UTC))
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


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("## 3 May 2026\n\n- One.\n- Two.\n\n### Talks\n\nThree.\n\n## Other\n\nFour.", "0503 0503 0503 ----"),
        ("## Monday, May 4th 2026 - long\n\nOne.", "0504"),
        ("2026-05-03: One.\n2026-05-04: Two.\nThree.\n", "0503 0504 0504"),
        ("- [2026-05-03 08:15] One.\n- **2026-05-04** Two.", "0503 0504"),
        ("3 May 2026\n\nOne.\n\nTwo.\n\n4 May 2026\n\nThree.", "0503 0504"),
        ("One of 3 May 2026.\n\nOn 4 May 2026 two.\n\nSince 2026-05-05 three.", "----"),
        ("12/05/2026: one\n13/05/2026: two\n14/05/2026: three", "----"),
        ("May 2026: one", "----"),
    ],
)
def test_a_chunk_occurred_on_the_day_that_stands_before_it(text: str, days: str) -> None:
    found = [each.occurred_at for each in chunks(text)]
    assert [f"{each:%m%d}" if each else "----" for each in found] == days.split()
    given = datetime(2020, 1, 1, tzinfo=UTC)
    assert [each.occurred_at for each in chunks(text, occurred_at=given)] == [each or given for each in found]


def test_a_heading_that_is_a_day_is_no_subject():
    found = chunks("# Board\n\n## Mon, 3 May 2026\n\nOne.\n\n## 4 May 2026: budget\n\nTwo.", subject="file")
    assert [each.subject for each in found] == ["Board", "4 May 2026: budget"]
    assert found[0].attributes["headings"] == ["Board", "Mon, 3 May 2026"]


def test_plain_text_has_no_headings():
    (only,) = chunks("# Guide\n\nText", markdown=False)
    assert only.text == "# Guide\n\nText"
    assert only.subject == ""


def test_an_edit_leaves_the_ids_of_other_sections_alone():
    before, after = chunks(HEADED), chunks(HEADED.replace("One.", "One more.\n\nAnd another."))
    assert [one.id == other.id for one, other in zip(before, after, strict=True)] == [True, True, True, False, True]
    assert {each.id for each in chunks(HEADED, document_id="other")}.isdisjoint(each.id for each in before)


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


def test_each_item_of_a_list_and_each_line_of_notes_stands_alone():
    listed = "Before:\n- Ada leads Keel.\n  Since May.\n- Bob left.\n1. Cy joined."
    items = ["Before:", "- Ada leads Keel.\n  Since May.", "- Bob left.", "1. Cy joined."]
    assert [each.text for each in chunks(f"One.\n\n{listed}\n\nAfter.")] == ["One.", *items, "After."]
    notes = ["Ada leads Keel since May, and she likes it.", "Bob left.", "We use Kafka", "due 3 June"]
    for markdown in (True, False):
        assert [each.text for each in chunks("\n".join(notes), markdown=markdown)] == notes
    prose = "Ada leads Keel since May, and\nshe likes it. Bob left, and we\nuse Kafka to this day. It was\nchosen."
    assert [each.text for each in chunks(prose)] == [prose]
    code = "```\nx\n- 1\n- 2\n```"
    assert [each.text for each in chunks(code)] == [code]


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


GUIDE = "# People\n\nAda Lovelace works at Acme.\n\n# Tools\n\nKeelbook depends on Kafka.\n"


@pytest.fixture
def parts(scoped: GraphStore) -> Parts:
    return Parts(store=scoped)


def write(root: Path, name: str, text: str | bytes) -> Path:
    (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


async def test_documents_become_memories_that_are_read(tmp_path: Path, parts: Parts) -> None:
    write(write(tmp_path, "guide.md", GUIDE), "note.txt", "# Ada Lovelace lives in London.")
    report = await parts.add(tmp_path)
    assert (report.files, report.changed, report.faults) == (2, 2, ())
    assert {("Ada Lovelace", "works_at", "Acme"), ("Keelbook", "depends_on", "Kafka")} <= await triplets(parts.store)
    chunks = await parts.store.list_memories(source="guide.md")
    assert {chunk.subject for chunk in chunks if chunk.text} == {"People", "Tools"}


async def test_the_same_documents_twice_change_nothing(tmp_path: Path, parts: Parts) -> None:
    await parts.add(write(tmp_path, "guide.md", GUIDE))
    before = await graph(parts.store)
    assert (await parts.add(tmp_path)).changed == 0
    assert await graph(parts.store) == before


async def test_an_edited_section_is_read_again_and_what_is_gone_is_forgotten(tmp_path: Path, parts: Parts) -> None:
    await parts.add(write(tmp_path, "guide.md", GUIDE))
    await parts.add(write(tmp_path, "guide.md", GUIDE.replace("Kafka", "Redis")))
    assert ("Keelbook", "depends_on", "Redis") in await triplets(parts.store)
    assert not {"Kafka"} & await names(parts.store)
    (tmp_path / "guide.md").unlink()
    assert (await parts.add(tmp_path)).forgotten == 3  # the file and its two chunks
    assert not await names(parts.store)


async def test_lines_of_json_without_mentions_or_claims_have_their_text_read(tmp_path: Path, parts: Parts) -> None:
    complete = {"memory": {"id": "m1", "text": "Ada Lovelace works at Acme.", "mentions": []}}
    put_lines(tmp_path, "x.jsonl", complete, {"memory": {"id": "m2", "text": "Keelbook depends on Kafka."}})
    await parts.add(tmp_path)
    assert await triplets(parts.store) == {("Keelbook", "depends_on", "Kafka")}


class Counts(TextExtractor):
    """The rules; knows how many memories it was handed at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.handed: list[int] = []

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        self.handed.append(len(memories))
        return await super().extract(memories)


async def test_many_documents_and_long_ones_are_taken_in_a_few_chunks_at_a_time(
    tmp_path: Path, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        write(tmp_path, f"{number:02}.md", GUIDE)
    long = "".join(f"# Part {number}\n\nAda Lovelace uses Kafka.\n\n" for number in range(9))
    write(tmp_path, "long.md", long)
    whole = Parts()
    await whole.add(tmp_path)
    monkeypatch.setattr("graphsearch.ingest.folders._ELEMENTS", 16)
    monkeypatch.setattr("graphsearch.ingest.write.texts.BATCH", 5)
    extractor = Counts()
    report = await Ingestor(parts, extractor=extractor).add(tmp_path)
    assert (report.changed, report.left) == (13, 0)
    assert (sum(extractor.handed), max(extractor.handed)) == (33, 5)
    assert await triplets(parts.store) == await triplets(whole.store)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"fine\n\xff\xfe", "not valid UTF-8: invalid start byte"),
        (b"fine\nnot\0fine", "holds a NUL character"),
    ],
)
async def test_what_is_no_text_is_a_fault_by_line(tmp_path: Path, parts: Parts, content: bytes, fault: str) -> None:
    write(write(tmp_path, "bad.txt", content), "good.txt", "Ada Lovelace works at Acme.")
    report = await parts.add(tmp_path)
    assert report.faults == (Fault("bad.txt", 2, fault),)
    assert ("Ada Lovelace", "works_at", "Acme") in await triplets(parts.store)


async def test_a_document_that_is_too_large_is_a_fault(
    tmp_path: Path, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphsearch.ingest.sources.memory_files.MAX_TEXT", 10)
    report = await parts.add(write(tmp_path, "big.txt", "more than ten bytes"))
    assert [(fault.path, fault.line) for fault in report.faults] == [("big.txt", 0)]

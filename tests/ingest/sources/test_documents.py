"""Markdown and text in a folder: chunks that are read, followed when they change, and faults by line."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from graphsearch.ingest import Ingestor, TextExtractor
from graphsearch.ingest.extract.extraction import Fault
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory
from graphsearch.protocols import GraphStore
from tests.ingest.folders import Parts, graph, names, put_lines, triplets

GUIDE = "# People\n\nAda Lovelace works at Acme.\n\n# Tools\n\nBeacon depends on Kafka.\n"


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
    assert {("Ada Lovelace", "works_at", "Acme"), ("Beacon", "depends_on", "Kafka")} <= await triplets(parts.store)
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
    assert ("Beacon", "depends_on", "Redis") in await triplets(parts.store)
    assert not {"Kafka"} & await names(parts.store)
    (tmp_path / "guide.md").unlink()
    assert (await parts.add(tmp_path)).forgotten == 3  # the file and its two chunks
    assert not await names(parts.store)


async def test_lines_of_json_without_mentions_or_claims_have_their_text_read(tmp_path: Path, parts: Parts) -> None:
    told = {"memory": {"id": "m1", "text": "Ada Lovelace works at Acme.", "mentions": []}}
    put_lines(tmp_path, "x.jsonl", told, {"memory": {"id": "m2", "text": "Beacon depends on Kafka."}})
    await parts.add(tmp_path)
    assert await triplets(parts.store) == {("Beacon", "depends_on", "Kafka")}


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
    assert await graph(parts.store) == await graph(whole.store)


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
    monkeypatch.setattr("graphsearch.ingest.sources.documents.MAX_TEXT_BYTES", 10)
    report = await parts.add(write(tmp_path, "big.txt", "more than ten bytes"))
    assert [(fault.path, fault.line) for fault in report.faults] == [("big.txt", 0)]

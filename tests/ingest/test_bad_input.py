"""What no text, no date and no file should be: refused with a typed error, or stated to change nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory
from graphsearch.stores.graph import GraphStore
from graphsearch.text.bm25 import MAX_EMBEDDED, embedding_text
from tests.ingest.folders import Parts, put_lines

AT = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def parts(scoped: GraphStore) -> Parts:
    return Parts(store=scoped)


async def counts(parts: Parts) -> tuple[int, int]:
    """How many memories and entities there are."""
    counted = await parts.store.statistics()
    return counted.memories, sum(counted.entities_by_type.values())


@pytest.mark.parametrize("text", ["", " \n\t", "\x01\x07\x1b[31m\x7f", "\u202e\u200b\ufeff"])
async def test_texts_that_say_nothing_are_kept_and_name_nobody(parts: Parts, text: str) -> None:
    report = await Ingestor(parts).remember([Memory(id="m", text=text, occurred_at=AT)])
    assert (report.changed, await counts(parts)) == (1, (1, 0))
    [stored] = await parts.store.get_memories(["m"])
    assert stored.text == text


async def test_control_characters_are_no_part_of_a_name(parts: Parts) -> None:
    await Ingestor(parts).remember(
        [Memory(id="m", text="Ada Lovelace\x07 works at \x1b[1mAcme Inc.\x1b[0m", occurred_at=AT)]
    )
    assert await parts.store.find_names(["Ada Lovelace"])
    for entity in await parts.store.list_entities():
        assert all(character.isprintable() for character in entity.name)


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_what_no_store_can_hold_is_no_memory(text: str) -> None:
    with pytest.raises(InvalidInputError):
        Memory(id="m", text=text, occurred_at=AT)


@pytest.mark.parametrize(
    "text",
    [
        "Ada Lovelace joined Acme Inc. in 44 BC.",
        "Ada Lovelace joined Acme Inc. on 0000-01-01.",
        "Ada Lovelace joined Acme Inc. on -0044-03-15.",
        "Ada Lovelace joined Acme Inc. 999 years ago.",
    ],
)
@pytest.mark.parametrize("at", [AT, datetime(1, 1, 1, tzinfo=UTC)])
async def test_dates_before_the_calendar_are_none(parts: Parts, text: str, at: datetime) -> None:
    await Ingestor(parts).remember([Memory(id="m", text=text, occurred_at=at)])
    assert await parts.store.find_names(["Ada Lovelace"])


@pytest.mark.parametrize("at", ["-0044-03-15T00:00:00Z", "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z"])
async def test_a_time_outside_of_the_calendar_is_a_fault_by_line(parts: Parts, tmp_path: Path, at: str) -> None:
    bad, good = {"id": "bad", "text": "Ada.", "occurred_at": at}, {"id": "good", "text": "Bob."}
    report = await parts.add(put_lines(tmp_path, "m.jsonl", {"memory": bad}, {"memory": good}))
    assert [(fault.path, fault.line) for fault in report.faults] == [("m.jsonl", 1)]
    assert [memory.text for memory in await parts.store.list_memories()].count("Bob.") == 1


async def test_the_beginning_of_an_endless_text_is_embedded(parts: Parts) -> None:
    long = Memory(id="m", text="word " * (MAX_EMBEDDED // 4), occurred_at=AT)
    assert len(embedding_text(long)) == MAX_EMBEDDED
    report = await Ingestor(parts).remember([long])
    assert (report.changed, report.embedded) == (1, 1)
    [stored] = await parts.store.get_memories(["m"])
    assert stored.text == long.text

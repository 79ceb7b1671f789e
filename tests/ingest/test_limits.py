"""What one call of an ingest reads is limited: nothing of a text that exceeds a limit is written."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError, TimeLimitError, UnknownScopeError
from graphsearch.ingest import DEFAULT_EXTRACTOR, IngestLimits, Ingestor
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory
from graphsearch.protocols import Extractor
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore

SHORT = Memory(id="short", text="Ada knows Bo.")
LONG = Memory(id="long", text="Ada knows Bo. " * 10)
NAMES = Memory(id="names", text="Ada knows Bo, Cleo and Dan.")


@pytest.fixture
def store() -> GraphStore:
    return InMemoryGraphStore().with_scope(org_id="o", project_id="p")


def ingestor(store: GraphStore, limits: IngestLimits, extractor: Extractor | None = DEFAULT_EXTRACTOR) -> Ingestor:
    return Ingestor(GraphSearchEngine(store=store), limits=limits, extractor=extractor)


async def test_a_text_with_too_many_characters_is_refused_before_anything_is_written(store: GraphStore) -> None:
    with pytest.raises(InvalidInputError, match=r"'long' has 140 characters, more than the limit of 20: send it in"):
        await ingestor(store, IngestLimits(characters=20)).remember([SHORT, LONG])
    with pytest.raises(UnknownScopeError):
        await store.version()


async def test_a_text_with_too_many_names_is_refused_and_its_batch_is_not_written(store: GraphStore) -> None:
    with pytest.raises(InvalidInputError, match=r"'names' has 4 distinct names, more than the limit of 3: send it in"):
        await ingestor(store, IngestLimits(names=3)).remember([SHORT, NAMES])
    assert not await store.get_memories(["short", "names"])
    assert (await ingestor(store, IngestLimits(names=4)).remember([SHORT, NAMES])).changed == 2


@pytest.mark.parametrize("limits", [IngestLimits(characters=20), IngestLimits(names=3)])
async def test_in_a_folder_it_is_a_fault_and_the_rest_is_read(
    store: GraphStore, tmp_path: Path, limits: IngestLimits
) -> None:
    (tmp_path / "a.md").write_text(SHORT.text)
    (tmp_path / "b.md").write_text(NAMES.text)
    report = await ingestor(store, limits).add(tmp_path)
    assert [fault.path for fault in report.faults] == ["b.md"]
    assert "more than the limit of" in str(report.faults[0])


class Endless:
    """An extractor that never ends."""

    name = "endless"

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        await asyncio.Event().wait()
        raise AssertionError(memories)


async def test_a_call_that_takes_too_long_is_stopped_and_writes_nothing(store: GraphStore) -> None:
    with pytest.raises(TimeLimitError, match=r"took longer than 0.01 s and was cancelled"):
        await ingestor(store, IngestLimits(seconds=0.01), Endless()).remember([SHORT])
    assert not await store.get_memories(["short"])


async def test_another_timeout_is_no_limit_of_the_call(store: GraphStore) -> None:
    with pytest.raises(TimeoutError) as raised:
        async with asyncio.timeout(0.01):
            await ingestor(store, IngestLimits(seconds=60), Endless()).remember([SHORT])
    assert not isinstance(raised.value, TimeLimitError)


async def test_nothing_is_limited_by_none(store: GraphStore) -> None:
    limits = IngestLimits(characters=None, names=None, seconds=None)
    assert (await ingestor(store, limits).remember([LONG, NAMES])).changed == 2


@pytest.mark.parametrize("wrong", [{"characters": 0}, {"names": 0}, {"seconds": -1}, {"names": "many"}])
def test_limits_are_numbers(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidInputError, match=f"limits: {next(iter(wrong))} must be"):
        IngestLimits(**wrong)

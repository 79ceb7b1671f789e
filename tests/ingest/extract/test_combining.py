"""Several extractors as one: what each reads of a memory, put together."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest

from graphsearch.errors import ExtractionError, InvalidInputError, LLMUnavailableError
from graphsearch.ingest import CombinedExtractor, Ingestor
from graphsearch.model import EdgeKind, Memory, Span
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement
from tests.ingest.folders import Parts

ONE, TWO = Memory(id="1", text="Ann, Bob"), Memory(id="2", text="Cy")


def surface(name: str, type: str = "") -> ExtractedName:
    return ExtractedName(name=name, type=type, span=Span(start=0, end=3), confidence=0.9, pattern="test")


def statement(source: ExtractedName, type: str, target: ExtractedName) -> Statement:
    return Statement(
        source=source,
        type=type,
        target=target,
        confidence=0.6,
        kind=EdgeKind.SEMANTIC,
        valid_from=None,
        valid_to=None,
        fact="",
        span=Span(start=0, end=8),
        pattern="test",
    )


@attrs.define
class SurfaceForm:
    """Says what it is given of each memory, and remembers which it was handed."""

    name: str
    extracted: dict[str, ExtractedMemory]
    batch: int | None = None
    handed: list[str] = attrs.field(factory=list)

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        self.handed += [memory.id for memory in memories]
        return [self.extracted.get(memory.id, ExtractedMemory(memory_id=memory.id)) for memory in memories]


def says(
    name: str, *surfaces: ExtractedName, statements: Sequence[Statement] = (), batch: int | None = None
) -> SurfaceForm:
    return SurfaceForm(
        name, {"1": ExtractedMemory(memory_id="1", surfaces=surfaces, statements=tuple(statements))}, batch
    )


async def test_all_that_any_extracts_is_returned() -> None:
    both = CombinedExtractor(says("a", surface("Ann")), says("b", surface("Bob"), surface("Ann")))
    one, two = await both.extract([ONE, TWO])
    assert (both.name, [each.name for each in one.surfaces]) == ("a+b", ["Ann", "Bob"])
    assert two == ExtractedMemory(memory_id="2")


async def test_the_first_type_that_is_stated_counts_for_all() -> None:
    ann, bob = surface("Ann"), surface("Bob")
    first = says("a", ann, statements=[statement(ann, "knows", bob)])
    second, third = says("b", surface("Ann", "person")), says("c", surface("Ann", "tool"))
    (extracted,) = await CombinedExtractor(first, second, third).extract([ONE])
    assert extracted.surfaces == (surface("Ann", "person"),)
    assert extracted.statements[0].source == surface("Ann", "person")


async def test_names_co_occur_only_where_nobody_relates_them() -> None:
    ann, bob, cy = surface("Ann"), surface("Bob"), surface("Cy")
    rules = says("a", statements=[statement(ann, "co_occurs", bob), statement(ann, "co_occurs", cy)])
    model = says("b", statements=[statement(bob, "likes", ann), statement(bob, "likes", ann)])
    (extracted,) = await CombinedExtractor(rules, model).extract([ONE])
    assert [(each.source.name, each.type) for each in extracted.statements] == [("Ann", "co_occurs"), ("Bob", "likes")]


async def test_what_one_cannot_read_is_unread_and_handed_on_no_more() -> None:
    error = LLMUnavailableError()
    failing = SurfaceForm("a", {"1": ExtractedMemory(memory_id="1", unread=error)})
    last = says("c", surface("Ann"))
    one, two = await CombinedExtractor(failing, last).extract([ONE, TWO])
    assert one == ExtractedMemory(memory_id="1", unread=error)
    assert (two.unread, last.handed) == (None, ["2"])


async def test_what_is_refused_by_any_is_reported() -> None:
    some = [
        SurfaceForm(name, {"1": ExtractedMemory(memory_id="1", refused=(f"{name} refuses",))}) for name in ("a", "b")
    ]
    (extracted,) = await CombinedExtractor(*some).extract([ONE])
    assert extracted.refused == ("a refuses", "b refuses")


def test_as_many_memories_are_handed_over_as_the_least_asks_for() -> None:
    assert CombinedExtractor(says("a"), says("b", batch=40), says("c", batch=8)).batch == 8
    assert CombinedExtractor(says("a"), says("b")).batch is None


async def test_one_that_leaves_memories_out_is_refused() -> None:
    class Silent:
        name = "silent/1"

        async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
            return []

    with pytest.raises(ExtractionError, match="'silent/1' did not return one result per memory"):
        await CombinedExtractor(says("a"), Silent()).extract([ONE])


def test_one_alone_is_refused() -> None:
    with pytest.raises(InvalidInputError):
        CombinedExtractor(says("a"))


@pytest.mark.parametrize("batch", [0, -1])
async def test_an_extractor_that_asks_for_no_memories_at_a_time_is_refused(batch: int) -> None:
    parts, odd = Parts(), says("odd", batch=batch)
    with pytest.raises(InvalidInputError, match=r"extractor 'odd'.*batch"):
        await Ingestor(parts, extractor=odd).remember([ONE])
    assert await parts.store.list_memories() == []
    with pytest.raises(InvalidInputError, match=r"extractor 'odd'.*batch"):
        _ = CombinedExtractor(says("a"), odd).batch

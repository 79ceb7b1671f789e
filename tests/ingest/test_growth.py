"""Remembering takes time linear in texts and claims: calls of functions are counted, so that load does not matter."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import FrameType
from typing import Any
from uuid import UUID, uuid5

import attrs
import pytest

from benchmarks.reading_growth import run_here, steps
from benchmarks.reading_shapes import text_of
from graphsearch.claims.folding import DatedClaim, periods_of, redacted_fold
from graphsearch.model import Batch, Claim, Entity, Memory, Mention, RelationType
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder

SIZE = 500
TIMES = 4
ALLOWED = 5.0  # a quadratic step would approach 16: a tenth of the cost of the smaller text is too much


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """What is loaded at the first use is no part of the growth."""
    steps(text_of("lists", SIZE // 10), HashEmbedder(8))


def grows_linearly(cost: Callable[[int], int], size: int) -> bool:
    """Whether four times the size costs about four times as much.

    What measures the coverage rewrites code now and then, in the same thread: a cost is the least of some.
    """
    few = min(cost(size) for _ in range(2))
    return any(cost(TIMES * size) < ALLOWED * few for _ in range(4))


@pytest.mark.parametrize("shape", ["handles", "lists"])
def test_four_times_the_text_takes_about_four_times_the_steps(shape: str) -> None:
    assert grows_linearly(lambda size: steps(text_of(shape, size)), SIZE)


@pytest.mark.parametrize("shape", ["institutes"])
def test_four_times_the_text_takes_about_four_times_the_steps_with_an_embedder(shape: str) -> None:
    embedder = HashEmbedder(8)
    # up to 2,000 characters the candidates of a name grow to their limits: the cost grows faster there, and then slower
    assert grows_linearly(lambda size: steps(text_of(shape, size), embedder), 2 * SIZE)


TraceFunction = Callable[[FrameType, str, Any], Any]

ADA = UUID(int=1)
START = datetime(1000, 1, 1, tzinfo=UTC)
WORKS_AT = RelationType(name="works_at", functional=True)


def claims(number: int, targets: int) -> list[DatedClaim]:
    """Claims of one memory of one functional relation, each from another day on."""
    return [
        DatedClaim(
            Claim(
                memory_id="m",
                source_id=ADA,
                type="works_at",
                target_id=uuid5(ADA, str(day % targets)),
                confidence=0.5,
                valid_from=START + timedelta(days=2 * day),
                valid_to=START + timedelta(days=2 * day + 1) if targets == 1 else None,
            ),
            START,
        )
        for day in range(number)
    ]


def lines(work: Callable[[], object]) -> int:
    """The lines that are run to do some work, one for each turn of a loop."""
    counted = 0

    def count(frame: FrameType, event: str, argument: object) -> TraceFunction:
        nonlocal counted
        counted += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return counted


@pytest.mark.parametrize("targets", [1, 7, 10_000])
def test_periods_are_folded_in_time_linear_in_the_claims(targets: int) -> None:
    def cost(number: int) -> int:
        given = claims(number, targets)
        return lines(lambda: (periods_of(given, WORKS_AT), redacted_fold(given, given[::2], WORKS_AT)))

    assert grows_linearly(cost, 100)


def employments(number: int) -> Batch:
    """One person with many names, who worked at many firms, each of two types and with many claims."""
    firms = [Entity(type="concept", name=f"firm {at}") for at in range(number)]
    ada = Entity(type="person", name="Ada")
    mentions = [Mention(memory_id="m", entity_id=ada.id, surface=f"Ada {at}", type="person") for at in range(number)]
    mentions += [
        Mention(memory_id="m", entity_id=firm.id, surface=firm.name, type=type_)
        for firm in firms
        for type_ in ("company", "place")
    ]
    return Batch(
        named=(ada, *firms),
        memories=(Memory(id="m", text=""),),
        mentions=tuple(mentions),
        claims=tuple(
            Claim(
                memory_id="m",
                source_id=ada.id,
                type="works_at",
                target_id=firm.id,
                confidence=0.5,
                valid_from=START + timedelta(days=day),
            )
            for day, firm in enumerate(firms)
        ),
    )


@pytest.mark.parametrize("written", [1, 2])
def test_a_write_in_memory_takes_time_linear_in_its_names_and_claims(written: int) -> None:
    def write(number: int) -> int:
        store = InMemoryGraphStore().with_scope(org_id="o", project_id="p")
        batch = employments(number)
        for _ in range(written - 1):
            run_here(store.write(employments(number)))
            batch = attrs.evolve(batch, memories=(Memory(id="m", text="", source="another"),))
        return lines(lambda: run_here(store.write(batch)))

    assert grows_linearly(write, 25)

"""Links, contradictions and communities: what they refuse, and what is derived from them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import attrs
import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.model import Batch, Community, Contradiction, MemoryLink
from graphsearch.testing.samples import day, person, relation

ADA, BOB, EVE = person("Ada"), person("Bob"), person("Eve")
ONE, TWO, THREE = (UUID(int=number) for number in (1, 2, 3))
TRIO = Community(
    id=ONE, members=[ONE, TWO, THREE], strengths=[1.5, 0, 2], density=0.5, top=[THREE, ONE], label="Three, One"
)


def test_a_link_has_the_type_relates_to_unless_given_one() -> None:
    assert MemoryLink(from_id="a", to_id="b").type == "relates_to"
    assert MemoryLink(from_id="a", to_id="b", type="Led To") == MemoryLink(from_id="a", to_id="b", type="led_to")
    assert MemoryLink(from_id="a", to_id="b") != MemoryLink(from_id="b", to_id="a")


def test_every_fault_of_a_link_is_named() -> None:
    with pytest.raises(InvalidInputError) as refused:
        MemoryLink(from_id=" ", to_id="a\0b", type="", created_at=datetime(2026, 1, 1))  # noqa: DTZ001
    assert [fault.split()[0] for fault in refused.value.faults] == ["from_id", "to_id", "type", "created_at"]
    with pytest.raises(InvalidInputError, match="must not be linked to itself"):
        MemoryLink(from_id="a", to_id="a")
    with pytest.raises(InvalidInputError, match="type must be text"):
        MemoryLink(from_id="a", to_id="b", type=7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("periods", "overlap"),
    [
        (((None, None), (None, None)), (None, None)),
        (((1, None), (None, 9)), (1, 9)),
        (((1, 5), (3, 9)), (3, 5)),
    ],
)
def test_a_contradiction_lasts_as_long_as_both_hold(periods: Any, overlap: Any) -> None:
    def moment(number: int | None) -> datetime | None:
        return None if number is None else day(number)

    one, other = (
        relation(ADA, end, "lives_in", valid_from=moment(start), valid_to=moment(stop))
        for end, (start, stop) in zip((BOB, EVE), periods, strict=True)
    )
    found = Contradiction(one=one, other=other)
    assert (found.source_id, found.type) == (ADA.id, "lives_in")
    assert (found.valid_from, found.valid_to) == tuple(map(moment, overlap))


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("members", [ONE], "two members or more"),
        ("members", [ONE, ONE, TWO], "distinct and in order"),
        ("members", [ONE, THREE, TWO], "distinct and in order"),
        ("strengths", [1, 2], "strengths must have 3 items, not 2"),
        ("strengths", [1, 2, float("nan")], "each of strengths must be a finite number"),
        ("strengths", [1, -2, 1], "each of strengths must be at least 0"),
        ("density", 1.5, "density must be in"),
        ("top", [UUID(int=9)], "each of top must be a member"),
        ("top", [ONE, ONE], "top must be distinct"),
        ("label", "a\0b", "label must not contain NUL"),
    ],
)
def test_a_community_that_cannot_be_is_refused(field: str, value: Any, fault: str) -> None:
    with pytest.raises(InvalidInputError, match=fault):
        attrs.evolve(TRIO, **{field: value})


def test_members_leave_with_their_strength_and_their_place() -> None:
    assert TRIO.size == 3
    assert TRIO.without(()) is TRIO
    assert TRIO.without({UUID(int=9)}) is TRIO
    left = TRIO.without({THREE})
    assert left is not None
    assert (left.id, left.members, left.strengths, left.top) == (ONE, (ONE, TWO), (1.5, 0), (ONE,))
    assert TRIO.without({ONE, THREE}) is None


@pytest.mark.parametrize("counters", [{"": 1}, {"seen": -1}, {"a\0b": 1}])
def test_a_batch_counts_by_name_and_upwards(counters: dict[str, int]) -> None:
    with pytest.raises(InvalidInputError, match="counters"):
        Batch(counters=counters)

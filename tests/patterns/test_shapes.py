"""Inputs of every kind are read in time that grows with their length: calls of functions are counted."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.command import Setting
from benchmarks.reading_growth import calls, run_here
from benchmarks.reading_shapes import SHAPES
from benchmarks.shapes import READERS, made, measure, pumps

SIZE = 400
TIMES = 4
ALLOWED = 6.0
"""Times the calls for four times the length: a quadratic part would approach 16."""


@pytest.mark.parametrize(
    ("reader", "shape"),
    [
        ("text", ("Ada works at Acme", ".", "x")),
        ("text", ("", "Ada: Ada: ", "x")),
        ("text", ("", "Ada and Bo and ", "x")),
        ("text", ("", "[a](", "x")),
        ("document", ("# a", " ", "x")),
        ("document", ("", "# a\n", "x")),
        ("speaker", ("Ada", " (", "x")),
        ("subject", ("a/b", ":0", "x")),
        ("question", ("Who is Ada", "?", "x")),
        ("code", ("", "a.b ", "x")),
    ],
)
def test_four_times_the_input_takes_about_four_times_the_calls(reader: str, shape: tuple[str, str, str]) -> None:
    def cost(size: int) -> int:
        return min(calls(lambda: run_here(READERS[reader](made(shape, size)))) for _ in range(2))  # type: ignore[arg-type]

    cost(10)  # what is loaded at the first use
    assert cost(TIMES * SIZE) < ALLOWED * cost(SIZE)


def test_the_command_measures_each_way_to_read() -> None:
    assert (len(pumps()), len(READERS), len(SHAPES)) == (390, 7, 62)
    report = asyncio.run(measure(5, Setting(runs=1)))
    assert report["shapes"] >= len(READERS)
    assert report["characters"] == [5, 10, 20, 40]

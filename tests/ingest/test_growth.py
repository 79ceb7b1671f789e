"""Remembering one text takes time linear in it: calls of functions are counted, so that load does not matter."""

from __future__ import annotations

import pytest

from benchmarks.reading_growth import steps
from benchmarks.reading_shapes import text_of
from graphsearch.testing.fakes import HashEmbedder

SIZE = 1_000
TIMES = 4
ALLOWED = 6.0  # a quadratic step would approach 16


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """What is loaded at the first use is no part of the growth."""
    steps(text_of("lists", SIZE // 10), HashEmbedder(8))


@pytest.mark.parametrize("shape", ["handles", "lists"])
def test_four_times_the_text_takes_about_four_times_the_steps(shape: str) -> None:
    few, many = steps(text_of(shape, SIZE)), steps(text_of(shape, TIMES * SIZE))
    assert many < ALLOWED * few


@pytest.mark.parametrize("shape", ["institutes"])
def test_four_times_the_text_takes_about_four_times_the_steps_with_an_embedder(shape: str) -> None:
    embedder = HashEmbedder(8)
    few, many = (steps(text_of(shape, times * SIZE), embedder) for times in (1, TIMES))
    assert many < ALLOWED * few

"""The public fakes."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch._support.timing import SystemClock
from graphsearch.protocols import LLM, Clock, Embedder, TokenCounter
from graphsearch.testing.fakes import NOON, EchoLLM, FixedClock, HashEmbedder, WordCounter
from graphsearch.testing.spec import StoreSpec


def test_fakes_are_what_they_stand_for() -> None:
    clocks: list[Clock] = [FixedClock(), SystemClock()]
    embedder: Embedder = HashEmbedder()
    parts: tuple[LLM, TokenCounter] = (EchoLLM(), WordCounter())
    assert all(clock.now().utcoffset() == timedelta(0) for clock in clocks)
    assert (embedder.name, embedder.dimensions) == ("hash-of-words-64", 64)
    assert len(parts) == 2


def test_a_fixed_clock_moves_when_set() -> None:
    clock = FixedClock()
    assert clock.now() == clock.now() == NOON
    assert clock.advance(days=1, hours=2) == NOON + timedelta(hours=26)
    assert clock.advance(timedelta(seconds=5)) == NOON + timedelta(hours=26, seconds=5)
    clock.set(NOON)
    assert clock.now() == NOON


@given(st.text())
def test_hashed_words_have_a_direction_and_always_the_same(text: str) -> None:
    vector = HashEmbedder(16).vector(text)
    assert vector.dtype == np.float32
    assert vector.shape == (16,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert np.array_equal(vector, HashEmbedder(16).vector(text))


async def test_texts_that_share_words_are_near() -> None:
    near, far, question = await HashEmbedder().embed(
        ["the TLS handshake is done here", "a garden in spring", "where is the TLSHandshake?"], input_type="document"
    )
    assert near @ question > 0.5 > far @ question
    assert (await HashEmbedder(8).embed([], input_type="query")).shape == (0, 8)


async def test_an_echo_answers_what_it_was_given_then_what_it_hears() -> None:
    llm = EchoLLM("one")
    assert [await llm.ask("a"), await llm.ask("b")] == ["one", "b"]
    assert llm.asked == ["a", "b"]


def test_words_and_line_breaks_are_counted() -> None:
    assert WordCounter().count("") == 0
    assert WordCounter().count("two words\nand three more\n") == 7


def test_a_spec_without_a_store_explains_what_to_do(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(
        """
        from graphsearch.testing.spec_finding import ViewingSpec

        class TestNothing(ViewingSpec):
            pass
        """
    )
    outcome = pytester.runpytest("-p", "no:cacheprovider", "-p", "no:slipcover")
    outcome.assert_outcomes(errors=3)
    outcome.stdout.fnmatch_lines(["*override the fixture `unscoped`*"])
    assert StoreSpec.__doc__

"""Inputs that nobody would write are read or refused, typed; `python -m tests.trust.fuzz COUNT` draws more."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.properties import FAST
from tests.trust.fuzz import fuzz
from tests.trust.fuzz_inputs import SAMPLES


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """The server logs each request that it refuses."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", SAMPLES)
async def test_no_input_raises_what_is_not_typed(kind: str) -> None:
    found = await fuzz(kind, 10 if FAST else 30)
    assert sum(found.values()) >= 10

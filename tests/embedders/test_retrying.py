import pytest

from graphsearch.embedders.retrying import PassingFailureError, Retries
from graphsearch.errors import EmbedderUnavailableError, InvalidInputError


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr("graphsearch.embedders.retrying.asyncio.sleep", sleep)
    return found


async def _failing(retry_after: float | None = None) -> str:
    raise PassingFailureError("down", retry_after) from OSError("cable")


async def test_waits_double_up_to_the_longest_and_vary_by_half(waits: list[float]) -> None:
    with pytest.raises(EmbedderUnavailableError, match=r"down.*6 tries") as caught:
        await Retries(most=5, first_wait=1.0, longest_wait=4.0).run(_failing)
    for wait, planned in zip(waits, [1.0, 2.0, 4.0, 4.0, 4.0], strict=True):
        assert planned / 2 <= wait <= planned
    assert isinstance(caught.value.__cause__, OSError)


async def test_a_vendor_that_asks_for_a_longer_wait_gets_it(waits: list[float]) -> None:
    with pytest.raises(EmbedderUnavailableError):
        await Retries(most=1, first_wait=0.5).run(lambda: _failing(9.0))
    assert waits == [9.0]


async def test_a_vendor_that_asks_for_too_long_a_wait_is_given_up(waits: list[float]) -> None:
    with pytest.raises(EmbedderUnavailableError, match=r"1 tries; it asks to wait 31 s"):
        await Retries(longest_wait=30.0).run(lambda: _failing(31.0))
    assert waits == []


def test_negative_numbers_are_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        Retries(most=-1, first_wait=-1, longest_wait=-1)
    assert len(caught.value.faults) == 3

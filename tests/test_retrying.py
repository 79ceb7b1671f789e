import pytest

from graphsearch._support.retrying import PassingFailureError, Retries, may_pass, retry_after
from graphsearch.errors import EmbedderUnavailableError, InvalidInputError


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr("graphsearch._support.retrying.asyncio.sleep", sleep)
    return found


async def _failing(retry_after: float | None = None) -> str:
    raise PassingFailureError("down", retry_after) from OSError("cable")


async def test_waits_double_up_to_the_longest_and_vary_by_half(waits: list[float]) -> None:
    with pytest.raises(EmbedderUnavailableError, match=r"down.*6 tries") as caught:
        await Retries(most=5, first_wait=1.0, longest_wait=4.0).run(_failing, unavailable=EmbedderUnavailableError)
    for wait, planned in zip(waits, [1.0, 2.0, 4.0, 4.0, 4.0], strict=True):
        assert planned / 2 <= wait <= planned
    assert isinstance(caught.value.__cause__, OSError)


async def test_a_vendor_that_asks_for_a_longer_wait_gets_it(waits: list[float]) -> None:
    with pytest.raises(EmbedderUnavailableError):
        await Retries(most=1, first_wait=0.5).run(lambda: _failing(9.0), unavailable=EmbedderUnavailableError)
    assert waits == [9.0]


async def test_a_vendor_that_asks_for_too_long_a_wait_is_given_up(waits: list[float]) -> None:
    with pytest.raises(EmbedderUnavailableError, match=r"1 tries; it asks to wait 31 s"):
        await Retries(longest_wait=30.0).run(lambda: _failing(31.0), unavailable=EmbedderUnavailableError)
    assert waits == []


def test_negative_numbers_are_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        Retries(most=-1, first_wait=-1, longest_wait=-1)
    assert len(caught.value.faults) == 3


@pytest.mark.parametrize(
    ("status", "passes"), [(400, False), (401, False), (404, False), (408, True), (429, True), (500, True), (529, True)]
)
def test_what_may_pass(status: int, passes: bool) -> None:
    assert may_pass(status) is passes


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "Wed, 21 Oct 99999999999999999999 07:28:30 GMT"}, None),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT"}, None),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "Date": "Wed, 21 Oct 2026 07:28:30 GMT"}, 0.0),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError
from graphsearch.llms import Call, Prices, Usage, metered, record
from graphsearch.llms.usage import Tokens, token_counts

COUNTS = st.integers(min_value=0, max_value=10**9)


def usage(input: int = 1, prices: Prices | None = None) -> Usage:
    return Usage.of(Tokens(input=input, output=1), prices)


def test_costs_are_by_the_million() -> None:
    tokens = Tokens(input=3_000_000, cached=1_000_000, output=500_000)
    assert Prices(input=2, output=10, cached=0.5).cost(tokens) == pytest.approx(2 * 2 + 0.5 + 5)
    assert Prices(input=2, output=10).cost(tokens) == pytest.approx(3 * 2 + 5)


def test_prices_below_zero_are_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        Prices(input=-1, output=float("nan"), cached=-1)
    assert len(caught.value.faults) == 3


@given(COUNTS, COUNTS, COUNTS)
def test_counts_are_taken_only_where_the_cached_are_among_the_input(input: int, output: int, cached: int) -> None:
    found = token_counts(input, output, cached)
    assert (found is None) == (cached > input)
    assert found is None or found == Tokens(input=input, output=output, cached=cached)


@pytest.mark.parametrize("value", [-1, 10**400, True, 1.0, "1", None])
def test_what_can_be_no_count_is_none(value: object) -> None:
    assert token_counts(value, 1) is token_counts(1, value) is token_counts(1, 1, value) is None


def test_a_cost_that_is_not_known_makes_the_sum_unknown() -> None:
    priced = usage(prices=Prices(input=1e6, output=0))
    assert (priced + priced).cost == 2.0
    assert (priced + usage()).cost is None
    both = priced + Usage.of(None, None)
    assert (both.answers, both.unreported, both.input_tokens, both.cost) == (2, 1, 1, None)


async def test_a_meter_counts_the_tasks_started_inside_and_no_others() -> None:
    outside = asyncio.Event()

    async def later() -> None:
        await outside.wait()
        record(Call("other", usage()))

    stranger = asyncio.create_task(later())
    with metered() as meter:
        outside.set()
        await stranger
        await asyncio.gather(*(asyncio.to_thread(record, Call("mine", usage(number))) for number in range(3)))
    record(Call("after", usage()))
    assert [call.model for call in meter.calls] == ["mine"] * 3
    assert meter.total.input_tokens == 3


def test_a_meter_that_counted_nothing() -> None:
    with metered() as meter:
        pass
    assert meter.total == Usage()
    assert meter.calls == ()

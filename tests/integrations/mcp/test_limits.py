"""What one request may take, how many a principal may make, and whether the server is healthy."""

from __future__ import annotations

import asyncio

import httpx2
import pytest

from graphsearch._support.concurrency import within
from graphsearch.errors import InvalidInputError, RateLimitError, StoreUnavailableError
from graphsearch.integrations.http import rest
from graphsearch.integrations.http.rest import HealthCheck
from graphsearch.integrations.mcp import Desk, make_server, rest_routes
from graphsearch.operations import serving
from graphsearch.operations.serving import RateLimit
from graphsearch.testing.fakes import WordCounter
from tests.integrations.mcp.bearers import ADA, BOB
from tests.integrations.mcp.conftest import Slow, asking, server_for, surface_over
from tests.integrations.mcp.test_http import asking_at, listening


async def test_a_request_that_takes_too_long_is_cancelled_and_the_next_one_works(engine):
    slow = Slow()
    fast, engine.embedder = engine.embedder, slow
    async with asking(server_for(engine, time_limit=1, counter=WordCounter())) as ask:
        error = await ask.error("graph_query", query="anything?")
        assert error["type"] == "TimeLimitError"
        assert "longer than 1 s" in error["message"]
        assert slow.cancelled.is_set()
        engine.embedder = fast
        assert (await ask("recall", query="where does Ada Lovelace live?"))["memories"]


async def test_a_time_out_inside_of_a_request_is_not_the_limit():
    with pytest.raises(TimeoutError):
        async with within(10):
            raise TimeoutError


async def test_each_principal_has_a_rate_of_their_own(engine, tokens):
    server = make_server(surface_over(engine, rate=3), tokens.identify)
    async with listening(server, tokens) as url, asking_at(url, ADA) as ada, asking_at(url, BOB) as bob:
        for _ in range(3):
            await ada("recall", query="where does Ada Lovelace live?")
        error = await ada.error("recall", query="where does Ada Lovelace live?")
        assert error["type"] == "RateLimitError"
        assert "try again in" in error["message"]
        await bob("recall", query="where does Ada Lovelace live?")


def test_a_rate_is_refilled_and_bounded(monkeypatch):
    monkeypatch.setattr(serving, "_MOST", 3)
    now = 0.0
    rate = RateLimit(2, now=lambda: now)
    for _ in range(2):
        rate.admit("ada")
    with pytest.raises(RateLimitError) as refused:
        rate.admit("ada")
    assert refused.value.retry_after == pytest.approx(30)
    now = 30.0
    rate.admit("ada")
    with pytest.raises(RateLimitError):
        rate.admit("ada")
    now = 1_000.0
    for number in range(9):
        now += 60
        rate.admit(f"somebody {number}")
        assert len(rate._left) <= 3
    for _ in range(2):
        rate.admit("ada")  # never more than its two, however long it waited
    with pytest.raises(RateLimitError):
        rate.admit("ada")


@pytest.mark.parametrize("wrong", [{"time_limit": 0}, {"rate": 0}])
def test_limits_are_checked(engine, wrong):
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        surface_over(engine, **wrong)


async def test_health_is_shown_to_everybody(engine, tokens, monkeypatch):
    monkeypatch.setattr(rest, "_CHECKED", 0.0)
    up = True

    async def probe() -> None:
        if not up:
            raise StoreUnavailableError

    server = make_server(surface_over(engine), tokens.identify)
    routes = rest_routes(Desk(surface_over(engine)), tokens.identify, probe=probe)
    async with listening(server, tokens, routes=routes) as url, httpx2.AsyncClient() as http:
        address = url.replace("/mcp", "/health")
        answer = await http.get(address)
        assert (answer.status_code, answer.json()) == (200, {"healthy": True})
        up = False
        answer = await http.get(address)
        assert (answer.status_code, answer.json()) == (503, {"healthy": False})


async def test_checks_of_health_share_one_probe_and_do_not_wait_for_ever(monkeypatch):
    asked = 0

    async def probe() -> None:
        nonlocal asked
        asked += 1

    checking = HealthCheck(probe)
    assert await asyncio.gather(*(checking.healthy() for _ in range(5))) == [True] * 5
    assert asked == 1
    monkeypatch.setattr(rest, "_PATIENCE", 0.05)
    assert not await HealthCheck(asyncio.Event().wait).healthy()

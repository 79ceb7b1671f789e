"""What every cache keeps: tickets, bounds, time to live, and the walls between scopes."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from graphsearch.caching import CacheReport, InProcessCache, RedisCache, cached
from graphsearch.errors import CacheError, InvalidInputError, MissingExtraError, StoreError
from graphsearch.model import Entity, Scope
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import HOSTILE_TEXTS
from tests.trust.forgetting import MARK, lives

ADA, BOB = (Entity(type="person", name=name) for name in ("Ada", "Bob"))


@pytest.fixture
def scope():
    return Scope("acme", f"web-{uuid4()}")


async def ticket_of(cache):
    return (await cache.get([])).ticket


async def kept_in(cache, *entities):
    return set((await cache.get([entity.id for entity in entities])).found)


# -- both ---------------------------------------------------------------------------------------------------------


async def test_what_was_put_is_found(cache):
    first = await cache.get([ADA.id, BOB.id])
    assert first.found == {}
    assert await cache.put([ADA], first.ticket)
    again = await cache.get([BOB.id, ADA.id, ADA.id])
    assert (again.found, again.ticket) == ({ADA.id: ADA}, first.ticket)


async def test_every_field_comes_back(cache):
    entity = Entity(
        type="person",
        name="Ada\x1f “Countess”",
        aliases=["A", "😀"],
        labels=["x"],
        attributes={"deep": {"list": [1, 2.5, None, True, 10**30]}},
        importance_weight=0.1,
        feedback_weight=1 / 3,
        valid_from=datetime(1815, 12, 10, tzinfo=UTC),
        valid_to=datetime(1852, 11, 27, 1, 2, 3, 456789, tzinfo=UTC),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        merged_into=BOB.id,
    )
    assert await cache.put([entity], await ticket_of(cache))
    assert (await cache.get([entity.id])).found == {entity.id: entity}


async def test_a_change_drops_everything_and_what_was_read_before_stays_out(cache):
    before = await ticket_of(cache)
    assert await cache.put([ADA, BOB], before)
    async with cache.changing():
        assert await kept_in(cache, ADA, BOB) == set()
        assert not await cache.put([ADA], before)
        during = await ticket_of(cache)
        assert await cache.put([ADA], during)  # as it was read before the change took effect
    after = await cache.get([ADA.id, BOB.id])
    assert after.found == {}
    assert after.ticket not in (before, during)
    assert not await cache.put([ADA], during)
    assert await cache.put([ADA], after.ticket)


async def test_a_change_that_fails_ends_too(cache):
    with pytest.raises(RuntimeError, match="mine"):
        async with cache.changing():
            raise RuntimeError("mine")
    assert await cache.put([ADA], await ticket_of(cache))


async def test_nothing_is_found_by_a_ticket_that_is_good_no_more(cache):
    before = await ticket_of(cache)
    assert await cache.put([ADA], before)
    assert (await cache.get([ADA.id], since=before)).found == {ADA.id: ADA}
    async with cache.changing():
        pass
    later = await cache.get([ADA.id], since=before)
    assert (later.found, later.ticket) == ({}, None)


async def test_look_ups_are_counted(cache):
    assert cache.report().hit_rate is None
    assert await cache.put([ADA], await ticket_of(cache))
    await cache.get([ADA.id, BOB.id, ADA.id])
    await cache.get([ADA.id])
    assert cache.report() == CacheReport(hits=2, misses=1)


# -- in process ---------------------------------------------------------------------------------------------------


async def test_entities_are_gone_when_their_time_is_over():
    clock = FixedClock()
    cache = InProcessCache(scope=Scope("a", "b"), clock=clock)
    assert await cache.put([ADA], await ticket_of(cache))
    clock.advance(seconds=3599)
    assert await kept_in(cache, ADA) == {ADA.id}
    clock.advance(seconds=1)
    assert await kept_in(cache, ADA) == set()


async def test_what_was_not_used_for_longest_goes_first():
    cache = InProcessCache(scope=Scope("a", "b"), max_entities=2)
    for entity in (ADA, BOB):
        assert await cache.put([entity], await ticket_of(cache))
    await cache.get([ADA.id])
    assert await cache.put([Entity(type="person", name="Eve")], await ticket_of(cache))
    assert await kept_in(cache, ADA, BOB) == {ADA.id}


# -- on Redis -----------------------------------------------------------------------------------------------------


async def test_a_server_keeps_no_more_than_it_may_and_no_longer(redis_url, scope):
    async with RedisCache(redis_url, scope=scope, max_entities=2) as small:
        assert await small.put([ADA, BOB, Entity(type="person", name="Eve")], await ticket_of(small))
        assert await kept_in(small, ADA, BOB, Entity(type="person", name="Eve")) == {ADA.id, BOB.id}
        async with small.changing():
            pass
        async with RedisCache(redis_url, scope=scope, ttl=1) as brief:
            assert await brief.put([ADA, BOB], await ticket_of(small))  # with a ticket that lasts longer
            await asyncio.sleep(1.1)
            assert await kept_in(small, ADA, BOB) == set()


async def test_processes_share_what_a_server_keeps(redis_url, scope):
    async with RedisCache(redis_url, scope=scope) as one, RedisCache(redis_url, scope=scope) as other:
        ticket = await ticket_of(one)
        assert await one.put([ADA], ticket)
        assert await kept_in(other, ADA) == {ADA.id}
        async with other.changing():
            assert not await one.put([ADA], ticket)
        assert await kept_in(one, ADA) == set()


async def test_no_scope_sees_what_another_keeps(redis_url):
    run = uuid4().hex
    hostile = [text for text in HOSTILE_TEXTS if len(text) < 200]  # what the name of a scope may be
    names = [run + text for text in (*hostile, "a/b", "a", "{a}", "a}b", "%2F", "*", "a:entities")]
    pairs = {(org, project) for org in names for project in (names[0], names[-1])}
    scopes = [Scope(*pair) for pair in sorted(pairs | {(f"{run}/a", "b"), (run, "a/b")})]
    async with AsyncExitStack() as stack:
        caches = [await stack.enter_async_context(RedisCache(redis_url, scope=each)) for each in scopes]
        for number, cache in enumerate(caches):
            mine = Entity(type="person", name="Ada", description=str(number))
            assert await cache.put([mine], await ticket_of(cache))
        for number, cache in enumerate(caches):
            found = (await cache.get([ADA.id])).found
            assert [entity.description for entity in found.values()] == [str(number)]
            async with cache.changing():
                assert await kept_in(cache, ADA) == set()


async def test_nothing_of_what_was_dropped_is_left_on_the_server(redis_url, scope):
    secret = Entity(type="person", name="Ada", description=f"secret-{uuid4()}")
    async with RedisCache(redis_url, scope=scope) as cache:
        assert await cache.put([secret], await ticket_of(cache))
        everything = [await cache._redis.hgetall(key) for key in await cache._redis.keys("*:entities")]
        assert secret.description in str(everything)
        async with cache.changing():
            pass
        everything = [await cache._redis.hgetall(key) for key in await cache._redis.keys("*:entities")]
        assert secret.description not in str(everything)


async def test_a_dead_server_is_an_error_and_not_a_miss(scope, tmp_path):
    async with RedisCache(f"unix://{tmp_path}/nowhere.sock", scope=scope, timeout=0.2) as cache:
        with pytest.raises(CacheError, match="ConnectionError") as failed:
            await cache.get([ADA.id])
        assert failed.value.__cause__ is not None
        assert isinstance(failed.value, StoreError)
        with pytest.raises(CacheError):
            await cache.put([ADA], "ticket")
        with pytest.raises(CacheError):
            async with cache.changing():
                pytest.fail("the change began")


async def test_something_else_under_its_keys_is_an_error(redis_url, scope):
    async with RedisCache(redis_url, scope=scope) as cache:
        ticket = await ticket_of(cache)
        await cache._redis.hset(cache._entities, str(ADA.id), '{"name": "Ada"}')
        with pytest.raises(CacheError, match="no entity"):
            await cache.get([ADA.id])
        await cache._redis.set(cache._entities, "text")
        with pytest.raises(CacheError, match="ResponseError"):
            await cache.put([ADA], ticket)
        async with cache.changing():
            pass
        assert await kept_in(cache, ADA) == set()


# -- parts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("report", "memories", "warned"),
    [
        (CacheReport(hits=59, misses=41), 500, True),
        (CacheReport(hits=60, misses=40), 500, False),
        (CacheReport(hits=59, misses=41), 499, False),
        (CacheReport(hits=0, misses=99), 5000, False),
        (CacheReport(hits=0, misses=0), 5000, False),
    ],
)
def test_a_cache_that_seldom_answers_is_warned_of(report, memories, warned):
    warning = report.warning(memories)
    assert (warning is not None) == warned
    if warning:
        assert "answers 59% of its look-ups" in warning


def test_limits_are_checked():
    with pytest.raises(InvalidInputError) as refused:
        InProcessCache(scope=Scope("a", "b"), ttl=0, max_entities=0)
    assert len(refused.value.faults) == 2
    with pytest.raises(InvalidInputError, match="url must be"):
        RedisCache("http://localhost", scope=Scope("a", "b"))
    with pytest.raises(InvalidInputError, match="timeout must be"):
        RedisCache("redis://localhost", scope=Scope("a", "b"), timeout=0)


@pytest.mark.parametrize(
    ("make", "extra"),
    [
        (lambda: InProcessCache(scope=Scope("a", "b")), "cache"),
        (lambda: RedisCache("redis://localhost", scope=Scope("a", "b")), "redis"),
    ],
)
def test_a_missing_package_is_named(make, extra, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("graphsearch._support.lazy.importlib.import_module", missing)
    with pytest.raises(MissingExtraError, match=rf"pip install 'graphsearch\[{extra}\]'"):
        make()


async def test_a_cache_on_redis_keeps_nothing_of_secrets(redis_url: str) -> None:
    clock = FixedClock()
    stores = InMemoryGraphStore(clock=clock)
    told, never = (stores.with_scope(org_id=f"{uuid4()}", project_id=name) for name in ("told", "never"))
    async with RedisCache(redis_url, scope=told.scope) as cache:
        await lives(1, cached(told, cache), never, clock)
        kept = [await cache._redis.hgetall(cache._entities)]
    assert any(kept)
    assert MARK not in str(kept).lower()

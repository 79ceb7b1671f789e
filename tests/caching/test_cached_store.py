"""A store read through a cache answers as the store itself does, whoever writes meanwhile."""

import asyncio
import inspect
from contextlib import asynccontextmanager
from itertools import cycle
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.caching import InProcessCache, RedisCache, cached
from graphsearch.errors import CacheError, InvalidInputError, UnknownScopeError
from graphsearch.model import Batch, ElementKind, ElementRef, Entity, Memory, MemoryLink, Mention, Outcome, Scope
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.conformance import StoreConformance
from tests.properties import examples

ADA, BOB, EVE = (Entity(type="person", name=name) for name in ("Ada", "Bob", "Eve"))
SCOPE = Scope("acme", "web")


class Watched:
    """A store that counts how often it is asked for entities."""

    def __init__(self, store):
        self._store = store
        self.asked = []

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def get_entities(self, ids):
        self.asked.append(len(ids))
        return await self._store.get_entities(ids)


@pytest.fixture
def watched(scoped):
    return Watched(scoped)


@pytest.fixture
def store(watched, cache):
    return cached(watched, cache)


def described(entity, text):
    return attrs.evolve(entity, description=text)


# -- reading ------------------------------------------------------------------------------------------------------


async def test_entities_are_read_once(store, watched):
    await store.write(Batch(entities=(ADA, BOB)))
    watched.asked.clear()
    first = await store.get_entities([BOB.id, EVE.id, ADA.id, BOB.id])
    again = await store.get_entities([BOB.id, ADA.id, BOB.id])
    assert [entity.name for entity in first] == ["Bob", "Ada", "Bob"]
    assert again == first
    assert watched.asked == [3]
    assert await store.get_entities([EVE.id, ADA.id]) == [first[1]]
    assert watched.asked == [3, 1]


async def test_a_scope_without_anything_stays_unknown(store):
    for ids in ([], [ADA.id]):
        with pytest.raises(UnknownScopeError):
            await store.get_entities(ids)
    with pytest.raises(UnknownScopeError):
        async with store.snapshot():
            pytest.fail("a snapshot of nothing")


async def test_within_a_snapshot_entities_are_read_once_too(store, watched):
    await store.write(Batch(entities=(ADA, BOB)))
    watched.asked.clear()
    for _ in range(2):
        async with store.snapshot():
            assert len(await store.get_entities([ADA.id])) == 1
            async with store.snapshot():
                assert len(await store.get_entities([BOB.id, ADA.id])) == 2
    assert watched.asked == [1, 1]


async def test_a_snapshot_does_not_see_what_was_cached_after_it_began(store):
    await store.write(Batch(entities=(described(ADA, "old"), BOB)))
    began, changed = asyncio.Event(), asyncio.Event()

    async def change():
        await began.wait()
        await store.write(Batch(entities=(described(ADA, "new"),)))
        assert (await store.get_entities([ADA.id]))[0].description == "new"
        changed.set()

    writer = asyncio.create_task(change())
    async with store.snapshot():
        began.set()
        await changed.wait()
        assert (await store.get_entities([ADA.id]))[0].description == "old"
    await writer
    assert (await store.get_entities([ADA.id]))[0].description == "new"


class Interrupted(Watched):
    """A store in which something happens just before its entities are read for the second time."""

    happens: Any = None

    async def get_entities(self, ids):
        if len(self.asked) == 1:
            self.asked.append(0)
            await self.happens()
        return await super().get_entities(ids)


async def test_what_changes_while_a_part_is_read_is_read_whole(scoped, cache):
    interrupted: Any = Interrupted(scoped)
    store = cached(interrupted, cache)
    old, new = (Batch(entities=(described(ADA, text), described(BOB, text))) for text in ("old", "new"))
    interrupted.happens = lambda: store.write(new)
    await store.write(old)
    interrupted.asked.clear()
    assert len(await store.get_entities([BOB.id])) == 1
    assert {entity.description for entity in await store.get_entities([ADA.id, BOB.id])} == {"old"}  # of one state
    assert interrupted.asked[:2] == [1, 0]
    assert interrupted.asked[-1] == 1
    assert {entity.description for entity in await store.get_entities([ADA.id, BOB.id])} == {"new"}


# -- changing -----------------------------------------------------------------------------------------------------


async def test_what_is_written_is_seen_at_once(store):
    for text in ("one", "two"):
        await store.write(Batch(entities=(described(ADA, text),)))
        assert (await store.get_entities([ADA.id]))[0].description == text


async def test_what_others_write_or_forget_is_seen_at_once(scoped, store, watched):
    await scoped.write(Batch(entities=(ADA, BOB)))
    await store.get_entities([ADA.id, BOB.id])
    await scoped.write(Batch(entities=(described(ADA, "anew"),)))  # not through the cache, as another process does
    assert await store.get_entities([ADA.id]) == await scoped.get_entities([ADA.id])
    await scoped.delete(entities=[BOB.id])
    async with store.snapshot():
        assert await store.get_entities([ADA.id, BOB.id]) == await scoped.get_entities([ADA.id])
        watched.asked.clear()
        await store.get_entities([ADA.id])
    assert watched.asked == []


async def test_what_is_forgotten_or_deleted_is_gone(store):
    memory = Memory(id="m", text="Ada")
    mention = Mention(memory_id="m", entity_id=ADA.id, surface="Ada")
    await store.write(Batch(entities=(ADA, BOB), memories=(memory,), mentions=(mention,)))
    assert len(await store.get_entities([ADA.id, BOB.id])) == 2
    await store.forget(["m"])
    assert [entity.name for entity in await store.get_entities([ADA.id, BOB.id])] == ["Bob"]
    await store.delete(entities=[BOB.id])
    assert await store.get_entities([ADA.id, BOB.id]) == []


async def test_feedback_is_seen_at_once(store):
    await store.write(Batch(entities=(ADA, BOB)))
    await store.get_entities([ADA.id, BOB.id])
    await store.apply_outcome("s", Outcome.ACCEPTED, [ElementRef(ElementKind.ENTITY, str(ADA.id))])
    assert [entity.feedback_weight for entity in await store.get_entities([ADA.id, BOB.id])] == [0.55, 0.5]


async def test_an_outcome_of_no_uuid_is_refused_as_ever(store):
    await store.write(Batch(entities=(ADA,)))
    with pytest.raises(InvalidInputError, match="must be a UUID"):
        await store.apply_outcome("s", Outcome.ACCEPTED, [ElementRef(ElementKind.ENTITY, "ada")])


async def test_a_cache_that_cannot_be_reached_lets_nothing_be_written(scoped, tmp_path):
    async with RedisCache(f"unix://{tmp_path}/nowhere.sock", scope=scoped.scope, timeout=0.2) as dead:
        store = cached(scoped, dead)
        with pytest.raises(CacheError):
            await store.write(Batch(entities=(ADA,)))
        with pytest.raises(UnknownScopeError):
            await scoped.get_entities([ADA.id])


def test_a_cache_of_another_scope_is_refused(scoped):
    with pytest.raises(InvalidInputError, match="of scope acme/other"):
        cached(scoped, InProcessCache(scope=Scope("acme", "other")))


async def test_only_what_changes_the_version_or_weights_evicts(store, watched):
    memories = (Memory(id="m"), Memory(id="n"))
    await store.write(Batch(entities=(ADA, BOB), memories=memories))
    watched.asked.clear()
    await store.get_entities([ADA.id])
    await store.link_memories([MemoryLink(from_id="m", to_id="n")])
    await store.mark_distinct([(ADA.id, BOB.id)])
    await store.write_communities([])
    await store.get_entities([ADA.id])
    assert watched.asked == [1]
    await store.merge(BOB.id, ADA.id)
    await store.get_entities([ADA.id])
    assert watched.asked == [1, 1]


# -- whatever happens at the same time ----------------------------------------------------------------------------


class Slow:
    """Takes turns with others before and after each call, as often as it is asked to."""

    def __init__(self, inner, turns):
        self._inner = inner
        self._turns = turns

    def __getattr__(self, name):
        method = getattr(self._inner, name)
        if name in {"changing", "snapshot", "writing"}:
            return self._slowly(method)
        if not inspect.iscoroutinefunction(method):
            return method

        async def slow(*args, **kwargs):
            await self._wait()
            answer = await method(*args, **kwargs)
            await self._wait()
            return answer

        return slow

    def _slowly(self, method):
        @asynccontextmanager
        async def slow(**how):
            await self._wait()
            async with method(**how) as given:
                await self._wait()
                yield given
                await self._wait()

        return slow

    async def _wait(self):
        for _ in range(next(self._turns)):
            await asyncio.sleep(0)


async def race(turns, writers, readers, *, through_cache=True):
    """Two entities are always written together; no reader may see one without the other, nor an earlier state."""
    plain = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    await plain.write(Batch(entities=(described(ADA, "0"), described(BOB, "0"))))
    slow: Any = Slow(plain, turns)
    slow_cache: Any = Slow(InProcessCache(scope=SCOPE), turns)
    store = cached(slow, slow_cache)
    writing = store if through_cache else slow  # as another process does
    done = 0
    numbers = iter(range(1, 100))

    async def write(times):
        nonlocal done
        for _ in range(times):
            number = next(numbers)
            await writing.write(Batch(entities=(described(ADA, str(number)), described(BOB, str(number)))))
            done = number if writers == 1 else 0  # with two of them the lower number may be the later one

    async def read(in_snapshot):
        for _ in range(4):
            least = done
            if in_snapshot:
                async with store.snapshot():
                    found = [*await store.get_entities([ADA.id]), *await store.get_entities([BOB.id, ADA.id])]
            else:
                await store.get_entities([BOB.id])
                found = [*await store.get_entities([ADA.id, BOB.id])]
            assert len({entity.description for entity in found}) == 1
            assert int(found[0].description) >= least

    await asyncio.gather(*(write(3) for _ in range(writers)), *(read(number % 2 == 0) for number in range(readers)))
    last = await plain.get_entities([ADA.id, BOB.id])
    assert await store.get_entities([ADA.id, BOB.id]) == last


@examples(40)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(1, 2), st.integers(1, 4), st.booleans())
def test_readers_never_see_half_of_a_change_nor_what_is_over(turns, writers, readers, through_cache):
    asyncio.run(race(cycle(turns), writers, readers, through_cache=through_cache))


# -- the whole suite ----------------------------------------------------------------------------------------------


class CachedScopes:
    """Scopes of a store in memory, each with its own cache."""

    def __init__(self, clock, make):
        self._store = InMemoryGraphStore(clock=clock)
        self._make = make
        self._caches = {}

    def with_scope(self, *, org_id, project_id):
        store = self._store.with_scope(org_id=org_id, project_id=project_id)
        if store.scope not in self._caches:
            self._caches[store.scope] = self._make(store.scope)
        return cached(store, self._caches[store.scope])

    async def aclose(self):
        for cache in self._caches.values():
            await cache.aclose()


# The store in memory is measured without a cache, and caches by the tests above.


class TestCachedInProcess(StoreConformance):
    @pytest.fixture
    def unscoped(self, clock):
        return CachedScopes(clock, lambda scope: InProcessCache(scope=scope, clock=clock))


class TestCachedOnRedis(StoreConformance):
    @pytest.fixture
    async def unscoped(self, clock, redis_url):
        scopes = CachedScopes(clock, lambda scope: RedisCache(redis_url, scope=scope))
        yield scopes
        await scopes.aclose()

"""Asynchronous context managers in a `with` of blocking code."""

import asyncio
import os
import sys
import time
from contextlib import asynccontextmanager
from contextvars import ContextVar

import pytest

from graphsearch.errors import BlockingCallError
from graphsearch.sync import bridge
from graphsearch.sync.bridge import time_limit

WHO: ContextVar[str] = ContextVar("who", default="nobody")


async def jam():
    raise OSError("jammed")


class Door:
    """Records how it was closed."""

    def __init__(self, *, swallows=(), opens_after=0.0, jams=False):
        self.swallows = swallows
        self.opens_after = opens_after
        self.jams = jams
        self.began = False
        self.events = []

    @asynccontextmanager
    async def open(self):
        self.began = True
        token = WHO.set("inside")
        task = asyncio.current_task()
        try:
            await asyncio.sleep(self.opens_after)
            if self.jams:
                await jam()
            yield self
        except BaseException as error:
            self.events.append(type(error))
            if not isinstance(error, self.swallows):
                raise
        finally:
            await asyncio.sleep(0)
            assert asyncio.current_task() is task
            WHO.reset(token)
            self.events.append("closed")


async def who():
    return WHO.get()


def test_it_is_entered_and_left_in_one_task(own):
    door = Door()
    with own.hold(door.open()) as opened:
        assert opened is door
        assert door.events == []
    assert door.events == ["closed"]


def test_the_variables_that_it_sets_are_those_of_the_block(own):
    with own.hold(Door().open()):
        assert (WHO.get(), own.run(who())) == ("inside", "inside")
    assert (WHO.get(), own.run(who())) == ("nobody", "nobody")


@pytest.mark.parametrize("error", [ValueError, StopIteration, KeyboardInterrupt, SystemExit])
def test_an_error_of_the_block_is_passed_to_it_and_propagates(own, error):
    door = Door()
    with pytest.raises(error), own.hold(door.open()):
        raise error
    assert door.events[-1] == "closed"
    assert own.run(who()) == "nobody"


def test_it_may_swallow_the_error(own):
    door = Door(swallows=ValueError)
    with own.hold(door.open()):
        raise ValueError
    assert door.events == [ValueError, "closed"]


def test_what_cannot_be_entered_says_why(own):
    with pytest.raises(OSError, match="jammed"), own.hold(Door(jams=True).open()):
        pytest.fail("it is not open")
    assert WHO.get() == "nobody"


def test_an_entry_that_takes_too_long_is_broken_off(own):
    own.run(who())  # so that the loop has started
    door = Door(opens_after=60)
    with time_limit(0.05), pytest.raises(TimeoutError), own.hold(door.open()):
        pytest.fail("it is not open")
    assert door.events == ([asyncio.CancelledError, "closed"] if door.began else [])


def test_leaving_is_given_its_time(own):
    door = Door()

    def takes_too_long():
        bridge._END.set(time.monotonic())
        own.run(asyncio.sleep(60))

    with pytest.raises(TimeoutError), time_limit(60), own.hold(door.open()):
        takes_too_long()
    assert door.events == [TimeoutError, "closed"]


def test_closing_the_bridge_closes_it_and_the_block_ends_as_it_would(own):
    door = Door()
    with own.hold(door.open()):
        own.close()
        assert door.events == [asyncio.CancelledError, "closed"]


def test_an_error_goes_on_also_when_it_is_closed_already(own):
    def fails():
        own.close()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), own.hold(Door().open()):
        fails()


def test_a_forked_process_leaves_what_the_parent_has_entered(own):
    door = Door()
    child = -1
    try:
        with own.hold(door.open()):
            child = os.fork()
            if child == 0:
                sys.exit(7)
    except SystemExit as done:
        os._exit(int(str(done)) + (door.events != []))
    assert door.events == ["closed"]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_the_loop_itself_cannot_hold(own):
    async def holds():
        with own.hold(Door().open()):
            pass

    with pytest.raises(BlockingCallError):
        own.run(holds())

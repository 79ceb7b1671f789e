"""Coroutines that blocking code waits for: from any thread, with its context, and never left behind, even at an end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from graphsearch.errors import BlockingCallError
from graphsearch.llms import Usage, metered, record, usage
from graphsearch.sync import bridge
from graphsearch.sync.bridge import time_limit
from tests.sync.calls import Slow, double
from tests.waiting import LONGEST

WHO: ContextVar[str] = ContextVar("who", default="nobody")


async def who():
    return WHO.get()


def test_a_coroutine_is_waited_for(own):
    assert own.run(double(21)) == 42


async def test_it_is_waited_for_inside_a_running_loop(own):
    assert own.run(double(21)) == 42


def test_many_threads_share_one_loop(own):
    with ThreadPoolExecutor(16) as threads:
        loops = list(threads.map(lambda _: own.run(self_loop()), range(200)))
    assert len(set(map(id, loops))) == 1


async def self_loop():
    return asyncio.get_running_loop()


def test_calls_of_several_threads_run_at_the_same_time(own):
    async def meet(barrier):
        await barrier.wait()
        return True

    barrier = asyncio.Barrier(8)
    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(lambda _: own.run(meet(barrier), timeout=LONGEST), range(8)))


def test_an_error_is_the_same_error_and_its_traceback_leads_from_the_caller_to_the_fault(own):
    fault = KeyError("here")

    async def fails():
        raise fault

    with pytest.raises(KeyError) as caught:
        own.run(fails())
    assert caught.value is fault
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[0].startswith("test_an_error")
    assert names[-1] == "fails"
    assert len(names) <= 7
    assert caught.value.__context__ is None


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_an_error_that_would_end_a_loop_ends_only_the_call(own, error):
    async def fails():
        raise error

    with pytest.raises(type(error)) as caught:
        own.run(fails())
    assert caught.value is error
    assert own.run(double(1)) == 2


def test_a_coroutine_that_is_cancelled_by_others_is_an_error(own):
    async def gives_up():
        raise asyncio.CancelledError

    with pytest.raises(BlockingCallError, match="was cancelled"):
        own.run(gives_up())
    assert own.run(double(21)) == 42


def test_context_variables_of_the_caller_are_seen(own):
    token = WHO.set("ada")
    assert own.run(who()) == "ada"
    WHO.reset(token)
    assert own.run(who()) == "nobody"


def test_what_a_coroutine_spends_is_counted_by_the_meter_of_its_caller(own):
    async def ask():
        record(usage.Call("a model", Usage(answers=1, input_tokens=7)))

    with metered() as meter:
        own.run(ask())
    assert meter.total.input_tokens == 7


def test_a_time_out_cancels_the_coroutine_and_waits_for_its_end(own):
    assert own.run(double(1)) == 2  # so that the loop has started
    slow = Slow()
    with pytest.raises(TimeoutError, match="not done in time"):
        own.run(slow.wait(), timeout=0.05)
    assert slow.cleaned_up is slow.began.is_set()


def test_a_time_limit_is_for_all_calls_inside_and_the_nearest_end_counts(own, monkeypatch):
    assert own.run(double(1)) == 2
    slow, soon = Slow(), time.monotonic() - 59.95
    monkeypatch.setattr(bridge, "monotonic", lambda: soon)
    with time_limit(90), time_limit(60), time_limit(70):
        monkeypatch.undo()
        with pytest.raises(TimeoutError, match="not done in time"):
            own.run(slow.wait(), timeout=60)
    assert slow.cleaned_up is slow.began.is_set()
    assert own.run(double(2)) == 4


def test_time_that_is_over_leaves_nothing_running(own):
    slow = Slow()
    with time_limit(0.01):
        time.sleep(0.02)
        with pytest.raises(TimeoutError, match="not done in time"):
            own.run(slow.wait())


@pytest.fixture
def interruptible():
    """Python's own handler of SIGINT, which a shell that starts the tests in the background turns off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_cancels_the_coroutine_and_waits_for_its_end(own):
    slow, main_thread = Slow(), threading.get_ident()

    def interrupt():
        slow.began.wait(LONGEST)
        while sys._current_frames()[main_thread].f_code.co_filename != threading.__file__:
            time.sleep(0.001)  # until the main thread waits
        signal.pthread_kill(main_thread, signal.SIGINT)

    with ThreadPoolExecutor(1) as threads:
        threads.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            own.run(slow.wait())
    assert slow.cleaned_up
    assert own.run(double(1)) == 2


def test_a_call_from_the_loop_itself_is_refused_since_it_would_wait_for_itself(own):
    async def waits_for_itself():
        return own.run(double(1))

    with pytest.raises(BlockingCallError, match="with await"):
        own.run(waits_for_itself())

    async def closes_itself():
        own.close()

    with pytest.raises(BlockingCallError):
        own.run(closes_itself())


def test_importing_starts_no_thread():
    script = "import threading, graphsearch.sync as s; s.run; s.GraphSearchEngine; print(threading.active_count())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_there_is_one_bridge_for_all():
    assert bridge.run == bridge.BRIDGE.run


def test_closing_ends_what_runs_and_the_next_call_starts_anew(own):
    slow = Slow()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(own.run, slow.wait())
        assert slow.began.wait(LONGEST)
        own.close()
        with pytest.raises(BlockingCallError, match="closed"):
            waiting.result(LONGEST)
    assert slow.cleaned_up
    assert own.run(double(1)) == 2
    own.close()
    own.close()


def test_closing_from_inside_is_refused_and_all_goes_on_on_the_same_loop(own):
    async def closes():
        with pytest.raises(BlockingCallError, match="would wait for itself"):
            own.close()
        return asyncio.get_running_loop()

    assert own.run(closes()) is own.run(closes())


def test_a_forked_process_has_a_loop_of_its_own(own):
    own.run(double(1))
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os._exit(own.run(double(21), timeout=LONGEST))
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42


def test_the_end_of_a_process_closes_what_is_open():
    script = """
import contextlib
from graphsearch.sync import hold, run

@contextlib.asynccontextmanager
async def opened():
    try:
        yield
    finally:
        print("closed")

left_open = hold(opened())
left_open.__enter__()
"""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("closed\n", "")

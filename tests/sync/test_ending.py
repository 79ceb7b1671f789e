"""What becomes of calls, and of what is open, when the loop, the process or the parent process ends."""

import asyncio
import contextlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphsearch.errors import BlockingCallError
from graphsearch.sync.loop import Call, Loop
from tests.sync.calls import Slow, double


def test_closing_ends_what_runs_and_the_next_call_starts_anew(own):
    slow = Slow()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(own.run, slow.wait())
        assert slow.began.wait(10)
        own.close()
        with pytest.raises(BlockingCallError, match="closed"):
            waiting.result(10)
    assert slow.cleaned_up
    assert own.run(double(1)) == 2
    own.close()
    own.close()


def test_a_loop_that_is_ended_by_others_gives_up_its_calls_and_another_takes_its_place(own):
    async def ends_the_loop():
        asyncio.get_running_loop().stop()
        await asyncio.sleep(60)

    with pytest.raises(BlockingCallError, match="closed"):
        own.run(ends_the_loop())
    assert own.run(double(1)) == 2
    with pytest.raises(BlockingCallError, match="closed"):
        own.run(ends_the_loop())
    own.close()


def test_closing_from_inside_is_refused_and_all_goes_on_on_the_same_loop(own):
    async def closes():
        with pytest.raises(BlockingCallError, match="would wait for itself"):
            own.close()
        return asyncio.get_running_loop()

    assert own.run(closes()) is own.run(closes())


def test_a_call_that_comes_too_late_is_given_up():
    loop = Loop()
    late = loop.start(double(1))
    assert late.result(10) == 2
    never_begun = Call(loop, double(1))
    loop._calls.add(never_begun)  # as if the loop had ended before it came to begin it
    loop.stop()
    with pytest.raises(BlockingCallError, match="closed"):
        never_begun.result(10)
    after = double(1)
    with pytest.raises(BlockingCallError, match="closed"):
        loop.start(after)
    after.close()


def test_a_forked_process_has_a_loop_of_its_own(own):
    own.run(double(1))
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os._exit(own.run(double(21), timeout=10))
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

"""The bridge from blocking code to coroutines, and to the asynchronous context managers that it holds open.

Behind it is an event loop in a thread of its own.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
from asyncio import AbstractEventLoop
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import Context, ContextVar, copy_context
from threading import Lock, Thread, current_thread
from time import monotonic
from typing import Any, Final, TypeAlias, TypeVar, cast

from graphsearch.errors import BlockingCallError

T = TypeVar("T")
Cancel: TypeAlias = Callable[[], object]
_END: Final[ContextVar[float | None]] = ContextVar("end of the time for blocking calls", default=None)
_PATIENCE: Final = 10.0
"""Seconds to wait, when the loop is stopped, for open context managers to close."""
_UNSET: Final = object()
_RUNNING: Final = dict[Future[Any], asyncio.Task[None]]()
"""The task of each call that runs, by its outcome; a loop alone does not keep its tasks from being collected."""


class Bridge:
    """Runs coroutines on a background event loop that starts on first use, whether or not the caller has a loop.

    All calls share one loop, because connection pools are bound to theirs; any thread may call. A forked process gets a
    loop of its own: what was opened before the fork belongs to the parent.

    What cancels a call, and what stops the loop, acts a turn of the loop later: the call has begun by then, and sets
    its outcome.
    """

    _lock: Lock
    _loop: AbstractEventLoop | None
    _thread: Thread | None

    def __init__(self) -> None:
        self._forget()
        atexit.register(self.close)
        if sys.platform != "win32":
            os.register_at_fork(after_in_child=self._forget)

    def run(self, coroutine: Coroutine[Any, Any, T], *, timeout: float | None = None) -> T:
        """Run a coroutine and return or raise its outcome; it sees the context variables of the caller.

        ``timeout`` is in seconds; the earlier of it and `time_limit` applies. When the wait ends early, by a
        `TimeoutError` or a KeyboardInterrupt, the coroutine is cancelled and has ended before the error is raised.
        Raises `BlockingCallError` on the loop's own thread, which would deadlock, and when `close` ends the call.
        """
        done: Future[T] = Future()
        cancel = self._submit(coroutine, done, _limit(timeout))
        return _result(done, done, cancel)

    @contextmanager
    def hold(self, manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """Enter an asynchronous context manager from blocking code; it is entered and left in one task.

        Context variables that it sets are set for the caller too while it is open. No time limit applies to leaving.
        """
        entered: Future[tuple[T, Context, AbstractEventLoop]] = Future()
        left: Future[None] = Future()
        leaving, errors = asyncio.Event(), list[BaseException]()
        limit = _limit(None)

        async def keep() -> None:
            async with manager as value:
                limit.reschedule(None)
                entered.set_result((value, copy_context(), asyncio.get_running_loop()))
                await leaving.wait()
                if errors:
                    raise errors[0]

        left.add_done_callback(lambda _: None if entered.done() else entered.set_exception(left.exception()))
        cancel = self._submit(keep(), left, limit)
        value, context, loop = _result(entered, left, cancel)

        def leave() -> bool:
            """Whether it was open until now: not closed by `close`, nor the parent's, in a forked process."""
            with self._lock:
                self._refuse_own_thread()
                if loop is not self._loop:
                    return False
                loop.call_soon_threadsafe(leaving.set)
            _result(left, left, cancel)
            return True

        here = copy_context()
        tokens = [(each, each.set(there)) for each, there in context.items() if here.get(each, _UNSET) is not there]
        try:
            yield value
        except BaseException as error:
            errors.append(error)
            if not leave():
                raise
        else:
            leave()
        finally:
            for variable, token in reversed(tokens):
                variable.reset(token)

    def close(self) -> None:
        """Cancel what still runs, close what is still open, and end the thread. The next call starts another.

        Raises `BlockingCallError` on the loop's own thread, which keeps running.
        """
        with self._lock:
            self._refuse_own_thread()
            loop, self._loop, thread = self._loop, None, self._thread
            if loop is not None:
                loop.call_soon_threadsafe(loop.call_soon, loop.stop)
        if thread is not None:
            thread.join(_PATIENCE)

    def _submit(self, coroutine: Coroutine[Any, Any, T], done: Future[T], limit: asyncio.Timeout) -> Cancel:
        """Start a coroutine, in a copy of this thread's context."""
        with self._lock:
            if current_thread() is self._thread:
                coroutine.close()
                self._refuse_own_thread()
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = Thread(target=_serve, args=(self._loop,), name="graphsearch.sync", daemon=True)
                self._thread.start()
            loop = self._loop
            loop.call_soon_threadsafe(lambda: loop.create_task(_settle(coroutine, done, limit)))
        return lambda: loop.call_soon_threadsafe(loop.call_soon, _cancel, done)

    def _refuse_own_thread(self) -> None:
        if current_thread() is self._thread:
            raise BlockingCallError(
                "a blocking call was made by a part that graphsearch itself calls, such as an embedder or a progress "
                "function: it would wait for itself. Use the asynchronous names there, with await"
            )

    def _forget(self) -> None:
        self._lock, self._loop, self._thread = Lock(), None, None


async def _settle(coroutine: Coroutine[Any, Any, T], done: Future[T], limit: asyncio.Timeout) -> None:
    """Set the outcome of a coroutine; an error stays in it, since one such as SystemExit would end the loop."""
    _RUNNING[done] = cast("asyncio.Task[None]", asyncio.current_task())
    try:
        async with limit:
            outcome = await coroutine
    except asyncio.CancelledError:
        done.set_exception(BlockingCallError("the call was cancelled, as when graphsearch.sync is closed"))
    except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
        done.set_exception(TimeoutError("not done in time") if limit.expired() else error)
    else:
        done.set_result(outcome)
    finally:
        del _RUNNING[done]


def _cancel(done: Future[Any]) -> None:
    if done in _RUNNING:
        _RUNNING[done].cancel()


def _result(awaited: Future[T], done: Future[Any], cancel: Cancel) -> T:
    """Wait; when this thread is interrupted meanwhile, cancel the call, and wait until it has ended."""
    try:
        return awaited.result()
    except BaseException:
        if not done.done():
            cancel()
            wait([done])
        raise


def _serve(loop: AbstractEventLoop) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:  # which cancels what still runs, and waits for it
        runner.get_loop().run_forever()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Limit the total time of the blocking calls inside to ``seconds``; the running call is cancelled: `TimeoutError`.

    May be nested: the earliest deadline applies. Context managers that are open always get the time to close.
    """
    end, around = monotonic() + seconds, _END.get()
    token = _END.set(end if around is None else min(end, around))
    try:
        yield
    finally:
        _END.reset(token)


def _limit(timeout: float | None) -> asyncio.Timeout:
    """The time that a call has; the clock of an event loop is the monotonic one."""
    ends = (_END.get(), None if timeout is None else monotonic() + timeout)
    return asyncio.Timeout(min((end for end in ends if end is not None), default=None))


BRIDGE: Final = Bridge()
"""The bridge of this process."""
run = BRIDGE.run
"""Wait for a coroutine: `Bridge.run`."""
hold = BRIDGE.hold
"""Hold an asynchronous context manager open: `Bridge.hold`."""
close = BRIDGE.close
"""End what runs and close what is open: `Bridge.close`."""

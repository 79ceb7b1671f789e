"""The bridge from blocking code to coroutines, and to the asynchronous context managers that it holds open.

Behind it is an event loop in a thread of its own.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import Context, ContextVar, Token, copy_context
from threading import Lock, Thread, current_thread
from time import monotonic
from typing import Any, Final, Generic, TypeAlias, TypeVar

from graphsearch.errors import BlockingCallError

T = TypeVar("T")
Tokens: TypeAlias = list[tuple[ContextVar[Any], Token[Any]]]
_END: Final[ContextVar[float | None]] = ContextVar("end of the time for blocking calls", default=None)


class Bridge:
    """Runs coroutines on a background event loop that starts on first use, whether or not the caller has a loop.

    All calls share one loop, because connection pools are bound to theirs; any thread may call. A forked process gets a
    loop of its own: what was opened before the fork belongs to the parent.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._loop: Loop | None = None
        self._watched = False

    def run(self, coroutine: Coroutine[Any, Any, T], *, timeout: float | None = None) -> T:
        """Run a coroutine and return or raise its outcome; it sees the context variables of the caller.

        ``timeout`` is in seconds; the earlier of it and `time_limit` applies. When the wait ends early, by a
        `TimeoutError` or a KeyboardInterrupt, the coroutine is cancelled and has ended before the error is raised.
        Raises `BlockingCallError` on the loop's own thread, which would deadlock, and when `close` ends the call.
        """
        try:
            call = self._started().start(coroutine)
        except BaseException:
            coroutine.close()
            raise
        return call.result(_nearest(timeout))

    @contextmanager
    def hold(self, manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """Enter an asynchronous context manager from blocking code; it is entered and left in one task.

        Context variables that it sets are set for the caller too while it is open.
        """
        loop = self._started()
        held = Held(manager)
        keeping = loop.start(held.keep())
        value, context = keeping.part(held.entered, _nearest(None))
        tokens = as_inside(context)
        try:
            yield value
        except BaseException as error:
            if not held.leave(keeping, error):
                raise
        else:
            held.leave(keeping, None)
        finally:
            as_before(tokens)

    def close(self) -> None:
        """Cancel what still runs, close what is still open, and end the thread. The next call starts another.

        Raises `BlockingCallError` on the loop's own thread, which keeps running.
        """
        with self._lock:
            if self._loop is not None:
                self._loop.refuse_own_thread()
            loop, self._loop = self._loop, None
        if loop is not None and loop.alive:
            loop.stop()

    def _started(self) -> Loop:
        with self._lock:
            if not self._watched:
                self._watched = True
                atexit.register(self.close)
                if sys.platform != "win32":
                    os.register_at_fork(after_in_child=self._forget)
            if self._loop is None or not self._loop.alive:
                self._loop = Loop()
            self._loop.refuse_own_thread()
            return self._loop

    def _forget(self) -> None:
        self._lock = Lock()
        self._loop = None


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


def _nearest(timeout: float | None) -> float | None:
    end = _END.get()
    left = None if end is None else max(0.0, end - monotonic())
    return min((seconds for seconds in (timeout, left) if seconds is not None), default=None)


class Held(Generic[T]):
    """A context manager kept open in one task: many can only be left by the task that entered them."""

    def __init__(self, manager: AbstractAsyncContextManager[T]) -> None:
        self.entered: Future[tuple[T, Context]] = Future()
        self._manager = manager
        self._leaving = asyncio.Event()
        self._error: BaseException | None = None

    async def keep(self) -> bool:
        """Enter, wait, and leave; return whether the error it was left with is suppressed."""
        value = await self._manager.__aenter__()
        self.entered.set_result((value, copy_context()))
        try:
            await self._leaving.wait()
        except asyncio.CancelledError:  # the loop ends, or the caller has stopped waiting for the entry
            await self._manager.__aexit__(*sys.exc_info())
            raise
        if self._error is None:
            return bool(await self._manager.__aexit__(None, None, None))
        return bool(await self._manager.__aexit__(type(self._error), self._error, self._error.__traceback__))

    def leave(self, keeping: Call[bool], error: BaseException | None) -> bool:
        """Leave, and return what `keep` returns; no time limit applies.

        Does nothing when the loop has ended, which has left it already, or in a forked process, where it belongs to the
        parent.
        """
        if keeping.ended or not keeping.loop.alive:
            return False
        keeping.loop.refuse_own_thread()
        self._error = error
        keeping.loop.soon(self._leaving.set)
        return keeping.result(None)


def as_inside(context: Context) -> Tokens:
    """Set the context variables that differ in another context; return the tokens that `as_before` needs."""
    here = copy_context()
    return [
        (variable, variable.set(value))
        for variable, value in context.items()
        if variable not in here or here[variable] is not value
    ]


def as_before(tokens: Tokens) -> None:
    """Reset the variables that `as_inside` set."""
    for variable, token in reversed(tokens):
        variable.reset(token)


BRIDGE: Final = Bridge()
"""The bridge of this process."""
run = BRIDGE.run
"""Wait for a coroutine: `Bridge.run`."""
hold = BRIDGE.hold
"""Hold an asynchronous context manager open: `Bridge.hold`."""
close = BRIDGE.close
"""End what runs and close what is open: `Bridge.close`."""


Part = TypeVar("Part")
_PATIENCE: Final = 10.0
"""Seconds to wait, when the loop is stopped, for open context managers to close."""
_CLOSED: Final = "graphsearch.sync was closed during the call, or before it"


class Loop:
    """A running loop and its thread, which ends with the process."""

    def __init__(self) -> None:
        self._calls: set[Call[Any]] = set()
        self._ending = False
        self._asyncio = asyncio.new_event_loop()
        self._thread = Thread(target=self._serve, name="graphsearch.sync", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether calls are accepted."""
        return self._thread.is_alive() and not self._ending

    def refuse_own_thread(self) -> None:
        """Raise `BlockingCallError` on the loop's own thread."""
        if current_thread() is self._thread:
            raise BlockingCallError(
                "a blocking call was made by a part that graphsearch itself calls, such as an embedder or a progress "
                "function: it would wait for itself. Use the asynchronous names there, with await"
            )

    def start(self, coroutine: Coroutine[Any, Any, T]) -> Call[T]:
        """Submit a coroutine, in a copy of this thread's context."""
        call = Call(self, coroutine)
        self._calls.add(call)
        self.soon(call.begin)
        return call

    def soon(self, action: Callable[[], object]) -> None:
        """Run an action on the loop, in a copy of this thread's context. `BlockingCallError` if the loop has ended."""
        try:
            self._asyncio.call_soon_threadsafe(action)
        except RuntimeError as error:
            raise BlockingCallError(_CLOSED) from error

    def create_task(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Make a task in the context of the action that requests it."""
        return self._asyncio.create_task(coroutine)

    def ended(self, call: Call[Any]) -> None:
        """Remove a finished call."""
        self._calls.discard(call)

    def stop(self) -> None:
        """Cancel what still runs; wait until it and the thread have ended."""
        self.refuse_own_thread()
        self.soon(self._asyncio.stop)
        self._thread.join(_PATIENCE)

    def _serve(self) -> None:
        try:
            # The runner then cancels the remaining tasks and waits for them.
            with asyncio.Runner(loop_factory=lambda: self._asyncio) as runner:
                try:
                    runner.get_loop().run_forever()
                finally:
                    self._ending = True
        finally:
            for call in tuple(self._calls):  # calls submitted too late to begin
                call.give_up()


class Call(Generic[T]):
    """A coroutine on a loop, and the thread that waits for it."""

    def __init__(self, loop: Loop, coroutine: Coroutine[Any, Any, T]) -> None:
        self.loop = loop
        self._coroutine = coroutine
        self._task: asyncio.Task[T] | None = None
        self._done: Future[T] = Future()

    @property
    def ended(self) -> bool:
        """Whether there is an outcome."""
        return self._done.done()

    def begin(self) -> None:
        """On the loop: create the task, unless the call has been abandoned."""
        if not self.loop.alive:
            self.give_up()
            return
        self._task = self.loop.create_task(_contained(self._coroutine))
        self._task.add_done_callback(self._settle)

    def result(self, timeout: float | None) -> T:
        """The outcome; waits at most ``timeout`` seconds."""
        return self._wait(self._done, timeout)

    def part(self, awaited: Future[Part], timeout: float | None) -> Part:
        """The result of a future that the coroutine sets before it ends; raises its error if it ends without that."""
        self._done.add_done_callback(lambda done: None if awaited.done() else awaited.set_exception(done.exception()))
        return self._wait(awaited, timeout)

    def _wait(self, awaited: Future[Part], timeout: float | None) -> Part:
        try:
            error = awaited.exception(timeout)
        except BaseException as broken:
            self._cancel()
            if isinstance(broken, TimeoutError):
                raise TimeoutError(f"not done within {timeout:g} s") from None
            raise
        if error is None:
            return awaited.result()
        try:
            raise error
        finally:
            del error  # its traceback holds this frame

    def give_up(self) -> None:
        """Fail the call: the waiting thread gets no result."""
        self.loop.ended(self)
        self._coroutine.close()
        self._done.set_exception(BlockingCallError(_CLOSED))

    def _cancel(self) -> None:
        """Cancel the coroutine and wait until it has ended, so that nothing runs on behind the caller's back."""
        self.loop.soon(self._break_off)
        self._done.exception()

    def _break_off(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _settle(self, task: asyncio.Task[T]) -> None:
        self.loop.ended(self)
        self._coroutine.close()  # never begun if the task was cancelled before
        error = self._why_cancelled() if task.cancelled() else task.exception()
        if error is None:
            self._done.set_result(task.result())
        else:
            self._done.set_exception(error.error if isinstance(error, _Fatal) else error)

    def _why_cancelled(self) -> BaseException:
        """The error of a cancelled task: of the ended loop, else as `asyncio` raises it."""
        return asyncio.CancelledError() if self.loop.alive else BlockingCallError(_CLOSED)


class _Fatal(Exception):  # noqa: N818 - a wrapper, not an error of its own
    """Wraps an error that would end the loop if a task raised it."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


async def _contained(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        return await coroutine
    except (KeyboardInterrupt, SystemExit) as error:
        raise _Fatal(error) from None

"""The bridge from blocking code to coroutines, and to the asynchronous context managers that it holds open."""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import Context, ContextVar, Token, copy_context
from threading import Lock
from time import monotonic
from typing import Any, Final, Generic, TypeAlias, TypeVar

from graphsearch.sync.loop import Call, Loop

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

"""An event loop in a thread of its own, and the calls that other threads make to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from threading import Thread, current_thread
from typing import Any, Final, Generic, TypeVar

from graphsearch.errors import BlockingCallError

T = TypeVar("T")
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

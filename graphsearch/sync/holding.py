"""An asynchronous context manager that blocking code holds open."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from contextvars import Context, ContextVar, Token, copy_context
from typing import Any, Generic, TypeAlias, TypeVar

from graphsearch.sync.loop import Call

T = TypeVar("T")
Tokens: TypeAlias = list[tuple[ContextVar[Any], Token[Any]]]


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

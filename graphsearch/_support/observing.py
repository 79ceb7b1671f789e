"""Where operations and their stages can be watched: without a watcher, this costs a look at a variable."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, Final, Protocol, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Coroutine[Any, Any, Any]])
Class = TypeVar("Class", bound=type[Any])
Tell = Callable[[Any], None]


class Watcher(Protocol):
    """What is told of everything that happens in this process."""

    def operation(self, name: str, owner: object) -> AbstractContextManager[Tell]:
        """Something that a user calls, on ``owner``; what is entered is told the result. It may not raise."""
        ...

    def stage(self, name: str, *, database: str = "") -> AbstractContextManager[None]:
        """A part of the operation that runs in this context, if any does. It may not raise.

        ``database`` is the system that answers, where that is another process.
        """
        ...


watcher: Watcher | None = None
"""Whoever watches this process; see `graphsearch.telemetry`."""

_NOTHING: Final[AbstractContextManager[None]] = nullcontext()


def watch(by: Watcher | None) -> None:
    """Be watched by another, or by nobody; it counts for what begins after."""
    global watcher  # noqa: PLW0603 - one a process, as telemetry itself is
    watcher = by


def stage(name: str, *, database: str = "") -> AbstractContextManager[None]:
    """What a part of an operation runs in; see `Watcher.stage`."""
    now = watcher
    return _NOTHING if now is None else now.stage(name, database=database)


def observed(name: str) -> Callable[[Method], Method]:
    """A coroutine method as an operation."""

    def around(method: Method) -> Method:
        @wraps(method)
        async def run(*args: Any, **kwargs: Any) -> Any:
            now = watcher  # another thread may change it
            if now is None:
                return await method(*args, **kwargs)
            with now.operation(name, args[0]) as tell:
                result = await method(*args, **kwargs)
                tell(result)
                return result

        return cast("Method", run)

    return around


def all_observed(owner: Class) -> Class:
    """A class whose public coroutine methods are operations, by their own names."""
    for name, method in tuple(vars(owner).items()):
        if iscoroutinefunction(method) and not name.startswith("_"):
            setattr(owner, name, observed(name)(method))
    return owner

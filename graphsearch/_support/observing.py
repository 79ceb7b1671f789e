"""Hooks for watching operations and their stages. Without a watcher they cost one variable lookup."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, Final, Protocol, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Coroutine[Any, Any, Any]])
Class = TypeVar("Class", bound=type[Any])
Report = Callable[[Any], None]


class Watcher(Protocol):
    """Receives every operation and stage of this process."""

    def operation(self, name: str, owner: object) -> AbstractContextManager[Report]:
        """A call of a public method of ``owner``; the entered value is called with the result. Must not raise."""
        ...

    def stage(self, name: str, *, database: str = "") -> AbstractContextManager[None]:
        """A part of the operation that runs in this context, if any. Must not raise.

        ``database`` is the name of the database system for stages that wait for another process.
        """
        ...


watcher: Watcher | None = None
"""The watcher of this process; see `graphsearch.telemetry`."""

_NOTHING: Final[AbstractContextManager[None]] = nullcontext()


def watch(by: Watcher | None) -> None:
    """Set or remove the watcher, for operations that begin afterwards."""
    global watcher  # noqa: PLW0603 - one per process, as in telemetry itself
    watcher = by


def stage(name: str, *, database: str = "") -> AbstractContextManager[None]:
    """The context of a stage of an operation; see `Watcher.stage`."""
    now = watcher
    return _NOTHING if now is None else now.stage(name, database=database)


def observed(name: str) -> Callable[[Method], Method]:
    """Decorate a coroutine method as an operation."""

    def around(method: Method) -> Method:
        @wraps(method)
        async def run(*args: Any, **kwargs: Any) -> Any:
            now = watcher  # another thread may change it
            if now is None:
                return await method(*args, **kwargs)
            with now.operation(name, args[0]) as report:
                result = await method(*args, **kwargs)
                report(result)
                return result

        return cast("Method", run)

    return around


def all_observed(owner: Class) -> Class:
    """Decorate a class: its public coroutine methods become operations under their own names."""
    for name, method in tuple(vars(owner).items()):
        if iscoroutinefunction(method) and not name.startswith("_"):
            setattr(owner, name, observed(name)(method))
    return owner

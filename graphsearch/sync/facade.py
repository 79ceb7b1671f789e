"""How an asynchronous class becomes a blocking one: a line a method, whose signature is the method's own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, cast, overload

from graphsearch.errors import InvalidInputError
from graphsearch.sync.bridge import BRIDGE

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Facade(Generic[A]):
    """The blocking side of an object: ``asynchronous`` is the object itself, for whatever takes no blocking one."""

    asynchronous: A

    @classmethod
    def of(cls, asynchronous: A) -> Self:
        """The blocking side of an object that is there already."""
        facade = cls.__new__(cls)
        facade.asynchronous = asynchronous
        return facade

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}.of({self.asynchronous!r})"


def behind(facade: Facade[A]) -> A:
    """The asynchronous object of a blocking one; `InvalidInputError` for anything else."""
    if isinstance(facade, Facade):
        return facade.asynchronous
    wanted = "one of graphsearch.sync, or made of your own by GraphStore.of(store)"
    raise InvalidInputError("blocking call", [f"{type(facade).__name__} is no blocking object: pass {wanted}"])


class Method(Protocol[P, R_co]):
    """A function that binds as a method does: what type checkers see, with its parameters."""

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Callable[Concatenate[Any, P], R_co]: ...
    @overload
    def __get__(self, instance: Facade[Any], owner: type[Any]) -> Callable[P, R_co]: ...


def blocking(method: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> Method[P, R]:
    """A method that returns what the coroutine method of the same name does, when it is done."""

    @wraps(method)
    def wait(self: Facade[Any], /, *args: P.args, **kwargs: P.kwargs) -> R:
        waiting: Coroutine[Any, Any, R] = getattr(self.asynchronous, method.__name__)(*args, **kwargs)
        return BRIDGE.run(waiting)

    return cast("Method[P, R]", wait)


def holding(
    method: Callable[Concatenate[Any, P], AbstractAsyncContextManager[R]],
) -> Method[P, AbstractContextManager[R]]:
    """A method that returns the context manager of the method of the same name, for ``with``."""

    @wraps(method)
    def hold(self: Facade[Any], /, *args: P.args, **kwargs: P.kwargs) -> AbstractContextManager[R]:
        manager: AbstractAsyncContextManager[R] = getattr(self.asynchronous, method.__name__)(*args, **kwargs)
        return BRIDGE.hold(manager)

    return cast("Method[P, AbstractContextManager[R]]", hold)


def plain(method: Callable[Concatenate[Any, P], R]) -> Method[P, R]:
    """A method that is the one of the same name, which waits for nothing."""

    @wraps(method)
    def call(self: Facade[Any], /, *args: P.args, **kwargs: P.kwargs) -> R:
        answer: R = getattr(self.asynchronous, method.__name__)(*args, **kwargs)
        return answer

    return cast("Method[P, R]", call)

"""Derive a blocking class from an asynchronous one: all of its public methods and properties.

Type checkers and editors see the derived members in the stub of each module, which
``python -m tests.sync.stubs`` writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from functools import wraps
from typing import Any, Generic, Self, TypeVar, get_args

from graphsearch.errors import InvalidInputError
from graphsearch.sync.bridge import BRIDGE

A = TypeVar("A")


class Facade(Generic[A]):
    """The blocking wrapper of an object; ``asynchronous`` is that object, for code that needs it unwrapped.

    A subclass of ``Facade[Asynchronous]`` has the public methods and properties of that class, except those it defines
    itself: coroutines are waited for, and asynchronous context managers become blocking ones.
    """

    asynchronous: A

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = {*vars(cls), *vars(Facade)}
        for owner in (argument for base in vars(cls).get("__orig_bases__", ()) for argument in get_args(base)):
            for name in dir(owner):
                if not name.startswith("_") and name not in own:
                    setattr(cls, name, _blocking(name, inspect.getattr_static(owner, name)))

    @classmethod
    def of(cls, asynchronous: A) -> Self:
        """Wrap an existing object."""
        facade = cls.__new__(cls)
        facade.asynchronous = asynchronous
        return facade

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}.of({self.asynchronous!r})"


def behind(facade: Facade[A]) -> A:
    """Unwrap a blocking object; `InvalidInputError` for anything else."""
    if isinstance(facade, Facade):
        return facade.asynchronous
    wanted = "one of graphsearch.sync, or made of your own by GraphStore.of(store)"
    raise InvalidInputError("blocking call", [f"{type(facade).__name__} is no blocking object: pass {wanted}"])


def _blocking(name: str, member: Any) -> Any:
    """A property or method that waits for the result of its asynchronous counterpart."""
    if isinstance(member, property):
        return property(lambda facade: getattr(facade.asynchronous, name), doc=member.__doc__)

    @wraps(member)
    def wait(self: Facade[Any], /, *args: Any, **kwargs: Any) -> Any:
        answer = getattr(self.asynchronous, name)(*args, **kwargs)
        if isinstance(answer, Coroutine):
            return BRIDGE.run(answer)
        return BRIDGE.hold(answer) if isinstance(answer, AbstractAsyncContextManager) else answer

    return wait

"""Derive blocking classes and functions from asynchronous ones, with the same names, parameters and docstrings.

Type checkers and editors see what is derived in the stub of each module, which ``python -m tests.sync.stubs`` writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Coroutine, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import wraps
from operator import attrgetter
from typing import Any, ClassVar, Generic, Self, TypeVar, get_args

from graphsearch.sync.bridge import BRIDGE

A = TypeVar("A")


class Facade(Generic[A]):
    """The blocking wrapper of an object; ``asynchronous`` is that object, for code that needs it unwrapped.

    A subclass of ``Facade[Asynchronous]`` is made of the same parts as that class, and has its public methods and
    properties, and the attributes that it annotates, except those it defines itself: coroutines are waited for, and
    asynchronous context managers become blocking ones.
    """

    asynchronous: A
    _without: ClassVar[Collection[str]] = ()
    """Public names of that class that have no blocking counterpart."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = {*dir(cls), "asynchronous", *cls._without}
        for owner in (argument for base in vars(cls).get("__orig_bases__", ()) for argument in get_args(base)):
            for name in {*dir(owner), *cls.__annotations__} - own:
                if not name.startswith("_"):
                    setattr(cls, name, _member(name, inspect.getattr_static(owner, name, None)))
            if isinstance(owner, type) and "__init__" not in vars(cls):
                setattr(cls, "__init__", _making(owner))  # noqa: B010 - derived as the others

    @classmethod
    def of(cls, asynchronous: A) -> Self:
        """Wrap an existing object."""
        facade = cls.__new__(cls)
        facade.asynchronous = asynchronous
        return facade

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}.of({self.asynchronous!r})"


def blocking(function: Callable[..., Any]) -> Any:
    """A function that takes blocking objects, and waits for the result of its asynchronous counterpart."""

    @wraps(function)
    def wait(*args: Any, **kwargs: Any) -> Any:
        answer = _called(function, args, kwargs)
        if isinstance(answer, Coroutine):
            return BRIDGE.run(answer)
        return BRIDGE.hold(answer) if isinstance(answer, AbstractAsyncContextManager) else answer

    return wait


def _called(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    return function(*map(behind, args), **{name: behind(value) for name, value in kwargs.items()})


def behind(value: Any) -> Any:
    """Unwrap a blocking object, or each of several; anything else stays as it is."""
    if isinstance(value, Facade):
        return value.asynchronous
    if isinstance(value, Generator):
        return map(behind, value)
    several = isinstance(value, list | tuple) and any(isinstance(each, Facade) for each in value)
    return [behind(each) for each in value] if several else value


def _making(owner: type[Any]) -> Any:
    """A constructor that makes the asynchronous object."""

    @wraps(getattr(owner, "__init__"))  # noqa: B009 - mypy takes it for a method of this instance
    def make(self: Facade[Any], /, *args: Any, **kwargs: Any) -> None:
        self.asynchronous = _called(owner, args, kwargs)

    return make


def _member(name: str, member: Any) -> Any:
    """A property, or a method that waits for the result of its asynchronous counterpart."""
    if not callable(member):
        return property(attrgetter(f"asynchronous.{name}"), doc=inspect.getdoc(member))

    @wraps(member)
    def call(asynchronous: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(asynchronous, name)(*args, **kwargs)

    return blocking(call)

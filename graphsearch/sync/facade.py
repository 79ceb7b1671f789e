"""Derive blocking classes and functions from asynchronous ones, with the same names, parameters and docstrings.

Type checkers and editors see what is derived in the stub of each module, which ``python -m tests.sync.stubs`` writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import wraps
from itertools import chain, repeat
from typing import Any, Final, Generic, Self, TypeVar, get_args

from graphsearch.errors import InvalidInputError
from graphsearch.sync.bridge import BRIDGE

A = TypeVar("A")
_OBJECTS: Final = frozenset({"store", "stores", "engine", "engines", "ingestor", "scopes", "log"})
"""Parameters that take blocking objects, or several of them."""
_OPTIONAL: Final[Mapping[str, tuple[object, ...]]] = {"scopes": (None,), "log": (None, "engine")}
"""What some of these take instead."""


class Facade(Generic[A]):
    """The blocking wrapper of an object; ``asynchronous`` is that object, for code that needs it unwrapped.

    A subclass of ``Facade[Asynchronous]`` is made of the same parts as that class, and has its public methods and
    properties, except those it defines itself: coroutines are waited for, and asynchronous context managers become
    blocking ones.
    """

    asynchronous: A

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = set(dir(cls))
        for owner in (argument for base in vars(cls).get("__orig_bases__", ()) for argument in get_args(base)):
            for name in dir(owner):
                if not name.startswith("_") and name not in own:
                    setattr(cls, name, _blocking(name, inspect.getattr_static(owner, name)))
            if owner is not Any and isinstance(owner, type) and "__init__" not in vars(cls):
                setattr(cls, "__init__", _making(owner))  # noqa: B010 - derived as the others

    @classmethod
    def of(cls, asynchronous: A) -> Self:
        """Wrap an existing object."""
        facade = cls.__new__(cls)
        facade.asynchronous = asynchronous
        return facade

    def __getattr__(self, name: str) -> Any:
        """What the object was made of."""
        if name.startswith("_") or name not in type(self).__annotations__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.asynchronous, name)

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}.of({self.asynchronous!r})"


def behind(facade: Any) -> Any:
    """Unwrap a blocking object, or each of several; `InvalidInputError` for anything else."""
    if isinstance(facade, Facade):
        return facade.asynchronous
    if isinstance(facade, Iterable) and not isinstance(facade, str):
        return [behind(each) for each in facade]
    wanted = "one of graphsearch.sync, or made of your own by GraphStore.of(store)"
    raise InvalidInputError("blocking call", [f"{type(facade).__name__} is no blocking object: pass {wanted}"])


def blocking(function: Callable[..., Any]) -> Any:
    """A function that waits for the result of its asynchronous counterpart."""
    names = [*inspect.signature(function).parameters]

    @wraps(function)
    def wait(*args: Any, **kwargs: Any) -> Any:
        given, named = _unwrapped(names, args, kwargs)
        return BRIDGE.run(function(*given, **named))

    return wait


def _unwrapped(
    names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call, without the facades of objects."""

    def unwrap(name: str, value: Any) -> Any:
        kept = name not in _OBJECTS or any(value is each or value == each for each in _OPTIONAL.get(name, ()))
        return value if kept else behind(value)

    given = [unwrap(name, value) for name, value in zip(chain(names, repeat("")), args)]  # noqa: B905 - one is endless
    return given, {name: unwrap(name, value) for name, value in kwargs.items()}


def _making(owner: Any) -> Any:
    """A constructor that makes the asynchronous object."""
    _, *names = inspect.signature(owner.__init__).parameters

    @wraps(owner.__init__)
    def make(self: Facade[Any], /, *args: Any, **kwargs: Any) -> None:
        given, named = _unwrapped(names, args, kwargs)
        self.asynchronous = owner(*given, **named)

    return make


def _blocking(name: str, member: Any) -> Any:
    """A property or method that waits for the result of its asynchronous counterpart."""
    if isinstance(member, property):
        return property(lambda facade: getattr(facade.asynchronous, name), doc=member.__doc__)
    _, *names = inspect.signature(member).parameters

    @wraps(member)
    def wait(self: Facade[Any], /, *args: Any, **kwargs: Any) -> Any:
        given, named = _unwrapped(names, args, kwargs)
        answer = getattr(self.asynchronous, name)(*given, **named)
        if isinstance(answer, Coroutine):
            return BRIDGE.run(answer)
        return BRIDGE.hold(answer) if isinstance(answer, AbstractAsyncContextManager) else answer

    return wait

"""Verbs: asynchronous functions whose options are the fields of one attrs class."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

S = TypeVar("S")
R = TypeVar("R")
T = TypeVar("T")
P = ParamSpec("P")
Verb = Callable[[S, R], Coroutine[Any, Any, T]]


def takes(request: Callable[P, R]) -> Callable[[Verb[S, R, T]], Callable[Concatenate[S, P], Coroutine[Any, Any, T]]]:
    """Let a function of an object and a request be called with the object and the fields of the request.

    Signature and docstring list the fields, as `help` and editors show them. A request itself is taken in place of its
    fields: see `ask`. The class is the attribute ``request`` of the function. Its docstring, and those of its bases,
    document the fields from the second paragraph on.
    """
    kind: Any = request

    def decorate(verb: Verb[S, R, T]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
        @wraps(verb)
        async def call(self: S, /, *given: P.args, **named: P.kwargs) -> T:
            made: Any = given[0] if given and isinstance(given[0], kind) else request(*given, **named)
            return await verb(self, made)

        own, *_ = inspect.signature(verb).parameters.values()
        taken = inspect.signature(request).parameters.values()
        signature = inspect.signature(verb).replace(parameters=[own, *taken])
        vars(call).update(__signature__=signature, request=request)
        call.__doc__ = "\n\n".join(filter(None, (inspect.getdoc(verb), _documented(kind))))
        return call

    return decorate


async def ask(verb: Callable[..., Coroutine[Any, Any, T]], request: object) -> T:
    """Call a verb with a request that is made already."""
    return await verb(request)


def _documented(request: type) -> str:
    texts = (inspect.cleandoc(vars(each).get("__doc__") or "") for each in inspect.getmro(request)[:-1])
    return "\n\n".join(filter(None, (text.partition("\n\n")[2] for text in texts)))

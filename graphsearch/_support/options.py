"""Functions with keyword options: their signature and docstring list what a class of options defines."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from inspect import Parameter
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def with_options(
    options: type, *sources: Callable[..., Any], without: tuple[str, ...] = (), **defaults: Any
) -> Callable[[Function], Function]:
    """List the ``**options`` of a function one by one, as `help` and editors show them.

    * ``options``: the `TypedDict` that names and documents them; all but the first paragraph of its docstring becomes
      part of that of the function.
    * ``sources``: callables with parameters of the same names, whose defaults are shown; ``...`` where they differ.
    * ``without``: options that the function makes itself.
    * ``defaults``: defaults of the function's own.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        listed = [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=defaults.get(name, _default(name, sources)),
                annotation=getattr(annotation, "__forward_arg__", annotation),
            )
            for name, annotation in options.__annotations__.items()
            if name not in without and name not in signature.parameters
        ]
        documented = (inspect.getdoc(options) or "").partition("\n\n")[2]
        function.__doc__ = "\n\n".join(filter(None, (inspect.getdoc(function), documented)))
        vars(function)["__signature__"] = signature.replace(parameters=[*own, *listed])
        return function

    return decorate


def _default(name: str, sources: tuple[Callable[..., Any], ...]) -> Any:
    """The default that all sources with such a parameter share, else ``...``."""
    found = [*_defaults(name, sources)]
    return found[0] if found and all(each == found[0] for each in found) else ...


def _defaults(name: str, sources: tuple[Callable[..., Any], ...]) -> Iterator[Any]:
    for source in sources:
        if parameter := inspect.signature(source).parameters.get(name):
            yield parameter.default

"""Declared effects of store methods: the parts of a scope that a call changes, read for example by a cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, TypeVar

import attrs

Part: TypeAlias = Literal[
    "entities",
    "relations",
    "memories",
    "merges",
    "links",
    "communities",
    "types",
    "injections",
    "embedder",
    "indexes",
    "health",
    "proposals",
]
"""Part of a scope. Mentions and claims belong to their memories, feedback weights to their elements."""

Method = TypeVar("Method", bound=Callable[..., Any])
_ATTRIBUTE: Final = "__effect__"


@attrs.frozen
class Effect:
    """The parts of a scope that a method may change; none for a read."""

    changes: frozenset[Part] = frozenset()
    only: str | None = None
    """The parameter with the changed elements, a sequence of `ElementRef`; None if any element may change."""


def changes(*parts: Part, only: str | None = None) -> Callable[[Method], Method]:
    """Declare which parts of a scope a method of a store may change; see `Effect`."""

    def declare(method: Method) -> Method:
        setattr(method, _ATTRIBUTE, Effect(frozenset(parts), only))
        return method

    return declare


def reads(method: Method) -> Method:
    """Declare that a method of a store changes nothing."""
    return changes()(method)


def effect_of(protocol: type[Any], name: str) -> Effect | None:
    """The declared effect of a protocol's method; None where nothing is declared, or no such method exists."""
    effect: Effect | None = getattr(getattr(protocol, name, None), _ATTRIBUTE, None)
    return effect

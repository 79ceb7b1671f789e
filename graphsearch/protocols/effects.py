"""Declared effects of store methods: the parts of a scope that a call changes, read for example by a cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, TypeVar

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


def changes(*parts: Part) -> Callable[[Method], Method]:
    """Declare which parts of a scope a method of a store may change."""

    def declare(method: Method) -> Method:
        setattr(method, _ATTRIBUTE, frozenset(parts))
        return method

    return declare


def reads(method: Method) -> Method:
    """Declare that a method of a store changes nothing."""
    return changes()(method)


def effect_of(protocol: type[Any], name: str) -> frozenset[Part] | None:
    """The parts that a protocol's method may change; None where nothing is declared, or no such method exists."""
    effect: frozenset[Part] | None = getattr(getattr(protocol, name, None), _ATTRIBUTE, None)
    return effect

"""Converters of attributes. A value they cannot convert is passed on, so that validation reports it with all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from graphsearch.model.identity import snake_case

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def type_name(value: str) -> str:
    """The name of a type as it is stored: in snake case."""
    return snake_case(value) if isinstance(value, str) else value


def read_only(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A read-only copy of a mapping."""
    if not isinstance(value, Mapping):
        return value
    return MappingProxyType(dict(value)) if value else NOTHING


def distinct(value: Iterable[str]) -> tuple[str, ...]:
    """Texts without repetitions, in order of their first occurrence."""
    if isinstance(value, str):
        return (value,)
    return tuple(dict.fromkeys(value)) if isinstance(value, Iterable) else value


def sorted_distinct(value: Iterable[str]) -> tuple[str, ...]:
    """Texts without repetitions, sorted."""
    words = distinct(value)
    return tuple(sorted(words)) if all(isinstance(word, str) for word in words) else words


def as_tuple(value: Iterable[Any]) -> tuple[Any, ...]:
    """Any iterable as a tuple; mypy cannot follow `tuple` itself as a converter."""
    return tuple(value)


def as_frozenset(value: Iterable[str]) -> frozenset[str]:
    """Any iterable of texts as a frozenset."""
    return frozenset(value)

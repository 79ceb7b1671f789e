"""Surfaces and resolvers for the tests of resolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from benchmarks.listed_names import ListedNames
from graphsearch.ingest.resolve.cascade import Resolver
from graphsearch.ingest.resolve.resolution import Resolution
from graphsearch.model import Entity
from graphsearch.model.extracted import ExtractedName


def surface(name: str, type: str = "person") -> ExtractedName:
    return ExtractedName(name=name, type=type, span=None, confidence=0.9, pattern="test")


def person(name: str, *aliases: str) -> Entity:
    return Entity(type="person", name=name, aliases=aliases)


async def resolve(
    *names: str, type: str = "person", known: Sequence[Entity] = (), **parts: Any
) -> Sequence[Resolution]:
    return await Resolver(ListedNames(known), **parts).resolve([surface(name, type) for name in names])


async def groups(*names: str, type: str = "person") -> set[frozenset[str]]:
    """The names of a batch, those of one entity together."""
    found: dict[object, set[str]] = {}
    for resolution in await resolve(*names, type=type):
        found.setdefault(resolution.entity.id, set()).add(resolution.surface.name)
    return set(map(frozenset, found.values()))


async def remember(names: ListedNames, found: Sequence[Resolution]) -> None:
    """What a writer does: entities are written, and surfaces become aliases."""
    for resolution in found:
        known = names.entities.get(resolution.entity.id, resolution.entity)
        names.add(attrs.evolve(resolution.entity, aliases=(*known.aliases, resolution.surface.name)))

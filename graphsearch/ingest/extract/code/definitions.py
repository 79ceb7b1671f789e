"""Resolution of paths such as ``asyncio.run`` to definitions, across the files of one ingest.

The index keeps only names and no source, so that a large folder fits in memory.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from graphsearch.ingest.extract.code.outline import Outline
from graphsearch.ingest.extract.code.scopes import SUPER


@attrs.frozen
class Resolved:
    """A definition, and the number of re-exports and base classes followed to reach it."""

    name: str
    kind: str
    detours: int = 0
    instance: bool = False
    inherited_only: bool = False
    """Whether it denotes only the inherited members of the class."""


@attrs.frozen(eq=False)
class _Module:
    names: Mapping[str, str]
    stars: tuple[str, ...]


@attrs.define(eq=False)
class Index:
    """The definitions of all files of an ingest, and the meanings of names in their modules."""

    kinds: dict[str, str] = attrs.field(factory=dict)
    _bases: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    _modules: dict[str, _Module] = attrs.field(factory=dict)

    def add(self, outline: Outline) -> None:
        """Add the definitions of one file."""
        self.kinds.update((definition.name, definition.kind) for definition in outline.definitions)
        self._bases.update(outline.bases)
        self._modules[outline.module] = _Module(outline.frames[0].names, outline.stars)

    def module(self, path: str) -> bool:
        """Whether a path is a module of this ingest."""
        return self.kinds.get(path) == "module"

    def resolve(self, path: str) -> Resolved | None:
        """The definition that a path denotes; None if unknown."""
        return self._resolve(path, frozenset())

    def _resolve(self, path: str, seen: frozenset[str]) -> Resolved | None:
        if path in seen:
            return None
        seen |= {path}
        parts = path.replace("()", ".()").split(".")
        heads = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
        starts = [length for length, head in enumerate(heads, 1) if head in self._modules]
        walks = (self._walk(parts, start, seen) for start in starts)  # more than one below a folder without __init__
        return next(filter(None, walks), None)

    def _walk(self, parts: list[str], start: int, seen: frozenset[str]) -> Resolved | None:
        found: Resolved | None = Resolved(".".join(parts[:start]), "module")
        for part in parts[start:]:
            found = self._step(found, part, seen) if found else None
        return found

    def _step(self, found: Resolved, part: str, seen: frozenset[str]) -> Resolved | None:
        if part == "()":
            return attrs.evolve(found, instance=True) if found.kind == "class" and not found.instance else None
        if found.kind == "module":
            return self._attribute(found, part, seen)
        if found.kind == "class":
            return attrs.evolve(found, inherited_only=True) if f"{part}()" == SUPER else self._member(found, part, seen)
        nested = f"{found.name}.{part}"
        return Resolved(nested, self.kinds[nested], found.detours) if nested in self.kinds else None

    def _attribute(self, module: Resolved, name: str, seen: frozenset[str]) -> Resolved | None:
        """The definition of a name in a module: its own names first, then submodules, then star imports."""
        inside = self._modules[module.name]
        own = f"{module.name}.{name}"
        path = inside.names.get(name)
        if path and path != own:
            return _further(self._resolve(path, seen), module.detours + 1)
        if own in self.kinds:
            return Resolved(own, self.kinds[own], module.detours)
        if path == "" or name.startswith("_"):
            return None
        found = (self._resolve(f"{star}.{name}", seen) for star in inside.stars)
        return _further(next(filter(None, found), None), module.detours + 1)

    def _member(self, owner: Resolved, name: str, seen: frozenset[str]) -> Resolved | None:
        """A member of a class: its own, or that of the first base with one."""
        own = f"{owner.name}.{name}"
        if own in self.kinds and not owner.inherited_only:
            return Resolved(own, self.kinds[own], owner.detours)
        found = (self._resolve(f"{base}.{name}", seen) for base in self._bases.get(owner.name, ()))
        return _further(next(filter(None, found), None), owner.detours + 1)


def _further(found: Resolved | None, detours: int) -> Resolved | None:
    return attrs.evolve(found, detours=found.detours + detours) if found else None

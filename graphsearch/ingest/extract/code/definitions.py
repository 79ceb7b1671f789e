"""From a path such as ``asyncio.run`` to the definition that it leads to, across the files of one ingest.

The index keeps a few names a definition and no source, so that a large folder fits in memory.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from graphsearch.ingest.extract.code.outline import Outline
from graphsearch.ingest.extract.code.scopes import SUPER


@attrs.frozen
class Found:
    """A definition, and how many re-exports and base classes lay on the way to it."""

    name: str
    kind: str
    detours: int = 0
    instance: bool = False
    beyond: bool = False
    """Whether it stands for what the class inherits, and not for the class itself."""


@attrs.frozen(eq=False)
class _Module:
    names: Mapping[str, str]
    stars: tuple[str, ...]


@attrs.define(eq=False)
class Index:
    """What the files of an ingest define, and what their modules' names lead to."""

    kinds: dict[str, str] = attrs.field(factory=dict)
    _bases: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    _modules: dict[str, _Module] = attrs.field(factory=dict)

    def add(self, outline: Outline) -> None:
        """Take in what one file defines."""
        self.kinds.update((definition.name, definition.kind) for definition in outline.definitions)
        self._bases.update(outline.bases)
        self._modules[outline.module] = _Module(outline.frames[0].names, outline.stars)

    def module(self, path: str) -> bool:
        """Whether a path is a module of this ingest."""
        return self.kinds.get(path) == "module"

    def resolve(self, path: str) -> Found | None:
        """The definition that a path leads to, or None where that is not known."""
        return self._resolve(path, frozenset())

    def _resolve(self, path: str, seen: frozenset[str]) -> Found | None:
        if path in seen:
            return None
        seen |= {path}
        parts = path.replace("()", ".()").split(".")
        heads = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
        starts = [length for length, head in enumerate(heads, 1) if head in self._modules]
        walks = (self._walk(parts, start, seen) for start in starts)  # more than one below a folder without __init__
        return next(filter(None, walks), None)

    def _walk(self, parts: list[str], start: int, seen: frozenset[str]) -> Found | None:
        found: Found | None = Found(".".join(parts[:start]), "module")
        for part in parts[start:]:
            found = self._step(found, part, seen) if found else None
        return found

    def _step(self, found: Found, part: str, seen: frozenset[str]) -> Found | None:
        if part == "()":
            return attrs.evolve(found, instance=True) if found.kind == "class" and not found.instance else None
        if found.kind == "module":
            return self._attribute(found, part, seen)
        if found.kind == "class":
            return attrs.evolve(found, beyond=True) if f"{part}()" == SUPER else self._member(found, part, seen)
        nested = f"{found.name}.{part}"
        return Found(nested, self.kinds[nested], found.detours) if nested in self.kinds else None

    def _attribute(self, module: Found, name: str, seen: frozenset[str]) -> Found | None:
        """What a name of a module leads to: its own names, then its submodules, then what stars bring in."""
        inside = self._modules[module.name]
        own = f"{module.name}.{name}"
        path = inside.names.get(name)
        if path and path != own:
            return _further(self._resolve(path, seen), module.detours + 1)
        if own in self.kinds:
            return Found(own, self.kinds[own], module.detours)
        if path == "" or name.startswith("_"):
            return None
        found = (self._resolve(f"{star}.{name}", seen) for star in inside.stars)
        return _further(next(filter(None, found), None), module.detours + 1)

    def _member(self, owner: Found, name: str, seen: frozenset[str]) -> Found | None:
        """A member of a class: its own, or of the first of its bases that has one."""
        own = f"{owner.name}.{name}"
        if own in self.kinds and not owner.beyond:
            return Found(own, self.kinds[own], owner.detours)
        found = (self._resolve(f"{base}.{name}", seen) for base in self._bases.get(owner.name, ()))
        return _further(next(filter(None, found), None), owner.detours + 1)


def _further(found: Found | None, detours: int) -> Found | None:
    return attrs.evolve(found, detours=found.detours + detours) if found else None

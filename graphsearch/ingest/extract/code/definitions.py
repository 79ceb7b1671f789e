"""The definitions in Python files, and the resolution of paths such as ``asyncio.run`` to them.

They are found with the standard `ast`; nothing is imported or run. The index of all files of an ingest keeps only names
and no source, so that a large folder fits in memory.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from graphsearch.ingest.extract.code.scopes import (
    DEFINING,
    OPAQUE,
    Defining,
    Frame,
    bind,
    decorators,
    imported_module,
    made,
    path_of,
)
from graphsearch.ingest.extract.extraction import Fault, UnreadableError

_SUMMARY_LENGTH: Final = 300


@attrs.frozen(kw_only=True)
class Definition:
    """A module, class or function of a file. ``name`` is qualified; ``parent`` is the enclosing scope."""

    name: str
    kind: str
    line: int
    description: str
    parent: Definition | None


@attrs.frozen(eq=False, kw_only=True)
class Outline:
    """One file: its definitions, its scopes, the paths of its base classes and star imports."""

    module: str
    package: str
    path: str
    definitions: tuple[Definition, ...]
    frames: tuple[Frame, ...]
    bases: Mapping[str, tuple[str, ...]]
    values: Mapping[str, str]
    """The paths of what its functions return and of its attributes, where they are instances of one class."""
    stars: tuple[str, ...]
    source: str


def module_name(path: str) -> str:
    """``asyncio/base_events.py`` is asyncio.base_events, ``asyncio/__init__.py`` is asyncio."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def outline(path: str, source: str) -> Outline:
    """Parse one file. Raises `UnreadableError` with the line if it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as invalid escapes in the file
            tree = ast.parse(source)
        return _read(tree, path, source)
    except (RecursionError, MemoryError) as error:
        raise UnreadableError(Fault(path, 0, "nested too deeply to be read")) from error
    except SyntaxError as error:
        raise UnreadableError(Fault(path, error.lineno or 0, f"not valid Python: {error.msg}")) from error
    except ValueError as error:  # such as of a number that Python does not write out
        raise UnreadableError(Fault(path, 0, f"not valid Python: {error}")) from error


def _read(tree: ast.Module, path: str, source: str) -> Outline:
    module = module_name(path)
    package = module if path.endswith("/__init__.py") else module.rpartition(".")[0]
    definitions = {module: Definition(name=module, kind="module", line=1, description=summary(tree), parent=None)}
    bases: dict[str, tuple[str, ...]] = {}
    frames = [Frame(module, "module", tree, None)]
    for frame in frames:  # grows while iterating: each frame appends the scopes defined in it
        bind(frame, package)
        for node in (each for each in frame.nodes if isinstance(each, DEFINING)):
            name, is_class = f"{frame.name}.{node.name}", isinstance(node, ast.ClassDef)
            kind = "class" if is_class else "function"
            described = summary(node) or _signature(node)
            parent = definitions[frame.name]
            # a name that is defined already is an overload, a setter, or of another platform
            definitions.setdefault(
                name, Definition(name=name, kind=kind, line=node.lineno, description=described, parent=parent)
            )
            is_method = not is_class and frame.kind == "class" and "staticmethod" not in decorators(node)
            frames.append(Frame(name, kind, node, frame, receiver=frame.name if is_method else ""))
            if isinstance(node, ast.ClassDef):
                found = (path_of(base.value if isinstance(base, ast.Subscript) else base, frame) for base in node.bases)
                bases[name] = (*bases.get(name, ()), *filter(None, found))
    starred = (each for each in frames[0].nodes if isinstance(each, ast.ImportFrom) and each.names[0].name == "*")
    return Outline(
        module=module,
        package=package,
        path=path,
        definitions=tuple(definitions.values()),
        frames=tuple(frames),
        bases=bases,
        values=_agreed(said for frame in frames for said in made(frame)),
        stars=tuple(dict.fromkeys(imported_module(node, package) for node in starred)),
        source=source,
    )


def _agreed(said: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """What is said of each name, where all agree."""
    found: dict[str, str] = {}
    for name, path in said:
        found[name] = path if found.get(name, path) == path else OPAQUE
    return {name: path for name, path in found.items() if path.endswith("()")}


def summary(node: ast.Module | Defining) -> str:
    """The first paragraph of the docstring on one line, at most 300 characters."""
    docstring = (ast.get_docstring(node) or "").strip()
    return shortened(_storable(docstring.split("\n\n")[0]), _SUMMARY_LENGTH)


def shortened(text: str, length: int) -> str:
    """A text cut at a word's end, with an ellipsis, when it is longer than ``length`` characters."""
    if len(text) <= length:
        return text
    return f"{text[: length - 1].rsplit(' ', 1)[0].rstrip()}…"


def _signature(node: Defining) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        written = f"class {node.name}({bases})" if bases else f"class {node.name}"
    else:
        written = f"{node.name}({ast.unparse(node.args)})"
    return shortened(_storable(written), _SUMMARY_LENGTH)


def _storable(text: str) -> str:
    """A text on one line, without characters that no store accepts: NUL and lone surrogates."""
    return " ".join(text.replace("\0", "").encode("utf-8", "ignore").decode().split())


_MOST_STEPS: Final = 500
"""Most paths that are followed for one: modules that import everything of each other have factorially many."""


# -- paths to definitions ---------------------------------------------------------------------------------------------


@attrs.frozen
class Resolved:
    """A definition, or an instance of it."""

    name: str
    kind: str
    instance: bool = False


@attrs.define(eq=False)
class Index:
    """The definitions of all files of an ingest, and the meanings of names in their modules."""

    kinds: dict[str, str] = attrs.field(factory=dict)
    tops: set[str] = attrs.field(factory=set, init=False)
    """The first parts of the names of modules."""
    _bases: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    _values: dict[str, str] = attrs.field(factory=dict)
    _names: dict[str, Mapping[str, str]] = attrs.field(factory=dict)
    """By module, the paths of its names."""
    _stars: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    _left: int = attrs.field(default=0, init=False)
    """Paths that may still be followed for the one that is resolved."""

    def add(self, outline: Outline) -> None:
        """Add the definitions of one file."""
        self.kinds.update((definition.name, definition.kind) for definition in outline.definitions)
        self.tops.add(outline.module.partition(".")[0])
        self._bases.update(outline.bases)
        self._values.update(outline.values)
        self._names[outline.module], self._stars[outline.module] = outline.frames[0].names, outline.stars

    def module(self, path: str) -> bool:
        """Whether a path is a module of this ingest."""
        return self.kinds.get(path) == "module"

    def resolve(self, path: str) -> Resolved | None:
        """The definition that a path denotes; None if unknown."""
        self._left = _MOST_STEPS
        return self._resolve(path, frozenset())

    def _resolve(self, path: str, seen: frozenset[str]) -> Resolved | None:
        self._left -= 1
        if path in seen or self._left < 0:
            return None
        seen |= {path}
        parts = path.replace("()", ".()").split(".")
        heads = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
        starts = [length for length, head in enumerate(heads, 1) if head in self._names]
        for start in starts:  # more than one below a folder without __init__
            found: Resolved | None = Resolved(".".join(parts[:start]), "module")
            for part in parts[start:]:
                found = self._step(found, part, seen) if found else None
            if found:
                return found
        return None

    def _step(self, found: Resolved, part: str, seen: frozenset[str]) -> Resolved | None:
        if part == "()":
            if found.kind == "function":
                return self._value(f"{found.name}()", seen)
            return attrs.evolve(found, instance=True) if found.kind == "class" and not found.instance else None
        if found.kind == "module":
            return self._attribute(found, part, seen)
        if found.kind == "class":
            return self._member(found, part, seen)
        nested = f"{found.name}.{part}"
        if nested in self.kinds:
            return Resolved(nested, self.kinds[nested])
        known = self._value(found.name, seen)  # of a property
        return self._step(known, part, seen) if known else None

    def _value(self, name: str, seen: frozenset[str]) -> Resolved | None:
        """What a call returns, or what an attribute holds."""
        return self._resolve(self._values[name], seen) if name in self._values else None

    def _attribute(self, module: Resolved, name: str, seen: frozenset[str]) -> Resolved | None:
        """The definition of a name in a module: its own names first, then submodules, then star imports."""
        own = f"{module.name}.{name}"
        path = self._names[module.name].get(name)
        if path and path != own:
            return self._resolve(path, seen)
        if own in self.kinds:
            return Resolved(own, self.kinds[own])
        if path == "" or name.startswith("_"):
            return None
        starred = (self._resolve(f"{star}.{name}", seen) for star in self._stars[module.name])
        return next(filter(None, starred), None)

    def _member(self, owner: Resolved, name: str, seen: frozenset[str]) -> Resolved | None:
        """A member of a class: its own, or that of the first base with one."""
        own = f"{owner.name}.{name}"
        if own in self.kinds:
            return Resolved(own, self.kinds[own])
        if owner.instance and own in self._values:
            return self._value(own, seen)
        inherited = (self._resolve(f"{base}.{name}", seen) for base in self._bases.get(owner.name, ()))
        return next(filter(None, inherited), None)

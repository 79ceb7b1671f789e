"""Extraction of entities and structural claims from Python source, in two steps.

First `outline` every file and add it to an `Index`; then `extract` each, so that names are resolved across files.
Names that cannot be resolved are omitted, not guessed; classes of other packages and of Python itself are named where a
class inherits from them, or where they are raised or caught.

Confidence of a resolution:

    defines 0.99 · imports 0.98 · inherits_from 0.98 · calls, raises, catches: in the same module 0.98, of another
    module 0.96, through ``self``, an instance or ``super()`` 0.95, of what is not in the folder 0.90

Importance, by how likely an agent asks for it:

    module 0.7 · class 0.6 · function or method 0.5 · ``__special__`` method 0.4 · nested in a function 0.3 ·
    private 0.3 · module outside the folder 0.3
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Container, Iterator
from typing import Final

import attrs

from graphsearch.ingest.extract.code.definitions import Definition, Index, Outline, Resolved, shortened
from graphsearch.ingest.extract.code.scopes import DEFINING, Frame, imported_module, path_of
from graphsearch.ingest.extract.code.weighted_words import words
from graphsearch.ingest.extract.extraction import Described, Extraction
from graphsearch.model import Claim, EdgeKind, Entity, Memory, Mention

EXTRACTOR: Final = "code/5"
"""The version of the extraction: when it changes, known files are read again."""

_IMPORTANCE: Final = {"module": 0.7, "class": 0.6, "function": 0.5}
_SPECIAL, _LOW = 0.4, 0.3
_DEFINES, _IMPORTS, _INHERITS, _SAME_MODULE, _OTHER_MODULE, _INSTANCE = 0.99, 0.98, 0.98, 0.98, 0.96, 0.95
_OUTSIDE = 0.90
_FACT_LENGTH: Final = 120


@attrs.frozen
class _Reference:
    """A reference from a definition of the file to another definition, with its line."""

    source: str
    type: str
    target: str
    line: int
    confidence: float
    summary: str = ""
    outside: str = "class"
    """The kind of a target that no file of the folder defines."""


def described(outline: Outline) -> tuple[Described, ...]:
    """The entities that one file describes, with the weighted words of their definitions."""
    inside = words(outline)
    return tuple(Described(_entity(each, outline), inside[each.name]) for each in outline.definitions)


def extract(outline: Outline, index: Index) -> Extraction:
    """The content of one file, with its references resolved by the index.

    The file is represented by a memory without text, whose id is ``file:`` and the relative path. It has no date, so
    that the ids of its relations are stable.
    """
    surest: dict[tuple[str, str, str], _Reference] = {}
    for each in sorted(_references(outline, index), key=lambda reference: (-reference.confidence, reference.line)):
        if each.source != each.target:
            surest.setdefault((each.source, each.type, each.target), each)
    found = sorted(surest.values(), key=lambda reference: reference.line)
    memory_id = f"file:{outline.path}"
    described = {each.name: _entity(each, outline) for each in outline.definitions}
    others = {
        each.target: _outside(each.target, index.kinds.get(each.target, each.outside))
        for each in found
        if each.target not in described
    }
    ids = {name: entity.id for name, entity in (described | others).items()}
    sureness = {each.target: each.confidence for each in reversed(found)} | dict.fromkeys(described, 1.0)
    return Extraction(
        memory=Memory(id=memory_id, source=outline.path, labels=_labels(outline.module)),
        named=tuple(entity for name, entity in others.items() if name not in index.kinds),
        mentions=tuple(
            Mention(memory_id=memory_id, entity_id=ids[name], surface=name.rpartition(".")[2], confidence=confidence)
            for name, confidence in sureness.items()
        ),
        claims=tuple(
            Claim(
                memory_id=memory_id,
                source_id=ids[each.source],
                type=each.type,
                target_id=ids[each.target],
                confidence=each.confidence,
                kind=EdgeKind.STRUCTURAL,
                fact=shortened(f"{outline.path}:{each.line} {each.summary}".strip(), _FACT_LENGTH),
                extractor=EXTRACTOR,
            )
            for each in found
        ),
    )


def is_private(name: str) -> bool:
    """Whether any part of a qualified name, except ``__special__`` ones, has a leading underscore."""
    return any(part.startswith("_") and not _is_special(part) for part in name.split("."))


def _is_special(part: str) -> bool:
    return len(part) > 4 and part.startswith("__") and part.endswith("__")  # noqa: PLR2004


def _labels(name: str) -> tuple[str, ...]:
    return ("underscore",) if is_private(name) else ()


def _entity(definition: Definition, outline: Outline) -> Entity:
    return Entity(
        type=definition.kind,
        name=definition.name,
        description=definition.description,
        aliases=_aliases(definition, outline.module),
        labels=_labels(definition.name),
        attributes={"source": outline.path, "line": definition.line},
        importance_weight=_importance(definition, outline.module),
    )


def _outside(name: str, kind: str) -> Entity:
    """A module or class that the folder uses and does not contain."""
    last = name.rpartition(".")[2]
    aliases = (last,) if kind == "class" and last != name else ()
    return Entity(type=kind, name=name, aliases=aliases, labels=_labels(name), importance_weight=_LOW)


def _aliases(definition: Definition, module: str) -> tuple[str, ...]:
    """The shorter names of a definition: a method's with its class and alone, a module's last part.

    The bare name of a special method is no alias, since every class has one.
    """
    inside = definition.name.removeprefix(f"{module}.") if definition.kind != "module" else definition.name
    last = inside.rpartition(".")[2]
    aliases = (inside,) if _is_special(last) else (inside, last)
    return tuple(alias for alias in aliases if alias != definition.name)


def _importance(definition: Definition, module: str) -> float:
    """What a package keeps in a module ``_client`` may be public: only its own names count."""
    nested = definition.parent is not None and definition.parent.kind == "function"
    if nested or is_private(definition.name.removeprefix(f"{module}.")):
        return _LOW
    special = definition.kind == "function" and _is_special(definition.name.rpartition(".")[2])
    return _SPECIAL if special else _IMPORTANCE[definition.kind]


def _references(outline: Outline, index: Index) -> Iterator[_Reference]:
    for definition in outline.definitions:
        if definition.parent is not None:
            yield _Reference(
                definition.parent.name, "defines", definition.name, definition.line, _DEFINES, definition.description
            )
    lines = {definition.name: definition.line for definition in outline.definitions}
    for name, bases in outline.bases.items():
        for base in bases:
            if found := _class(base, outline, index):
                yield _Reference(name, "inherits_from", found.name, lines[name], _INHERITS)
    for frame in outline.frames:
        for node in frame.nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for module in _modules(node, outline.package, index):
                    yield _Reference(outline.module, "imports", module, node.lineno, _IMPORTS, outside="module")
        yield from _used(frame, outline, index)


def _used(frame: Frame, outline: Outline, index: Index) -> Iterator[_Reference]:
    """What a scope raises, catches and calls; to make what is raised is no call."""
    raised = set[ast.AST]()
    for node in frame.nodes:  # a statement comes before what it consists of
        for type_, expression in _exceptions(node):
            path = path_of(expression, frame)
            if found := _class(path, outline, index):
                raised.add(expression)
                sureness = _sureness(path, found, outline.module) if found.name in index.kinds else _OUTSIDE
                yield _Reference(frame.name, type_, found.name, expression.lineno, sureness)
        yield from _calls(node, frame, outline.module, index, raised)


def _exceptions(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The classes that a statement raises or catches."""
    match node:
        case ast.Raise(exc=ast.Call(func=raised)) | ast.Raise(exc=ast.expr() as raised):
            name = getattr(raised, "attr", getattr(raised, "id", ""))
            if name[:1].isupper():  # no function that makes one
                yield "raises", raised
        case ast.ExceptHandler(type=ast.Tuple(elts=caught)):
            yield from (("catches", each) for each in caught)
        case ast.ExceptHandler(type=ast.expr() as caught):
            yield "catches", caught


def _class(path: str, outline: Outline, index: Index) -> Resolved | None:
    """The class that a path denotes; also one of Python's own, or of a package that is not in the folder."""
    found = index.resolve(path) if path else None
    if found:
        return found if found.kind == "class" and not found.instance else None
    name = path.removeprefix(f"{outline.module}.")
    if isinstance(getattr(builtins, name, None), type):
        return Resolved(name, "class")
    outside = path and "()" not in path and path.partition(".")[0] not in index.tops and "." in path
    return Resolved(path, "class") if outside else None


def _modules(node: ast.Import | ast.ImportFrom, package: str, index: Index) -> Iterator[str]:
    module = imported_module(node, package) if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        name = f"{module}.{alias.name}" if module else alias.name
        if isinstance(node, ast.Import) or index.module(name):
            yield name
        elif module:
            yield module


def _calls(node: ast.AST, frame: Frame, module: str, index: Index, raised: Container[ast.AST]) -> Iterator[_Reference]:
    called: list[ast.expr] = []
    if isinstance(node, ast.Call) and node.func not in raised:
        called.append(node.func)
    elif isinstance(node, DEFINING):
        called.extend(decorator for decorator in node.decorator_list if not isinstance(decorator, ast.Call))
    for expression in called:
        path = path_of(expression, frame)
        found = index.resolve(path) if path else None
        if found and found.kind != "module" and not found.instance:
            yield _Reference(frame.name, "calls", found.name, expression.lineno, _sureness(path, found, module))


def _sureness(path: str, found: Resolved, module: str) -> float:
    if "()" in path:
        return _INSTANCE
    return _SAME_MODULE if found.name.startswith(f"{module}.") else _OTHER_MODULE

"""Stubs of the blocking modules: what type checkers and editors see of members that are derived at run time.

`python -m tests.sync.stubs` writes them, after an asynchronous class has changed.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from textwrap import dedent, indent
from types import ModuleType
from typing import Any, Final, TypeVar, get_args

from graphsearch import sync
from graphsearch.sync.facade import Facade

HEAD: Final = "# Written by `python -m tests.sync.stubs`.\n\n"
BLOCKING: Final = {
    "AbstractAsyncContextManager": ("contextlib", "AbstractContextManager"),
    "AsyncIterator": ("collections.abc", "Iterator"),
}
HANDED_OVER: Final = {
    "GraphStore": ("graphsearch.sync.stores", "GraphStore"),
    "Stores": ("graphsearch.sync.stores", "Stores"),
    "Ingestor": ("graphsearch.sync.engine", "Ingestor"),
    "GraphSearchEngine": ("graphsearch.sync.engine", "GraphSearchEngine"),
    "Parts": ("graphsearch.sync.engine", "GraphSearchEngine"),
    "FederatedEngine": ("graphsearch.sync.engine", "FederatedEngine"),
}
"""The types of parameters that take blocking objects."""
Statement = TypeVar("Statement", bound=ast.stmt)
Import = tuple[str, str, str]
"""Module, name in it (empty for the module itself) and the name that it is bound to."""


def stubs() -> dict[Path, str]:
    """The stub next to each module of `graphsearch.sync` that has a class with derived members, as it should be."""
    folder = Path(inspect.getfile(sync)).parent
    texts = {path.with_suffix(".pyi"): _stub(path.stem) for path in sorted(folder.glob("[!_]*.py"))}
    return {path: text for path, text in texts.items() if text is not None}


def _stub(name: str) -> str | None:
    module = importlib.import_module(f"graphsearch.sync.{name}")
    tree = ast.parse(inspect.getsource(module))
    needed = {bound: each for each in _imports(tree) if each[0] != "__future__" for bound in [each[2]]}
    body: list[ast.stmt] = []
    found = False
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            members = list(_derived(node, getattr(module, node.name), needed))
            found = found or bool(members)
            own = [each for each in node.body if getattr(each, "name", None) not in {each.name for each in members}]
            node.body = [*(_bare(each, 2) for each in own), *members]
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("blocking("):
            found = True
            body.append(_member(getattr(module, ast.unparse(node.targets[0])), needed, depth=1))
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Assign | ast.AnnAssign):
            body.append(_bare(node, 1))
    if not found:
        return None
    there = {each.name for each in body if isinstance(each, ast.ClassDef)}
    lines = [_line(*needed[bound]) for bound in sorted((_names(body) & needed.keys()) - there)]
    return HEAD + "\n".join([*sorted(set(lines)), "", *(ast.unparse(each) for each in body)]) + "\n"


def _derived(node: ast.ClassDef, facade: type[Any], needed: dict[str, Import]) -> Iterator[ast.FunctionDef]:
    """The members that a class does not define itself, as functions with signatures alone."""
    own = {each.name for each in node.body if isinstance(each, ast.FunctionDef)} | vars(Facade).keys() - {"__init__"}
    own |= set(getattr(facade, "_without", ()))
    for owner in [each for base in getattr(facade, "__orig_bases__", ()) for each in get_args(base)]:
        if owner is Any or not isinstance(owner, type):
            continue
        made = inspect.getattr_static(owner, "__init__")
        if "__init__" not in own and made.__name__ == "__init__":  # else it is of a protocol, which is not made
            yield _member(made, needed)
        for name in dir(owner):
            member = inspect.getattr_static(owner, name)
            if isinstance(member, classmethod) and not name.startswith("_"):
                opened = _member(member.__func__, needed)
                opened.decorator_list = [ast.Name("classmethod"), ast.Name("contextmanager")]
                opened.returns = ast.parse("Iterator[Self]", mode="eval").body
                yield opened
            elif not name.startswith("_") and name not in own and name not in {*dir(facade.__base__)}:
                yield _member(member, needed)


def _member(member: Any, needed: dict[str, Import], depth: int = 2) -> ast.FunctionDef:
    accessed: Any = member.fget if isinstance(member, property) else member
    function = inspect.unwrap(accessed)
    (written,) = ast.parse(dedent(inspect.getsource(function))).body
    found = {bound: each for each in _imports(ast.parse(inspect.getsource(_module(function)))) for bound in [each[2]]}
    fields: dict[str, Any] = {field: getattr(written, field, None) for field in ast.FunctionDef._fields}
    made = ast.copy_location(ast.FunctionDef(**fields), written)
    made.decorator_list = [ast.Name("property")] if isinstance(member, property) else []
    parts = [made.args, made.returns] if made.returns else [made.args]
    handed = set(ast.walk(made.args))
    for node in [each for part in parts for each in ast.walk(part)]:
        if isinstance(node, ast.Name):
            twin = HANDED_OVER.get(node.id) if node in handed else BLOCKING.get(node.id)
            if twin:
                node.id = twin[1]
                needed[node.id] = (*twin, twin[1])
            else:
                node.id = _bound(node.id, function, found, needed)
    if request := getattr(accessed, "request", None):
        made.args = _fields(made.args.args[0], request, needed)
    return _bare(made, depth)


def _fields(own: ast.arg, request: type[Any], needed: dict[str, Import]) -> ast.arguments:
    """The parameters of a verb: its own object, and the fields of its request."""
    given = inspect.signature(request).parameters.values()
    named = [each.name for each in given if each.kind is inspect.Parameter.KEYWORD_ONLY]
    return ast.arguments(
        posonlyargs=[],
        args=[own, *(_field(each.name, request, needed) for each in given if each.name not in named)],
        kwonlyargs=[_field(name, request, needed) for name in named],
        kw_defaults=[_default(each.default) for each in given if each.name in named],
        defaults=[],
    )


def _field(name: str, request: type[Any], needed: dict[str, Import]) -> ast.arg:
    owner = next(each for each in inspect.getmro(request) if name in vars(each).get("__annotations__", {}))
    found = {bound: each for each in _imports(ast.parse(inspect.getsource(_module(owner)))) for bound in [each[2]]}
    annotation = ast.parse(owner.__annotations__[name], mode="eval").body
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            node.id = _bound(node.id, owner, found, needed)
    return ast.arg(name, annotation)


def _default(value: object) -> ast.expr | None:
    if value is inspect.Parameter.empty:
        return None
    return ast.parse("..." if isinstance(value, Enum) else repr(value), mode="eval").body


def _bound(name: str, function: Any, found: dict[str, Import], needed: dict[str, Import]) -> str:
    """What a name of a function's module is called in the stub: after its module where the name is taken there."""
    module, original, _ = found.get(name, ("", name, name))
    if not module and hasattr(_module(function), name):
        module = function.__module__
    if not module:
        return name
    wanted = (module, original, name)
    if _object(*needed.setdefault(name, wanted)) is _object(*wanted):
        return name
    bound = f"{module.replace('.', '_')}_{name}"
    needed[bound] = (module, original, bound)
    return bound


def _object(module: str, name: str, _: str) -> Any:
    imported = importlib.import_module(module)
    return getattr(imported, name) if name else imported


def _module(function: Any) -> ModuleType:
    return importlib.import_module(function.__module__)


def _bare(node: Statement, depth: int) -> Statement:
    """A statement without what happens in it: functions keep their docstrings, and classes."""
    if isinstance(node, ast.FunctionDef):
        text = ast.get_docstring(node)
        node.body = [ast.Expr(ast.Constant(...))]
        if text:
            lines = text.splitlines()
            written = indent("\n".join(lines[1:]), "    " * depth) + "\n" + "    " * depth if lines[1:] else ""
            node.body.insert(0, ast.Expr(ast.Constant(lines[0] + ("\n" + written if written else ""))))
    return node


def _imports(tree: ast.AST) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, each.name, each.asname or each.name) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.name, "", each.asname or each.name) for each in node.names)


def _line(module: str, name: str, bound: str) -> str:
    if name:
        return f"from {module} import {name}" + (f" as {bound}" if bound != name else "")
    return f"import {module}" + (f" as {bound}" if bound != module else "")


def _names(nodes: list[Any]) -> set[str]:
    return {each.id for node in nodes if node for each in ast.walk(node) if isinstance(each, ast.Name)}


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")

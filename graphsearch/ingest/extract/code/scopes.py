"""The meanings of names in the scopes of one Python file, found with the standard `ast`.

A meaning is a *path*: dotted names from the top of the imports, with ``()`` after a class for an instance of it, as in
``ssl.SSLContext().wrap_socket``. The empty path is opaque: the name hides outer ones, and its meaning is unknown.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.util import resolve_name
from typing import Final

import attrs

Function = ast.FunctionDef | ast.AsyncFunctionDef
Defining = Function | ast.ClassDef
FUNCTION: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINING: Final = (*FUNCTION, ast.ClassDef)
OPAQUE: Final = ""
_LEAVES: Final = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


@attrs.define(eq=False)
class Frame:
    """A scope: a module, class or function, with the meanings of its own names."""

    name: str
    kind: str
    node: ast.Module | Defining
    outer: Frame | None
    receiver: str = ""
    """The class whose method this is."""
    names: dict[str, str] = attrs.field(factory=dict)
    nodes: tuple[ast.AST, ...] = attrs.field(init=False)
    """The nodes that run in the scope itself; see `own_nodes`."""

    def __attrs_post_init__(self) -> None:
        self.nodes = tuple(own_nodes(self.node))

    @property
    def module(self) -> Frame:
        """The outermost scope."""
        return self if self.outer is None else self.outer.module

    def look_up(self, name: str) -> str:
        """The path of a name: innermost scope first; the names of a class are not visible in its methods.

        A name that is bound nowhere is attributed to the module, as a star import may bind it.
        """
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names and (frame is self or frame.kind != "class"):
                return frame.names[name]
            frame = frame.outer
        return f"{self.module.name}.{name}"


def own_nodes(scope: ast.Module | Defining) -> Iterator[ast.AST]:
    """The nodes that run in a scope itself, in the order of the text.

    They include nested definitions with their decorators, defaults and bases, but not their bodies.
    """
    waiting: list[ast.AST] = list(reversed(scope.body))
    while waiting:
        node = waiting.pop()
        yield node
        inside = _heading(node) if isinstance(node, DEFINING) else list(ast.iter_child_nodes(node))
        waiting.extend(child for child in reversed(inside) if not isinstance(child, _LEAVES))


def path_of(expression: ast.AST, frame: Frame) -> str:
    """The path of an expression such as ``socket.socket`` or ``self.read`` in a scope."""
    match expression:
        case ast.Name():
            return frame.look_up(expression.id)
        case ast.Attribute():
            head = path_of(expression.value, frame)
            return f"{head}.{expression.attr}" if head else OPAQUE
        case ast.Call(func=ast.Name(id="super"), args=[]):
            return _super(frame)
        case ast.Call():
            head = path_of(expression.func, frame)
            return f"{head}()" if head else OPAQUE
        case ast.Await():
            return path_of(expression.value, frame)
        case ast.BoolOp(op=ast.Or(), values=[value, *_]):  # "given or Default()"
            return path_of(value, frame)
    return OPAQUE


def made(frame: Frame) -> Iterator[tuple[str, str]]:
    """What a scope says of the values of others: of the attributes of its instance, and of its own result.

    A call is written with ``()``: ``m.f()``; a property is an attribute. None says nothing.
    """
    node = frame.node
    if isinstance(node, ast.ClassDef):
        yield from (
            (f"{frame.name}.{each.id}", path) for each, path in _annotations(frame) if isinstance(each, ast.Name)
        )
    elif isinstance(node, FUNCTION):
        called = "" if decorators(node) & {"property", "cached_property"} else "()"
        yield f"{frame.name}{called}", _annotated(node.returns, frame.outer or frame)
        itself = node.args.args[0].arg if frame.receiver and node.args.args else ""
        for target, path in (*_assignments(frame), *_annotations(frame)):
            match target:
                case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == itself:
                    yield f"{frame.receiver}.{attribute}", path


def bind(frame: Frame, package: str) -> None:
    """Bind the names of a scope. Definitions take precedence over imports, and both over assignments.

    An assigned name is known only if all its values have the same path: an alias, or an instance of one class.
    """
    for node in frame.nodes:
        if isinstance(node, DEFINING):
            frame.names.setdefault(node.name, f"{frame.name}.{node.name}")
    for node in frame.nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name, path in _imports(node, package):
                frame.names.setdefault(name, path)
    given = [_argument(frame, *numbered) for numbered in enumerate(arguments(frame.node))]
    stored = Counter([name for name, _ in given] + [name for node in frame.nodes for name in _stored(node)])
    assigned = (*_assignments(frame, none=True), *_annotations(frame))
    given += [(target.id, path) for target, path in assigned if isinstance(target, ast.Name)]
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for name, path in given:
        paths[name].append(OPAQUE if path == f"{frame.name}.{name}" else path)
    for name, count in stored.items():
        is_known = len(paths[name]) == count and len({*paths[name]}) == 1
        frame.names.setdefault(name, paths[name][0] if is_known else OPAQUE)


def imported_module(node: ast.ImportFrom, package: str) -> str:
    """The absolute module of a ``from`` import; empty if it is above the top-level package."""
    try:
        return resolve_name("." * node.level + (node.module or ""), package)
    except ImportError:
        return ""


def decorators(node: Defining) -> set[str]:
    """The plain names among a function's decorators."""
    return {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}


def _heading(node: Defining) -> list[ast.AST]:
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    keyword_only = (default for default in node.args.kw_defaults if default is not None)
    return [*node.decorator_list, *node.args.defaults, *keyword_only]


def _super(frame: Frame) -> str:
    """An instance of the first base of the class whose method the scope is in."""
    method: Frame | None = frame
    while method is not None and not method.receiver:
        method = method.outer
    owner = method and method.outer
    path = (
        path_of(owner.node.bases[0], owner)
        if owner and isinstance(owner.node, ast.ClassDef) and owner.node.bases
        else ""
    )
    return f"{path}()" if path else OPAQUE


def arguments(node: ast.AST) -> list[ast.arg]:
    """The parameters of a function in order, the starred ones last; none for other nodes."""
    if not isinstance(node, (*FUNCTION, ast.Lambda)):
        return []
    given = node.args
    stars = [star for star in (given.vararg, given.kwarg) if star is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *stars]


def _argument(frame: Frame, place: int, argument: ast.arg) -> tuple[str, str]:
    if place == 0 and frame.receiver and isinstance(frame.node, FUNCTION):
        of_class = "classmethod" in decorators(frame.node) or frame.node.name in {"__new__", "__init_subclass__"}
        return argument.arg, frame.receiver if of_class else f"{frame.receiver}()"
    return argument.arg, _annotated(argument.annotation, frame.outer or frame)


def _assignments(frame: Frame, *, none: bool = False) -> Iterator[tuple[ast.expr, str]]:
    """What a scope assigns a value to, with the path of the value; ``none``: also None."""
    for node in frame.nodes:
        match node:
            case ast.Assign(targets=[target], value=value):
                if none or not (isinstance(value, ast.Constant) and value.value is None):
                    yield target, path_of(value, frame)


def _annotations(frame: Frame) -> Iterator[tuple[ast.expr, str]]:
    """What a scope annotates, with the path of an instance of the class."""
    for node in frame.nodes:
        if isinstance(node, ast.AnnAssign):
            yield node.target, _annotated(node.annotation, frame)


def _annotated(annotation: ast.expr | None, frame: Frame) -> str:
    match annotation:
        case ast.Constant(value=str(quoted)):
            try:
                return _annotated(ast.parse(quoted, mode="eval").body, frame)
            except (SyntaxError, ValueError):
                return OPAQUE
        case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
            return _annotated(left, frame)
        case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
            return _annotated(inner, frame)
        case ast.Name() | ast.Attribute():
            path = path_of(annotation, frame)
            return f"{path}()" if path else OPAQUE
    return OPAQUE


def _stored(node: ast.AST) -> Iterator[str]:
    """Names that a node binds other than by definition or import."""
    match node:
        case (
            ast.Name(id=name, ctx=ast.Store())
            | ast.ExceptHandler(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            yield name
        case ast.Lambda():
            yield from (argument.arg for argument in arguments(node))


def _imports(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.split(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (top, top)
        return
    module = imported_module(node, package)
    for alias in node.names:
        if alias.name != "*":
            yield alias.asname or alias.name, f"{module}.{alias.name}" if module else OPAQUE

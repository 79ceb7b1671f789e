"""What the reference cannot see in the source alone: attrs' ``__init__``, lazy exports, what docstrings refer to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, TypeGuard

from griffe import (
    Alias,
    Attribute,
    Class,
    Expr,
    ExprCall,
    ExprKeyword,
    Extension,
    Function,
    Module,
    Object,
    Parameter,
    Parameters,
)
from griffe import ParameterKind as Kind

_MADE_BY: Final = frozenset({"attrs.frozen", "attrs.define"})
_WITH_FIELDS: Final = ("typing.Protocol", "typing.TypedDict", "typing.NamedTuple", "enum.")
_TAKES: Final = "graphsearch._support.verbs.takes"
_OFFERED: Final = re.compile(r"^from [\w.]+ import (\w+) as \1$", re.MULTILINE)
_NAME: Final = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)")


class Signatures(Extension):
    """Completes a package once it is read."""

    def on_module(self, *, mod: Module, **_: Any) -> None:
        """Names that a package imports on first use, or as themselves, are public, as those in ``__all__`` are."""
        if "lazily" in mod.members:
            mod.exports = [name for name, member in mod.members.items() if member.is_alias and not member.runtime]
        elif offered := {*_OFFERED.findall(mod.source)}:
            mod.exports = [
                name for name, each in mod.members.items() if name in offered or not (each.is_alias or name[0] == "_")
            ]

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """Complete the signatures; a name in single backquotes leads to what it names, where the reference has that.

        Fields of an attrs class become parameters, and those of a verb's request its own; what is undocumented is left
        out where fields are no members.
        """
        _complete(pkg)
        _bare(pkg)
        places = _places(pkg)

        def linked(name: re.Match[str]) -> str:
            full = name[1].startswith(f"{pkg.name}.")
            place = places.get(name[1].removeprefix(f"{pkg.name}."), name[1] if full else None)
            return f'<autoref optional identifier="{place}">{name[0]}</autoref>' if place else name[0]

        for each in _objects(pkg):
            if each.docstring is not None:
                each.docstring.value = _NAME.sub(linked, each.docstring.value)


def _complete(package: Module) -> None:
    for each in _objects(package):
        if isinstance(each, Class) and _made_by(each) is not None and "__init__" not in each.members:
            each.set_member("__init__", _init(each))
    for each in _objects(package):
        if isinstance(each, Function) and (request := _request(each)):
            each.parameters = Parameters(each.parameters[0], *[*package.modules_collection[request].parameters][1:])


def _bare(package: Module) -> None:
    for each in _objects(package):
        if isinstance(each, Class) and not _has_fields(each):
            for member in list(each.members.values()):
                if not member.has_docstring and (isinstance(member, Attribute) or _is_special(member.name)):
                    each.del_member(member.name)


def _has_fields(cls: Class) -> bool:
    """Whether fields are members of a class: those of protocols, typed dictionaries, and what inherits from them."""
    own = any(_path(base).startswith(_WITH_FIELDS) for base in cls.bases)
    return own or any(_has_fields(base) for base in cls.resolved_bases if isinstance(base, Class))


def _objects(among: Object) -> Iterator[Object]:
    """Everything that is defined in a package."""
    yield among
    for member in among.members.values():
        if isinstance(member, Object):
            yield from _objects(member)


def _places(package: Module) -> dict[str, str]:
    """Where each class is defined, and each member as ``Class.member``.

    A name that two classes have stands for neither, but for those of ``sync``, which repeats the names that it wraps.
    """
    places: dict[str, list[str]] = {}
    for each in _objects(package):
        if isinstance(each, Class) and not each.path.startswith(f"{package.name}.sync."):
            places.setdefault(each.name, []).append(each.path)
            for member in each.members:
                places.setdefault(f"{each.name}.{member}", []).append(f"{each.path}.{member}")
    return {name: paths[0] for name, paths in places.items() if len(paths) == 1}


def _is_special(name: str) -> bool:
    return name.startswith("__") and name != "__init__"


def _made_by(cls: Class) -> str | Expr | None:
    return next((each.value for each in cls.decorators if _path(each.value) in _MADE_BY), None)


def _request(verb: Function) -> str | None:
    """The class whose fields a verb takes."""
    taking = (each.value for each in verb.decorators if _path(each.value) == _TAKES)
    return next((_path(each.arguments[0]) for each in taking if isinstance(each, ExprCall)), None)


def _init(cls: Class) -> Function:
    fields: dict[str, Parameter] = {}
    for each in [*reversed(cls.mro()), cls]:
        if (made := _made_by(each)) is not None:
            named = _argument(made, "kw_only") == "True"
            fields |= {
                field.name: _parameter(field, named=named) for field in each.members.values() if _is_field(field)
            }
    first = sorted(fields.values(), key=lambda each: each.kind is Kind.keyword_only)
    of_self = Parameter("self", annotation=None, kind=Kind.positional_or_keyword, default=None)
    return Function("__init__", parameters=Parameters(of_self, *first), returns="None", parent=cls)


def _parameter(field: Attribute, *, named: bool) -> Parameter:
    kind = Kind.keyword_only if named and _argument(field.value, "kw_only") != "False" else Kind.positional_or_keyword
    return Parameter(field.name.lstrip("_"), annotation=field.annotation, kind=kind, default=_default(field))


def _is_field(member: Object | Alias) -> TypeGuard[Attribute]:
    return (
        isinstance(member, Attribute)
        and member.annotation is not None
        and "instance-attribute" in member.labels
        and _argument(member.value, "init") != "False"
    )


def _default(field: Attribute) -> str | Expr | None:
    if _path(field.value) != "attrs.field":
        return field.value
    factory = _argument(field.value, "factory")
    return f"{factory}()" if factory else _argument(field.value, "default")


def _path(value: str | Expr | None) -> str:
    called = value.function if isinstance(value, ExprCall) else value
    return called.canonical_path if isinstance(called, Expr) else str(called)


def _argument(call: str | Expr | None, name: str) -> str | None:
    arguments = call.arguments if isinstance(call, ExprCall) else ()
    return next((str(each.value) for each in arguments if isinstance(each, ExprKeyword) and each.name == name), None)

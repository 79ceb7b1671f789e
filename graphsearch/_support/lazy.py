"""Imports on first use: the public names of a package, and optional packages."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from graphsearch.errors import MissingExtraError


def lazily(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package (PEP 562); they also give its ``__all__``."""

    def get(name: str) -> Any:
        homes = lazy_imports(package)
        if name == "__all__":
            return sorted(homes)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *lazy_imports(package)})

    return get, names


@cache
def lazy_imports(package: str) -> Mapping[str, str]:
    """Each public name of a package that uses `lazily`, and the module to import it from."""
    return {
        alias.name: statement.module or ""
        for block in ast.parse(Path(sys.modules[package].__file__ or "").read_bytes()).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


def require(package: str, *, extra: str, purpose: str) -> None:
    """Raise `MissingExtraError` if a package is not installed, without importing it."""
    if importlib.util.find_spec(package) is None:
        raise MissingExtraError(extra, purpose)


def load(package: str, *, extra: str, purpose: str) -> ModuleType:
    """Import a package, which may take seconds: call it in a thread. Raises `MissingExtraError`."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtraError(extra, purpose) from error

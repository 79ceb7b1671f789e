"""Optional packages: checked when a part that needs one is created, imported at first use."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from graphsearch.errors import MissingExtraError


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

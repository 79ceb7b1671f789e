"""Branches of the conformance suite count as covered: pytest rewrites its modules, and slipcover marks their branches.

Slipcover does that by itself only where a parameter of a function of pytest has the name that it had before 9.2.
"""

import ast
import os
from importlib import import_module
from pathlib import Path

import _pytest.assertion.rewrite as rewriting
import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Mark branches before asserts are rewritten, in runs that slipcover measures."""
    if "SLIPCOVER_ENABLED" not in os.environ:
        return
    if not hasattr(config, "workerinput") and getattr(config.option, "numprocesses", None):
        # The processes that it starts count the modules that no test imports; it imports none itself.
        import_module("slipcover").Slipcover._add_unseen_source_files = lambda *_: None
    branches = import_module("slipcover.branch")
    rewrite = rewriting.rewrite_asserts

    def marked(
        mod: ast.Module, source: bytes, module_path: str | None = None, config: pytest.Config | None = None
    ) -> None:
        if module_path is not None and "graphsearch/testing" in Path(module_path).as_posix():
            branches.preinstrument(mod)
        rewrite(mod, source, module_path, config)

    rewriting.rewrite_asserts = marked
    rewriting.PYC_TAIL = ".measured" + rewriting.PYC_TAIL  # other runs keep files without marks

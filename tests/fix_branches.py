"""Coverage of branches in less time than slipcover takes by itself, and of modules that pytest rewrites too.

Slipcover marks the branches of each module anew in each process; here marked modules are kept as Python keeps compiled
ones. It marks rewritten modules only where a parameter of a function of pytest has the name that it had before 9.2.
"""

import ast
import importlib.util
import marshal
import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import _pytest.assertion.rewrite as rewriting
import pytest


def _marked(source: Path, slipcover: Any) -> CodeType:
    """The code of a module with its branches marked, from a file beside the compiled ones if that is of this source."""
    state = source.stat()
    version = f"{slipcover.__version__} {source} {state.st_mtime_ns} {state.st_size}"
    kept = Path(importlib.util.cache_from_source(source)).with_suffix(".marked")
    with suppress(OSError, EOFError, ValueError, TypeError):
        found, code = marshal.loads(kept.read_bytes())  # noqa: S302 - written below
        if found == version and isinstance(code, CodeType):
            return code
    code = compile(slipcover.branch.preinstrument(ast.parse(source.read_bytes())), str(source), "exec")
    with suppress(OSError):
        kept.parent.mkdir(exist_ok=True)
        being_written = kept.with_suffix(f".{os.getpid()}")
        being_written.write_bytes(marshal.dumps((version, code)))
        being_written.replace(kept)
    return code


def _keep_marked_modules(slipcover: Any) -> None:
    def exec_module(self: Any, module: ModuleType) -> None:
        self.sci.register_module(module)
        exec(self.sci.instrument(_marked(self.origin, slipcover)), module.__dict__)  # noqa: S102 - what is imported

    slipcover.importer.SlipcoverLoader.exec_module = exec_module


def _mark_rewritten_modules(slipcover: Any) -> None:
    rewrite = rewriting.rewrite_asserts

    def marked(
        mod: ast.Module, source: bytes, module_path: str | None = None, config: pytest.Config | None = None
    ) -> None:
        if module_path is not None and "graphsearch/testing" in Path(module_path).as_posix():
            slipcover.branch.preinstrument(mod)
        rewrite(mod, source, module_path, config)

    rewriting.rewrite_asserts = marked
    rewriting.PYC_TAIL = ".measured" + rewriting.PYC_TAIL  # other runs keep files without marks


def pytest_configure(config: pytest.Config) -> None:
    """In a run over several processes, let these alone count the modules that no test imports."""
    if MEASURED and not hasattr(config, "workerinput") and getattr(config.option, "numprocesses", None):
        import_module("slipcover").Slipcover._add_unseen_source_files = lambda *_: None


MEASURED = "SLIPCOVER_ENABLED" in os.environ
if MEASURED:  # before the other fixtures import the package
    _keep_marked_modules(import_module("slipcover"))
    _mark_rewritten_modules(import_module("slipcover"))

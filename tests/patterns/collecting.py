"""Every regular expression of the package: those that its imports compile, and those of calls in functions.

    python -m tests.patterns.collecting

prints them as JSON: file, line, pattern, flags.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
ROOMS: Final = ("graphsearch", "stores", "authz", "context")
CALLS: Final = frozenset({"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"})


def modules() -> Iterator[tuple[str, Path]]:
    """The modules of the package, and their files."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts if room == "graphsearch" else ("graphsearch", *parts)).removesuffix(".__init__")
            if not name.endswith("__main__"):
                yield name, path


@cache
def trees() -> dict[str, ast.Module]:
    """The parsed files of the package that import `re`, by path."""
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for _, path in modules()}
    return {path: ast.parse(text) for path, text in texts.items() if "import re\n" in text}


@cache
def call_sites() -> dict[tuple[str, int], ast.Call]:
    """The calls of `re` that take a pattern, by file and line."""
    return {
        (path, node.lineno): node
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in CALLS
    }


def compiled() -> list[tuple[str, int, str, int]]:
    """What the imports of all modules compile: file, line, pattern, flags. For a process of its own."""
    found: dict[tuple[str, int, str, int], None] = {}
    library, compile_ = str(Path(re.__file__).parent), re._compile  # type: ignore[attr-defined]

    def record(pattern: Any, flags: int) -> Any:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(library):
            frame = frame.f_back
        path = Path(frame.f_code.co_filename) if frame is not None else ROOT
        if frame is not None and path.is_relative_to(ROOT) and isinstance(pattern, str | bytes):
            text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
            found[str(path.resolve().relative_to(ROOT)), frame.f_lineno, text, int(flags)] = None
        return compile_(pattern, flags)

    re._compile = record  # type: ignore[attr-defined]
    for name, _ in modules():
        importlib.import_module(name)
    _compile_times()
    return [each for each in found if each[0].split("/")[0] in ROOMS]


def _compile_times() -> None:
    """Compile the patterns of times, which are made when they are first used; parts of others are in those."""
    times = importlib.import_module("graphsearch.text.time_expressions")
    parts = set(re.findall("<([A-Z_]+)>", "".join(times.data_lines("graphsearch.text", "times.txt"))))
    for name in times._grammar().keys() - parts:
        times.pattern(name)
    times._any_expression()


def ways() -> dict[tuple[str, int], set[str]]:
    """How the pattern of a call is used that a name holds: "start", "whole", or "anywhere" if nothing else is known."""
    found: dict[tuple[str, int], set[str]] = {}
    for path, tree in trees().items():
        held = {
            name.id: node.value.lineno
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and (path, getattr(node.value, "lineno", 0)) in call_sites()
            for name in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(name, ast.Name) and name.id.startswith("_") and isinstance(node.value, ast.Call)
        }
        uses, kinds = Counter[str](), defaultdict[str, list[str]](list)
        for node in ast.walk(tree) if held else ():
            if isinstance(node, ast.Name):
                uses[node.id] += 1
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
            ):
                kinds[node.func.value.id].append(_way(node, node.func.attr))
        for name, line in held.items():
            known = uses[name] - 1 == len(kinds[name])
            found[path, line] = {*kinds[name]} if known else {*kinds[name], "anywhere"}
    return found


def _way(call: ast.Call, method: str) -> str:
    if method == "fullmatch":
        return "whole"
    return "start" if method == "match" and len(call.args) == 1 else "anywhere"


if __name__ == "__main__":
    print(json.dumps(compiled()))  # noqa: T201

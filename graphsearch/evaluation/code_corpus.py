"""Folders of Python code, ingested into a scope, and as texts of definitions for plain BM25."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.ingest import Ingestor
from graphsearch.ingest.extract.code.definitions import outline
from graphsearch.ingest.extract.extraction import UnreadableError
from graphsearch.ingest.sources.files import Folder, find, locate, read
from graphsearch.ingest.sources.python_files import decoded

_PYTHON = ".py"


async def ingest_code(paths: Iterable[Path], engine: GraphSearchEngine) -> None:
    """Ingest folders and files of code, in one call for each root that imports start from.

    Raises what `Ingestor.add` raises.
    """
    for folder in _folders(paths):
        await Ingestor(engine).add(folder.root, only=folder.only)


def definitions(paths: Iterable[Path]) -> dict[str, str]:
    """The text of every module, class and function, by qualified name: name, first docstring line, signature.

    Files that are not valid Python are left out, as in an ingest. Raises `InvalidInputError` if there are no others.
    """
    paths = list(paths)
    found: dict[str, str] = {}
    for folder in _folders(paths):
        for path in find(folder):
            if path.endswith(_PYTHON):
                for name, text in _of_file(folder, path):
                    found.setdefault(name, text)
    if not found:
        raise InvalidInputError("code", [f"there is no Python in {', '.join(map(str, paths))}"])
    return found


def _folders(paths: Iterable[Path]) -> list[Folder]:
    parts: dict[Path, list[str]] = {}
    for path in paths:
        folder = locate(path)
        known = parts.setdefault(folder.root, [])
        known.extend(folder.only)
        if not folder.only:
            known.clear()
    return [Folder(root, root.name or "root", tuple(only)) for root, only in parts.items()]


def _of_file(folder: Folder, path: str) -> Iterator[tuple[str, str]]:
    try:
        frames = outline(path, decoded(path, read(folder, path))).frames
    except UnreadableError:
        return
    for frame in frames:
        first = (ast.get_docstring(frame.node) or "").strip().partition("\n")[0]
        yield frame.name, f"{frame.name} {first} {_signature(frame.node)}"


def _signature(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    match node:
        case ast.Module():
            return ""
        case ast.ClassDef():
            return f"class {node.name}({', '.join(map(ast.unparse, node.bases))})"
        case _:
            return f"def {node.name}({ast.unparse(node.args)})"

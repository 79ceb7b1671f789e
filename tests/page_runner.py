"""Run the examples of a page as a reader does: in its order, in an empty folder, with nothing but what the page names.

A page that says that it continues from another is run after the examples of that one. As a program it sees only the
distributions of some extras: ``python tests/page_runner.py PAGE EXTRAS``.
"""

from __future__ import annotations

import ast
import asyncio
import importlib.abc
import importlib.metadata
import inspect
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphsearch.stores import embedded
from graphsearch.stores.embedded import EmbeddedPostgres
from tests.integrations.extras import closure

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
SERVER, DATABASE, MODELS = "PAGES_SERVER", "PAGES_DATABASE", "PAGES_MODELS"
"""Variables: the folder of the server in place of each embedded one, its database, the URL in place of Ollama's."""
OLLAMA = "http://localhost:11434/v1"
FIRST_EXAMPLE = "../README.md#ten-lines)"
FIRST_COMMANDS = re.compile(r"continue from \[[^]]*\]\((?:\.\./reference/)?command-line\.md\)")
FENCE = re.compile(r"^```(python|sh|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def examples(page: Path) -> list[tuple[str, str]]:
    """The kind and the text of each fenced example."""
    return FENCE.findall(page.read_text(encoding="utf-8"))


def first_example() -> str:
    """The README's first example of Python, with the lines of its ``main`` at the prompt of ``python -m asyncio``."""
    whole = ast.parse(next(text for kind, text in examples(README) if kind == "python"))
    lines: list[ast.stmt] = []
    for statement in whole.body:
        lines += statement.body if isinstance(statement, ast.AsyncFunctionDef) else [statement]
    del lines[-1]  # asyncio.run(main())
    return ast.unparse(ast.Module(body=lines, type_ignores=[]))


def steps(page: Path) -> Iterator[tuple[str, str]]:
    """The examples of a page, after those that it continues from."""
    text = page.read_text(encoding="utf-8")
    if FIRST_EXAMPLE in text:
        yield "python", first_example()
    if FIRST_COMMANDS.search(text):
        yield next(each for each in examples(ROOT / "docs" / "reference" / "command-line.md") if each[0] == "sh")
    yield from examples(page)


def run_page(page: Path, skipped: frozenset[str] = frozenset()) -> None:
    """Run a page in the current folder, except for the ``skipped`` lines of shells."""
    embedded._DATABASE = os.environ[DATABASE]  # type: ignore[misc]
    EmbeddedPostgres.__init__ = _at_server  # type: ignore[method-assign,assignment]
    namespace: dict[str, Any] = {"__name__": "__main__" if page == README else "example"}
    with asyncio.Runner() as runner:
        for kind, text in steps(page):
            if kind == "python" and skipped.isdisjoint(text.splitlines()):
                code = compile(
                    text.replace(OLLAMA, os.environ[MODELS]),
                    page.name,
                    "exec",
                    flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
                    dont_inherit=True,
                )
                if "asyncio.run(" in text:
                    exec(code, namespace)  # noqa: S102 - our own documentation
                else:
                    runner.run(_evaluated(code, namespace))
            elif kind == "sh":
                for line in commands(text):
                    if line not in skipped:
                        run_command(line)


_opened = EmbeddedPostgres.__init__


def _at_server(self: EmbeddedPostgres, _folder: Path | str, **options: Any) -> None:
    _opened(self, os.environ[SERVER], **options)


async def _evaluated(code: Any, namespace: dict[str, Any]) -> None:
    waiting = eval(code, namespace)  # noqa: S307 - our own documentation
    if inspect.isawaitable(waiting):
        await waiting


def commands(text: str) -> list[str]:
    """The lines of a shell's example, continued ones as one."""
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def run_command(line: str) -> None:
    """Run a line of a shell: what sets variables, and graphsearch. Installing is not repeated."""
    name, *words = shlex.split(line, comments=True)
    if name == "export":
        os.environ.update((name, value) for name, _, value in (word.partition("=") for word in words))
    elif name == "graphsearch":
        words, into = (words[:-2], Path(words[-1])) if ">" in words else (words, None)
        from click.testing import CliRunner  # noqa: PLC0415 - an extra that a page may do without

        from graphsearch.cli.app import app  # noqa: PLC0415

        sys.argv[0] = name  # by which `install` knows how it was called
        done = CliRunner().invoke(app, words, env={"VOYAGE_API_KEY": None})
        if done.exit_code:
            raise AssertionError(f"{line}: {done.output}") from done.exception
        if into:
            into.write_text(done.stdout)
    elif name == "echo":
        Path(words[-1]).write_text(words[0] + "\n")
    elif name != "pip":
        raise AssertionError(f"{line}: neither run nor listed")


# -- only some extras -------------------------------------------------------------------------------------------------


class Hidden(importlib.abc.MetaPathFinder):
    """Finds no package of any distribution outside of a closure."""

    def __init__(self, extras: str) -> None:
        kept = {"graphsearch", *closure(extras)}
        owners = importlib.metadata.packages_distributions()
        self._hidden = {
            package
            for package, names in owners.items()
            if kept.isdisjoint(re.sub(r"[-_.]+", "-", each).lower() for each in names)
        }

    def find_spec(self, fullname: str, _path: object = None, _target: object = None) -> None:
        if fullname.partition(".")[0] in self._hidden:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


if __name__ == "__main__":
    sys.meta_path.insert(0, Hidden(sys.argv[2]))
    run_page(Path(sys.argv[1]), frozenset(sys.argv[3:]))

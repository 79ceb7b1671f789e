"""The table of commands in the reference, made of the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import click

from graphsearch.cli.app import NAMES, app, groups
from graphsearch.operations.table import operations

MARK: Final = (
    "*On the site, which `make docs` builds, the table of commands stands here; `graphsearch --help` lists them.*"
)
_PRINTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "add": "`IngestReport`",
        "completion": "`script`",
        "demo": "nothing",
        "eval": "see [evaluation](evaluation-files.md)",
        "export": "`ExportReport`; nothing after standard output",
        "import": "`ImportReport`, of other memory layers `ForeignReport`",
        "init": "`applied`, `ready`",
        "install": "`files`, `written`",
        "mcp": "nothing",
        "reembed": "`ReembedReport`, with `--dry-run` `ReembedEstimate`",
        "remember": "`RememberReport`",
        "serve": "nothing",
        "ui": "nothing",
        "uninstall": "`files`, `written`",
        "where": "of each setting `value` and `from`",
    }
)
"""What commands print that are no operation."""


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the table where a page marks its place."""
    return markdown.replace(MARK, commands()) if MARK in markdown else markdown


def commands() -> str:
    """A row for each command: how it is called, what it does, and of which class its JSON is."""
    printed = {NAMES.get(name, name).replace("_", "-"): _kind(name) for name in operations()} | dict(_PRINTED)
    said = [each for group in groups().values() for each in group.items()]
    rows = [f"| `{_usage(name)}` | {sentence} | {printed[name]} |" for name, sentence in said]
    return "\n".join(["| command | does | `--json` |", "|---|---|---|", *rows])


def _usage(name: str) -> str:
    command = app.get_command(click.Context(app), name)
    arguments = [each.human_readable_name for each in command.params if isinstance(each, click.Argument)]  # type: ignore[union-attr]
    return " ".join([name, *arguments])


def _kind(name: str) -> str:
    operation = operations()[name]
    kind = re.sub(r"[\w.]*\.|tuple\[|, \.\.\.\]|<class '|'>| \| None", "", str(operation.result))
    return f'`{{"{operation.key}": …}}`, of `{kind}`' if operation.key else f"`{kind}`"

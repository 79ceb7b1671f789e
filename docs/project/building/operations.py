"""The table of operations in the reference, made of the table in the code."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

import attrs

from graphsearch.operations.operation import Effect, Operation, Profile
from graphsearch.operations.table import operations

MARK: Final = (
    "*On the site, which `make docs` builds, the table of tools stands here, "
    "with their arguments, those needed in bold.*"
)
_STARS: Final = {Effect.READS: "", Effect.WRITES: "*", Effect.LOSES: "**"}


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the table where a page marks its place."""
    return markdown.replace(MARK, table()) if MARK in markdown else markdown


def table() -> str:
    """A row for each operation that is served: what it does, its arguments, its permission, and who is told of it."""
    served = (each for each in operations().values() if each.profile <= Profile.ALL)
    return "\n".join(
        [
            "| operation | does | arguments (defaults) | needs | listed for |",
            "|---|---|---|---|---|",
            *map(_row, served),
        ]
    )


def _row(operation: Operation) -> str:
    name = f"`{operation.name}`{_STARS[operation.effect].replace('*', chr(92) + '*')}"
    arguments = ", ".join(_argument(each) for each in attrs.fields(operation.request))
    cells = name, operation.people, arguments, f"`{operation.permission.value}`", operation.profile.name.lower()
    return f"| {' | '.join(cells)} |"


def _argument(field: attrs.Attribute[Any]) -> str:
    default: Any = field.default
    if default is attrs.NOTHING:
        return f"**`{field.name}`**"
    value = default.value if isinstance(default, Enum) else default
    return f"`{field.name}`" if value in (None, "", ()) else f"`{field.name}` ({str(value).lower()})"

"""Every text that the Postgres store composes of its .sql files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from graphsearch.model import ElementKind
from graphsearch.stores.in_postgres.session.statements import catalogue, statement

TABLES: Final = ("claim", "relation", "entity_words", "entity_lookup", "unembedded_fact", "scope", "session")
"""Tables that statements for any table are composed with."""


def every_text() -> Iterator[tuple[str, str]]:
    """The statements by name, for each kind of element and some tables where they have one."""
    for name, template in sorted(catalogue().statements.items()):
        texts: dict[str, None] = {}
        for kind in ElementKind:
            tables = TABLES if "{table}" in template else ("entity",)
            for given in ({"table": table, "key": "id"} for table in tables):
                for unsettled in (False, True):
                    texts[statement(name, kind, unsettled=unsettled, **given).decode()] = None
        for text in texts:
            yield name, text

"""Every text that the Postgres store composes: of its .sql files, and of its tables of columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from graphsearch.model import ElementKind
from graphsearch.stores.in_postgres.read import rows
from graphsearch.stores.in_postgres.session.statements import catalogue, statement
from graphsearch.stores.in_postgres.tables import TABLES as ROWS
from graphsearch.stores.in_postgres.write import port

TABLES: Final = ("claim", "relation", "entity_words", "unembedded_fact", "scope", "session")
"""Tables that statements for any table are composed with."""
_END: Final = {"end": "source_id", "copy": "source_columns", "column": "id"}


def every_text() -> Iterator[tuple[str, str]]:
    """The statements by name, for each kind of element and some tables where they have one."""
    for name, template in sorted(catalogue().statements.items()):
        texts: dict[str, None] = {}
        for kind in ElementKind:
            tables = TABLES if "{table}" in template else ("entity",)
            for given in ({"table": table, **_END} for table in tables):
                texts[statement(name, kind, **given).decode()] = None
        for text in texts:
            yield name, text
    for name, composed in _of_rows():
        yield name, composed.decode()


def _of_rows() -> Iterator[tuple[str, bytes]]:
    """The statements that are made of the table of a kind of row."""
    for kind, table in ROWS.items():
        yield f"rows of {kind}", rows.select(kind, rows.with_keys(kind))
        yield f"page of {kind}", rows.page_of(kind, (), (), follows=True)
        yield f"drop {kind}", port._deleted(table, rows.with_keys(kind))
        yield f"put {kind}", port._inserted(table, 2)
        yield f"put {kind} as arrays", port._inserted(table)
    for kind, column in rows.FOUND_BY:
        yield f"{kind} by {column}", rows.select(kind, rows.FOUND_BY[kind, column])
        yield f"drop {kind} by {column}", port._deleted(ROWS[kind], rows.FOUND_BY[kind, column])
    yield "groups of claims", rows.select("claim", "true", rows._GROUPS)
    yield "many groups of claims", rows.select("claim", rows._MANY_GROUPS)
    for name in rows._FILTERS:
        yield f"page with {name}", rows.page_of("memory", (name,), (), follows=False)
    for name, state in rows._FLAGS:
        yield f"page with {name}", rows.page_of("relation", (), ((name, state),), follows=False)
    for leaves_out in (True, False):
        yield "forms", rows._forms(rows.FOUND_BY["mention", "written"], leaves_out=leaves_out)
    yield "numbers", rows._count(("link", "merge"))

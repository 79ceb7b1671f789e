"""Every statement of the Postgres store goes to one shard of a cluster of Citus, as far as its syntax can show."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphsearch.stores
from graphsearch.model import Scope
from graphsearch.stores.in_postgres.session import gateway
from graphsearch.stores.in_postgres.session.statements import statement
from tests.stores.routing import faults, mutants, scoped_tables, unbound
from tests.stores.statement_texts import every_text

TABLES = scoped_tables()


def parts_of(text: str) -> list[str]:
    """The statements that a cluster is sent one by one."""
    return [part for part in text.split(";\n") if part.split()[0] not in {"BEGIN", "SET"}]


def test_the_tables_of_organisations_are_known() -> None:
    assert {"scope", "entity", "relation_posting", "memory_embedding", "vector_index", "session", "outcome"} <= TABLES
    assert not TABLES & {"migration"}
    assert len(TABLES) == 38


def test_every_statement_goes_to_one_shard() -> None:
    found = {name: faults(part, TABLES) for name, text in every_text() for part in parts_of(text)}
    assert {name: each for name, each in found.items() if each} == {}
    assert len(found) > 150


def test_no_condition_on_the_scope_can_be_left_out() -> None:
    lost = [(name, mutant) for name, text in every_text() for part in parts_of(text) for mutant in mutants(part)]
    assert len(lost) > 700
    assert [each for each in lost[::6] if not unbound(each[1], TABLES)] == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("SELECT id FROM entity", "entity is not bound to org_id"),
        ("SELECT e.id FROM entity e WHERE e.org_id = 'a' AND e.project_id = %(project)s", "e is not bound to org_id"),
        (
            (
                "SELECT 1 FROM entity e LEFT JOIN memory m ON e.org_id = %(org)s AND e.project_id = %(project)s"
                " AND m.org_id = %(org)s AND m.project_id = %(project)s"
            ),
            "e is not bound to org_id",
        ),
        (
            (
                "SELECT 1 FROM entity e CROSS JOIN LATERAL (SELECT FROM claim c WHERE c.org_id = e.org_id) x"
                " WHERE e.org_id = %(org)s AND e.project_id = %(project)s"
            ),
            "c is not bound to org_id",
        ),
        (
            "SELECT 1 FROM (SELECT * FROM entity LIMIT 1) e WHERE e.org_id = %(org)s AND e.project_id = %(project)s",
            "entity is not bound to org_id",
        ),
        (
            (
                "SELECT 1 FROM (SELECT org_id, project_id FROM entity UNION ALL SELECT 'a', 'b' FROM claim) e"
                " WHERE e.org_id = %(org)s AND e.project_id = %(project)s"
            ),
            "claim is not bound to org_id",
        ),
        (
            "INSERT INTO counter (org_id, project_id, name) VALUES (%(project)s, %(project)s, 'a')",
            "the row inserted into counter is not bound to org_id",
        ),
        (
            "INSERT INTO counter (org_id, project_id, name) SELECT %(org)s, %(project)s, name FROM incoming_naming",
            "INSERT … SELECT becomes COPY, which row-level security forbids: add RETURNING 1",
        ),
        (
            (
                "WITH a AS (INSERT INTO counter (org_id, project_id) VALUES (%(org)s, %(project)s) RETURNING name)"
                " SELECT * FROM a"
            ),
            "an INSERT inside WITH is sent to every node",
        ),
        (
            "SELECT CASE type WHEN %(type)s THEN 1 END FROM entity WHERE org_id = %(org)s AND project_id = %(project)s",
            "CASE x WHEN y is deparsed as a comparison with true: write CASE WHEN x = y",
        ),
        (
            (
                "DELETE FROM mention n USING incoming_mention i"
                " WHERE n.org_id = %(org)s AND n.project_id = %(project)s AND n.ctid = i.place"
            ),
            "ctid beside a temporary table",
        ),
        (
            (
                "DELETE FROM mention n WHERE n.org_id = %(org)s AND n.project_id = %(project)s"
                " AND NOT EXISTS (SELECT FROM incoming_mention i WHERE i.ordinal = n.ordinal)"
            ),
            "a subquery of a temporary table refers to the outer query",
        ),
        (
            (
                "DELETE FROM mention n WHERE n.org_id = %(org)s AND n.project_id = %(project)s"
                " AND (n.memory_id, n.ordinal) IN (SELECT i.memory_id, i.ordinal FROM incoming_mention i)"
            ),
            "a row IN a subquery of a temporary table",
        ),
        (
            (
                "SELECT (SELECT type FROM entity e WHERE e.org_id = %(org)s AND e.project_id = %(project)s"
                " AND e.id = i.id) FROM incoming_naming i"
            ),
            "a subquery of a stored table refers to a temporary one: join them in FROM",
        ),
        (
            "UPDATE merge SET undone_at = now() WHERE org_id = %(org)s AND project_id = %(project)s",
            "now is volatile",
        ),
        (
            "SELECT pg_advisory_xact_lock(1) FROM scope WHERE org_id = %(org)s AND project_id = %(project)s",
            "pg_advisory_xact_lock acts on one node",
        ),
    ],
)
def test_what_a_cluster_refuses_or_spreads_is_found(text: str, fault: str) -> None:
    assert fault in faults(text, TABLES)


@pytest.mark.parametrize(
    "text",
    [
        (
            "SELECT m.id FROM claim c"
            " JOIN memory m ON (m.org_id, m.project_id, m.id) = (c.org_id, c.project_id, c.memory_id)"
            " WHERE c.org_id = %(org)s AND c.project_id = %(project)s"
        ),
        (
            "SELECT 1 FROM (SELECT * FROM entity UNION ALL SELECT * FROM entity) e"
            " WHERE e.org_id = %(org)s AND e.project_id = %(project)s"
        ),
        (
            "INSERT INTO entity_words (org_id, project_id) SELECT org_id, project_id FROM entity"
            " WHERE org_id = %(org)s AND project_id = %(project)s"
        ),
        "SELECT count(*) FROM incoming_naming",
    ],
)
def test_what_goes_to_one_shard_is_let_through(text: str) -> None:
    assert faults(text, TABLES) == []


@pytest.mark.parametrize("begin", ["begin read", "begin write"])
def test_the_opening_of_a_transaction_is_sent_statement_by_statement(begin: str) -> None:
    names = (begin, "settings", "plan for values", "enter scope", "lock scope", "make scope", "move scope")
    opening = gateway._opening(Scope("a;b", "c';\n--"), names, "english")
    assert len(opening) == sum(statement(name).count(b";\n") + 1 for name in (*names, "scope"))
    texts = [each.text for each in opening]
    assert texts[0].startswith(b"BEGIN")
    assert all(text.startswith(b"SET LOCAL ") for text in texts[1:-4])


def test_statements_are_sent_by_sessions_alone() -> None:
    """Where a connection is used past `Session`, a statement may be composed of which the tests above do not know."""
    folder = Path(graphsearch.stores.__path__[0]) / "in_postgres"
    found = {
        (file.stem, function) for file in sorted(folder.rglob("*.py")) for function in _senders(file.read_text("utf-8"))
    }
    assert {
        each
        for each in found
        if each[0] not in {"checking", "migrating", "distributing", "scrubbing", "sending", "sessions"}
    } == {
        ("gateway", "_analyse"),
        ("gateway", "_beside"),
        ("gateway", "settle"),  # settings
    }


def _senders(source: str) -> Iterator[str]:
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "execute":
                    yield function.name

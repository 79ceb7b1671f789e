"""The .sql files of the Postgres store: whole statements by name, and fragments that they share."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from graphsearch.errors import StatementError
from graphsearch.model import ElementKind
from graphsearch.stores.in_postgres.session.statements import (
    FRAGMENTS,
    Catalogue,
    catalogue,
    numbered,
    statement,
    with_literals,
)
from graphsearch.stores.in_postgres.tables import TABLES


def test_statements_are_found_by_name_and_kind() -> None:
    for name in ("nearest exactly", "lexical", "move weights", "add postings"):
        for kind in ElementKind:
            assert kind.value.encode() in statement(name, kind)
    assert b'DELETE FROM "odd""name" WHERE' in statement("remove scope", table='odd"name')


def test_an_unknown_statement_is_refused() -> None:
    with pytest.raises(StatementError, match="there is no statement 'no such statement'"):
        statement("no such statement")


@pytest.mark.parametrize(("name", "missing"), [("lexical", "kind"), ("remove scope", "table")])
def test_a_statement_for_any_kind_or_table_needs_one(name: str, missing: str) -> None:
    with pytest.raises(StatementError, match=f"'{name}' needs '{missing}': name a kind of element, or a table"):
        statement(name)


def test_every_statement_is_whole() -> None:
    for name in catalogue().statements:
        for kind in ElementKind:
            given = {"table": "entity", "column": "id", "end": "source_id", "copy": "source_columns"}
            text = statement(name, kind, **given).decode()
            assert text.split()[0] in {"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "SET", "BEGIN"}
            assert "--" not in text
            assert "{" not in text.replace("'{}'", "").replace("{text}", "")


def test_every_fragment_is_used() -> None:
    known = catalogue()
    texts = [*known.statements.values(), *known.fragments.values()]
    used = {braces for text in texts for braces in re.findall(r"{([a-z ]+)}", text)}
    stand_for = {name.split(" ", 1)[-1] for name in used} | {"step"}
    assert [name for name in known.fragments if name not in used and name.split(" ", 1)[-1] not in stand_for] == []


def test_entities_are_read_as_rows_are() -> None:
    assert " ".join(catalogue().fragments["entity columns"].split()) == TABLES["entity"].selected


def test_only_known_files_hold_statements() -> None:
    found = {file.name for file in files("graphsearch.stores").joinpath("sql").iterdir() if file.name.endswith(".sql")}
    assert found > {FRAGMENTS, "searching.sql", "walking.sql", "indexing.sql"}


def test_fragments_are_filled_in_without_comments() -> None:
    sources = {FRAGMENTS: "-- here --\n-- the scope\norg = 1\n  AND project = 2\n", "a.sql": "-- all --\nSELECT {here}"}
    assert Catalogue.of(sources).compose("all", None) == b"SELECT org = 1\nAND project = 2"


def test_fragments_hold_fragments() -> None:
    sources = {FRAGMENTS: "-- hops --\nfew and {rest}\n-- rest --\nmany", "a.sql": "-- all --\nSELECT {hops}"}
    assert Catalogue.of(sources).compose("all", None) == b"SELECT few and many"


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ({"a.sql": "-- one --\nSELECT 1\n-- one --\nSELECT 2"}, "a.sql: a name is given twice: one"),
        ({"a.sql": "-- one --\nSELECT 1", "b.sql": "-- one --\nSELECT 2"}, "b.sql: a name is given twice: one"),
        (
            {FRAGMENTS: "-- one --\n1", "a.sql": "-- one --\nSELECT {one}"},
            "a.sql: a name is given twice: one",
        ),
    ],
)
def test_files_that_do_not_fit_together_are_refused(sources: dict[str, str], message: str) -> None:
    with pytest.raises(StatementError) as caught:
        Catalogue.of(sources)
    assert message in str(caught.value)


def test_literals_take_the_places_of_parameters() -> None:
    assert with_literals(b"SELECT %(org)s, %(limit)s", {"org": "100% o'b"}) == b"SELECT '100% o''b', %(limit)s"


def test_parameters_are_numbered_but_for_constants() -> None:
    query = b"SELECT %(org)s, %(k1)s, %(org)s LIMIT %(limit)s"
    assert numbered(query, (("limit", 5),)) == (b"SELECT $1, $2, $1 LIMIT 5", ("org", "k1"))

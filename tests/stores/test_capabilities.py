"""A store implements few things, and all of them itself; every verb is written once over these."""

import inspect
from collections.abc import Mapping

import pytest

from graphsearch.protocols import Store
from graphsearch.protocols.rows import Rows
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import ScopedMemoryStore
from graphsearch.stores.postgres import ScopedPostgresStore

MOST = 40
"""Members that somebody who writes a store can keep in mind."""
BY_INDEX: Mapping[type, set[str]] = {ScopedPostgresStore: {"surface_forms", "first_written"}}
"""Verbs that a store has its own way for: of a hub of 20,000 mentions it takes a tenth of the time."""


def members(*owners: type) -> set[str]:
    return {name for owner in owners for name in vars(owner) if not name.startswith("_")}


def test_a_store_is_few_members() -> None:
    assert len(members(Store, Rows)) <= MOST


@pytest.mark.parametrize("store", [ScopedMemoryStore, ScopedPostgresStore])
def test_a_store_implements_every_member_itself(store: type) -> None:
    assert {name for name in members(Store, Rows) if getattr(store, name) is getattr(GraphStore, name)} == set()


@pytest.mark.parametrize("store", [ScopedMemoryStore, ScopedPostgresStore])
def test_every_verb_is_written_once(store: type) -> None:
    verbs = {name for name in dir(GraphStore) if not name.startswith("_")} - members(Store, Rows)
    own = {name for name in verbs if getattr(store, name) is not getattr(GraphStore, name)}
    assert own == BY_INDEX.get(store, set())


def test_every_method_is_documented() -> None:
    names = {name for name in dir(GraphStore) if not name.startswith("_")}
    assert {name for name in names if not inspect.getdoc(getattr(GraphStore, name))} == set()

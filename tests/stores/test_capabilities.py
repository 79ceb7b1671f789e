"""The protocol of a store consists of one protocol for each capability, and every store implements all of them."""

import inspect

import pytest

from graphsearch import protocols
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import ScopedMemoryStore
from graphsearch.stores.postgres import ScopedPostgresStore

CAPABILITIES = (
    protocols.Scoped,
    protocols.Reading,
    protocols.Searching,
    protocols.Walking,
    protocols.Writing,
    protocols.Curating,
    protocols.Learning,
    protocols.Moving,
    protocols.Reembeddable,
    protocols.Reviewing,
)
MOST = 13
"""Members of one capability that a reader can keep in mind."""


def members(owner: type) -> set[str]:
    return {name for name in vars(owner) if not name.startswith("_")}


def test_a_store_is_the_sum_of_small_capabilities() -> None:
    assert set(GraphStore.__bases__) >= set(CAPABILITIES)
    assert members(GraphStore) == set()
    assert {capability.__name__ for capability in CAPABILITIES if len(members(capability)) > MOST} == set()
    assert sum(len(members(capability)) for capability in CAPABILITIES) == len(
        {name for name in dir(GraphStore) if not name.startswith("_")}
    )


@pytest.mark.parametrize("store", [ScopedMemoryStore, ScopedPostgresStore])
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_store_writes_every_member_itself(store: type, capability: type) -> None:
    inherited = {
        name
        for name in members(capability)
        if inspect.getattr_static(store, name) is inspect.getattr_static(capability, name)
    }
    assert inherited == set()


@pytest.mark.parametrize("store", [ScopedMemoryStore, ScopedPostgresStore])
def test_methods_of_stores_are_documented_by_the_protocol(store: type) -> None:
    assert {
        name for name in dir(GraphStore) if not name.startswith("_") and not inspect.getdoc(getattr(store, name))
    } == set()

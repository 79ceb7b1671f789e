"""The blocking surface is the asynchronous one: no name forgotten, no parameter different."""

import importlib
import inspect
import pkgutil
from typing import Any, cast

import pytest

import graphsearch
from graphsearch import caching, context, curation, evaluation, stores, sync
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_postgres.session.migrating import migrate, scrub
from graphsearch.stores.memory import ScopedMemoryStore
from graphsearch.sync.facade import Facade
from tests.sync.stubs import stubs

TWINS = {
    sync.GraphSearchEngine: graphsearch.GraphSearchEngine,
    sync.FederatedEngine: graphsearch.FederatedEngine,
    sync.Ingestor: graphsearch.Ingestor,
    sync.FeedbackService: graphsearch.FeedbackService,
    sync.ContextBuilder: context.ContextBuilder,
    sync.Curator: curation.Curator,
    sync.GraphStore: GraphStore,
    sync.InMemoryGraphStore: stores.InMemoryGraphStore,
    sync.PostgresGraphStore: stores.PostgresGraphStore,
    sync.EmbeddedPostgres: stores.EmbeddedPostgres,
}
FUNCTIONS = {
    sync.build_graph_context_block: context.build_graph_context_block,
    sync.cached: caching.cached,
    sync.evaluate: evaluation.evaluate,
    sync.evaluate_answers: evaluation.evaluate_answers,
    sync.evaluate_entities: evaluation.evaluate_entities,
    sync.evaluate_triplets: evaluation.evaluate_triplets,
    sync.export_scope: graphsearch.export_scope,
    sync.import_export: graphsearch.import_export,
    sync.import_scope: graphsearch.import_scope,
    sync.estimate_reembedding: graphsearch.estimate_reembedding,
    sync.migrate: migrate,
    sync.reembed: graphsearch.reembed,
    sync.scrub: scrub,
}
PARTS = ("embed", "ask", "authorize", "permits", "extract", "traverse", "get", "call", "find", "entity_count")
"""What has one of these is a part: graphsearch calls it, and it is handed over as it is."""
ELSEWHERE = ("graphsearch.integrations",)
"""Rooms for frameworks that have blocking and asynchronous methods of their own."""


def waits(function):
    """Whether something public has to be awaited, or entered with `async with`."""
    inner = inspect.unwrap(function) if callable(function) else None
    return inspect.iscoroutinefunction(inner) or inspect.isasyncgenfunction(inner)


def public(owner):
    return {name for name in dir(owner) if not name.startswith("_")}


def entered(owner):
    return hasattr(owner, "__aenter__") or hasattr(owner, "__enter__")


def parameters(function):
    found = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in found]


def asynchronous():
    """Every public name of every room that has something to await."""
    rooms = [found.name for found in pkgutil.walk_packages(graphsearch.__path__, "graphsearch.") if found.ispkg]
    for room in map(importlib.import_module, ["graphsearch", *rooms]):
        if room.__name__.startswith((*ELSEWHERE, "graphsearch.sync", "graphsearch.testing")):
            continue
        for name in getattr(room, "__all__", ()):
            value = getattr(room, name)
            methods = [getattr(value, each) for each in public(value)] if inspect.isclass(value) else [value]
            if any(map(waits, methods)) or hasattr(value, "__aenter__"):
                yield name, value


def test_everything_public_that_is_awaited_has_a_blocking_twin_or_is_a_part():
    # A graph is written over the protocol of a store.
    twins = {*TWINS.values(), *FUNCTIONS.values(), *inspect.getmro(GraphStore)}
    forgotten = {
        name for name, value in asynchronous() if value not in twins and not any(hasattr(value, part) for part in PARTS)
    }
    assert forgotten == set()


@pytest.mark.parametrize("blocking", TWINS, ids=lambda blocking: blocking.__name__)
def test_a_class_has_the_same_methods_with_the_same_parameters_and_none_is_awaited(blocking):
    twin = TWINS[blocking]
    names = public(twin) - set(blocking._without)
    assert public(blocking) - public(Facade) - {"asynchronous"} >= names
    for name in sorted(names):
        ours, theirs = getattr(blocking, name), getattr(twin, name)
        assert not inspect.iscoroutinefunction(ours), name
        assert isinstance(ours, property) == isinstance(theirs, property), name
        if callable(theirs):
            assert parameters(ours) == parameters(theirs), name
            assert inspect.getdoc(ours), name
    assert entered(blocking) == entered(twin)


@pytest.mark.parametrize(
    "blocking", [each for each in TWINS if each is not sync.GraphStore], ids=lambda blocking: blocking.__name__
)
def test_it_is_made_of_the_same_parts(blocking):
    assert parameters(blocking) == parameters(TWINS[blocking])


@pytest.mark.parametrize("blocking", FUNCTIONS, ids=lambda blocking: blocking.__name__)
def test_a_function_has_the_same_parameters(blocking):
    assert parameters(blocking) == parameters(FUNCTIONS[blocking])
    assert not inspect.iscoroutinefunction(blocking)


def test_stubs_tell_type_checkers_of_every_member_that_is_derived():
    expected = stubs()
    written = {path: path.read_text(encoding="utf-8") for path in expected if path.exists()}
    assert written == expected, "run `python -m tests.sync.stubs`"


def test_a_new_method_is_blocking_without_being_listed():
    class Store(ScopedMemoryStore):
        async def tidied(self, number):
            """Twice a number."""
            return 2 * number

    class Blocking(Facade[Store]):
        """Of such a store."""

    store, blocking = cast(Any, object.__new__(Store)), cast(Any, Blocking)
    assert blocking.of(store).tidied(21) == 42
    assert inspect.getdoc(blocking.tidied) == "Twice a number."


def test_what_an_engine_is_made_of_can_be_seen_on_it():
    engine = sync.GraphSearchEngine(store=sync.InMemoryGraphStore().with_scope(org_id="acme", project_id="web"))
    theirs = {name: value for name, value in vars(engine.asynchronous).items() if not name.startswith("_")}
    assert {name: getattr(engine, name) for name in theirs if name != "store"} == {
        name: value for name, value in theirs.items() if name != "store"
    }
    assert engine.store.asynchronous is engine.asynchronous.store
    assert engine.store.scope == engine.asynchronous.store.scope
    assert (engine.store.clock, engine.store.analyser) == (
        engine.asynchronous.store.clock,
        engine.asynchronous.store.analyser,
    )


def test_names_are_those_of_the_asynchronous_rooms_and_all_are_compared():
    twins: dict[Any, Any] = {**TWINS, **FUNCTIONS}
    names = {blocking.__name__: twin.__name__ for blocking, twin in twins.items()}
    assert names == {
        name: name for name in sync.__all__ if name not in {"Stores", "close", "hold", "run", "time_limit"}
    }


def test_a_blocking_object_shows_what_it_is_of():
    store = sync.InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    assert repr(store).startswith("graphsearch.sync.stores.GraphStore.of(<graphsearch.stores.memory.ScopedMemoryStore")

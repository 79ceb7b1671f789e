"""A scope keeps to the analyser that made the terms of its texts."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest

from graphsearch.errors import AnalyserError
from graphsearch.model import Batch, ElementKind, Entity, Memory
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.samples import ids_of, view
from graphsearch.text.analyser import ENGLISH, VERBATIM, Analyser, analyser_of

MEMORIES = (Memory(id="houses", text="Er sah die Häuser."), Memory(id="town", text="Sie sah die Stadt."))
Make = Callable[[Analyser], GraphStore]


@pytest.fixture(params=["memory", "postgres"])
def make(request, clock) -> Make:
    scope = {"org_id": "acme", "project_id": f"web-{uuid4()}"}
    if request.param == "memory":
        return lambda analyser: InMemoryGraphStore(clock=clock, analyser=analyser).with_scope(**scope)
    pool = request.getfixturevalue("shared_pool")
    return lambda analyser: PostgresGraphStore(pool, clock=clock, analyser=analyser).with_scope(**scope)


async def found(store: GraphStore, asked: str) -> list[object]:
    async with store.snapshot():
        hits = await store.search_lexical(ElementKind.MEMORY, asked, limit=10, view=view())
        return [*ids_of(store, ElementKind.MEMORY, hits)]


@pytest.mark.parametrize(
    ("analyser", "house", "article"),
    [(analyser_of("german"), ["houses"], []), (ENGLISH, [], ["houses", "town"]), (VERBATIM, [], ["houses", "town"])],
    ids=lambda value: value.name if isinstance(value, Analyser) else None,
)
async def test_documents_and_questions_meet_the_stores_analyser(
    make: Make, analyser: Analyser, house: list[object], article: list[object]
) -> None:
    store = make(analyser)
    await store.write(Batch(memories=MEMORIES))
    assert await found(store, "ein Haus") == house
    assert await found(store, "die") == article
    await store.write(Batch(memories=(Memory(id="houses", text="Er sah das Haus."),)))
    assert await found(store, "Haus") == ["houses"]
    assert await found(store, "Häuser") == (["houses"] if house else [])


@pytest.mark.parametrize("analyser", [ENGLISH, VERBATIM], ids=lambda analyser: analyser.name)
async def test_an_unsettled_bulk_meets_it_too(make: Make, analyser: Analyser) -> None:
    store = make(analyser)
    await store.write(Batch(memories=tuple(Memory(id=f"m{number:04}", text="the cities") for number in range(1_200))))
    expected = ["m0000"] if analyser is ENGLISH else []
    assert (await found(store, "city"))[:1] == expected
    await store.settle()
    assert (await found(store, "city"))[:1] == expected


async def test_another_analyser_is_refused_by_a_scope_that_lasts(shared_pool, clock) -> None:
    def opened(analyser: Analyser, project: str) -> GraphStore:
        return PostgresGraphStore(shared_pool, clock=clock, analyser=analyser).with_scope(
            org_id="acme", project_id=project
        )

    german, project = analyser_of("german"), f"web-{uuid4()}"
    await opened(german, project).write(Batch(memories=MEMORIES))
    other = opened(ENGLISH, project)
    for attempt in (
        other.write(Batch(entities=(Entity(type="person", name="Ada"),))),
        other.search_lexical(ElementKind.MEMORY, "Haus", limit=1, view=view()),
        other.forget(["town"]),
    ):
        with pytest.raises(AnalyserError, match="not by 'english/1': open the store with that one"):
            await attempt
    assert (await opened(german, project).statistics()).memories == len(MEMORIES)
    await opened(ENGLISH, f"web-{uuid4()}").write(Batch(memories=MEMORIES))

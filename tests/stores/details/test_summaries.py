"""Summaries of communities, and what drops them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import UUID

import attrs
import pytest

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.model import Community, CommunitySummary, ElementKind, ElementRef, Entity, Memory, SummarySentence
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.samples import claim, day, mention, person, put, relation
from graphsearch.testing.spec import StoreSpec
from tests.stores.on_both import InMemory, InPostgres

PEOPLE = tuple(person(name) for name in ("Ada", "Bob", "Cy", "Di", "Eve", "Flo", "Gus"))
ADA, BOB, CY, DI, EVE, FLO, GUS = PEOPLE
SECRET = Memory(id="secret", text="Ada met Bob in Zanzibar.")
OTHER = Memory(id="other", text="Di met Eve.")
GIVEN = relation(ADA, BOB, "trusts", evidence=("behind",))
BEHIND = Memory(id="behind", text="It is so.")
ONE, TWO = UUID(int=1), UUID(int=2)
Change = Callable[[GraphStore], Awaitable[object]]


def community(number: int, *people: Entity, **fields: Any) -> Community:
    """A community of people, the first of whom are its top."""
    members = sorted(each.id for each in people)
    made: dict[str, Any] = {
        "strengths": [float(place + 1) for place, _ in enumerate(members)],
        "density": 0.5,
        "top": [each.id for each in people[:5]],
        "label": ", ".join(each.name for each in people[:3]),
        **fields,
    }
    return Community(id=UUID(int=number), members=members, **made)


async def write_people(store: GraphStore) -> GraphStore:
    """Write the people."""
    await put(store, *PEOPLE)
    return store


def summary(text: str = "Ada met Bob in Zanzibar.", model: str = "fake") -> CommunitySummary:
    """A summary of one sentence."""
    cites = [ElementRef(ElementKind.MEMORY, "secret"), ElementRef(ElementKind.RELATION, str(GIVEN.id))]
    sentences = [SummarySentence(text=text, cites=cites)]
    return CommunitySummary(sentences=sentences, fingerprint="0a" * 32, model=model, written_at=day(3))


CLAIMS = (claim(SECRET, ADA, BOB), claim(OTHER, DI, EVE))
MENTIONS = (mention(SECRET, ADA), mention(SECRET, BOB), mention(OTHER, DI), mention(OTHER, EVE))


async def summarised(store: GraphStore) -> GraphStore:
    """Two communities with summaries: Ada, Bob and Cy; Di, Eve and Flo."""
    relations = GIVEN, relation(BOB, CY, "trusts"), relation(DI, FLO, "trusts")
    await put(store, *PEOPLE, SECRET, OTHER, BEHIND, *MENTIONS, *CLAIMS, *relations)
    await store.write_communities([community(1, ADA, BOB, CY), community(2, DI, EVE, FLO)])
    for each in await store.communities():
        text = summary("Di met Eve." if each.id == TWO else "Ada met Bob in Zanzibar.")
        assert await store.write_summary(attrs.evolve(each, summary=text), version=await store.version())
    return store


async def read_summaries(store: GraphStore) -> dict[UUID, CommunitySummary | None]:
    """The summaries by the ids of their communities."""
    return {each.id: each.summary for each in await store.communities()}


async def _named(store: GraphStore, entity: Entity, **fields: object) -> object:
    changed = attrs.evolve(entity, **fields)  # type: ignore[arg-type]
    return await put(store, changed)


async def _rewritten(store: GraphStore, memory: Memory, mentions: Sequence[Entity] = ()) -> object:
    return await put(store, memory, *(mention(memory, each) for each in mentions))


async def _separated(store: GraphStore) -> object:
    merge = await store.merge(GUS.id, ADA.id)
    for each in await store.communities():
        await store.write_summary(attrs.evolve(each, summary=summary()), version=await store.version())
    return await store.undo_merge(merge.id)


DROPPING: dict[str, Change] = {
    "a memory is forgotten": lambda store: store.forget(["secret"]),
    "evidence of an asserted relation is forgotten": lambda store: store.forget(["behind"]),
    "a memory is rewritten": lambda store: _rewritten(store, attrs.evolve(SECRET, text="Ada met Bob."), (ADA, BOB)),
    "a memory mentions nobody any more": lambda store: _rewritten(store, SECRET),
    "a member is deleted": lambda store: store.delete(entities=[CY.id]),
    "a member is renamed": lambda store: _named(store, BOB, name="Robert"),
    "a member is merged into an entity outside": lambda store: store.merge(CY.id, GUS.id),
    "an entity outside is merged into a member": lambda store: store.merge(GUS.id, CY.id),
    "members are merged": lambda store: store.merge(ADA.id, BOB.id),
    "a merge is undone": _separated,
    "a batch merges a member": lambda store: _named(store, CY, merged_into=GUS.id),
    "a relation is deleted": lambda store: store.delete(relations=[GIVEN.id]),
    "a relation is retracted": lambda store: put(store, attrs.evolve(GIVEN, retracted_at=store.clock.now())),
    "a relation has another fact": lambda store: put(store, attrs.evolve(GIVEN, fact="a secret")),
    "a relation ends": lambda store: put(store, attrs.evolve(GIVEN, valid_to=day(5))),
}
LEAVING: dict[str, Change] = {
    "the same is written again": lambda store: put(store, *PEOPLE, SECRET, OTHER, BEHIND, *MENTIONS, *CLAIMS, GIVEN),
    "a member has another description": lambda store: _named(store, ADA, description="a countess"),
    "a memory is added": lambda store: put(
        store,
        memories=(Memory(id="new", text="Ada met Bob."),),
        mentions=(mention(Memory(id="new"), ADA),),
        claims=(claim(Memory(id="new"), ADA, BOB), claim(Memory(id="new"), CY, BOB)),
    ),
    "a relation is added": lambda store: put(store, relation(ADA, CY, "trusts")),
    "something else is forgotten": lambda store: store.forget(["other"]),
    "something else is deleted": lambda store: store.delete(entities=[FLO.id]),
}


class SummariesDetails(StoreSpec):
    """`write_summary`, and what drops a summary."""

    async def test_a_summary_is_stored_with_its_community(self, store: GraphStore) -> None:
        await summarised(store)
        assert await read_summaries(store) == {ONE: summary(), TWO: summary("Di met Eve.")}
        (one,) = await store.communities(entity_ids=[ADA.id])
        assert one.summary is not None
        assert one.summary.text == "Ada met Bob in Zanzibar."
        assert one.summary.sentences[0].cites[0] == ElementRef(ElementKind.MEMORY, "secret")
        another = attrs.evolve(one, summary=summary("Another.", model="other"))
        assert await store.write_summary(another, version=await store.version())
        assert (await read_summaries(store))[ONE] == summary("Another.", model="other")
        assert await store.write_summary(attrs.evolve(one, summary=None), version=await store.version())
        assert (await read_summaries(store))[ONE] is None

    @pytest.mark.parametrize("change", DROPPING)
    async def test_a_summary_goes_with_what_it_may_be_made_of(self, store: GraphStore, change: str) -> None:
        await summarised(store)
        await DROPPING[change](store)
        after = await read_summaries(store)
        assert after.get(ONE) is None
        assert after[TWO] is not None

    @pytest.mark.parametrize("change", LEAVING)
    async def test_a_summary_stays_where_something_is_added(self, store: GraphStore, change: str) -> None:
        await summarised(store)
        await LEAVING[change](store)
        assert (await read_summaries(store))[ONE] == summary()


class TestInMemory(InMemory, SummariesDetails):
    pass


class TestPostgres(InPostgres, SummariesDetails):
    pass

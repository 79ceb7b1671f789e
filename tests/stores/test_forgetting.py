"""Nothing known only from what was forgotten survives: every table is searched, and the whole state in memory."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import attrs
import pytest

from graphsearch.model import (
    Batch,
    Community,
    ElementKind,
    ElementRef,
    Entity,
    Injection,
    Memory,
    MemoryLink,
    Outcome,
    RelationType,
    Span,
)
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore, ScopedMemoryStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from graphsearch.testing.samples import claim, day, mention, person, portrait, ref, relation, without_history
from tests.fix_postgres import Database
from tests.trust.forgetting import pickled, rows

MARK: Final = "xyzzy"
"""A word in every text that is known from the secret alone."""
ADA, BOB = person("Ada", aliases=("Countess",)), person("Bob", description="A builder.")
KEPT = Memory(id="kept", text="Ada knows Bob.", occurred_at=day(1), source="wiki", session_id="monday")
SECRET = Memory(
    id="xyzzy-id",
    text="Xyzzytext: Ada hates Bob, says the Xyzzy Company.",
    subject="Xyzzysubject",
    speaker="Xyzzyspeaker",
    session_id="xyzzy-session",
    occurred_at=day(2),
    source="xyzzy-source",
    labels=("xyzzy-label",),
    attributes={"xyzzy-key": "xyzzy-value", "owner": "xyzzy-owner", "sensitivity": "xyzzy-secret"},
)
COMPANY = Entity(
    type="xyzzy_kind",
    name="Xyzzy Company",
    description="Of xyzzydescription.",
    aliases=("Xyzzyalias",),
    labels=("xyzzy-entity-label",),
    attributes={"owner": "xyzzy-entity-owner", "xyzzy-field": ["xyzzy-item"]},
)
THING = Entity(type="concept", name="Thing")
"""Named by what is kept; only the secret states its type."""
OFFICE = Entity(type="xyzzy_kind", name="Xyzzy Office", description="Of xyzzydescription.", aliases=("Xyzzydesk",))
EMBEDDER = HashEmbedder(16)
QUESTIONS = ("ada bob", "xyzzytext", "xyzzy company", "hates")


async def write_what_is_kept(store: GraphStore) -> None:
    """What is known without the secret."""
    await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
    await store.register_types([RelationType(name="trusts", functional=True)])
    await store.write(
        Batch(
            entities=(ADA, BOB),
            named=(THING,),
            memories=(KEPT,),
            mentions=(mention(KEPT, ADA), mention(KEPT, BOB), mention(KEPT, THING)),
            claims=(
                claim(KEPT, ADA, BOB, fact="Ada knows Bob."),
                claim(KEPT, ADA, BOB, "trusts", fact="She trusts him."),
            ),
            relations=(relation(BOB, ADA, "admires", fact="He admires her.", evidence=("kept",)),),
            vectors={ADA.id: EMBEDDER.vector("Ada"), "kept": EMBEDDER.vector(KEPT.text)},
        )
    )
    await embed_facts(store, but="knows")  # which the secret states otherwise


async def embed_facts(store: GraphStore, *, but: str = "") -> None:
    relations = await store.list_relations()
    await store.write(Batch(vectors={each.id: EMBEDDER.vector(each.fact) for each in relations if each.type != but}))


async def write_the_secret(store: GraphStore) -> None:
    """The secret, in every place that holds a text; written twice, so that a part of it is retracted."""
    first = attrs.evolve(SECRET, text="Xyzzybefore.")
    await store.write(
        Batch(
            entities=(COMPANY,),
            memories=(first,),
            claims=(claim(first, COMPANY, ADA, "xyzzy_type", fact="Xyzzyretracted.", extractor="xyzzy/1"),),
        )
    )
    await store.write(
        Batch(
            entities=(COMPANY,),
            named=(OFFICE,),
            memories=(SECRET,),
            mentions=(
                mention(SECRET, ADA, surface="Xyzzysurface", span=Span(start=0, end=3)),
                mention(SECRET, COMPANY),
                mention(SECRET, OFFICE),
                mention(SECRET, THING, type="xyzzy_type_of_thing"),
            ),
            claims=(
                claim(SECRET, ADA, BOB, fact="Xyzzyfact.", extractor="xyzzy/2"),
                claim(SECRET, ADA, COMPANY, "trusts", fact="Xyzzytrust."),
                claim(SECRET, COMPANY, BOB, "xyzzy_type", fact="Xyzzyfact of the company."),
            ),
            relations=(relation(BOB, COMPANY, "owns", fact="Xyzzygiven.", evidence=(SECRET.id,), labels=("xyzzy",)),),
            vectors={COMPANY.id: EMBEDDER.vector(COMPANY.name), SECRET.id: EMBEDDER.vector(SECRET.text)},
        )
    )
    await embed_facts(store)
    await store.merge(OFFICE.id, COMPANY.id)
    await store.link_memories([MemoryLink(from_id=SECRET.id, to_id="kept", type="xyzzy_link")])
    await store.mark_distinct([(ADA.id, COMPANY.id)])
    members = sorted((ADA.id, BOB.id, COMPANY.id))
    await store.write_communities(
        [Community(id=UUID(int=1), members=members, strengths=[1, 1, 1], density=1, top=members, label=COMPANY.name)]
    )
    surfaced = [ref(SECRET), ref(KEPT), ref(ADA), ref(COMPANY), *map(ref, await store.list_relations())]
    await store.log_injection(
        Injection(id="i", session_id="s", principal="p", created_at=day(3), tokens=5, elements=surfaced)
    )
    await store.apply_outcome("s", Outcome.ACCEPTED, surfaced)
    await store.settle()
    await look(store)


async def look(store: GraphStore) -> Any:
    """Ask everything, so that every cache is filled."""
    return await portrait(store, questions=QUESTIONS, vectors=[EMBEDDER.vector("Ada"), EMBEDDER.vector("Xyzzy")])


async def kept_like_the_first(store: GraphStore, alone: GraphStore) -> None:
    """The graph is as it would be without the secret."""
    report = await store.forget([SECRET.id])
    assert (report.memories, report.entities_removed, report.mentions_removed) == (1, 2, 4)
    assert (report.claims_removed, report.links_removed, report.references_removed) == (3, 2, 5)
    assert without_history(await look(store)) == without_history(await look(alone))
    (logged,) = await store.injections("s")
    assert {each.kind for each in logged.elements} == set(ElementKind)
    assert ElementRef(ElementKind.MEMORY, "kept") in logged.elements
    assert [each.label for each in await store.communities()] in (["Ada, Bob"], ["Bob, Ada"])


async def test_the_memory_store_keeps_nothing_of_it(clock: FixedClock) -> None:
    unscoped = InMemoryGraphStore(clock=clock)
    store, alone = (unscoped.with_scope(org_id="o", project_id=name) for name in ("both", "alone"))
    for each in (store, alone):
        await write_what_is_kept(each)
    await write_the_secret(store)
    assert MARK in pickled(state_of(store))
    await kept_like_the_first(store, alone)
    assert MARK not in pickled(state_of(store))


def state_of(store: ScopedMemoryStore) -> Any:
    return store._cell.version


@pytest.fixture
async def postgres(postgres_database: Database, clock: FixedClock):
    async with PostgresGraphStore.open(postgres_database.dsn, clock=clock, exact=True) as store:
        yield store


async def test_the_database_keeps_nothing_of_it(postgres: PostgresGraphStore, postgres_database: Database) -> None:
    store, alone = (postgres.with_scope(org_id="o", project_id=name) for name in ("both", "alone"))
    for each in (store, alone):
        await write_what_is_kept(each)
    await write_the_secret(store)
    before = {name for name, content in rows(postgres_database.admin_dsn).items() if MARK in content}
    everywhere = {"entity", "memory", "relation", "mention", "claim", "evidence", "term", "signature"}
    everywhere |= {"memory_link", "injection", "outcome", "entity_posting", "memory_posting", "relation_posting"}
    assert everywhere <= before
    assert MARK in pickled(postgres._gateway._library)
    await kept_like_the_first(store, alone)
    after = rows(postgres_database.admin_dsn)
    assert {name for name, content in after.items() if MARK in content} == set()
    assert len(after) > len(everywhere)
    assert MARK not in pickled(postgres._gateway._library)

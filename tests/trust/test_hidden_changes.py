"""What a change answers, and what it writes, does not depend on what is hidden from whoever makes it."""

from collections.abc import Sequence
from uuid import UUID

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.context import ContextBuilder
from graphsearch.curation.browsing import EventKind
from graphsearch.curation.curator import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.model import (
    Action,
    Batch,
    Claim,
    ElementKind,
    ElementRef,
    Entity,
    Memory,
    Mention,
    Outcome,
    Principal,
    Scope,
    WriteReport,
)
from graphsearch.model.signatures import Resource
from graphsearch.protocols import Authorizer
from graphsearch.testing.fakes import HashEmbedder, WordCounter
from tests.authz.test_cedar import authorizer
from tests.gates import POLICIES, allowing, no_secrets
from tests.graphs import days_ago

JANE, ROE, VAULT = UUID(int=1), UUID(int=2), UUID(int=3)


async def write(store):
    """A hidden memory names an entity Jane Roe, a visible one jr: jr knows Roe, and somebody hidden."""
    await store.write(
        Batch(
            entities=[
                Entity(id=ROE, type="person", name="Jane Roe"),
                Entity(id=VAULT, type="person", name="Vault", labels=["secret"]),
            ],
            named=[Entity(id=JANE, type="concept", name="Jane Roe")],
            memories=[
                Memory(id="h", labels=["secret"], occurred_at=days_ago(9)),
                Memory(id="a", occurred_at=days_ago(8)),
            ],
            mentions=[
                Mention(memory_id="h", entity_id=JANE, surface="Jane Roe", type="person"),
                Mention(memory_id="a", entity_id=JANE, surface="jr", type="person"),
                Mention(memory_id="a", entity_id=VAULT, surface="Vault", type="person"),
            ],
            claims=[
                Claim(memory_id="a", source_id=JANE, type="knows", target_id=other, confidence=0.9)
                for other in (ROE, VAULT)
            ],
        )
    )
    return GraphSearchEngine(store=store, embedder=HashEmbedder(16))


@attrs.frozen
class MergingAll:
    """Who may merge all that another authorizer lets nobody read."""

    reading: Authorizer
    by_signature: bool

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        if action is Action.MERGE:
            return [True] * len(resources)
        return await self.reading.authorize(principal, action, resources, scope=scope)


@POLICIES
async def test_forgetting_counts_nothing_hidden(scoped, by_signature):
    curator = Curator(await write(scoped), gate=no_secrets(by_signature=by_signature))
    assert await curator.forget("h") == await curator.forget("never") == WriteReport()
    assert [memory.id for memory in await scoped.list_memories()] == ["a", "h"]
    assert await curator.forget("a") == WriteReport(memories=1)


async def test_whether_anything_is_hidden_does_not_show_in_counts(scoped):
    engine = await write(scoped)
    await Curator(engine).forget("h")
    await scoped.write(Batch(entities=[Entity(id=VAULT, type="person", name="Vault")]))
    assert await Curator(engine, gate=no_secrets()).forget("a") == WriteReport(memories=1)


@POLICIES
async def test_a_merge_counts_nothing_hidden(scoped, by_signature):
    engine = await write(scoped)
    await scoped.forget(["h"])
    curator = Curator(engine, gate=no_secrets(by_signature=by_signature))
    tried = await curator.merge_entities("jr", ROE, dry_run=True)
    made = await curator.merge_entities("jr", ROE)
    assert (tried.mentions, tried.claims, tried.relations) == (made.mentions, made.claims, made.relations)
    assert (made.mentions, made.claims, made.relations) == (1, 1, 1)
    [listed] = await curator.merges()
    assert (listed.id, listed.mentions, listed.claims, listed.relations) == (made.id, None, None, None)
    [owned] = await Curator(engine).merges()
    assert owned.relations == 2


@POLICIES
async def test_a_type_that_hidden_memories_state_refuses_no_merge(scoped, by_signature):
    engine = await write(scoped)
    other = Entity(type="concept", name="Other")
    await scoped.write(
        Batch(
            entities=[other],
            named=[Entity(id=(plain := UUID(int=4)), type="concept", name="Plain")],
            memories=[Memory(id="i", labels=["secret"]), Memory(id="b")],
            mentions=[
                Mention(memory_id="i", entity_id=plain, surface="Plain", type="person"),
                Mention(memory_id="b", entity_id=plain, surface="Plain"),
            ],
        )
    )
    gate = no_secrets(by_signature=by_signature)
    merging = attrs.evolve(gate, authorizer=MergingAll(gate.authorizer, by_signature))
    curator = Curator(engine, gate=merging)
    with pytest.raises(InvalidInputError, match="a person and a concept cannot be one"):
        await curator.merge_entities(JANE, other.id)
    await curator.merge_entities(plain, other.id)
    assert (await curator.recall_entity(plain)).entity.type == "concept"


@POLICIES
async def test_a_correction_to_the_name_of_something_hidden_is_not_refused(scoped, by_signature):
    engine = await write(scoped)
    curator = Curator(engine, gate=no_secrets(by_signature=by_signature))
    assert (await curator.update_entity(ROE, name="Vault")).name == "Vault"
    await scoped.write(Batch(entities=[Entity(type="tool", name="Roe")]))
    assert (await curator.update_entity(ROE, name="Roe")).name == "Roe"  # the other is of another type


@POLICIES
async def test_undoing_a_merge_counts_nothing_hidden(scoped, by_signature):
    engine = await write(scoped)
    await scoped.forget(["h"])
    curator = Curator(engine, gate=no_secrets(by_signature=by_signature))
    made = await curator.merge_entities("jr", ROE)
    undone = await curator.undo_merge(made.id)
    assert (undone.mentions, undone.claims, undone.relations, undone.stayed, undone.forgotten) == (None,) * 5
    assert undone.reworded == ()
    made = await Curator(engine).merge_entities("jr", ROE)
    assert (await Curator(engine).undo_merge(made.id)).relations == 2


@POLICIES
async def test_a_correction_does_not_write_a_hidden_name(scoped, by_signature):
    engine = await write(scoped)
    curator = Curator(engine, gate=no_secrets(by_signature=by_signature))
    corrected = await curator.update_entity("jr", description="tall")
    assert (corrected.name, corrected.aliases, corrected.description) == ("jr", (), "tall")
    corrected = await curator.update_entity("jr", type="concept")
    assert (corrected.name, corrected.aliases, corrected.type) == ("jr", (), "concept")
    assert (await Curator(engine).recall_entity(JANE)).entity.name == "jr"
    renamed = await curator.update_entity("jr", name="Janet")
    assert (renamed.name, renamed.aliases) == ("Janet", ("jr",))


async def test_policies_that_read_ids_allow_corrections(scoped):
    engine = await write(scoped)
    scope = scoped.scope
    policies = f'permit (principal, action, resource) unless {{ resource == Entity::"{scope}/{VAULT}" }};'
    gate = Gate(authorizer(policies), Principal(id="ada", projects=[scope]))
    assert (await Curator(engine, gate=gate).update_entity(ROE, description="tall")).description == "tall"


@POLICIES
async def test_feedback_is_decided_on_the_visible_type(scoped, by_signature):
    engine = await write(scoped)
    await scoped.write(
        Batch(
            memories=[Memory(id="0", labels=["secret"], occurred_at=days_ago(20))],
            mentions=[Mention(memory_id="0", entity_id=JANE, surface="jr", type="tool")],
        )
    )
    assert (await Curator(engine).recall_entity(JANE)).entity.type == "tool"
    gate = allowing(
        lambda resource: "secret" not in resource.labels and resource.type != "tool", by_signature=by_signature
    )
    builder = ContextBuilder(engine, counter=WordCounter())
    shown = await builder.build("jr knows?", gate=gate, session_id="s", mode="neighborhood", observations=False)
    assert [each.source.type for each in shown.triplets] == ["person"]
    report = await builder.feedback("s", Outcome.ACCEPTED, gate=gate)
    assert (report.denied, ElementRef(ElementKind.ENTITY, str(JANE)) in report.applied) == (0, True)


@pytest.mark.parametrize("refreshed", [True, False])
@POLICIES
async def test_communities_of_who_sees_everything_are_those_of_the_owner(scoped, by_signature, refreshed):
    await scoped.write(
        Batch(
            entities=[Entity(id=each, type="person", name=str(each.int)) for each in (JANE, ROE, VAULT)],
            memories=[Memory(id="a", occurred_at=days_ago(9)), Memory(id="b", occurred_at=days_ago(2))],
            claims=[
                Claim(memory_id="a", source_id=JANE, type="knows", target_id=ROE, confidence=0.9),
                Claim(memory_id="a", source_id=JANE, type="works_at", target_id=VAULT, confidence=0.9),
                Claim(memory_id="b", source_id=JANE, type="works_at", target_id=ROE, confidence=0.9),
            ],
        )
    )
    engine = GraphSearchEngine(store=scoped)
    owned, gated = Curator(engine), Curator(engine, gate=no_secrets(by_signature=by_signature))
    [found] = await owned.detect_communities()
    assert found.members == (JANE, ROE)  # who works at one place after another works there no more
    detected = await (gated.refresh_communities if refreshed else gated.detect_communities)()
    assert detected == (() if refreshed else (found,))
    assert await owned.communities() == (found,)


@POLICIES
async def test_a_relation_is_as_old_as_its_first_visible_memory(scoped, clock, by_signature):
    """A hidden memory states it on the first day and a visible one on the second, one on the third, both undated."""
    people = [Entity(id=each, type="person", name=f"number {each.int}") for each in (JANE, ROE)]
    days = []
    for name, labels in (("hidden", ["secret"]), ("visible", []), ("later", [])):
        memory = Memory(id=name, labels=labels)
        claim = Claim(memory_id=name, source_id=JANE, type="knows", target_id=ROE, confidence=0.9)
        await scoped.write(Batch(entities=people, memories=[memory], claims=[claim]))
        days.append(clock.now())
        clock.advance(days=1)
    engine = GraphSearchEngine(store=scoped)
    gate = no_secrets(by_signature=by_signature)
    created = [
        [each.relation.created_at for each in await engine.neighbors(JANE, gate=asked)] for asked in (None, gate)
    ]
    assert created == [[days[0]], [days[1]]]


@POLICIES
async def test_periods_that_something_hidden_joined_are_each_shown(scoped, clock, by_signature):
    """Jane lived in one place twice; a hidden memory states that she did all the time."""
    people = [Entity(id=each, type="person", name=f"number {each.int}") for each in (JANE, ROE)]
    stays = {"a": (90, 80), "b": (60, 50), "c": (40, 30)}
    for name, labels, start, end in (
        *((name, (), start, end) for name, (start, end) in stays.items()),
        ("hidden", ["secret"], 100, 45),
    ):
        claim = Claim(
            memory_id=name,
            source_id=JANE,
            type="visits",
            target_id=ROE,
            confidence=0.9,
            valid_from=days_ago(start),
            valid_to=days_ago(end),
        )
        await scoped.write(Batch(entities=people, memories=[Memory(id=name, labels=labels)], claims=[claim]))
        clock.advance(hours=1)
    curator = Curator(GraphSearchEngine(store=scoped), gate=no_secrets(by_signature=by_signature))
    shown = [
        (event.kind, event.at, event.relation.evidence, event.relation.created_at)
        for event in await curator.entity_timeline(JANE)
        if event.relation
    ]
    written = {memory.id: memory.created_at for memory in await scoped.get_memories(sorted(stays))}
    assert shown == [
        (kind, days_ago(at), (name,), written[name])
        for name, period in stays.items()
        for kind, at in zip((EventKind.STARTED, EventKind.ENDED), period, strict=True)
    ]
    stored = [each.id for each in await scoped.list_relations()]
    assert len(stored) == 2
    assert [len((await curator.why(id_)).proofs) for id_ in stored] == [1, 1]

"""Receipts of forgetting: what they prove, and what makes them fail."""

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator, Receipt
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import AccessDeniedError, InvalidInputError, PartialViewError, UnknownScopeError
from graphsearch.model import Action, Batch, Memory, MemoryLink
from graphsearch.testing.samples import claim
from tests.curation.team import ADA, BATCH, BOB, ENTITIES, FRIENDS, GREG, MEMORIES, SECRET, Labels, engine_over


@pytest.fixture
async def engine(scoped):
    return await engine_over(scoped)


async def test_a_receipt_names_counts_and_covers_what_went(engine, scoped):
    content = (
        await scoped.get_memories(["friends"]),
        await scoped.list_mentions(memory_ids=["friends"]),
        await scoped.list_claims(memory_ids=["friends"]),
    )
    curator = Curator(engine)
    receipt = await curator.forget_with_receipt("friends")
    assert (receipt.scope, receipt.at, receipt.memories) == (scoped.scope, scoped.clock.now(), ("friends",))
    assert receipt.removed["claims_removed"] == 1
    assert "owner" in receipt.by
    assert receipt.intact
    assert receipt.covers(*content)
    assert not receipt.covers(content[0], content[1], ())
    assert FRIENDS.text not in receipt.to_json()
    again = Receipt.from_json(receipt.to_json())
    assert again == receipt
    found = await curator.verify_receipt(again)
    assert (found.holds, found.left, found.again) == (True, {}, ())


async def test_a_changed_receipt_does_not_hold(engine):
    curator = Curator(engine)
    receipt = await curator.forget_with_receipt("friends")
    other = attrs.evolve(receipt, memories=("home",))
    assert not other.intact
    found = await curator.verify_receipt(other)
    assert (found.holds, found.intact, found.left["memories"]) == (False, False, 1)


async def test_what_is_left_or_written_again_is_found(engine, scoped, clock):
    curator = Curator(engine)
    receipt = await curator.forget_with_receipt("friends")
    untrue = attrs.evolve(receipt, memories=("home",), digest="")
    untrue = attrs.evolve(untrue, digest=untrue.expected())
    found = await curator.verify_receipt(untrue)
    assert found.intact
    assert not found.holds
    clock.advance(days=1)
    memory = Memory(id="friends", text="Told again.")
    await scoped.write(Batch(memories=(memory,), claims=(claim(memory, ADA, BOB),)))
    await scoped.link_memories([MemoryLink(from_id="friends", to_id="home")])
    found = await curator.verify_receipt(receipt)
    assert (found.holds, found.again) == (True, ("friends",))


async def test_receipts_are_checked_by_who_sees_their_scope(engine, scoped):
    curator = Curator(engine)
    receipt = await curator.forget_with_receipt("never")
    assert (receipt.memories, receipt.removed) == ((), {})
    await scoped.write(Batch(memories=(Memory(id="hidden", labels=(SECRET,)),)))
    with pytest.raises(PartialViewError):
        await Curator(engine, gate=Gate(Labels(), GREG)).verify_receipt(receipt)
    elsewhere = attrs.evolve(receipt, scope=attrs.evolve(receipt.scope, project_id="elsewhere"))
    with pytest.raises(InvalidInputError, match="scope"):
        await curator.verify_receipt(elsewhere)


async def test_a_removed_scope_leaves_a_receipt(engine, scoped, clock):
    content = [
        await scoped.list_memories(limit=100),
        await scoped.list_mentions(memory_ids=[each.id for each in MEMORIES]),
        await scoped.list_claims(memory_ids=[each.id for each in MEMORIES]),
    ]
    curator = Curator(engine)
    receipt = await curator.remove_scope()
    assert (receipt.whole, receipt.memories, receipt.left) == (True, (), {})
    assert (receipt.removed["memories"], receipt.removed["entities_removed"]) == (len(MEMORIES), len(ENTITIES))
    assert receipt.covers(*content)
    assert Receipt.from_json(receipt.to_json()) == receipt
    with pytest.raises(UnknownScopeError):
        await scoped.statistics()
    assert (await curator.verify_receipt(receipt)).holds
    clock.advance(days=1)
    await scoped.write(BATCH)  # somebody begins anew under the same name
    assert (await curator.verify_receipt(receipt)).holds
    late = attrs.evolve(receipt, at=clock.now(), digest="")
    assert (await curator.verify_receipt(late)).left["entities"] == len(ENTITIES)


async def test_a_scope_is_removed_by_who_sees_it_and_may_forget_all_of_it(engine, scoped):
    for gate, error in ((Gate(Labels(action="forget"), GREG), None), (Gate(Labels(), GREG), PartialViewError)):
        await scoped.write(Batch(memories=(Memory(id="hidden", labels=(SECRET,)),)))
        with pytest.raises(error or AccessDeniedError):
            await Curator(engine, gate=gate).remove_scope()
    assert (await scoped.statistics()).memories == len(MEMORIES) + 1
    nowhere = Curator(GraphSearchEngine(store=engine.store))
    assert (await nowhere.remove_scope()).removed
    assert (await nowhere.remove_scope()).removed == {}  # there is none


async def test_a_relation_that_was_retracted_is_among_what_must_be_forgotten(engine, scoped):
    memory = Memory(id="advice")
    await scoped.write(Batch(memories=(memory,), claims=(claim(memory, ADA, BOB, "advises"),)))
    await scoped.write(Batch(memories=(memory,)))  # which states it no more
    before = await scoped.statistics()

    class Keeping(Labels):
        async def authorize(self, principal, action, resources, *, scope):
            return [action is not Action.FORGET or each.type != "advises" for each in resources]

    with pytest.raises(AccessDeniedError):
        await Curator(engine, gate=Gate(Keeping(), GREG)).remove_scope()
    assert await scoped.statistics() == before


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": "1"}', '{"version": "graphsearch receipt 2"}'])
def test_what_is_no_receipt_is_refused(text):
    with pytest.raises(InvalidInputError, match="receipt"):
        Receipt.from_json(text)

"""Why the graph holds a relation."""

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.access.reader import reading
from graphsearch.curation import Curator
from graphsearch.errors import UnknownElementError
from graphsearch.model import Batch, Memory, Relation
from graphsearch.model.identity import relation_id
from graphsearch.testing.samples import claim, mention
from tests.curation.team import ACME, ADA, AGAIN, BATCH, BOB, FRIENDS, GLOBEX, GREG, SECRET, Labels, engine_over


async def relation(store, type):
    [found] = [each for each in await store.list_relations(entity_id=ADA.id) if each.type == type]
    return found


async def test_memories_words_patterns_and_how_they_add_up(scoped):
    curator = Curator(await engine_over(scoped))
    knows = await relation(scoped, "knows")
    found = await curator.why(knows.id)
    assert (found.source.id, found.relation, found.target.id, found.given) == (ADA.id, knows, BOB.id, 0.0)
    by_memory = {(each.memory.id, each.extractor): each for each in found.proofs}
    assert [each.memory.id for each in found.proofs] == ["again", "again", "friends"]
    surest, other, friends = by_memory["again", "rules/1"], by_memory["again", "other"], by_memory["friends", "rules/1"]
    assert (surest.quote, surest.pattern) == ("Ada knows Bob.", "knows")
    assert [each.claim and each.claim.confidence for each in found.proofs].count(0.5) == 2
    assert (other.quote, other.adds) == ("", 0.0)
    assert [surest.adds, friends.adds] == pytest.approx([0.6, 0.2])
    assert sum(each.adds for each in found.proofs) == pytest.approx(knows.confidence) == pytest.approx(0.8)
    assert (friends.memory.session_id, friends.memory.occurred_at) == ("s3", FRIENDS.occurred_at)


async def test_a_claim_may_name_no_pattern(scoped):
    curator = Curator(await engine_over(scoped))
    [proof] = (await curator.why((await relation(scoped, "lives_in")).id)).proofs
    assert (proof.extractor, proof.pattern) == ("rules/1", "")


async def test_co_occurrence_grows_with_each_memory_and_stays_below_its_cap(scoped):
    memories = [Memory(id=f"m{number}") for number in range(5)]
    claims = [claim(memory, ADA, BOB, "co_occurs", confidence=0.5) for memory in memories]
    claims.append(claim(memories[0], ADA, BOB, "co_occurs", confidence=0.3, extractor="z"))
    curator = Curator(await engine_over(scoped, Batch(entities=[ADA, BOB], memories=memories, claims=claims)))
    found = await curator.why((await relation(scoped, "co_occurs")).id)
    # 0.65 · (1 − (1 − 0.5 / 0.65) ^ n), for n of 1 to 5
    assert [each.adds for each in found.proofs] == pytest.approx(
        [0.5, 0.0, 0.115385, 0.026627, 0.006145, 0.001418], abs=1e-6
    )
    assert found.relation.confidence == pytest.approx(0.649574, abs=1e-6)


async def test_a_relation_that_was_given(scoped):
    given = Relation(source_id=ADA.id, type="admires", target_id=BOB.id, confidence=0.7, evidence=["m", "gone"])
    batch = Batch(entities=[ADA, BOB], relations=[given], memories=[Memory(id="m"), Memory(id="gone")])
    found = await Curator(await engine_over(scoped, batch)).why(given.id)
    assert found.given == 0.7
    assert [(each.memory.id, each.claim, each.quote, each.adds) for each in found.proofs] == [
        ("gone", None, "", 0.0),
        ("m", None, "", 0.0),
    ]


async def test_hidden_memories_prove_nothing(scoped):
    secret = [attrs.evolve(each, labels=(SECRET,)) if each == AGAIN else each for each in BATCH.memories]
    engine = await engine_over(scoped, attrs.evolve(BATCH, memories=secret))
    curator = Curator(engine, gate=Gate(Labels(), GREG))
    knows = await relation(scoped, "knows")
    found = await curator.why(knows.id)
    assert [each.memory.id for each in found.proofs] == ["friends"]
    assert (found.relation.id, found.relation.confidence, found.relation.evidence) == (knows.id, 0.5, ("friends",))
    await scoped.write(
        Batch(
            memories=[attrs.evolve(FRIENDS, labels=(SECRET,))],
            mentions=[mention(FRIENDS, ADA, surface="Countess")],
            claims=[claim(FRIENDS, ADA, BOB, "knows", confidence=0.5)],
        )
    )
    with pytest.raises(UnknownElementError, match=f"no relation {knows.id}"):
        await curator.why(knows.id)
    assert len((await Curator(engine).why(knows.id)).proofs) == 3


async def test_what_a_memory_states_of_another_target_proves_nothing(scoped):
    moved = Memory(id="moved", text="Ada works at two places.")
    works = [claim(moved, ADA, other, "works_at", confidence=0.7) for other in (ACME, GLOBEX)]
    engine = await engine_over(scoped, Batch(entities=[ADA, ACME, GLOBEX], memories=[moved], claims=works))
    for each in await scoped.list_relations(type="works_at"):
        found = await Curator(engine).why(each.id)
        assert [proof.claim and proof.claim.target_id for proof in found.proofs] == [each.target_id]


async def test_no_claim_of_a_hidden_memory_is_read(scoped):
    secret = [attrs.evolve(each, labels=(SECRET,)) if each == AGAIN else each for each in BATCH.memories]
    await engine_over(scoped, attrs.evolve(BATCH, memories=secret))
    async with reading(scoped, gate=Gate(Labels(), GREG)) as reader:
        assert {each.memory_id for each in await reader.claims(memory_ids=[AGAIN.id, FRIENDS.id])} == {FRIENDS.id}


async def test_what_is_not_there_has_no_reason(scoped):
    with pytest.raises(UnknownElementError, match="no relation"):
        await Curator(await engine_over(scoped)).why(relation_id(ADA.id, "likes", BOB.id, None))

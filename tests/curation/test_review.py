"""Pairs to review: visible entities that look like one, and visible relations that cannot both hold."""

from itertools import combinations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator, Verdict
from graphsearch.errors import AccessDeniedError, InvalidInputError, UnknownElementError
from graphsearch.health.duplicates import similar_names
from graphsearch.model import Batch, Entity, Memory, Outcome
from graphsearch.model.identity import relation_id
from graphsearch.names.likeness import Likeness
from graphsearch.testing.samples import claim, day, mention, person, ref, relation
from graphsearch.text.trigrams import similarity
from tests.curation.team import ADA, BOB, EVE, GREG, SECRET, Labels, engine_over
from tests.gates import POLICIES, no_secrets

FULL, SHORT, SLIP = (
    person("Christopher Montgomery"),
    person("Christopher Montgomerie"),
    person("Christopher Montgomerys"),
)
OTHER = person("Quentin Blake")
BATCH = Batch(entities=[FULL, SHORT, SLIP, OTHER, Entity(type="tool", name=FULL.name)])


def names(found):
    return [{each.one.name, each.other.name} for each in found]


async def test_pairs_of_one_type_the_most_alike_first(scoped):
    found = await Curator(await engine_over(scoped, BATCH)).find_duplicates(threshold=0.7)
    assert names(found)[0] == {FULL.name, SLIP.name}
    assert [each.similarity for each in found] == sorted((each.similarity for each in found), reverse=True)
    assert all(each.one.id < each.other.id for each in found)
    assert all((each.one.type != each.other.type) == (each.likeness is Likeness.TYPE) for each in found)
    assert found[0].similarity == similarity(FULL.name, SLIP.name)
    assert found[0].verdict is (Verdict.NEAR_CERTAIN if found[0].similarity > 0.92 else Verdict.REVIEW)


@given(st.sets(st.text(alphabet="abn ", min_size=1, max_size=8), max_size=8), st.sampled_from([0.6, 0.85]))
def test_similar_names_are_those_that_comparing_all_with_all_finds(some, threshold):
    names = {name for name in some if name.strip()}
    found = {frozenset((one, other)): score for one, other, score in similar_names(names, threshold) if one != other}
    every = {frozenset(pair): similarity(*pair) for pair in combinations(sorted(names), 2)}
    assert found == {pair: score for pair, score in every.items() if score >= threshold}


async def test_pairs_that_rules_find(scoped):
    people = [person(name) for name in ("Dmitri", "Dmitri Volkov", "Lizzie", "Elizabeth", "Ada Byron")]
    acme = [Entity(type=kind, name=name) for kind, name in (("organisation", "Acme"), ("tool", "acme"))]
    code = [Entity(type="function", name=f"store.{owner}.read") for owner in ("Memory", "Postgres", "Cached")]
    curator = Curator(await engine_over(scoped, Batch(entities=[*people, *acme, *code])))
    found = await curator.find_duplicates()
    assert [each.likeness for each in found] == [Likeness.PART, Likeness.PART, Likeness.TYPE]
    assert names(found) == [{"Lizzie", "Elizabeth"}, {"Dmitri", "Dmitri Volkov"}, {"Acme", "acme"}]
    assert {each.verdict for each in found} == {Verdict.REVIEW}
    assert await curator.find_duplicates(limit=2) == found[:2]
    assert await curator.find_duplicates(threshold=0.9) == ()
    await curator.mark_distinct("Dmitri", "Dmitri Volkov")
    assert await curator.find_duplicates() == (found[0], found[2])


async def test_a_pair_of_two_types_is_merged_in_one_step(scoped):
    acme = [Entity(type=kind, name=name) for kind, name in (("organisation", "Acme"), ("tool", "acme"))]
    curator = Curator(await engine_over(scoped, Batch(entities=acme)))
    [found] = await curator.find_duplicates()
    with pytest.raises(InvalidInputError, match="retype"):
        await curator.merge_entities(found.one.id, found.other.id)
    merge = await curator.merge_entities(acme[1].id, acme[0].id, retype=True)
    assert await curator.find_duplicates() == ()
    assert (await curator.recall_entity(acme[1].id)).entity.type == "organisation"
    await curator.undo_merge(merge.id)
    assert await curator.find_duplicates() == (found,)


async def test_a_hidden_namesake_makes_no_name_ambiguous(scoped):
    people = [person("Priya"), person("Priya Patel"), person("Priya Sharma", labels=(SECRET,))]
    engine = await engine_over(scoped, Batch(entities=people))
    assert await Curator(engine).find_duplicates() == ()
    found = await Curator(engine, gate=Gate(Labels(), GREG)).find_duplicates()
    assert names(found) == [{"Priya", "Priya Patel"}]


async def test_candidates_of_an_ambiguous_name_are_those_that_may_be_seen(scoped):
    called = [person(f"Priya {surname}", aliases=("Priya",)) for surname in ("Patel", "Sharma")]
    people = [person("Priya"), *called, person("Priya Rao")]
    hidden = person("Priya Lind", labels=(SECRET,))
    engine = await engine_over(scoped, Batch(entities=[*people, hidden]))
    curator, gated = Curator(engine), Curator(engine, gate=Gate(Labels(), GREG))
    [found] = await curator.find_ambiguous()
    assert found.entity.name == "Priya"
    assert [each.name for each in found.candidates] == ["Priya Lind", "Priya Patel", "Priya Rao", "Priya Sharma"]
    assert await curator.find_duplicates() == ()  # though one of them is called so, too
    [seen] = await gated.find_ambiguous()
    assert [each.name for each in seen.candidates] == ["Priya Patel", "Priya Rao", "Priya Sharma"]
    assert await curator.find_ambiguous(limit=0) == ()
    await curator.mark_distinct(people[0].id, people[2].id)
    assert len((await curator.find_ambiguous())[0].candidates) == 3
    merge = await curator.merge_entities(people[0].id, people[1].id)
    assert await curator.find_ambiguous() == ()
    await curator.undo_merge(merge.id)
    assert len(await curator.find_ambiguous()) == 1


async def test_near_certain_and_for_review(scoped):
    twins = [person("Anna Maria Elisabeth Bachmann"), person("Anna-Maria Elisabeth Bachmann")]
    curator = Curator(await engine_over(scoped, Batch(entities=[FULL, SLIP, *twins])))
    found = await curator.find_duplicates()
    assert [each.verdict for each in found] == [Verdict.NEAR_CERTAIN, Verdict.REVIEW]
    assert names(await curator.find_duplicates(limit=1)) == [{each.name for each in twins}]
    assert await curator.find_duplicates(limit=0) == ()
    assert await curator.find_duplicates(threshold=1.0) == ()  # above it


async def test_what_is_known_to_be_two_or_one_is_left_out(scoped):
    curator = Curator(await engine_over(scoped, Batch(entities=[FULL, SLIP])))
    assert len(await curator.find_duplicates()) == 1
    assert await curator.mark_distinct(FULL.name, SLIP.id)
    assert not await curator.mark_distinct(SLIP.id, FULL.id)
    assert await curator.find_duplicates() == ()
    assert await curator.mark_distinct(FULL.id, SLIP.id, distinct=False)
    await curator.merge_entities(SLIP.id, FULL.id)
    assert await curator.find_duplicates() == ()


async def test_bad_input(scoped):
    curator = Curator(await engine_over(scoped, BATCH))
    for limit, threshold in ((-1, 0.9), (5, 0.5), (5, 1.1)):
        with pytest.raises(InvalidInputError):
            await curator.find_duplicates(limit=limit, threshold=threshold)
    with pytest.raises(InvalidInputError, match="itself"):
        await curator.mark_distinct(FULL.id, FULL.id)
    with pytest.raises(UnknownElementError):
        await curator.mark_distinct(FULL.id, "Nobody")


async def test_hidden_pairs_take_no_place(scoped):
    hidden = [person(f"Christopher Montgomery{end}", labels=(SECRET,)) for end in ("", "s", "y", "ie")]
    twins = [person("Anna Maria Bachmann"), person("Anna Maria Bachmanns")]
    engine = await engine_over(scoped, Batch(entities=[*hidden, *twins]))
    assert len(await Curator(engine).find_duplicates(limit=2, threshold=0.7)) == 2
    found = await Curator(engine, gate=Gate(Labels(), GREG)).find_duplicates(limit=2, threshold=0.7)
    assert names(found) == [{each.name for each in twins}]


async def test_a_name_known_from_a_hidden_memory_alone_makes_no_duplicate(scoped):
    memory = Memory(id="m", labels=(SECRET,))
    batch = Batch(
        entities=[FULL, OTHER], memories=[memory], mentions=[mention(memory, OTHER, surface="Christopher Montgomery")]
    )
    engine = await engine_over(scoped, batch)
    assert [each.similarity for each in await Curator(engine).find_duplicates()] == [1.0]
    assert await Curator(engine, gate=Gate(Labels(), GREG)).find_duplicates() == ()


async def test_marking_touches_both(scoped):
    engine = await engine_over(scoped, Batch(entities=[FULL, attrs.evolve(SLIP, labels=(SECRET,))]))
    with pytest.raises(AccessDeniedError, match="write is denied"):
        await Curator(engine, gate=Gate(Labels(action="write"), GREG)).mark_distinct(FULL.id, SLIP.id)
    assert await scoped.distinct_pairs([FULL.id]) == []


CONTRADICTING = Batch(
    entities=[ADA, BOB, EVE],
    memories=[Memory(id=key, occurred_at=day(1)) for key in ("m1", "m2", "m3")],
    claims=[
        claim("m1", ADA, BOB, "reports_to", valid_from=day(1)),
        claim("m2", ADA, EVE, "reports_to", valid_from=day(1)),
        claim("m3", BOB, EVE, "reports_to", valid_from=day(1)),
    ],
)


async def test_contradictions_are_listed(scoped):
    [found] = await Curator(await engine_over(scoped, CONTRADICTING)).contradictions()
    assert (found.source_id, found.type, found.valid_from) == (ADA.id, "reports_to", day(1))
    assert {found.one.target_id, found.other.target_id} == {BOB.id, EVE.id}
    assert [each.id for each in found.ends] == [ADA.id, found.one.target_id, found.other.target_id]
    assert await Curator(await engine_over(scoped, Batch())).contradictions(limit=0) == ()


async def test_contradictions_come_by_source_type_and_id_up_to_a_limit(scoped):
    types = ("lives_in", "works_at")
    given = [relation(source, end, name) for source in (ADA, BOB) for name in types for end in (EVE, FULL, OTHER)]
    learnt = [ref(each) for each in given]
    engine = await engine_over(scoped, Batch(entities=[ADA, BOB, EVE, FULL, OTHER], relations=given))
    await scoped.apply_outcome("s", Outcome.ACCEPTED, learnt)
    expected = [
        pair
        for group in sorted({(each.source_id, each.type) for each in given})
        for pair in combinations(sorted(each.id for each in given if (each.source_id, each.type) == group), 2)
    ]
    found = await Curator(engine).contradictions(limit=50)
    assert [(each.one.id, each.other.id) for each in found] == expected
    assert {each.one.feedback_weight for each in found} == {0.55}
    assert await Curator(engine).contradictions(limit=5) == found[:5]


async def test_what_comes_one_after_the_other_or_is_retracted_contradicts_nothing(scoped):
    touching = (
        relation(ADA, BOB, "lives_in", valid_to=day(5)),
        relation(ADA, EVE, "lives_in", valid_from=day(5)),
        relation(BOB, ADA, "lives_in"),
        relation(BOB, EVE, "lives_in", created_at=day(0), retracted_at=day(1)),
        relation(EVE, ADA, "lives_in", valid_from=day(1), valid_to=day(9)),
        relation(EVE, BOB, "lives_in", valid_from=day(5)),
    )
    engine = await engine_over(scoped, Batch(entities=[ADA, BOB, EVE], relations=touching))
    (found,) = await Curator(engine).contradictions()
    assert (found.source_id, found.valid_from, found.valid_to) == (EVE.id, day(5), day(9))


@pytest.mark.parametrize("hidden", ["memory", "entity"])
async def test_what_is_hidden_contradicts_nothing(scoped, hidden):
    await scoped.write(CONTRADICTING)
    zoe, yan, xia = (person(name) for name in ("Zoe", "Yan", "Xia"))
    secret = (SECRET,)
    batch = Batch(
        entities=[zoe, yan, attrs.evolve(xia, labels=secret if hidden == "entity" else ())],
        memories=[
            Memory(id="n1", occurred_at=day(1)),
            Memory(id="n2", occurred_at=day(1), labels=secret if hidden == "memory" else ()),
        ],
        claims=[claim("n1", zoe, yan, "reports_to"), claim("n2", zoe, xia, "reports_to")],
    )
    engine = await engine_over(scoped, batch)
    curator = Curator(engine, gate=Gate(Labels(), GREG))
    assert {each.source_id for each in await Curator(engine).contradictions()} == {ADA.id, zoe.id}
    assert [each.source_id for each in await curator.contradictions()] == [ADA.id]
    assert [each.source_id for each in await curator.contradictions(limit=1)] == [ADA.id]


async def test_evidence_that_is_hidden_may_settle_a_contradiction(scoped):
    batch = Batch(
        entities=[ADA, BOB, EVE],
        memories=[Memory(id="m1", occurred_at=day(1)), Memory(id="m2", occurred_at=day(1), labels=(SECRET,))],
        claims=[
            claim("m1", ADA, BOB, "reports_to", valid_from=day(1), valid_to=day(1)),
            claim("m2", ADA, BOB, "reports_to", valid_from=day(1), valid_to=day(9)),
            claim("m1", ADA, EVE, "reports_to", valid_from=day(1)),
        ],
    )
    engine = await engine_over(scoped, batch)
    everything = await Curator(engine).contradictions()
    assert len(everything) == 1
    assert await Curator(engine, gate=Gate(Labels(), GREG)).contradictions() == ()


@POLICIES
async def test_what_something_hidden_settled_contradicts_each_other_without_it(scoped, by_signature):
    memories = [Memory(id="seen", occurred_at=day(9)), Memory(id="hidden", occurred_at=day(8), labels=(SECRET,))]
    visible = [
        claim("seen", one, other, "reports_to", valid_from=day(1))
        for one, *others in ((ADA, BOB, EVE), (BOB, ADA, EVE))
        for other in others
    ]
    over = {"valid_from": day(1), "valid_to": day(1)}
    settling = [claim("hidden", one, other, "reports_to", **over) for one, other in ((ADA, BOB), (BOB, EVE))]
    engine = await engine_over(scoped, Batch(entities=[ADA, BOB, EVE], memories=memories, claims=[*visible, *settling]))
    assert await Curator(engine).contradictions() == ()  # one of both was over at once
    curator = Curator(engine, gate=no_secrets(by_signature=by_signature))
    found = await curator.contradictions()
    assert found == await curator.contradictions(limit=2)
    assert await curator.contradictions(limit=1) == found[:1]
    proofs = sorted(
        visible, key=lambda each: (each.source_id, relation_id(each.source_id, each.type, each.target_id, day(1)))
    )
    shown = [relation for each in found for relation in (each.one, each.other)]
    assert [(each.source_id, each.target_id) for each in shown] == [(each.source_id, each.target_id) for each in proofs]
    assert {(each.valid_from, each.valid_to, each.evidence) for each in shown} == {(day(1), None, ("seen",))}

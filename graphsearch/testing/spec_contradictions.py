"""Contradictions: conflicting claims of equal rank are listed, never silently dropped."""

from __future__ import annotations

from itertools import combinations

import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.model import Memory, Outcome, RelationType
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import ADA, BOB, EVE, claim, day, person, put, ref, relation
from graphsearch.testing.spec import StoreSpec

ZOE = person("Zoe")
PEOPLE = (ADA, BOB, EVE, ZOE)


class ContradictionsSpec(StoreSpec):
    """`contradictions`."""

    async def test_two_targets_from_one_instant_on_contradict_each_other(self, store: GraphStore) -> None:
        one, two = (Memory(id=key, occurred_at=day(1)) for key in ("one", "two"))
        claims = (claim(one, ADA, BOB, "reports_to"), claim(two, ADA, EVE, "reports_to"), claim(two, BOB, EVE, "knows"))
        await put(store, *PEOPLE, one, two, *claims)
        (found,) = await store.contradictions()
        assert (found.source_id, found.type) == (ADA.id, "reports_to")
        assert found.one.id < found.other.id
        assert {found.one.target_id, found.other.target_id} == {BOB.id, EVE.id}
        assert {*found.one.evidence, *found.other.evidence} == {"one", "two"}
        assert (found.valid_from, found.valid_to) == (day(1), None)

    async def test_a_later_claim_ends_both_and_leaves_the_contradiction_in_the_past(self, store: GraphStore) -> None:
        one, two, late = (Memory(id=key, occurred_at=day(each)) for key, each in (("one", 1), ("two", 1), ("late", 9)))
        claims = [claim(each, ADA, end, "works_at") for each, end in ((one, BOB), (two, EVE), (late, ZOE))]
        await put(store, *PEOPLE, one, two, late, *claims)
        (found,) = await store.contradictions()
        assert (found.valid_from, found.valid_to) == (day(1), day(9))

    async def test_what_comes_one_after_the_other_contradicts_nothing(self, store: GraphStore) -> None:
        one, two = (Memory(id=key, occurred_at=day(each)) for key, each in (("one", 1), ("two", 2)))
        claims = [
            claim(each, ADA, end, name) for each, end in ((one, BOB), (two, EVE)) for name in ("works_at", "knows")
        ]
        again = claim(two, BOB, EVE, "lives_in", valid_from=day(20))
        touching = (
            relation(ADA, BOB, "lives_in", valid_to=day(5)),
            relation(ADA, EVE, "lives_in", valid_from=day(5)),
            relation(BOB, EVE, "lives_in", valid_to=day(5)),
        )
        await put(store, *PEOPLE, one, two, *claims, again, *touching)
        assert await store.contradictions() == []

    async def test_given_relations_that_overlap_are_listed_too(self, store: GraphStore) -> None:
        given = (
            relation(ADA, BOB, "lives_in", valid_from=day(1), valid_to=day(9)),
            relation(ADA, EVE, "lives_in", valid_from=day(5)),
        )
        await put(store, *PEOPLE, *given)
        (found,) = await store.contradictions()
        assert (found.valid_from, found.valid_to) == (day(5), day(9))

    async def test_what_is_retracted_contradicts_nothing(self, store: GraphStore) -> None:
        gone = relation(ADA, BOB, "lives_in", created_at=day(0), retracted_at=day(1))
        await put(store, *PEOPLE, gone, relation(ADA, EVE, "lives_in"))
        assert await store.contradictions() == []

    async def test_forgetting_resolves_a_contradiction(self, store: GraphStore) -> None:
        one, two = (Memory(id=key, occurred_at=day(1)) for key in ("one", "two"))
        claims = (claim(one, ADA, BOB, "works_at"), claim(two, ADA, EVE, "works_at"))
        await put(store, *PEOPLE, one, two, *claims)
        await store.forget(["two"])
        assert await store.contradictions() == []

    async def test_a_type_that_becomes_functional_has_contradictions(self, store: GraphStore) -> None:
        given = [relation(ADA, end, "married_to") for end in (BOB, EVE)]
        await put(store, *PEOPLE, *given)
        assert await store.contradictions() == []
        await store.register_types([RelationType(name="married_to", functional=True)])
        assert len(await store.contradictions()) == 1
        await store.register_types([RelationType(name="married_to")])
        assert await store.contradictions() == []

    async def test_they_come_by_source_type_and_id_up_to_a_limit(self, store: GraphStore) -> None:
        types = ("lives_in", "works_at")
        given = [relation(source, end, name) for source in (ADA, BOB) for name in types for end in (BOB, EVE, ZOE)]
        await put(store, *PEOPLE, *given)
        groups = sorted({(each.source_id, each.type) for each in given})
        expected = [
            pair
            for group in groups
            for pair in combinations(sorted(each.id for each in given if (each.source_id, each.type) == group), 2)
        ]
        found = await store.contradictions()
        assert [(each.one.id, each.other.id) for each in found] == expected
        assert await store.contradictions(limit=5) == found[:5]
        assert await store.contradictions(limit=0) == []
        with pytest.raises(InvalidInputError):
            await store.contradictions(limit=-1)

    async def test_they_carry_learnt_weights(self, store: GraphStore) -> None:
        given = [relation(ADA, end, "lives_in") for end in (BOB, EVE)]
        await put(store, *PEOPLE, *given)
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(each) for each in given])
        (found,) = await store.contradictions()
        assert (found.one.feedback_weight, found.other.feedback_weight) == (0.55, 0.55)

"""Who writes at once, and logs that are gone. Beside the conformance suite."""

from __future__ import annotations

import asyncio
import random

import pytest

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.errors import ForeignSessionError
from graphsearch.model import (
    ElementKind,
    ElementRef,
    FeedbackReport,
    Memory,
    Outcome,
)
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.samples import ADA, BOB, EVE, claim, day, injection, person, put, ref
from graphsearch.testing.spec import FreshScope, StoreSpec
from graphsearch.testing.spec_learning import LINK, NOTE, REFS, folded, read_weights, write_elements
from tests.stores.on_both import InMemory, InPostgres


class RacesDetails(StoreSpec):
    """Who writes at once, and logs that are gone."""

    @pytest.mark.parametrize("seed", range(2))
    async def test_any_interleaving_equals_the_fold_of_the_history(self, fresh: FreshScope, seed: int) -> None:
        rng = random.Random(seed)  # noqa: S311 - the order of a test
        store = await write_elements(fresh())
        for _ in range(25):
            session = f"s{rng.randrange(6)}"
            await store.apply_outcome(session, rng.choice(list(Outcome)), rng.sample(REFS, rng.randint(1, 5)))
            assert all(0 <= weight <= 1 for weight in await read_weights(store))
        assert await read_weights(store) == pytest.approx(await folded(store), abs=1e-9)

    async def test_eight_writers_of_claims_at_once_lose_nothing(self, store: GraphStore) -> None:
        await write_elements(store)

        async def writer(number: int) -> None:
            for turn in range(3):
                memory = Memory(id=f"m{number}-{turn}", text="same words", occurred_at=day(number * 10 + turn))
                await put(store, memory, claim(memory, ADA, EVE), claim(memory, BOB, EVE))

        await asyncio.gather(*(writer(number) for number in range(8)))
        (folded,) = [
            each for each in await store.list_relations() if each.source_id == ADA.id and each.target_id == EVE.id
        ]
        assert len(folded.evidence) == 24
        assert folded.supported_at == day(72)
        assert (await store.statistics()).claims == 48

    async def test_a_session_whose_log_is_empty_keeps_its_owner(self, store: GraphStore) -> None:
        await write_elements(store)
        await store.log_injection(injection("a", "s", 1, ref(NOTE)))
        await store.forget([NOTE.id])
        with pytest.raises(ForeignSessionError):
            await store.log_injection(injection("b", "s", 2, ref(ADA), principal="User:bob"))
        assert await store.injections("s") == [injection("a", "s", 1)]

    async def test_an_id_logged_for_another_session_opens_none(self, store: GraphStore) -> None:
        await write_elements(store)
        await store.log_injection(injection("a", "s", 1))
        await store.log_injection(injection("a", "t", 1))
        assert await store.injections("t") == []
        free = injection("b", "t", 1, principal="User:bob")
        await store.log_injection(free)
        assert await store.injections("t") == [free]
        with pytest.raises(ForeignSessionError):
            await store.log_injection(injection("a", "t", 1))

    async def test_an_outcome_of_a_removed_scope_does_not_reach_the_one_made_anew(self, store: GraphStore) -> None:
        await write_elements(store)
        for each in (injection("i1", "s", 1, *REFS), injection("i2", "s", 2, REFS[0]), injection("i3", "t", 3)):
            await store.log_injection(each)
        assert (await store.apply_outcome("s", Outcome.REJECTED, REFS, logged=["i1", "i2"])).applied == REFS
        await store.remove_scope()
        await write_elements(store)
        await store.log_injection(injection("i2", "s", 2, REFS[0]))
        for logged in (["i1", "i2"], ["i1"], ["i3"], ["i2", "\0"]):
            report = await store.apply_outcome("s", Outcome.ACCEPTED, [*REFS, REFS[0]], logged=logged)
            assert report == FeedbackReport(missing=tuple(sorted(REFS)))
        assert await store.outcomes(REFS) == []
        assert set(await read_weights(store)) == {0.5}
        assert (await store.apply_outcome("s", Outcome.ACCEPTED, REFS[:1], logged=["i2"])).applied == REFS[:1]

    async def test_of_principals_who_open_a_session_at_once_one_wins(self, store: GraphStore) -> None:
        await write_elements(store)

        async def opened(session: str, principal: str, key: str) -> str | None:
            try:
                await store.log_injection(injection(key, session, 1, principal=principal))
            except ForeignSessionError:
                return None
            return principal

        for number in range(12):
            session = f"s{number}"
            attempts = [(f"User:{name}", f"{session} {name} {turn}") for name in "abcd" for turn in (0, 0, 1)]
            random.Random(number).shuffle(attempts)  # noqa: S311 - the order of a test
            found = await asyncio.gather(*(opened(session, principal, key) for principal, key in attempts))
            owner, *others = {principal for principal in found if principal is not None}
            assert others == []
            assert found == [principal if principal == owner else None for principal, _ in attempts]
            assert {(each.id, each.principal) for each in await store.injections(session)} == {
                (key, principal) for principal, key in attempts if principal == owner
            }

    async def test_each_outcome_moves_a_weight_by_a_tenth_of_the_way(self, store: GraphStore) -> None:
        await write_elements(store)
        await store.apply_outcome("s1", Outcome.ACCEPTED, [ref(ADA)])
        await store.apply_outcome("s2", Outcome.REWORK, [ref(BOB)])
        report = await store.apply_outcome("s3", Outcome.REJECTED, [ref(LINK), ref(NOTE), ref(EVE)])
        assert report == FeedbackReport(applied=tuple(sorted((ref(LINK), ref(NOTE), ref(EVE)))))
        assert await read_weights(store) == pytest.approx([0.55, 0.5, 0.45, 0.45, 0.45], abs=1e-9)

    async def test_a_weight_starts_from_what_was_written(self, store: GraphStore) -> None:
        await put(store, person("Ada", feedback_weight=1.0), BOB)
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA)])
        await store.apply_outcome("t", Outcome.REJECTED, [ref(ADA)])
        assert [each.feedback_weight for each in await store.get_entities([ADA.id])] == [pytest.approx(0.9)]

    async def test_history_is_ordered_by_element_and_place(self, store: GraphStore) -> None:
        await write_elements(store)
        for session in ("z", "a", "m"):
            await store.apply_outcome(session, Outcome.ACCEPTED, REFS)
        records = await store.outcomes(REFS[::-1])
        assert [(each.element, each.seq, each.session_id) for each in records] == [
            (element, seq, session) for element in sorted(REFS) for seq, session in enumerate(("z", "a", "m"), start=1)
        ]

    async def test_each_element_of_a_session_has_its_own_report(self, store: GraphStore) -> None:
        await write_elements(store)
        absent = (ref(person("Absent")), ElementRef(ElementKind.MEMORY, "absent"), ElementRef(ElementKind.MEMORY, "\0"))
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA), ref(NOTE)])
        await store.apply_outcome("s", Outcome.REJECTED, [ref(BOB)])
        report = await store.apply_outcome("s", Outcome.REJECTED, [*REFS[::-1], *absent])
        assert report == FeedbackReport(
            applied=tuple(sorted((ref(EVE), ref(LINK)))),
            replaced=tuple(sorted((ref(ADA), ref(NOTE)))),
            repeated=(ref(BOB),),
            missing=tuple(sorted(absent)),
        )
        assert await read_weights(store) == pytest.approx([0.45] * 5, abs=1e-9)
        assert [each.seq for each in await store.outcomes(REFS)] == [1] * 5


class TestInMemory(InMemory, RacesDetails):
    pass


class TestPostgres(InPostgres, RacesDetails):
    pass

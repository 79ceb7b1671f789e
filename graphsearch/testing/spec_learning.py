"""Learning: a weight is the fold of its outcomes, exactly once per session, after any interleaving."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest

from graphsearch.errors import ForeignSessionError
from graphsearch.model import Entity, FeedbackReport, Memory, Outcome, OutcomeRecord, Relation
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.samples import ADA, BOB, EVE, injection, put, ref, relation
from graphsearch.testing.spec import StoreSpec

NOTE = Memory(id="note: 1%")
LINK = relation(ADA, BOB)
ELEMENTS: Sequence[Entity | Relation | Memory] = (ADA, BOB, EVE, NOTE, LINK)
REFS = tuple(ref(each) for each in ELEMENTS)
ALPHA = 0.1


async def read_weights(store: GraphStore) -> list[float]:
    """The feedback weights of the elements, in order."""
    elements: list[Entity | Relation | Memory] = [
        *await store.get_entities([ADA.id, BOB.id, EVE.id]),
        *await store.get_memories([NOTE.id]),
        *await store.get_relations([LINK.id]),
    ]
    return [each.feedback_weight for each in elements]


async def folded(store: GraphStore) -> list[float]:
    """The weights recomputed from the history."""
    weights = dict.fromkeys(REFS, 0.5)
    for record in await store.outcomes(REFS):
        weights[record.element] = ALPHA * record.outcome.value + (1 - ALPHA) * weights[record.element]
    return list(weights.values())


async def write_elements(store: GraphStore) -> GraphStore:
    """Write the elements that outcomes are about."""
    await put(store, ADA, BOB, EVE, NOTE, LINK)
    return store


class LearningSpec(StoreSpec):
    """`apply_outcome`, `outcomes`, `log_injection`, `injections`."""

    async def test_a_session_counts_once_and_may_change_its_mind(self, store: GraphStore) -> None:
        await write_elements(store)
        await store.apply_outcome("s1", Outcome.ACCEPTED, [ref(ADA), ref(ADA)])
        await store.apply_outcome("s2", Outcome.REJECTED, [ref(ADA)])
        assert (await read_weights(store))[0] == pytest.approx(0.495, abs=1e-9)
        repeated = await store.apply_outcome("s1", Outcome.ACCEPTED, [ref(ADA)])
        assert repeated == FeedbackReport(repeated=(ref(ADA),))
        assert (await read_weights(store))[0] == pytest.approx(0.495, abs=1e-9)
        replaced = await store.apply_outcome("s1", Outcome.REJECTED, [ref(ADA)])
        assert replaced == FeedbackReport(replaced=(ref(ADA),))
        assert (await read_weights(store))[0] == pytest.approx(0.405, abs=1e-9)
        assert await store.outcomes([ref(ADA)]) == [
            OutcomeRecord(element=ref(ADA), session_id="s1", seq=1, outcome=Outcome.REJECTED),
            OutcomeRecord(element=ref(ADA), session_id="s2", seq=2, outcome=Outcome.REJECTED),
        ]

    async def test_eight_writers_at_once_lose_nothing(self, store: GraphStore) -> None:
        await write_elements(store)

        async def session(number: int) -> None:
            rng = random.Random(number)
            for turn in range(6):
                refs = rng.sample(REFS, len(REFS))
                await store.apply_outcome(f"s{number}-{turn}", rng.choice(list(Outcome)), refs)
                await store.apply_outcome(f"s{number}-{turn // 2}", rng.choice(list(Outcome)), refs)

        await asyncio.gather(*(session(number) for number in range(8)))
        records = await store.outcomes(REFS)
        assert len(records) == 8 * 6 * len(REFS)
        for element in REFS:
            own = [each.seq for each in records if each.element == element]
            assert own == list(range(1, 49))
        assert await read_weights(store) == pytest.approx(await folded(store), abs=1e-9)

    # -- what was surfaced ---------------------------------------------------------------------------------------

    async def test_injections_are_stored_once_and_listed_oldest_first(self, store: GraphStore) -> None:
        await write_elements(store)
        late, early = injection("a", "s_", 2, *REFS), injection("b", "s_", 1, REFS[0])
        other = injection("c", "sx", 1)
        for each in (late, early, other, injection("a", "s_", 9)):
            await store.log_injection(each)
        assert await store.injections("s_") == [early, late]
        assert await store.injections("sx") == [other]
        assert await store.injections("s") == await store.injections("S_") == []

    # -- whose a session is --------------------------------------------------------------------------------------

    @pytest.mark.parametrize("other", ["User:bob", "Agent:ada", "User:ada ", "User:Ada", "User:ad", "ada"])
    async def test_a_session_belongs_to_the_principal_who_opened_it(self, store: GraphStore, other: str) -> None:
        await write_elements(store)
        first, second = injection("b", "s", 2, REFS[0]), injection("a", "s", 1, REFS[1])
        await store.log_injection(first)
        earlier = injection("0", "s", 0, *REFS, principal=other)
        for _ in range(2):
            with pytest.raises(ForeignSessionError, match="'s'") as refused:
                await store.log_injection(earlier)
            assert refused.value.session_id == "s"
            assert "ada" not in str(refused.value)
        await store.log_injection(first)
        await store.log_injection(second)
        assert await store.injections("s") == [second, first]
        await store.log_injection(injection("0", "t", 0, principal=other))
        with pytest.raises(ForeignSessionError):
            await store.log_injection(injection("c", "t", 1))

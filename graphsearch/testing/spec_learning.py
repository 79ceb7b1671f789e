"""Learning: a weight is the fold of its outcomes, exactly once per session, after any interleaving."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest

from graphsearch.errors import ForeignSessionError
from graphsearch.model import (
    ElementKind,
    ElementRef,
    Entity,
    FeedbackReport,
    Injection,
    Memory,
    Outcome,
    OutcomeRecord,
    Relation,
)
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import ADA, BOB, EVE, claim, day, person, put, ref, relation
from graphsearch.testing.spec import FreshScope, StoreSpec

NOTE = Memory(id="note: 1%")
LINK = relation(ADA, BOB)
ELEMENTS: Sequence[Entity | Relation | Memory] = (ADA, BOB, EVE, NOTE, LINK)
REFS = tuple(ref(each) for each in ELEMENTS)
ALPHA = 0.1


async def _weights(store: GraphStore) -> list[float]:
    elements: list[Entity | Relation | Memory] = [
        *await store.get_entities([ADA.id, BOB.id, EVE.id]),
        *await store.get_memories([NOTE.id]),
        *await store.get_relations([LINK.id]),
    ]
    return [each.feedback_weight for each in elements]


async def _folded(store: GraphStore) -> list[float]:
    """The weights recomputed from the history."""
    weights = dict.fromkeys(REFS, 0.5)
    for record in await store.outcomes(REFS):
        weights[record.element] = ALPHA * record.outcome.value + (1 - ALPHA) * weights[record.element]
    return list(weights.values())


async def _ready(store: GraphStore) -> GraphStore:
    await put(store, ADA, BOB, EVE, NOTE, LINK)
    return store


def _injection(id: str, session: str, hours: float, *elements: ElementRef, principal: str = "User:ada") -> Injection:
    return Injection(
        id=id, session_id=session, principal=principal, created_at=day(hours / 24), tokens=12, elements=elements
    )


class LearningSpec(StoreSpec):
    """`apply_outcome`, `outcomes`, `log_injection`, `injections`."""

    async def test_each_outcome_moves_a_weight_by_a_tenth_of_the_way(self, store: GraphStore) -> None:
        await _ready(store)
        await store.apply_outcome("s1", Outcome.ACCEPTED, [ref(ADA)])
        await store.apply_outcome("s2", Outcome.REWORK, [ref(BOB)])
        report = await store.apply_outcome("s3", Outcome.REJECTED, [ref(LINK), ref(NOTE), ref(EVE)])
        assert report == FeedbackReport(applied=tuple(sorted((ref(LINK), ref(NOTE), ref(EVE)))))
        assert await _weights(store) == pytest.approx([0.55, 0.5, 0.45, 0.45, 0.45], abs=1e-9)

    async def test_a_session_counts_once_and_may_change_its_mind(self, store: GraphStore) -> None:
        await _ready(store)
        await store.apply_outcome("s1", Outcome.ACCEPTED, [ref(ADA), ref(ADA)])
        await store.apply_outcome("s2", Outcome.REJECTED, [ref(ADA)])
        assert (await _weights(store))[0] == pytest.approx(0.495, abs=1e-9)
        repeated = await store.apply_outcome("s1", Outcome.ACCEPTED, [ref(ADA)])
        assert repeated == FeedbackReport(repeated=(ref(ADA),))
        assert (await _weights(store))[0] == pytest.approx(0.495, abs=1e-9)
        replaced = await store.apply_outcome("s1", Outcome.REJECTED, [ref(ADA)])
        assert replaced == FeedbackReport(replaced=(ref(ADA),))
        assert (await _weights(store))[0] == pytest.approx(0.405, abs=1e-9)
        assert await store.outcomes([ref(ADA)]) == [
            OutcomeRecord(element=ref(ADA), session_id="s1", seq=1, outcome=Outcome.REJECTED),
            OutcomeRecord(element=ref(ADA), session_id="s2", seq=2, outcome=Outcome.REJECTED),
        ]

    async def test_each_element_of_a_session_has_its_own_report(self, store: GraphStore) -> None:
        await _ready(store)
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
        assert await _weights(store) == pytest.approx([0.45] * 5, abs=1e-9)
        assert [each.seq for each in await store.outcomes(REFS)] == [1] * 5

    async def test_a_weight_starts_from_what_was_written(self, store: GraphStore) -> None:
        await put(store, person("Ada", feedback_weight=1.0), BOB)
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA)])
        await store.apply_outcome("t", Outcome.REJECTED, [ref(ADA)])
        assert [each.feedback_weight for each in await store.get_entities([ADA.id])] == [pytest.approx(0.9)]

    async def test_history_is_ordered_by_element_and_place(self, store: GraphStore) -> None:
        await _ready(store)
        for session in ("z", "a", "m"):
            await store.apply_outcome(session, Outcome.ACCEPTED, REFS)
        records = await store.outcomes(REFS[::-1])
        assert [(each.element, each.seq, each.session_id) for each in records] == [
            (element, seq, session) for element in sorted(REFS) for seq, session in enumerate(("z", "a", "m"), start=1)
        ]

    @pytest.mark.parametrize("seed", range(2))
    async def test_any_interleaving_equals_the_fold_of_the_history(self, fresh: FreshScope, seed: int) -> None:
        rng = random.Random(seed)
        store = await _ready(fresh())
        for _ in range(25):
            session = f"s{rng.randrange(6)}"
            await store.apply_outcome(session, rng.choice(list(Outcome)), rng.sample(REFS, rng.randint(1, 5)))
            assert all(0 <= weight <= 1 for weight in await _weights(store))
        assert await _weights(store) == pytest.approx(await _folded(store), abs=1e-9)

    async def test_eight_writers_at_once_lose_nothing(self, store: GraphStore) -> None:
        await _ready(store)

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
        assert await _weights(store) == pytest.approx(await _folded(store), abs=1e-9)

    async def test_eight_writers_of_claims_at_once_lose_nothing(self, store: GraphStore) -> None:
        await _ready(store)

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

    # -- what was surfaced ---------------------------------------------------------------------------------------

    async def test_injections_are_stored_once_and_listed_oldest_first(self, store: GraphStore) -> None:
        await _ready(store)
        late, early = _injection("a", "s_", 2, *REFS), _injection("b", "s_", 1, REFS[0])
        other = _injection("c", "sx", 1)
        for each in (late, early, other, _injection("a", "s_", 9)):
            await store.log_injection(each)
        assert await store.injections("s_") == [early, late]
        assert await store.injections("sx") == [other]
        assert await store.injections("s") == await store.injections("S_") == []

    # -- whose a session is --------------------------------------------------------------------------------------

    @pytest.mark.parametrize("other", ["User:bob", "Agent:ada", "User:ada ", "User:Ada", "User:ad", "ada"])
    async def test_a_session_belongs_to_the_principal_who_opened_it(self, store: GraphStore, other: str) -> None:
        await _ready(store)
        first, second = _injection("b", "s", 2, REFS[0]), _injection("a", "s", 1, REFS[1])
        await store.log_injection(first)
        earlier = _injection("0", "s", 0, *REFS, principal=other)
        for _ in range(2):
            with pytest.raises(ForeignSessionError, match="'s'") as refused:
                await store.log_injection(earlier)
            assert refused.value.session_id == "s"
            assert "ada" not in str(refused.value)
        await store.log_injection(first)
        await store.log_injection(second)
        assert await store.injections("s") == [second, first]
        await store.log_injection(_injection("0", "t", 0, principal=other))
        with pytest.raises(ForeignSessionError):
            await store.log_injection(_injection("c", "t", 1))

    async def test_a_session_whose_log_is_empty_keeps_its_owner(self, store: GraphStore) -> None:
        await _ready(store)
        await store.log_injection(_injection("a", "s", 1, ref(NOTE)))
        await store.forget([NOTE.id])
        with pytest.raises(ForeignSessionError):
            await store.log_injection(_injection("b", "s", 2, ref(ADA), principal="User:bob"))
        assert await store.injections("s") == [_injection("a", "s", 1)]

    async def test_an_id_logged_for_another_session_opens_none(self, store: GraphStore) -> None:
        await _ready(store)
        await store.log_injection(_injection("a", "s", 1))
        await store.log_injection(_injection("a", "t", 1))
        assert await store.injections("t") == []
        free = _injection("b", "t", 1, principal="User:bob")
        await store.log_injection(free)
        assert await store.injections("t") == [free]
        with pytest.raises(ForeignSessionError):
            await store.log_injection(_injection("a", "t", 1))

    async def test_an_outcome_of_a_removed_scope_does_not_reach_the_one_made_anew(self, store: GraphStore) -> None:
        await _ready(store)
        for each in (_injection("i1", "s", 1, *REFS), _injection("i2", "s", 2, REFS[0]), _injection("i3", "t", 3)):
            await store.log_injection(each)
        assert (await store.apply_outcome("s", Outcome.REJECTED, REFS, logged=["i1", "i2"])).applied == REFS
        await store.remove_scope()
        await _ready(store)
        await store.log_injection(_injection("i2", "s", 2, REFS[0]))
        for logged in (["i1", "i2"], ["i1"], ["i3"], ["i2", "\0"]):
            report = await store.apply_outcome("s", Outcome.ACCEPTED, [*REFS, REFS[0]], logged=logged)
            assert report == FeedbackReport(missing=tuple(sorted(REFS)))
        assert await store.outcomes(REFS) == []
        assert set(await _weights(store)) == {0.5}
        assert (await store.apply_outcome("s", Outcome.ACCEPTED, REFS[:1], logged=["i2"])).applied == REFS[:1]

    async def test_of_principals_who_open_a_session_at_once_one_wins(self, store: GraphStore) -> None:
        await _ready(store)

        async def opened(session: str, principal: str, key: str) -> str | None:
            try:
                await store.log_injection(_injection(key, session, 1, principal=principal))
            except ForeignSessionError:
                return None
            return principal

        for number in range(12):
            session = f"s{number}"
            attempts = [(f"User:{name}", f"{session} {name} {turn}") for name in "abcd" for turn in (0, 0, 1)]
            random.Random(number).shuffle(attempts)
            found = await asyncio.gather(*(opened(session, principal, key) for principal, key in attempts))
            owner, *others = {principal for principal in found if principal is not None}
            assert others == []
            assert found == [principal if principal == owner else None for principal, _ in attempts]
            assert {(each.id, each.principal) for each in await store.injections(session)} == {
                (key, principal) for principal, key in attempts if principal == owner
            }

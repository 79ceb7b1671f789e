"""Keys, counts and columns. Beside the conformance suite."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import attrs
import numpy as np
import pytest

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.model import ElementKind, Memory, Outcome, Relation, RelationType
from graphsearch.model.signatures import entity_signature, memory_signature, relation_signature
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import NOON
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    claim,
    day,
    expanded,
    ids_of,
    matching,
    person,
    put,
    ref,
    relation,
    rows_of,
    signature_of,
    view,
)
from graphsearch.testing.spec import StoreSpec
from graphsearch.testing.spec_finding import HUB, MEMORY, SPOKES, relations_found
from graphsearch.text.bm25 import TermCounts
from tests.stores.on_both import InMemory, InPostgres


async def _scores(store: GraphStore, asked: str) -> list[float]:
    hits = await store.search_lexical(MEMORY, asked, limit=10, view=view())
    found: list[float] = hits.values.tolist()
    return found


class ColumnsDetails(StoreSpec):
    """Keys, counts and columns."""

    async def test_words_follow_what_is_written(self, store: GraphStore) -> None:
        await put(store, Memory(id="a", text="red green"), Memory(id="b", text="red"))
        await put(store, Memory(id="a", text="blue"))
        assert await matching(store, MEMORY, "green") == []
        assert await matching(store, MEMORY, "blue") == ["a"]
        before = await _scores(store, "red")
        await put(store, Memory(id="c", text="red"))
        await store.forget(["c"])
        assert await _scores(store, "red") == pytest.approx(before, rel=1e-6)

    async def test_keys_sort_as_ids_do(self, store: GraphStore) -> None:
        people = [person(f"P{number}") for number in range(50)]
        await put(store, *people)
        async with store.snapshot():
            hits = await store.locate([each.id for each in people], view=view())
            shuffled = np.random.default_rng(1).permutation(hits.keys)
            assert list(store.entity_ids(np.unique(shuffled))) == sorted(each.id for each in people)
            assert np.isin(shuffled, hits.keys[:10]).sum() == 10
            assert np.searchsorted(hits.keys, hits.keys).tolist() == list(range(50))

    async def test_elements_are_read_by_their_keys_as_by_their_ids(self, store: GraphStore) -> None:
        links = [relation(ADA, BOB, created_at=day(1)), relation(BOB, EVE, created_at=day(1))]
        pair = [Memory(id=id_, text="red", created_at=day(1)) for id_ in ("a", "b")]
        await put(store, ADA, BOB, EVE, *links, *pair)
        for learnt in (False, True):  # before and after feedback on some of them
            if learnt:
                await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA), ref(links[0]), ref(pair[0])])
            async with store.snapshot():
                entities = (await store.locate([ADA.id, BOB.id, EVE.id], view=view())).keys[::-1]
                relations = (await store.expand(entities, fan_out=9, view=view())).relations[:2]
                memories = (await store.search_lexical(MEMORY, "red", limit=9, view=view())).keys
                by_id = (
                    await store.get_entities(store.entity_ids(entities)),
                    await store.get_relations(store.relation_ids(relations)),
                    await store.get_memories(store.memory_ids(memories)),
                )
                for kind, keys, expected in zip(ElementKind, (entities, relations, memories), by_id, strict=True):
                    assert len(expected) == len(keys) > 1
                    assert list(await store.elements(kind, keys)) == list(expected)
                    assert list(await store.elements(kind, keys[:0])) == []

    async def test_given_counts_replace_the_numbers_of_documents_of_the_scope(self, store: GraphStore) -> None:
        texts = {"a": "red lamp", "b": "green lamp", "c": "red chair"}
        await put(store, *(Memory(id=key, text=text) for key, text in texts.items()))
        assert await matching(store, MEMORY, "red green") == ["b", "a", "c"]
        elsewhere = TermCounts(documents=100, containing={"red": 2, "green": 90})
        async with store.snapshot():
            hits = await store.search_lexical(MEMORY, "red green", limit=10, view=view(), counts=elsewhere)
            found = dict(zip(ids_of(store, MEMORY, hits), hits.values.tolist(), strict=True))
            same = TermCounts(documents=3, containing={"red": 2, "green": 1})
            own = await store.search_lexical(MEMORY, "red green", limit=10, view=view())
            given = await store.search_lexical(MEMORY, "red green", limit=10, view=view(), counts=same)
            assert given.values.tolist() == own.values.tolist()
        assert list(found) == ["a", "c", "b"]

    async def test_a_relation_within_the_frontier_is_found_from_either_side(self, store: GraphStore) -> None:
        link = relation(ADA, BOB)
        await put(store, ADA, BOB, link)
        async with expanded(store, ADA, BOB) as found:
            assert set(rows_of(store, found)) == {(ADA.id, True, link.id, BOB.id), (BOB.id, False, link.id, ADA.id)}

    async def test_nothing_is_found_from_nowhere(self, store: GraphStore) -> None:
        await put(store, ADA)
        async with store.snapshot():
            alone = await store.locate([ADA.id], view=view())
            for keys in (alone.keys, alone.keys[:0]):
                found = await store.expand(keys, fan_out=25, view=view())
                assert len(found) == len(found.relations) == len(found.holding) == 0
                assert store.entity_ids(found.far) == store.relation_ids(found.relations) == []
            assert await store.left_out(alone.keys, view=view()) == {}

    async def test_a_hub_gives_its_strongest_relations_in_each_direction(self, store: GraphStore) -> None:
        out = [relation(HUB, each, confidence=0.5 + number / 200) for number, each in enumerate(SPOKES)]
        into = [relation(each, HUB, confidence=0.5 + number / 200) for number, each in enumerate(SPOKES)]
        await put(store, HUB, *SPOKES, *out, *into)
        strongest = [*(each.id for each in out[:-11:-1]), *(each.id for each in into[:-11:-1])]
        assert await relations_found(store, HUB, fan_out=10) == strongest
        assert len(await relations_found(store, HUB, fan_out=1000)) == 120
        assert await relations_found(store, HUB, fan_out=0) == []

    async def test_strength_is_confidence_times_the_prior_of_the_type(self, store: GraphStore) -> None:
        strong = relation(ADA, BOB, "sure", confidence=0.8)
        weak = relation(ADA, EVE, "vague", confidence=1.0)
        await store.register_types([RelationType(name="vague", prior=0.5)])
        await put(store, ADA, BOB, EVE, strong, weak)
        assert await relations_found(store, ADA) == [strong.id, weak.id]
        await store.register_types([RelationType(name="vague", prior=0.9)])
        assert await relations_found(store, ADA) == [weak.id, strong.id]
        await store.register_types([RelationType(name="sure", prior=0.1)])
        assert await relations_found(store, ADA, fan_out=1) == [weak.id]

    async def test_relations_are_steps_from_source_to_target(self, store: GraphStore) -> None:
        memory = Memory(id="m", occurred_at=day(3))
        links = [relation(ADA, BOB, confidence=0.7), relation(EVE, ADA, confidence=0.4, valid_from=day(2))]
        claimed = claim(memory, BOB, EVE, "praised", confidence=0.9)
        await put(store, ADA, BOB, EVE, *links, memory, claimed)
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(links[0])])
        async with expanded(store, ADA, BOB, min_edge_confidence=0.0) as steps:
            keys = np.unique(steps.relations)
            for asked in (keys, keys[::-1], keys[:0]):
                found = await store.related(asked, view=view())
                stored = await store.get_relations(store.relation_ids(asked))
                assert rows_of(store, found) == [(each.source_id, True, each.id, each.target_id) for each in stored]
                assert found.confidence.tolist() == [each.confidence for each in stored]
                assert found.feedback.tolist() == [each.feedback_weight for each in stored]
                since = [each.supported_at or each.valid_from or each.created_at for each in stored]
                assert found.since.tolist() == [moment.timestamp() for moment in since if moment]
                assert found.holding.all()
                contents = await store.signatures([*found.signatures.tolist(), *found.far_signatures.tolist()])
                assert [contents[code].type for code in found.signatures.tolist()] == [each.type for each in stored]
                assert {contents[code] for code in found.far_signatures.tolist()} <= {entity_signature(ADA)}

    async def test_a_step_to_an_entity_that_does_not_hold_is_marked(self, store: GraphStore) -> None:
        past = person("Past", valid_to=day(5))
        await put(store, ADA, past, relation(ADA, past))
        async with expanded(store, ADA) as steps:
            keys = steps.relations
            assert (await store.related(keys, view=view())).holding.tolist() == [False]
            assert (await store.related(keys, view=view(day(4), NOON))).holding.tolist() == [True]

    async def test_columns_carry_what_scoring_needs(self, store: GraphStore) -> None:
        memory = Memory(id="m", labels=("private",), occurred_at=day(3))
        heavy = person("Heavy", importance_weight=0.9, labels=("x",))
        ended = person("Ended", valid_to=day(1))
        unborn = person("Unborn", created_at=NOON.replace(year=2030))
        merged = person("Merged", merged_into=ADA.id)
        away = [relation(ADA, each, f"type_{number}") for number, each in enumerate((ended, unborn, merged))]
        await put(store, ADA, heavy, ended, unborn, merged, memory, claim(memory, ADA, heavy), *away)
        (folded,) = await store.list_relations(type="knows")
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(folded)])
        async with expanded(store, ADA) as found:
            assert found.ends.keys.tolist() == np.unique(found.ends.keys).tolist()
            far = list(store.entity_ids(found.far))
            row = far.index(heavy.id)
            assert found.confidence[row] == pytest.approx(0.8)
            assert found.feedback[row] == pytest.approx(0.55, abs=1e-9)
            assert found.far_importance[row] == 0.9
            assert found.since[row] == day(3).timestamp()
            assert await signature_of(store, int(found.signatures[row])) == (
                relation_signature(folded, ()),
                {memory_signature(memory)},
                set(),
            )
            assert await signature_of(store, int(found.far_signatures[row])) == (entity_signature(heavy), set(), set())
            assert {each: bool(holds) for each, holds in zip(far, found.holding, strict=True)} == {
                heavy.id: True,
                ended.id: False,
                unborn.id: False,
                merged.id: False,
            }
            codes = [*found.signatures.tolist(), *found.far_signatures.tolist()]
            contents = await store.signatures([*codes, -1])
            assert set(contents) == set(codes)
            if (table := store.signature_table()) is not None:
                rows = range(len(table)) if table.codes is None else table.codes.tolist()
                assert contents.items() <= dict(zip(rows, table.contents, strict=True)).items()

    async def test_what_the_view_leaves_out_is_counted_once_by_the_first_reason(self, store: GraphStore) -> None:
        shown = relation(ADA, BOB, "shown")
        links = (
            shown,
            relation(ADA, BOB, "past", valid_to=day(1), confidence=0.1),
            relation(BOB, ADA, "gone", created_at=day(0), retracted_at=day(1), valid_to=day(1), confidence=0.1),
            relation(ADA, EVE, "weak", confidence=0.4),
            relation(EVE, ADA, "met_with", confidence=0.4),
            relation(EVE, ADA, "skip", confidence=0.9),
            relation(EVE, BOB, "weak", confidence=0.1),
        )
        await put(store, ADA, BOB, EVE, *links)
        seen = view(skipped_types=frozenset({"met_with", "skip"}))
        async with store.snapshot():
            around_ada = await store.locate([ADA.id], view=view())
            assert await store.left_out(around_ada.keys, view=seen) == {
                "not_held": 1,
                "not_known": 1,
                "low_confidence": 2,
                "skipped_type": 1,
            }
            both = await store.locate([ADA.id, BOB.id], view=view())
            assert (await store.left_out(both.keys, view=seen))["low_confidence"] == 3
            assert np.sum(list((await store.left_out(both.keys, view=view(min_edge_confidence=0.0))).values())) == 2

    async def test_relations_to_be_folded_again_are_kept_until_retracted(self, store: GraphStore) -> None:
        """Whatever their period and confidence, and whenever they were stored."""
        marked: dict[str, Any] = {"created_at": day(2), "labels": ("again",)}
        again = [
            relation(ADA, BOB, "ended", **marked, valid_to=day(1), fact="ended"),
            relation(ADA, BOB, "unsure", **marked, confidence=0.2, fact="unsure"),
            relation(ADA, BOB, "later", **{**marked, "created_at": day(9)}, fact="later"),
        ]
        dropped = relation(ADA, EVE, "later", **marked, retracted_at=day(3), fact="dropped")  # signed as "later" is
        others = [
            relation(EVE, BOB, "ended", created_at=day(2), valid_to=day(1)),
            relation(EVE, BOB, "unsure", created_at=day(2), confidence=0.2),
            relation(EVE, BOB, "later", created_at=day(9)),
        ]
        people = [attrs.evolve(each, created_at=day(0)) for each in (ADA, BOB, EVE)]
        await put(store, *people, *again, dropped, *others)
        kept = {each.id for each in again}
        async with store.snapshot():
            keys = (await store.locate([ADA.id, BOB.id], view=view())).keys
            steps = await store.expand(keys, fan_out=25, view=view(day(0), NOON, min_edge_confidence=0.0))
            codes = dict(zip(store.relation_ids(steps.relations), steps.signatures.tolist(), strict=True))
            assert not len(await store.expand(keys, fan_out=25, view=view(known_at=day(5))))
            seen = view(known_at=day(5), refolded=frozenset(codes[key] for key in kept))
            found = await store.expand(keys, fan_out=25, view=seen)
            assert set(store.relation_ids(found.relations)) == kept
            assert set(store.relation_ids((await store.edges(view=seen)).relations)) == kept
            hits = await store.search_lexical(ElementKind.RELATION, "ended unsure later dropped", limit=9, view=seen)
            assert set(store.relation_ids(hits.keys)) == kept
            reasons = {"not_known": 2, "not_held": 1, "low_confidence": 1}
            assert await store.left_out(keys, view=seen) == reasons

    async def test_freshness_counts_from_the_newest_support_else_start_else_creation(self, store: GraphStore) -> None:
        memories = tuple(Memory(id=f"m{number}", occurred_at=day(number)) for number in (10, 30, 20))
        claims = tuple(claim(memory, ADA, BOB, "proved") for memory in memories)
        undated = claim(Memory(id="undated"), ADA, BOB, "undated", valid_from=day(2))
        await put(
            store,
            entities=(ADA, BOB, EVE),
            memories=(*memories, Memory(id="undated")),
            claims=(*claims, undated),
            relations=(
                relation(ADA, EVE, "started", valid_from=day(5), created_at=day(6)),
                relation(ADA, EVE, "created", created_at=day(7)),
                relation(ADA, EVE, "given", supported_at=day(8), valid_from=day(5), created_at=day(6)),
            ),
        )
        for as_of, proved in ((day(40), day(30)), (day(25), day(20)), (day(10), day(10))):
            since = await self._since(store, as_of)
            assert since["proved"] == proved.timestamp()
            assert since["started"] == day(5).timestamp()
            assert since["created"] == day(7).timestamp()
            assert since["given"] == day(8).timestamp()
            assert since["undated"] == day(2).timestamp()

    async def _since(self, store: GraphStore, as_of: datetime) -> dict[str, float]:
        async with expanded(store, ADA, as_of=as_of, known_at=NOON) as found:
            relations: list[Relation] = list(await store.get_relations(store.relation_ids(found.relations)))
            return {each.type: float(moment) for each, moment in zip(relations, found.since, strict=True)}


class TestInMemory(InMemory, ColumnsDetails):
    pass


class TestPostgres(InPostgres, ColumnsDetails):
    pass

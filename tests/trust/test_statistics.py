"""With the statistics of the visible, no score depends on how many hidden memories there are, or on their words."""

import pytest

from graphsearch.access.gate import StatisticsOf
from graphsearch.access.reader import reading
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.model import Batch, ElementKind, Entity, Memory
from graphsearch.text.bm25 import idf
from tests.gates import no_secrets

POLICIES = pytest.mark.parametrize("by_signature", [True, False])
SEEN = [
    Memory(id="a", text="zinc is a metal"),
    Memory(id="b", text="copper is a metal too, and an old one"),
    Memory(id="c", text="rain"),
]
HIDDEN = [Memory(id=f"h{number}", text="zinc zinc and gold", labels=["secret"]) for number in range(20)]


async def scores(store, gate):
    found = await GraphSearchEngine(store=store).recall("zinc or copper?", gate=gate)
    return {each.memory.id: each.channels["lexical"].score for each in found.memories if "lexical" in each.channels}


@POLICIES
async def test_hidden_memories_change_no_score(scoped, by_signature):
    scope, visible = (
        no_secrets(by_signature=by_signature, statistics=statistics) for statistics in ("scope", StatisticsOf.VISIBLE)
    )
    await scoped.write(Batch(memories=SEEN))
    before = await scores(scoped, visible)
    assert before == pytest.approx(await scores(scoped, scope))
    await scoped.write(Batch(memories=HIDDEN))
    assert await scores(scoped, visible) == before
    assert await scores(scoped, scope) != pytest.approx(before)


async def test_all_statistics_cover_what_is_visible(scoped):
    await scoped.write(
        Batch(memories=[*SEEN, *HIDDEN], entities=[Entity(type="metal", name="Zinc", labels=["secret"])])
    )
    for statistics, memories, entities, zinc in (("scope", 23, 1, 21), ("visible", 3, 0, 1)):
        async with reading(scoped, gate=no_secrets(statistics=statistics)) as reader:
            assert await reader.document_count(ElementKind.MEMORY) == memories
            assert await reader.entity_count() == entities
            groups = [[], ["zinc"], ["metal", "zinc"], ["gold"]]
            counted = await reader.document_frequencies(ElementKind.MEMORY, groups)
            assert list(counted) == [memories, zinc, 1, zinc - 1]
    async with reading(scoped, gate=no_secrets(statistics="visible")) as reader:
        hits = await reader.lexical(ElementKind.MEMORY, "rain", 5)
        assert len(hits) == 1
        assert 0 < hits.values[0] < idf(3, 1)


def test_only_known_statistics_are_taken():
    with pytest.raises(InvalidInputError, match="statistics"):
        no_secrets(statistics="mine")

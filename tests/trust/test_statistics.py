"""With the statistics of the visible, no score depends on how many hidden memories there are, or on their words."""

import asyncio

import attrs
import pytest

from graphsearch.access import gatekeeper as visible_documents
from graphsearch.access.gate import Gate, StatisticsOf
from graphsearch.access.gatekeeper import DocumentCache, VisibleDocuments
from graphsearch.access.reader import reading
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.model import Batch, Claim, ElementKind, Entity, Memory, Principal
from graphsearch.modes.result import SearchRequest
from graphsearch.text.bm25 import idf
from tests.gates import POLICIES, Ruling, no_secrets
from tests.graphs import days_ago, people, person

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


async def frequencies(engine, gate, word="zinc"):
    """The number of memories, and of those with a word, as a question of the engine counts them."""
    async with engine._open_for(SearchRequest(query=word, gate=gate)) as reader:
        [having] = await reader.document_frequencies(ElementKind.MEMORY, [[word]])
        return await reader.document_count(ElementKind.MEMORY), having


@attrs.frozen
class Versioned(Ruling):
    """A ruling that knows its version, and may fail."""

    policy_version: str = "1"
    failing: list[str] = attrs.field(factory=list)

    async def authorize(self, principal, action, resources, *, scope):
        if self.failing:
            raise RuntimeError
        return [self.rule(resource) for resource in resources]


def versioned(hidden="secret", *, by_signature=True, version="1"):
    rule = Versioned(lambda each: hidden not in each.labels, by_signature, version)
    return Gate(rule, Principal(id="a"), "visible")


@POLICIES
async def test_the_visible_is_read_once_for_a_version_of_the_scope(scoped, by_signature, monkeypatch):
    await scoped.write(Batch(memories=[*SEEN, *HIDDEN]))
    engine, gate = GraphSearchEngine(store=scoped), versioned(by_signature=by_signature)
    read, list_memories = [], type(scoped).list_memories

    async def counted(self, **options):
        read.append(options)
        return await list_memories(self, **options)

    monkeypatch.setattr(type(scoped), "list_memories", counted)
    assert await frequencies(engine, gate) == await frequencies(engine, gate) == (3, 1)
    assert len(read) == 2  # a page, and that there is no more
    await scoped.write(Batch(memories=[Memory(id="d", text="zinc again")]))
    assert await frequencies(engine, gate) == (4, 2)
    await scoped.write(Batch(memories=[Memory(id="d", text="zinc again", labels=["secret"])]))
    assert await frequencies(engine, gate) == (3, 1)
    await scoped.forget(["a"])
    assert await frequencies(engine, gate) == (2, 0)
    assert len(read) == 8


async def test_whoever_sees_something_else_has_statistics_of_their_own(scoped):
    await scoped.write(Batch(memories=[*SEEN, *HIDDEN]))
    engine, narrow, wide = GraphSearchEngine(store=scoped), versioned(), versioned("other", version="2")
    for _ in range(2):
        assert await frequencies(engine, narrow) == (3, 1)
        assert await frequencies(engine, wide) == (23, 21)
    asked = await asyncio.gather(*(frequencies(engine, gate) for gate in [narrow, wide] * 4))
    assert asked == [(3, 1), (23, 21)] * 4


async def test_facts_as_of_another_time_are_not_those_of_the_present(scoped):
    """A question that moves to the past, in its one snapshot, neither takes nor leaves what facts say now."""
    then, later = (Memory(id=id_, text="x", occurred_at=days_ago(days)) for id_, days in (("a", 900), ("b", 1)))
    told = Claim(
        memory_id="a", source_id=person("Ada"), type="leads", target_id=person("Bob"), fact="Ada", confidence=0.9
    )
    again = attrs.evolve(told, memory_id="b", fact="the zinc team")
    people_ = people(names="Ada Bob")
    await scoped.write(Batch(entities=people_.entities, memories=[then, later], claims=[told, again]))
    engine, asked, gate = GraphSearchEngine(store=scoped), "who leads the zinc team?", versioned()
    async with engine._open_for(SearchRequest(query=asked, gate=gate)) as reader:
        before = reader.viewing(attrs.evolve(reader.view, as_of=days_ago(700)))
        old = await before.document_frequencies(ElementKind.RELATION, [["zinc"]])
    async with engine._open_for(SearchRequest(query=asked, gate=gate)) as reader:
        new = await reader.document_frequencies(ElementKind.RELATION, [["zinc"]])
    assert (list(old), list(new)) == ([0], [1])


async def test_what_a_failing_authorizer_denied_is_read_again(scoped):
    await scoped.write(Batch(memories=SEEN))
    engine, gate = GraphSearchEngine(store=scoped), versioned()
    rule = gate.authorizer
    assert isinstance(rule, Versioned)
    rule.failing.append("now")
    assert await frequencies(engine, gate) == (0, 0)
    rule.failing.clear()
    assert await frequencies(engine, gate) == (3, 1)


def test_a_cache_keeps_one_version_and_a_bounded_number_of_texts(monkeypatch):
    monkeypatch.setattr(visible_documents, "KEPT_TEXTS", 3)
    cache, two = DocumentCache(), VisibleDocuments.of([{"zinc": 1.0}, {"gold": 1.0}])
    assert cache.known("one", 1) is None
    cache.keep("one", 1, two)
    assert cache.known("one", 1) is two
    cache.keep("other", 1, two)
    assert (cache.known("one", 1), cache.known("other", 1)) == (None, two)
    cache.keep("third", 1, VisibleDocuments.of([{each: 1.0} for each in "abcd"]))
    assert cache.known("third", 1) is None
    assert cache.known("other", 2) is None
    cache.keep("late", 1, two)  # a question that began before
    assert cache.known("late", 2) is None
    assert cache.known("other", 1) is None


def test_only_known_statistics_are_taken():
    with pytest.raises(InvalidInputError, match="statistics"):
        no_secrets(statistics="mine")

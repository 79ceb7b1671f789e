"""Memories as they come: idempotent, replaceable, and one graph on either store."""

from collections.abc import Sequence
from datetime import UTC, datetime

import attrs
import pytest

from graphsearch.errors import ExtractionError, InvalidInputError
from graphsearch.ingest import DEFAULT_EXTRACTOR, Ingestor, RememberReport, ingestor
from graphsearch.ingest.reading.extractor import TextExtractor
from graphsearch.ingest.resolve.resolution import Stage
from graphsearch.model import EdgeKind, ElementKind, Entity, Memory
from graphsearch.model.extracted import ExtractedMemory
from graphsearch.protocols import Extractor
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.samples import view
from graphsearch.text.bm25 import embedding_text
from graphsearch.text.dates import IsoDates
from tests.ingest.folders import Parts, graph, names, triplets

JANUARY = datetime(2025, 1, 6, 9, tzinfo=UTC)
JULY = datetime(2025, 7, 1, 9, tzinfo=UTC)
PRIYA = Memory(id="m1", text="Priya Sharma reports to Sarah Chen.", occurred_at=JANUARY, session_id="s1")
MOVED = Memory(id="m2", text="Dr. Priya Sharma reports to Dana Levy since 2025-07-01.", occurred_at=JULY)


@pytest.fixture
def parts(scoped: GraphStore) -> Parts:
    return Parts(store=scoped)


async def remember(parts: Parts, *memories: Memory, extractor: Extractor | None = DEFAULT_EXTRACTOR) -> RememberReport:
    return await Ingestor(parts, extractor=extractor).remember(memories)


async def test_a_text_becomes_part_of_the_graph(parts: Parts) -> None:
    report = await remember(parts, PRIYA)
    assert (report.memories, report.changed, report.entities, report.relations, report.embedded) == (1, 1, 2, 1, 3)
    assert await triplets(parts.store) == {("Priya Sharma", "reports_to", "Sarah Chen")}
    (relation,) = await parts.store.list_relations()
    assert (relation.evidence, relation.valid_from, relation.fact) == (("m1",), JANUARY, PRIYA.text)
    (claim,) = await parts.store.list_claims(memory_ids=["m1"])
    assert claim.extractor == "frames/1:reports_to"
    mentions = await parts.store.list_mentions(memory_ids=["m1"])
    assert {PRIYA.text[m.span.start : m.span.end] for m in mentions if m.span} == {"Priya Sharma", "Sarah Chen"}


async def test_the_same_memories_twice_change_nothing(parts: Parts) -> None:
    await remember(parts, PRIYA, MOVED)
    before = await graph(parts.store)
    report = await remember(parts, MOVED, PRIYA)
    assert report == RememberReport(memories=2)
    assert await graph(parts.store) == before


async def test_resolutions_are_counted_in_the_scope(parts: Parts) -> None:
    reported = [(await remember(parts, each)).resolutions for each in (PRIYA, MOVED)]
    await remember(parts, PRIYA)  # known already: nothing is resolved
    both = reported[0] + reported[1]
    assert both.counters.items() <= (await parts.store.statistics()).counters.items()
    assert 0 < both.fail_rate <= both.baseline <= 1


async def test_a_later_surface_is_an_alias_of_the_same_person(parts: Parts) -> None:
    await remember(parts, PRIYA)
    report = await remember(parts, MOVED)
    assert report.resolutions.by_stage == {Stage.ID: 1, Stage.CREATE: 1}  # Dana Levy
    (priya,) = [each for each in await parts.store.list_entities() if each.name == "Priya Sharma"]
    assert priya.aliases == ("Dr. Priya Sharma",)


async def test_a_functional_relation_closes_the_one_before(parts: Parts) -> None:
    await remember(parts, MOVED, PRIYA)  # in whichever order they arrive
    periods = {each.valid_from: each.valid_to for each in await parts.store.list_relations(type="reports_to")}
    start_of_july = datetime(2025, 7, 1, tzinfo=UTC)
    assert periods == {JANUARY: start_of_july, start_of_july: None}


async def test_a_changed_memory_replaces_what_the_old_text_proved(parts: Parts) -> None:
    await remember(parts, PRIYA)
    report = await remember(parts, attrs.evolve(PRIYA, text="Priya Sharma lives in Leeds."))
    assert (report.changed, report.entities, report.removed) == (1, 1, 1)
    assert await triplets(parts.store) == {("Priya Sharma", "lives_in", "Leeds")}
    assert await names(parts.store) == {"Priya Sharma", "Leeds"}


async def test_of_two_memories_with_one_id_the_last_counts(parts: Parts) -> None:
    report = await remember(parts, PRIYA, attrs.evolve(PRIYA, text="Priya Sharma lives in Leeds."))
    assert report.memories == 1
    assert await names(parts.store) == {"Priya Sharma", "Leeds"}


async def test_evidence_adds_up_and_the_same_memory_counts_once(parts: Parts) -> None:
    again = attrs.evolve(PRIYA, id="m3", text=f"{PRIYA.text} {PRIYA.text}")
    await remember(parts, PRIYA, again)
    (relation,) = await parts.store.list_relations(type="reports_to")
    assert relation.confidence == pytest.approx(1 - (1 - 0.86) ** 2)


async def test_memories_are_written_in_batches(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphsearch.ingest.ingestor.BATCH", 2)
    reported: list[tuple[int, int]] = []

    def progress(done: int, total: int, name: str) -> None:
        reported.append((done, total))
        assert name in {memory.id for memory in memories}

    memories = [attrs.evolve(PRIYA, id=f"m{number}") for number in range(5)]
    ingestor = Ingestor(parts)
    report = await ingestor.remember(memories, progress=progress)
    assert (report.changed, reported) == (5, [(2, 5), (4, 5), (5, 5)])


async def test_an_id_that_stands_for_a_file_is_refused_before_anything_is_written(parts: Parts) -> None:
    with pytest.raises(InvalidInputError, match=r"'file:a\.py' is reserved for a file"):
        await remember(parts, PRIYA, Memory(id="file:a.py", text="Ada."))
    assert not (await remember(parts)).memories
    assert not await parts.store.list_memories()


async def test_nothing_to_remember_makes_an_empty_scope(parts: Parts) -> None:
    assert await remember(parts) == RememberReport()


async def test_texts_without_a_word_and_endless_ones_are_taken_in(parts: Parts) -> None:
    report = await remember(
        parts, Memory(id="empty"), Memory(id="control", text="\x01\x02"), Memory(id="long", text="a" * 10**6)
    )
    assert (report.changed, report.entities) == (3, 0)


async def test_without_an_embedder_nothing_is_embedded(parts: Parts) -> None:
    report = await remember(attrs.evolve(parts, embedder=None), PRIYA)
    assert (report.changed, report.embedded) == (1, 0)


async def test_another_extractor_reads_again(parts: Parts) -> None:
    await remember(parts, PRIYA)
    report = await remember(parts, PRIYA, extractor=TextExtractor(dates=IsoDates(), name="mine/1"))
    assert report.changed == 1
    (claim,) = await parts.store.list_claims(memory_ids=["m1"])
    assert claim.extractor == "mine/1:reports_to"


class Silent:
    """Says nothing of any memory."""

    name = "silent/1"

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        return []


async def test_an_extractor_that_leaves_memories_out_is_refused(parts: Parts) -> None:
    with pytest.raises(ExtractionError, match=r"'silent/1' did not return one result per memory"):
        await remember(parts, PRIYA, extractor=Silent())
    assert not await parts.store.list_memories()


async def test_a_type_that_a_later_text_tells_is_taken_until_that_is_forgotten(parts: Parts) -> None:
    (kestrel,) = await _kestrel(parts, Memory(id="k1", text="We talked about Keelbook.", occurred_at=JANUARY))
    assert kestrel.type == "thing"
    (typed,) = await _kestrel(parts, Memory(id="k2", text="Priya Sharma works at Keelbook.", occurred_at=JULY))
    assert (typed.id, typed.type) == (kestrel.id, "organisation")
    (again,) = await _kestrel(parts, Memory(id="k3", text="Keelbook is late.", occurred_at=JANUARY))
    assert again == typed
    (forgotten,) = await _kestrel(parts, Memory(id="k2", text="It is late.", occurred_at=JULY))
    assert forgotten == kestrel


async def _kestrel(parts: Parts, memory: Memory) -> list[Entity]:
    """What is called so after a memory was taken in; its vector is of the text that it has so far."""
    await remember(parts, memory)
    found = [each for each in await parts.store.list_entities() if each.name == "Keelbook"]
    assert parts.embedder is not None
    for each in found:
        (vector,) = await parts.embedder.embed([embedding_text(each)], input_type="query")
        async with parts.store.snapshot():
            now = view(parts.store.clock.now())
            hits = await parts.store.search_by_embedding(ElementKind.ENTITY, vector, limit=1, view=now)
            assert list(parts.store.entity_ids(hits.keys)) == [each.id]
            assert hits.values[0] == pytest.approx(0, abs=1e-3)
    return found


async def test_a_memory_that_states_the_type_is_kept_with_one_that_does_not(parts: Parts) -> None:
    await remember(parts, Memory(id="m", subject="Ada", speaker="Ada", text="Hello."))
    (mention,) = await parts.store.list_mentions(memory_ids=["m"])
    assert (mention.surface, mention.type) == ("Ada", "person")


async def test_a_home_that_is_moved_to_closes_the_one_before(parts: Parts) -> None:
    texts = ("moved to Galway on 2025-03-01.", "moved to Sligo on 2025-01-10.")
    await remember(parts, *(Memory(id=text, text=f"Priya Sharma {text}", occurred_at=JULY) for text in texts))
    called = {each.id: each.name for each in await parts.store.list_entities()}
    found = await parts.store.list_relations(type="lives_in")
    march = datetime(2025, 3, 1, tzinfo=UTC)
    assert {called[each.target_id]: (each.kind, each.valid_from, each.valid_to) for each in found} == {
        "Sligo": (EdgeKind.LIFECYCLE, datetime(2025, 1, 10, tzinfo=UTC), march),
        "Galway": (EdgeKind.LIFECYCLE, march, None),
    }


async def test_a_call_that_fails_after_it_wrote_leaves_nothing_that_nothing_names(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    await remember(parts, PRIYA)
    monkeypatch.setattr(ingestor, "BATCH", 1)
    moved, last = attrs.evolve(PRIYA, text=MOVED.text), Memory(id="m9", text="Sarah Chen works at Acme.")

    def fail(done: int, total: int, name: str) -> None:
        raise RuntimeError(name)

    with pytest.raises(RuntimeError):
        await Ingestor(parts).remember([moved, last], progress=fail)
    assert {each.name for each in await parts.store.list_entities()} == {"Priya Sharma", "Dana Levy"}
    await remember(parts, moved, last)  # names again what went
    assert {each.name for each in await parts.store.list_entities()} >= {"Priya Sharma", "Sarah Chen", "Acme"}

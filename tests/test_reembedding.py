"""A change of the embedding model beside an engine, an ingest and other writers, and cancelled anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from graphsearch import reembedding
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import EmbeddingModelError, InvalidInputError, ReembeddingError
from graphsearch.ingest import Ingestor
from graphsearch.ingest.write.writer import Writer
from graphsearch.model import Batch, ElementKind, Memory, Vector
from graphsearch.protocols import InputType
from graphsearch.reembedding import PASSES, reembed
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from graphsearch.testing.spec_moving import everything

OLD, SAME, NEW = HashEmbedder(16, name="old"), HashEmbedder(16, name="same"), HashEmbedder(24, name="new")
TEXTS = ("Ada Lovelace works at Globex.", "Ada Lovelace knows Grace Hopper.", "Grace Hopper leads Kestrel.")
MEMORIES = tuple(Memory(id=f"m{number}", text=text) for number, text in enumerate(TEXTS))
QUESTION = "where does Ada work?"


def scope() -> GraphStore:
    return InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="web")


async def ingested(embedder: HashEmbedder, memories: Sequence[Memory] = MEMORIES) -> GraphSearchEngine:
    engine = GraphSearchEngine(store=scope(), embedder=embedder)
    await Ingestor(engine).remember(memories)
    return engine


async def answered(engine: GraphSearchEngine) -> object:
    """All records, and the answers of an engine."""
    search, recall, ranked = await asyncio.gather(
        engine.search(QUESTION), engine.recall(QUESTION), engine.rank_entities(QUESTION)
    )
    found = [(each.relation, each.score) for each in search.triplets]
    return await everything(engine.store), found, recall.memories, ranked.entities


@attrs.define(eq=False)
class Meanwhile:
    """An embedder beside which something happens before each of its answers."""

    happen: object
    inner: HashEmbedder = NEW
    name: str = NEW.name
    dimensions: int = NEW.dimensions
    calls: int = 0

    async def embed(self, texts: Sequence[str], *, input_type: InputType = "document") -> Vector:
        self.calls += 1
        await self.happen(self.calls)  # type: ignore[operator]
        return await self.inner.embed(texts, input_type=input_type)


async def test_answers_are_those_of_a_scope_ingested_with_the_new_model() -> None:
    engine = await ingested(OLD)
    await answered(engine)  # which fills the caches of profiles and phrases
    await reembed(engine.store, NEW)
    fresh = GraphSearchEngine(store=engine.store, embedder=NEW)
    engine.embedder = NEW  # as an application may do it
    whole = await answered(await ingested(NEW))
    assert await answered(fresh) == await answered(engine) == whole


@pytest.mark.parametrize("other", [SAME, NEW], ids=["same length", "another length"])
async def test_an_engine_with_the_old_model_is_refused(other: HashEmbedder) -> None:
    engine = await ingested(OLD)
    await answered(engine)
    await reembed(engine.store, other)
    before = await everything(engine.store)
    for ask in (engine.search, engine.recall, engine.rank_entities):
        with pytest.raises(EmbeddingModelError):
            await ask(QUESTION)
    with pytest.raises(EmbeddingModelError):
        await Ingestor(engine).remember([Memory(id="later", text="Ada Lovelace likes tea.")])
    assert await everything(engine.store) == before


async def test_an_ingest_in_the_middle_of_which_the_model_changes_writes_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = await ingested(OLD, MEMORIES[:1])
    write, written = Writer._write, list[Batch]()

    async def change_first(self: Writer, batch: Batch) -> None:
        if batch.vectors and not written:
            written.append(batch)  # its vectors are made, and its model is bound
            await reembed(engine.store, SAME)
        await write(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "_write", change_first)
        with pytest.raises(EmbeddingModelError, match="not by 'old'"):
            await Ingestor(engine).remember(MEMORIES[1:])
    engine.embedder = SAME
    await Ingestor(engine).remember(MEMORIES)
    whole = await ingested(SAME, MEMORIES[:1])
    await Ingestor(whole).remember(MEMORIES)
    assert await everything(engine.store) == await everything(whole.store)


async def _sleep(_: int) -> None:
    await asyncio.sleep(0)


async def test_cancelled_anywhere_it_is_continued() -> None:
    whole = await everything((await ingested(NEW)).store)
    before = await everything((await ingested(OLD)).store)
    steps = 0
    for steps in range(100):
        engine = await ingested(OLD)
        running = asyncio.ensure_future(reembed(engine.store, Meanwhile(_sleep), batch=1))
        for _ in range(steps):
            await asyncio.sleep(0)
        if running.done():
            break
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert await everything(engine.store) in (before, whole)
        done = await engine.store.reembedding()
        report = await reembed(engine.store, NEW, batch=2)
        assert await everything(engine.store) == whole
        if done is not None:
            assert sum(report.embedded.values()) == sum(done.total.values()) - sum(done.done.values())
    assert 5 < steps < 99


async def test_a_writer_that_never_rests_is_waited_for_at_last() -> None:
    engine, later = await ingested(OLD), list[Memory]()

    async def remember(_: int) -> None:
        store: Any = engine.store
        if not store._cell.lock.locked():  # in the switch writers wait
            later.append(Memory(id=f"later {len(later)}", text=f"Ada Lovelace says {len(later)}."))
            await Ingestor(engine).remember(later[-1:])

    assert (await reembed(engine.store, Meanwhile(remember))).passes == PASSES
    whole = await ingested(NEW)
    for each in later:
        await Ingestor(whole).remember([each])
    assert await everything(engine.store) == await everything(whole.store)


async def test_two_processes_may_work_on_one_change() -> None:
    engine = await ingested(OLD)
    reports = await asyncio.gather(*(reembed(engine.store, NEW, batch=1) for _ in range(2)))
    assert [each.embedder for each in reports] == [NEW.name] * 2
    assert await everything(engine.store) == await everything((await ingested(NEW)).store)


async def test_a_change_discarded_by_somebody_else_ends() -> None:
    engine = await ingested(OLD)

    async def discard(call: int) -> None:
        if call == 3:
            await engine.store.cancel_reembedding()

    with pytest.raises(ReembeddingError, match="cancelled"):
        await reembed(engine.store, Meanwhile(discard), batch=1)
    assert await engine.store.embedder_name() == OLD.name


async def test_what_is_forgotten_meanwhile_has_no_new_vector() -> None:
    engine = await ingested(OLD)
    await engine.store.begin_reembedding(NEW.name, NEW.dimensions)
    made = {}
    for kind in ElementKind:
        page = await engine.store.outdated_vectors(kind, NEW.name)
        made[kind] = [(each, NEW.vector("text")) for each in page]
        assert await engine.store.put_new_vectors(kind, NEW.name, made[kind]) == len(page)
    await engine.store.forget([each.id for each in MEMORIES])
    for kind, vectors in made.items():
        assert await engine.store.put_new_vectors(kind, NEW.name, vectors) == 0
    state = await engine.store.reembedding()
    assert state is not None
    assert not any(state.done.values())


async def test_at_most_so_many_texts_are_embedded_in_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, now = await ingested(OLD), [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(reembedding, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(reembedding, "asyncio", SimpleNamespace(sleep=sleep))
    report = await reembed(engine.store, NEW, per_second=20.5, batch=4)
    texts = sum(report.embedded.values())
    assert now[0] >= (texts - 4) / 20.5 > 0
    with pytest.raises(InvalidInputError, match="per_second"):
        await reembed(engine.store, OLD, per_second=0)
    with pytest.raises(InvalidInputError, match="batch"):
        await reembed(engine.store, OLD, batch=0)

"""Facts are embedded when an ingest is asked to, on every store."""

import attrs
import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import EmbeddingModelError, MissingDependencyError
from graphsearch.ingest import Ingestor
from graphsearch.ingest.write.writer import embed_facts
from graphsearch.model import Batch, Memory
from graphsearch.modes.result import SearchMode
from graphsearch.testing.fakes import HashEmbedder
from tests.graphs import days_ago, edge, people

FACTS = SearchMode.TRIPLET_COMPLETION


class Counting(HashEmbedder):
    """Remembers the texts that it embedded as documents."""

    def __init__(self):
        super().__init__(32)
        self.texts = []

    async def embed(self, texts, *, input_type="document"):
        if input_type == "document":
            self.texts += texts
        return await super().embed(texts)


@pytest.fixture
def embedder():
    return Counting()


@pytest.fixture
def engine(scoped, embedder):
    return GraphSearchEngine(store=scoped, embedder=embedder)


def memory(number, text):
    return Memory(id=f"m{number}", text=text, occurred_at=days_ago(9 - number))


async def facts(engine, question):
    return [triplet.relation.fact for triplet in (await engine.search(question, mode=FACTS, limit=1)).triplets]


async def test_facts_of_memories_are_embedded_unless_turned_off(engine, embedder):
    plain = Ingestor(engine, facts=False)
    report = await plain.remember([memory(1, "Ada Lovelace works at Acme.")])
    assert (report.facts, len(await engine.store.unembedded_facts())) == (0, 1)
    report = await Ingestor(engine).remember([memory(2, "Priya Sharma reports to Sarah Chen.")])
    assert report.facts == 2  # those from before too
    assert await engine.store.unembedded_facts() == []
    assert {"Ada Lovelace works at Acme.", "Priya Sharma reports to Sarah Chen."} <= set(embedder.texts)
    (fact,) = await facts(engine, "to whom does Priya report?")
    assert fact == "Priya Sharma reports to Sarah Chen."


async def test_only_what_is_new_or_changed_is_embedded_again(engine, embedder):
    ingest = Ingestor(engine, facts=True)
    await ingest.remember([memory(1, "Ada Lovelace works at Acme.")])
    embedder.texts.clear()
    report = await ingest.remember([memory(1, "Ada Lovelace works at Acme.")])
    assert (report.changed, report.facts, embedder.texts) == (0, 0, [])
    report = await ingest.remember([memory(2, "Since May, Ada Lovelace works at Acme.")])
    assert report.facts == 1
    assert "Since May, Ada Lovelace works at Acme." in await facts(engine, "since when at Acme?")


async def test_facts_of_a_folder_are_embedded_unless_turned_off(engine, tmp_path):
    (tmp_path / "team.md").write_text("# Team\n\nAda Lovelace works at Acme.\n")
    assert (await Ingestor(engine, facts=False).add(tmp_path)).facts == 0
    report = await Ingestor(engine).add(tmp_path)
    assert (report.changed, report.facts) == (0, 1)  # nothing new, but for that: where she works
    assert (await Ingestor(engine, facts=True).add(tmp_path)).facts == 0


async def test_an_empty_folder_has_no_facts(engine, tmp_path):
    assert (await Ingestor(engine, facts=True).add(tmp_path)).facts == 0


async def test_blank_facts_are_passed_over(engine, embedder, monkeypatch):
    monkeypatch.setattr("graphsearch.ingest.write.writer._FACTS", 2)
    links = [edge("Ada", f"t{number}", "Bob", fact=" \n" if number % 2 else f"fact {number}") for number in range(7)]
    await engine.store.write(people(*links, names="Ada Bob"))
    assert await embed_facts(engine.store, embedder) == 4
    assert sorted(embedder.texts) == ["fact 0", "fact 2", "fact 4", "fact 6"]
    assert await embed_facts(engine.store, embedder) == 0


async def test_facts_need_an_embedder(scoped):
    with pytest.raises(MissingDependencyError, match=r"Ingestor\(facts=True\).*embedder"):
        Ingestor(GraphSearchEngine(store=scoped), facts=True)


async def test_vectors_of_another_model_are_refused(engine):
    await engine.store.bind_embedder("another", 32)
    await engine.store.write(people(edge("Ada", "knows", "Bob", fact="Ada knows Bob"), names="Ada Bob"))
    with pytest.raises(EmbeddingModelError, match="another"):
        await embed_facts(engine.store, HashEmbedder(32))
    assert len(await engine.store.unembedded_facts()) == 1


async def test_a_fact_that_was_forgotten_is_not_found_by_what_it_meant(engine):
    ingest = Ingestor(engine, facts=True)
    await ingest.remember(
        [memory(1, "Ada Lovelace works at Acme."), memory(2, "Ada Lovelace works at Acme, for gold.")]
    )
    assert await facts(engine, "for gold") == ["Ada Lovelace works at Acme, for gold."]
    await engine.store.forget(["m2"])
    (waiting,) = await engine.store.unembedded_facts()
    assert waiting.fact == "Ada Lovelace works at Acme."
    await ingest.remember([memory(3, "Nothing happened.")])
    assert await engine.store.unembedded_facts() == []
    given = attrs.evolve(waiting, fact="Ada Lovelace left Acme.")
    await engine.store.write(Batch(relations=(given,)))  # claims win over what is given
    assert await engine.store.unembedded_facts() == []


async def test_no_text_is_embedded_twice_in_one_ingest(engine, embedder):
    met = [memory(1, "Ada Lovelace, Charles Babbage and Mary Somerville met in Turin University Library.")]
    report = await Ingestor(engine).remember(met)
    assert report.facts > 1  # all of one sentence
    assert embedder.texts.count(met[0].text) == 1  # the memory is the sentence too
    assert len(embedder.texts) == len(set(embedder.texts))

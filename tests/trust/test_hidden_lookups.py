"""Lookups find what is visible, by its visible names, and no other."""

from uuid import UUID

import numpy as np
import pytest

from graphsearch.access.reader import reading
from graphsearch.model import Batch, Claim, ElementKind, Entity, Memory, Mention, Relation
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.text.bm25 import embedding_text
from tests.gates import POLICIES, no_secrets

JANE, HIDDEN, SHOWN = (UUID(int=number) for number in (1, 2, 3))


async def write(store):
    """A hidden memory names Jane Roe, a visible one calls her jr; of two vaults the first is hidden, one is hers."""
    await store.write(
        Batch(
            entities=[
                Entity(id=HIDDEN, type="place", name="Vault one", labels=["secret"]),
                Entity(id=SHOWN, type="place", name="Vault two"),
            ],
            named=[Entity(id=JANE, type="person", name="Jane Roe")],
            memories=[Memory(id="h", labels=["secret"]), Memory(id="a")],
            mentions=[
                Mention(memory_id="h", entity_id=JANE, surface="Jane Roe", type="person"),
                Mention(memory_id="a", entity_id=JANE, surface="jr", type="person"),
            ],
            claims=[
                Claim(memory_id=id_, source_id=JANE, type="owns", target_id=SHOWN, confidence=0.9) for id_ in ("h", "a")
            ],
            words={JANE: {"nightfall": 1.0}},
        )
    )


@POLICIES
async def test_names_of_what_is_hidden_find_nothing(scoped, by_signature):
    await write(scoped)
    async with reading(scoped, gate=no_secrets(by_signature=by_signature)) as reader:
        assert await reader.find_names(["vault one", "jane roe"]) == []
        [found] = await reader.find_names(["jr"])
        assert (found.entity_id, found.alias) == (JANE, False)  # by her name, which is stored as an alias
        assert await reader.find_name_words(["one", "jane"]) == []
        assert [each.entity_id for each in await reader.find_name_words(["vault"], limit=1)] == [SHOWN]
        assert await reader.words([JANE, SHOWN]) == {}


@POLICIES
async def test_names_are_as_similar_as_the_visible_ones(scoped, by_signature):
    await write(scoped)
    async with reading(scoped, gate=no_secrets(by_signature=by_signature)) as reader:
        similar = await reader.similar_names(["jane roe", "jr", "two vault one"], threshold=0.6, limit=1)
        assert list(similar["jane roe"]) == []
        [jane] = similar["jr"]
        assert (jane.entity_id, jane.similarity) == (JANE, 1.0)
        assert [each.entity_id for each in similar["two vault one"]] == [SHOWN]


@POLICIES
async def test_mentions_and_claims_are_those_of_visible_memories(scoped, by_signature):
    await write(scoped)
    group = (JANE, "owns", SHOWN)
    async with reading(scoped, gate=no_secrets(by_signature=by_signature)) as reader:
        assert [each.memory_id for each in await reader.mentions(entity_ids=[JANE])] == ["a"]
        assert await reader.mentions(memory_ids=["h"]) == []
        assert [each.memory_id for each in await reader.claims(groups=[group])] == ["a"]
        assert await reader.claims(memory_ids=["h"]) == []


@POLICIES
@pytest.mark.parametrize("hidden", ["entity", "memory", "relation", ""])
async def test_who_may_not_see_one_kind_does_not_see_everything(scoped, by_signature, hidden):
    labels = {kind: ["secret"] if kind == hidden else [] for kind in ("entity", "memory", "relation")}
    await scoped.write(
        Batch(
            entities=[Entity(id=SHOWN, type="place", name="Vault", labels=labels["entity"])],
            memories=[Memory(id="a", labels=labels["memory"])],
            relations=[Relation(source_id=SHOWN, type="near", target_id=SHOWN, labels=labels["relation"])],
        )
    )
    async with reading(scoped, gate=no_secrets(by_signature=by_signature)) as reader:
        assert await reader.sees_everything() is not bool(hidden)


@POLICIES
async def test_nobody_is_near_by_a_hidden_name(scoped, by_signature):
    """By it Jane is the nearest, by her visible name others are nearer."""
    embedder = HashEmbedder(64)
    await scoped.bind_embedder(embedder.name, embedder.dimensions)
    await write(scoped)
    vectors = {each.id: embedder.vector(embedding_text(each)) for each in await scoped.list_entities()}
    await scoped.write(Batch(vectors=vectors))

    async def embed(texts):
        return np.array([embedder.vector(text) for text in texts])

    for gate, nearest in ((None, JANE), (no_secrets(by_signature=by_signature), SHOWN)):
        async with reading(scoped, gate=gate, embed=embed) as reader:
            hits = await reader.nearest(ElementKind.ENTITY, embedder.vector("Jane Roe Jane Roe vault two"), 1)
            assert list(reader.entity_ids(hits.keys)) == [nearest]


@POLICIES
async def test_entities_of_a_type_are_listed_as_visible(scoped, by_signature):
    await write(scoped)
    async with reading(scoped, gate=no_secrets(by_signature=by_signature)) as reader:
        listed = [(await reader.list_entities(type=type_, limit=9))[0] for type_ in ("person", "place")]
        assert [[each.name for each in some] for some in listed] == [["jr"], ["Vault two"]]


@POLICIES
async def test_relations_are_found_and_counted_by_visible_facts(scoped, by_signature):
    """Of one relation a hidden memory has another fact, another is hidden."""
    await write(scoped)
    stated = (("a", "zinc", 0.6), ("h", "nightfall", 0.95))
    await scoped.write(
        Batch(
            memories=[Memory(id="h", labels=["secret"]), Memory(id="a")],
            claims=[
                Claim(memory_id=id_, source_id=JANE, type="owns", target_id=SHOWN, confidence=sure, fact=fact)
                for id_, fact, sure in stated
            ],
            relations=[Relation(source_id=JANE, type="near", target_id=SHOWN, fact="copper", labels=["secret"])],
        )
    )
    gate = no_secrets(by_signature=by_signature, statistics="visible")
    async with reading(scoped, gate=gate) as reader:
        words = [["zinc"], ["nightfall"], ["copper"]]
        assert list(await reader.document_frequencies(ElementKind.RELATION, words)) == [1, 0, 0]
    async with reading(scoped, gate=no_secrets(by_signature=by_signature)) as reader:
        found = [len(await reader.lexical(ElementKind.RELATION, word, 5)) for [word] in words]
        assert found == [1, 0, 0]


@POLICIES
async def test_what_a_view_leaves_out_is_counted_only_for_whom_nothing_is_hidden(scoped, by_signature):
    """A count would include hidden relations."""
    await write(scoped)
    doubtful = Relation(source_id=SHOWN, type="near", target_id=JANE, confidence=0.2, labels=["secret"])
    await scoped.write(Batch(relations=[doubtful]))
    async with reading(scoped) as reader:
        assert await reader.left_out((await reader.locate([SHOWN])).keys) == {"low_confidence": 1}
    async with reading(scoped, gate=no_secrets(by_signature=by_signature)) as reader:
        assert await reader.left_out((await reader.locate([SHOWN])).keys) == {}


@POLICIES
async def test_relations_of_hidden_sources_are_on_no_page(scoped, by_signature):
    await write(scoped)
    await scoped.write(Batch(relations=[Relation(source_id=HIDDEN, type="near", target_id=SHOWN)]))
    async with reading(scoped, gate=no_secrets(by_signature=by_signature)) as reader:
        found = (await reader.page(limit=10)).steps
        assert [each.type for each in await reader.relations(found.rows.relations)] == ["owns"]


@POLICIES
async def test_a_question_names_by_visible_names_alone(scoped, by_signature):
    await write(scoped)
    await scoped.write(Batch(entities=[Entity(type="place", name=f"Vault {n}", labels=["secret"]) for n in range(9)]))

    async def named(names, words, gate, limit=3):
        async with reading(scoped, gate=gate) as reader:
            hits, entities = await reader.named(names, words, limit=limit)
            assert reader.entity_ids(hits.keys) == [each.id for each in entities]
            return {each.name for each in entities}

    gate = no_secrets(by_signature=by_signature)
    assert await named(["jane roe", "vault one"], ["one", "jane", "nobody"], gate) == set()
    assert await named(["jr"], [], gate) == {"jr"}
    assert await named([], ["vault", "jr"], gate) == {"Vault two", "jr"}  # hidden entities make no word common
    assert await named([], ["vault", "jr"], gate, limit=1) == set()
    assert await named([], ["vault", "jane"], None) == {"Jane Roe"}

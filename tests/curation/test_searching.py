"""Finding entities by typed text."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.gate import Gate
from graphsearch.claims.naming import INDEXED_SIMILARITY, folded_name
from graphsearch.curation import Curator, Way
from graphsearch.curation.entity_search import WEIGHTS, match
from graphsearch.errors import InvalidInputError
from graphsearch.model import Batch, Entity, Memory
from graphsearch.testing.samples import HOSTILE_TEXTS, mention, person
from graphsearch.text.trigrams import similarity
from tests.curation.team import ADA, BATCH, BOB, EVE, GREG, SECRET, Labels, engine_over


def names_and_ways(hits):
    return [(hit.entity.name, hit.way) for hit in hits]


@pytest.mark.parametrize(
    ("query", "name", "way", "score"),
    [
        ("ADA  lovelace", "Ada Lovelace", Way.NAME, 1.0),
        ("countess", "Ada Lovelace", Way.ALIAS, 0.95),
        ("noyce", "Bob Noyce", Way.WORD, 0.9),
        ("lovel", "Ada Lovelace", Way.PREFIX, 0.8),
        ("curie nobody", "Eve Curie", Way.WORD, 0.45),
        ("Curei", "Eve Curie", Way.SIMILAR, 0.9 * INDEXED_SIMILARITY),
        ("ada lovelacee", "Ada Lovelace", Way.SIMILAR, 0.9 * similarity("ada lovelacee", "ada lovelace")),
    ],
)
async def test_each_way_of_finding(scoped, query, name, way, score):
    curator = Curator(await engine_over(scoped))
    best = (await curator.search_entities(query))[0]
    assert names_and_ways([best]) == [(name, way)]
    assert best.score == pytest.approx(score)


async def test_the_better_way_comes_first_and_ties_go_by_name(scoped):
    names = ["Grace Hopper", "Grace", "Gracey", "Zed Grace", "Hopper Grace", "Grandma"]
    curator = Curator(await engine_over(scoped, Batch(entities=[person(name) for name in names])))
    found = await curator.search_entities("grace")
    assert names_and_ways(found) == [
        ("Grace", Way.NAME),
        ("Grace Hopper", Way.WORD),
        ("Hopper Grace", Way.WORD),
        ("Zed Grace", Way.WORD),
        ("Gracey", Way.PREFIX),
    ]
    assert await curator.search_entities("grace", limit=2) == found[:2]
    assert names_and_ways(await curator.search_entities("gra", limit=1)) == [("Grace", Way.PREFIX)]


async def test_of_one_type(scoped):
    tools = [Entity(type="tool", name=f"Ada {number}") for number in range(3)]
    engine = await engine_over(scoped, attrs.evolve(BATCH, entities=[*BATCH.entities, *tools]))
    found = await Curator(engine).search_entities("ada", type="Person")
    assert names_and_ways(found) == [("Ada Lovelace", Way.ALIAS)]
    assert len(await Curator(engine).search_entities("ada")) == 4
    assert await Curator(engine).search_entities("ada", type="nothing") == ()


async def test_what_is_of_another_type_takes_nobodys_place(scoped):
    tools = [Entity(type="tool", name=f"Ada {number}") for number in range(120)]
    people = [person(f"Ada Byron {number}") for number in range(3)]
    curator = Curator(await engine_over(scoped, Batch(entities=[*tools, *people])))
    for query in ("ada", "ad", "adaa byron"):
        assert {each.entity.id for each in await curator.search_entities(query, type="person")} == {
            each.id for each in people
        }


async def test_what_finds_nothing(scoped):
    curator = Curator(await engine_over(scoped))
    for query in ("", "  ", "zzz", "-"):
        assert await curator.search_entities(query) == ()
    assert await curator.search_entities("ada", limit=0) == ()
    for query in ("a\0b", "\ud800"):
        with pytest.raises(InvalidInputError):
            await curator.search_entities(query)
    with pytest.raises(InvalidInputError):
        await curator.search_entities("ada", limit=-1)


async def test_hostile_names_are_found_as_they_are(scoped):
    curator = Curator(await engine_over(scoped, Batch(entities=[person(text) for text in HOSTILE_TEXTS])))
    for text in HOSTILE_TEXTS:
        found = await curator.search_entities(text, limit=3)
        assert (found[0].way, found[0].score) == (Way.NAME, 1.0)
        assert folded_name(text) in {folded_name(hit.entity.name) for hit in found if hit.way is Way.NAME}


async def test_a_huge_text_is_no_name(scoped):
    curator = Curator(await engine_over(scoped))
    found = await curator.search_entities("lovelace " * 20_000)
    assert names_and_ways(found) == [("Ada Lovelace", Way.WORD)]


async def test_the_hidden_takes_nobodys_place(scoped):
    hidden = [person(f"Grace {number}", labels=(SECRET,)) for number in range(120)]
    shown = [person(f"Grace Hopper {number}") for number in range(5)]
    engine = await engine_over(scoped, Batch(entities=[*hidden, *shown]))
    curator = Curator(engine, gate=Gate(Labels(), GREG))
    for query in ("grace", "gra", "graec hopper 1"):
        assert len(await curator.search_entities(query)) == 5


async def test_a_name_known_from_a_hidden_memory_alone_finds_nobody(scoped):
    memory = Memory(id="m", labels=(SECRET,))
    batch = Batch(entities=[ADA, EVE], memories=[memory], mentions=[mention(memory, EVE, surface="Marie Sklodowska")])
    engine = await engine_over(scoped, batch)
    for query in ("Marie Sklodowska", "marie", "mar", "Marie Sklodowksa"):
        assert [hit.entity.id for hit in await Curator(engine).search_entities(query)] == [EVE.id]
        assert await Curator(engine, gate=Gate(Labels(), GREG)).search_entities(query) == ()


names = st.text("abcdeé 1-'", min_size=1, max_size=16).filter(str.strip)


@given(st.text("abcdeé 1-'", max_size=16), names, st.lists(names, max_size=3))
def test_scores_are_scores_and_a_name_is_found_by_itself(query, name, aliases):
    entity = person(name, aliases=aliases)
    hit = match(query, entity)
    assert hit is None or 0 < hit.score <= WEIGHTS[hit.way]
    itself = match(name, entity)
    assert itself is not None
    assert itself.way is Way.NAME


def test_what_is_hardly_alike_is_no_hit():
    assert similarity("bob noyce", "bab noyces") < INDEXED_SIMILARITY
    assert match("babnoyces", BOB) is None

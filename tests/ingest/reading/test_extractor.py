"""The extractor as a whole: hostile texts, and properties for any text."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch import Batch, Entity, GraphSearchEngine, Ingestor, Memory
from graphsearch.ingest.reading.statements import LEAST
from graphsearch.ingest.sources.documents import document_memories
from graphsearch.model.extracted import ExtractedMemory
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.strategies import texts
from tests.ingest.reading.reading import AT, EXTRACTOR, read
from tests.strategies import instants
from tests.waiting import calls

WORDS = (
    *("Ada", "Bob", "Dr. Priya Sharma", "Acme", "the Platform team", "Bank of America", "@sam", "`run()`", "a/b.py"),
    *(
        "reports to",
        "works at",
        "joined",
        "left",
        "was built by",
        "uses",
        "and",
        ",",
        ", who",
        "'s manager is",
        "no longer",
    ),
    *(
        "will",
        "in March 2023",
        "last Tuesday",
        "since 2019",
        "I",
        "my boss",
        "not",
        "if",
        "?",
        ".",
        "\n",
        "https://a.b/c",
        "李雷",
    ),
    *("\ue000", "\u00a0", "\u202e", "the", "anymore", "entered beta status", '"', "(", ")", "—", "from 2017 to 2021"),
)
sayings = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)


def check(memory: Memory, extracted: ExtractedMemory) -> None:
    surfaces = set(extracted.surfaces)
    for surface in surfaces:
        assert surface.name
        assert 0 <= surface.confidence <= 1
        if surface.span is not None:
            assert surface.name == " ".join(memory.text[surface.span.start : surface.span.end].split())
    spans = sorted((surface.span.start, surface.span.end) for surface in surfaces if surface.span)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for stated in extracted.statements:
        assert {stated.source, stated.target} <= surfaces
        assert stated.source.name.casefold() != stated.target.name.casefold()
        assert stated.fact == " ".join(memory.text[stated.span.start : stated.span.end].split())
        assert (0.5 if stated.type == "co_occurs" else LEAST) <= stated.confidence <= 0.95
        assert not (stated.valid_from and stated.valid_to) or stated.valid_from <= stated.valid_to


@given(sayings | texts(min_size=0, max_size=200), st.none() | instants, st.sampled_from(["", "Ada", "user"]))
def test_what_holds_for_every_text(text, at, speaker):
    memory = Memory(id="m", text=text, speaker=speaker, subject=text[:40].replace("\x00", ""), occurred_at=at)
    (extracted,) = asyncio.run(EXTRACTOR.extract([memory]))
    check(memory, extracted)
    assert asyncio.run(EXTRACTOR.extract([memory])) == [extracted]


HOSTILE = {
    "a word": "a",
    "a capital": "A",
    "capitals": "Aaa ",
    "lists": "Ada, Bob, reports to ",
    "and": "Ada and ",
    "links": "A of ",
    "marks": ". ",
    "lines": "\n",
    "slashes": "a/",
    "at": "a@",
    "urls": "http://",
    "days": "5 March ",
    "years": "2024 ",
    "fences": "```\n",
    "numbers": "1. ",
    "quotes": "“",
    "control": "\x01\x1f\u202e",
    "private": "\ue000A",
    "marks above": "e\u0301",
    "scripts": "Ada李雷 ",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_take_linear_work(unit):
    def work(size: int) -> None:
        text = (unit * size)[:size]
        check(Memory(id="m", text=text), read(text, speaker="Ada"))

    work(500)
    small, large = calls(lambda: work(2_000)), calls(lambda: work(16_000))
    assert large <= 9 * small


def test_memories_are_read_in_their_order_and_apart():
    memories = [Memory(id=str(number), text=f"We saw Name{number}.", occurred_at=AT) for number in range(20)]
    extracted = asyncio.run(EXTRACTOR.extract(memories))
    assert [each.memory_id for each in extracted] == [memory.id for memory in memories]
    assert [each.surfaces[0].name for each in extracted] == [f"Name{number}" for number in range(20)]
    assert asyncio.run(EXTRACTOR.extract([])) == []


def test_empty_texts_say_nothing():
    assert read("") == read("   \n ") == ExtractedMemory(memory_id="m", surfaces=(), statements=())


def test_a_subject_is_also_called_what_it_is_without_its_bracket() -> None:
    extracted = read("It won a prize.", subject="Palo Alto (2013 film)")
    assert [(each.name, each.span) for each in extracted.surfaces] == [
        ("Palo Alto (2013 film)", None),
        ("Palo Alto", None),
    ]


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("# Architecture\n\nIt uses Redis.", None),
        ("# 2. Open questions:\n\nIt uses Redis.", None),
        ("# Tidewrack\n\n## Overview\n\nIt uses Redis.", "Tidewrack"),
        ("# Marta Ruiz\n\n## Background\n\nShe uses Redis.", "Marta Ruiz"),
    ],
)
def test_a_pronoun_means_the_nearest_heading_that_is_a_name(text: str, subject: str | None) -> None:
    (extracted,) = asyncio.run(EXTRACTOR.extract(document_memories(text, document_id="d")))
    assert [each.source.name for each in extracted.statements if each.type == "uses"] == [subject] * bool(subject)


async def test_an_ordinary_word_that_the_scope_knows_as_a_name_is_what_its_heading_means(scoped) -> None:
    await scoped.write(Batch(entities=[Entity(type="project", name="Lighthouse")]))
    text = "# Lighthouse\n\n## Architecture\n\nIt uses Redis."
    engine = GraphSearchEngine(store=scoped, embedder=HashEmbedder(8))
    await Ingestor(engine).remember(document_memories(text, document_id="d"))
    (triplet,) = (await engine.search("what does Lighthouse use?")).triplets
    assert (triplet.source.name, triplet.relation.type, triplet.target.name) == ("Lighthouse", "uses", "Redis")

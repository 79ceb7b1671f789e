"""Long memories are read in passages, and names are located in the whole memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphsearch._support.paging import batches
from graphsearch.ingest.extract.llm.prompt import passages
from graphsearch.testing.strategies import texts
from tests.ingest.extract.llm.model import Json, Model, extractor, memory, relation, saying


async def test_a_long_memory_is_read_in_several_passages() -> None:
    text = " ".join(f"A{number} knows B{number}." for number in range(400))

    def first(passage: Json) -> Json:
        source, type_, target = passage["text"].split(".")[0].split()
        return saying(relation(source, type_, target, f"{source} {type_} {target}"))

    llm = Model(first)
    (extracted,) = await extractor(llm).extract([memory(text)])
    pieces = [each for texts in llm.asked for each in texts]
    assert len(pieces) == 2
    assert "".join(pieces) == text
    assert all(len(each) <= 4_000 for each in pieces)
    assert pieces[0].endswith(". ")
    assert [text[each.span.start : each.span.end] for each in extracted.statements] == [
        each.split(".")[0].strip() for each in pieces
    ]


async def test_a_text_without_an_end_is_cut_where_it_must_be() -> None:
    llm = Model(lambda _: saying())
    await extractor(llm).extract([memory("x" * 9_000)])
    assert [len(each) for texts in llm.asked for each in texts] == [4_000, 4_000, 1_000]


async def test_a_memory_without_words_is_not_asked_about() -> None:
    llm = Model()
    (extracted,) = await extractor(llm).extract([memory(" \n", speaker="Ada Byron")])
    assert [each.name for each in extracted.surfaces] == ["Ada Byron"]
    assert llm.questions == []
    assert await extractor(llm).extract([]) == []


@given(st.lists(texts(), max_size=8).map(". ".join), st.integers(1, 40))
def test_passages_are_the_text_in_order_and_none_is_too_long(text: str, size: int) -> None:
    found = list(passages(memory(text), size))
    assert all(0 < len(each.text) <= size and each.text.strip() for each in found)
    starts = [each.span.start for each in found]
    assert starts == sorted(starts)
    assert "".join("".join(each.text for each in found).split()) == "".join(text.split())


@given(st.lists(st.integers(1, 50), max_size=20), st.integers(1, 5), st.integers(1, 100))
def test_questions_hold_the_passages_in_order_within_both_limits(sizes: list[int], most: int, tokens: int) -> None:
    given_ = [each for size in sizes for each in passages(memory("x" * size))]
    found = list(batches(given_, lambda each: len(each.text), total=tokens, most=most))
    assert [each for batch in found for each in batch] == given_
    assert all(len(batch) <= most for batch in found)
    assert all(len(batch) == 1 or sum(len(each.text) for each in batch) <= tokens for batch in found)

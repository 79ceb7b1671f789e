"""What a model may write of numbered lines, and what becomes of the rest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError, LLMAnswerError
from graphsearch.model import ElementKind, ElementRef
from graphsearch.modes.result import Source, Summary
from graphsearch.modes.summary import (
    ANSWER,
    Line,
    Numbered,
    labelled,
    prompt_for,
    read_summary,
    words_within,
    write_summary,
)
from graphsearch.testing.fakes import EchoLLM, WordCounter

SOURCES = {
    number: Source(number=number, element=ElementRef(ElementKind.MEMORY, f"m{number}"), line=f"[{number}] line")
    for number in (1, 2, 3)
}


def read(*sentences, budget=1_000):
    listed = [{"text": text, "cites": cites} for text, cites in sentences]
    return read_summary({"sentences": listed}, SOURCES, budget=budget, counter=WordCounter())


def cited_sentences(found):
    return [(each.text, [source.number for source in each.sources]) for each in found.sentences]


def test_sentences_come_with_their_sources():
    found = read(("Ada leads Apollo.", [2, 1, 2]), ("Bob helps.", [3]))
    assert cited_sentences(found) == [("Ada leads Apollo.", [1, 2]), ("Bob helps.", [3])]
    summary = Summary(sentences=found.sentences, sources=tuple(SOURCES.values()))
    assert summary.text == "Ada leads Apollo. [1][2] Bob helps. [3]"


def test_citations_in_the_text_count_and_are_taken_out_of_it():
    assert cited_sentences(read(("Ada leads Apollo [1], and helps [2; 3].", []))) == [
        ("Ada leads Apollo, and helps.", [1, 2, 3])
    ]
    assert cited_sentences(read(("Ada leads [1-2], and helps [2–3].", []))) == [("Ada leads, and helps.", [1, 2, 3])]


def test_a_citation_is_taken_out_however_long_its_number_is():
    found = read((f"Ada leads [{'9' * 3_900}].", [1]))
    assert (cited_sentences(found), found.unknown_citations) == ([("Ada leads.", [1])], (int("9" * 3_900),))


def test_unknown_citations_are_removed_and_reported():
    found = read(("Ada leads.", [1, 9, -4, 0]), ("Bob [77] too.", [2]))
    assert cited_sentences(found) == [("Ada leads.", [1]), ("Bob too.", [2])]
    assert found.unknown_citations == (-4, 0, 9, 77)


def test_sentences_that_cite_nothing_known_are_removed_and_reported():
    found = read(("Trust me.", []), ("Trust him.", [8]), ("Ada leads.", [1]), ("", [1]))
    assert (cited_sentences(found), found.uncited) == ([("Ada leads.", [1])], ("Trust me.", "Trust him."))


def test_what_is_over_the_budget_is_left_out_and_counted():
    found = read(("one two three", [1]), ("four five six seven", [2]), ("eight", [3]), budget=5)
    assert (cited_sentences(found), found.beyond, found.answer_tokens) == (
        [("one two three", [1]), ("eight", [3])],
        1,
        4,
    )


def test_what_a_model_writes_is_safe_text():
    found = read(("# Heading\n</lines>\x1b[31m `x`", [1]))
    assert cited_sentences(found) == [("Heading ‹/lines›[31m `x`", [1])]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"sentences": "Ada leads. [1]"},
        {"sentences": [], "tool": "delete_everything"},
        {"sentences": [{"text": "Ada leads.", "cites": [1], "role": "system"}]},
        {"sentences": ["Ada leads. [1]"]},
        {"sentences": [{"text": "Ada leads."}]},
        {"sentences": [{"text": ["Ada"], "cites": [1]}]},
        {"sentences": [{"text": "a" * 4_001, "cites": [1]}]},
        {"sentences": [{"text": "Ada leads.", "cites": [True]}]},
        {"sentences": [{"text": "Ada leads.", "cites": [float("nan")]}]},
        {"sentences": [{"text": "Ada leads.", "cites": "1"}]},
        {"sentences": [{"text": "Ada leads.", "cites": list(range(1_001))}]},
        {"sentences": [{"text": "Ada leads.", "cites": [1]}] * 101},
        {"sentences": [{"text": {"text": {"text": 1}}, "cites": [[1]]}]},
    ],
    ids=lambda data: repr(data)[:60],
)
def test_anything_else_is_an_error(data):
    with pytest.raises(LLMAnswerError, match="the summary") as raised:
        read_summary(data, SOURCES, budget=100, counter=WordCounter())
    assert 1 <= len(raised.value.faults) <= 20
    assert len(str(raised.value)) < 10_000


def test_a_million_citations_are_one_fault():
    with pytest.raises(LLMAnswerError) as raised:
        read(("Ada leads.", list(range(10**6))))
    assert raised.value.faults == ("sentences.0.cites: must have at most 1,000 items, not 1000000",)


def test_citations_in_a_text_are_bounded():
    found = read(("x" + "[5]" * 1_300, [1]))
    assert (cited_sentences(found), found.unknown_citations) == ([("x", [1])], (5,))
    assert len(read(("x" + "".join(f"[{number}]" for number in range(700)), [1])).unknown_citations) == 20


@given(st.lists(st.tuples(st.text(max_size=30), st.lists(st.integers(-3, 6), max_size=4)), max_size=6))
def test_every_sentence_cites_what_it_was_shown(sentences):
    found = read(*((text.replace("\0", ""), cites) for text, cites in sentences if text.isprintable()))
    assert all(each.sources for each in found.sentences)
    assert {source.number for each in found.sentences for source in each.sources} <= set(SOURCES)
    assert not set(found.unknown_citations) & set(SOURCES)


def test_each_element_has_one_number():
    numbers = Numbered()
    first, second = ElementRef(ElementKind.MEMORY, "a"), ElementRef(ElementKind.RELATION, "a")
    assert [numbers.of(each, "- line").number for each in (first, second, first)] == [1, 2, 1]
    assert [source.line for source in numbers.sources] == ["[1] line", "[2] line"]


def test_a_line_holds_no_number_but_its_own():
    assert labelled("[3]", "Ada [1-2] said [2, 7], [] and [x]") == "[3] Ada (1-2) said (2, 7), () and [x]"
    assert len(labelled("[1]", "x" * 5_000)) == 1_005


class Steep:
    """A counter by which lines do not add up."""

    def count(self, text: str) -> int:
        return len(text) * text.count("\n") + 1


@pytest.mark.parametrize("counter", [WordCounter(), Steep()], ids=["words", "steep"])
async def test_lines_fill_the_budget_of_the_prompt_and_never_more(counter):
    sources = [Source(number=number, element=SOURCES[1].element, line=f"[{number}] word") for number in range(1, 9)]
    lines = list(map(Line.of_source, sources))
    schema = counter.count(json.dumps(ANSWER))
    words = words_within(100, counter)
    least, most = (counter.count(prompt_for("who?", some, words=words)) for some in ((), [each.text for each in lines]))
    shown = list[int]()
    for budget in range(schema + least, schema + 2 * most, max(1, (2 * most - least) // 20)):
        model = EchoLLM(json.dumps({"sentences": []}))
        try:
            found = await write_summary(
                "who?", lines, llm=model, counter=counter, prompt_tokens=budget, answer_tokens=100
            )
        except InvalidInputError:
            assert not shown
            continue
        assert found.prompt_tokens + schema <= budget
        shown.append(len(found.sources))
    assert shown[-1] == 8
    assert shown == sorted(shown)


def test_words_are_bounded_by_the_tokens_of_an_answer():
    assert words_within(190, WordCounter()) == 190
    assert words_within(1, WordCounter()) == 1

"""For any answer of a model, the result is proven by the text and accepted by a store."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graphsearch.ingest import Ingestor
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory, ExtractedName
from tests.ingest.extract.llm.model import AT, Model, extractor
from tests.ingest.folders import Parts

TEXT = 'Zoë Ng-Li met "Bob".\n\nShe joined Acme\u2028Inc. on 2024-03-01; 東京 … Bob left\u200b Acme in 2023.'
WORDS = TEXT.split()

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def quotes(draw: st.DrawFn) -> str:
    """Words of the text, one after the other."""
    start = draw(st.integers(0, len(WORDS) - 1))
    return " ".join(WORDS[start : draw(st.integers(start, len(WORDS)))])


said_texts = (
    quotes() | st.sampled_from([*WORDS, "Bob", "Acme Inc", "東", "Ada", "", ".", "\u200b"]) | st.text(max_size=6)
)
names = st.sampled_from(["Zoë Ng-Li", "Bob", "Acme", "Acme Inc", "東京", "Ada Byron"]) | said_texts
proper = st.sampled_from(["Zoë Ng-Li", "Bob", "Acme", "東京", "Ada Byron"])
good = st.fixed_dictionaries(
    {
        "source": proper,
        "target": proper,
        "quote": st.just(TEXT) | quotes(),
        "type": st.sampled_from(["knows", "manages", "works for"]),
        "confidence": st.sampled_from([1.0, 0.9, 0.5]),
    },
    optional={"state": st.sampled_from(["started", "ended"]), "since": st.just("2024-03-01"), "until": st.just("2023")},
)
wild = st.fixed_dictionaries(
    {"source": names, "target": names, "quote": quotes() | st.just(TEXT) | said_texts},
    optional={
        "type": st.sampled_from(["knows", "manages", "works for", ""]) | st.text(max_size=45),
        "confidence": st.floats(-0.5, 1.5) | st.just(0.9) | json_values,
        "state": st.sampled_from(["holds", "started", "ended"]) | json_values,
        "since": st.just("2024-03-01") | said_texts | json_values,
        "until": st.just("2023") | said_texts | json_values,
    },
)
entities = st.fixed_dictionaries({"name": names, "type": st.sampled_from(["person", "tool", "date"]) | st.text()})
formed = st.fixed_dictionaries(
    {
        "passage": st.just(1),
        "entities": st.lists(entities, max_size=3),
        "relations": st.lists(good | wild, min_size=1, max_size=4),
    }
)
broken = st.fixed_dictionaries(
    {"passage": st.integers(0, 2)},
    optional={
        "entities": st.lists(entities | json_values, max_size=4) | json_values,
        "relations": st.lists(good | wild | json_values, max_size=4) | json_values,
    },
)
answers = st.fixed_dictionaries(
    {"passages": st.lists(formed, min_size=1, max_size=2) | st.lists(broken | json_values, max_size=3) | json_values}
)


def stands(surface: ExtractedName, memory: Memory) -> bool:
    if surface.span is None:
        return surface.name in (memory.speaker, memory.subject)
    return " ".join(memory.text[surface.span.start : surface.span.end].split()) == surface.name


def check(said: ExtractedMemory, memory: Memory) -> None:
    for surface in said.surfaces:
        assert stands(surface, memory)
    for each in said.statements:
        assert {each.source, each.target} <= set(said.surfaces)
        assert " ".join(memory.text[each.span.start : each.span.end].split()) == each.fact
        assert any(end.name in each.fact for end in (each.source, each.target))
        assert 0.5 <= each.confidence <= 0.92
        assert 0 < len(each.type) <= 40
    assert all(why.isprintable() for why in said.refused)


@given(answers)
async def test_what_is_made_of_any_answer_stands_in_the_text(answer: dict[str, Any]) -> None:
    memory = Memory(id="m", text=TEXT, speaker="Ada Byron", subject="Notes", occurred_at=AT)
    llm = Model(failing=lambda _, __: json.dumps(answer))
    (said,) = await extractor(llm).extract([memory])
    check(said, memory)
    store = Parts(embedder=None)
    report = await Ingestor(store, extractor=extractor(llm)).remember([memory])
    assert report.changed + len(report.unread) == 1
    claims = await store.store.list_claims(memory_ids=["m"])
    assert len(claims) <= len(said.statements)

"""The lines of a block, each with its element and its tokens; and why everything else that was found is not in it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.context import ContextBuilder, ContextRequest, TiktokenCounter
from graphsearch.context.material import CO_OCCURRENCE, FIRST, REPEATS, Reason, key_of, lay_out, material
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Memory
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.samples import batch_of, claim, day, person
from tests.context.test_budget import CHARACTERS
from tests.context.test_hidden_shapes_nothing import MODES, NAMES, Graph, details, graphs
from tests.context.test_sections import ANSWER, forms, texts
from tests.properties import examples


@examples(25)
@given(
    graph=graphs(fields=details()),
    words=st.sampled_from([*NAMES, "who met alpha?", "what rain"]),
    mode=st.sampled_from(MODES),
    budget=st.integers(1, 120),
)
async def test_all_that_was_found_is_a_line_or_says_why_not(graph: Graph, words: str, mode: str, budget: int) -> None:
    builder = await graph.builder()
    request = ContextRequest(words, mode=mode, budget=budget, gate=ALLOW_ALL, session_id="s")
    found = await material(builder.engine, request, request.recall)
    block = builder.lay_out(found, budget)
    assert "\n".join(each.text for each in block.lines) == block.text
    assert sum(each.tokens for each in block.lines) == block.tokens
    assert found.found is not None
    assert found.recalled is not None
    best: list[Any] = [*found.found.triplets[:FIRST], *found.recalled.memories[:FIRST]]
    lines = [each.key for each in block.lines if each.key]
    omitted = [each.key for each in block.omitted]
    assert {*lines}.isdisjoint(omitted)
    assert Counter(omitted) == Counter({*map(key_of, best)} - {*lines})
    assert {*lines} == {*map(key_of, block.triplets), *map(key_of, block.memories)}
    for each in block.omitted:
        assert bool(each.tokens) is (each.reason in (Reason.ROOM, Reason.SHARE))
        if each.reason is Reason.ROOM:
            assert each.tokens + block.tokens > (min(budget, 60) if found.doubt else budget)
        if each.reason is Reason.SHARE:
            assert each.tokens + block.tokens <= budget


async def test_tokens_of_lines_with_their_breaks_are_those_of_the_block():
    block = await built(
        Memory(id="m", text="Ada met Bob…\n\n# in Zürich?", occurred_at=day(1)), counter=TiktokenCounter()
    )
    assert [each.key for each in block.lines if each.key]
    assert sum(each.tokens for each in block.lines) == block.tokens == TiktokenCounter().count(block.text)


async def test_what_says_the_same_or_nothing_or_only_that_names_occur_together_is_not_in_a_block():
    ada, bob = person("Ada"), person("Bob")
    told, again = (Memory(id=id_, text="Ada met Bob.", occurred_at=day(1)) for id_ in ("told", "again"))
    beside = claim(told, ada, bob, "co_occurs")
    block = await built(told, again, ada, bob, beside)
    why = {each.key.partition(":")[0]: each for each in block.omitted}
    assert why["memory"].sentence == REPEATS.sentence
    assert why["relation"].sentence == CO_OCCURRENCE.sentence


async def test_memories_that_have_nothing_to_do_with_a_question_are_in_doubt():
    block = await built(Memory(id="m", text="It rains.", occurred_at=day(1)), question="zebra quagga")
    assert block.text == ""
    assert all(each.reason is Reason.DOUBT for each in block.omitted)


def test_a_relation_may_have_too_small_a_share_of_what_is_left():
    page = lay_out(forms("- observed"), texts("- a long one of these"), budget=100, counter=CHARACTERS)
    [why] = page.triplets_omitted.values()
    assert why.reason is Reason.SHARE
    assert "beside memories such relations may use 20 in all" in why.sentence
    assert lay_out(forms("- observed"), [ANSWER], budget=200, counter=CHARACTERS).triplets_omitted == {}


class Unlike:
    """Counts characters, and many more where two lines stand together."""

    def count(self, text: str) -> int:
        return len(text) + (100 if "one" in text and "two" in text else 0)


def test_what_fits_alone_but_not_with_the_others_says_so():
    page = lay_out(forms(), texts("- one", "- two"), budget=80, counter=Unlike())
    assert page.triplets == (0,)
    [why] = page.triplets_omitted.values()
    assert why.reason is Reason.ROOM
    assert "together" in why.sentence


async def built(*elements, question="did Ada meet Bob?", counter=None):
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    await store.write(batch_of(*elements))
    builder = ContextBuilder(GraphSearchEngine(store=store), counter=counter)
    return await builder.build(question, gate=ALLOW_ALL, session_id="s", mode="neighborhood")

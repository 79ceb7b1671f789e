"""What a block shows of what was found: as much as answers, little in doubt, and what holds now first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.context import ContextBlock, ContextBuilder
from graphsearch.context.builder import NO_ROOM, SHORT
from graphsearch.context.material import FEW, Reason, asks_the_present, paying
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Batch, Claim, Memory, Mention
from graphsearch.modes.result import SearchMode
from graphsearch.question.analysis import analyse
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import NOON, HashEmbedder, WordCounter
from graphsearch.text.rendering import IN_DOUBT, NEWEST_FIRST, OBSERVATIONS
from tests.graphs import days_ago, people, person

WEIGHTS = {"kiln": 3.0, "glaze": 2.0, "tin": 1.0}


@pytest.mark.parametrize(
    ("covered", "rows"),
    [
        ([], []),
        ([set()] * 30, list(range(int(FEW)))),  # nothing of the question: a few
        ([{"kiln", "glaze", "tin"}, *[set()] * 30], [0, 1, 2, 3]),  # all of it at once: fewer
        ([{"kiln", "glaze", "tin"}] * 30, list(range(13))),  # each says as much as the best
        ([set(), {"kiln", "glaze", "tin"}, *[set()] * 20], [0, 1, 2, 3]),  # counts from where it is covered
    ],
)
def test_a_line_pays_by_its_place_and_by_what_it_covers(covered: list[set[str]], rows: list[int]) -> None:
    assert paying(covered, WEIGHTS) == rows


def test_words_that_nobody_wrote_are_no_reason_for_more_lines() -> None:
    covered: list[set[str]] = [{"kiln"}, *[set()] * 20]
    assert paying(covered, {"kiln": 1.0}) == paying(covered, {"kiln": 1.0, "unheard": 9.0})


@pytest.mark.parametrize(
    ("question", "present"),
    [
        ("Which kiln do we fire in?", True),
        ("what's the rent for the studio?", True),
        ("How many apprentices have signed up?", True),
        ("On which day does the market open?", True),
        ("is the wheel still broken?", True),
        ("And who runs the first shift?", True),
        ("Which kiln did we fire in?", False),
        ("what was the original rent?", False),
        ("Who ran the shop before Odile?", False),
        ("Why is the glaze cracking?", False),
        ("how do I centre clay?", False),
        ("Where did Odile use to live?", False),
        ("which clay used to be cheaper?", False),
        ("Summarise what we know of the studio.", False),
        ("", False),
    ],
)
def test_whether_the_present_is_asked(question: str, present: bool) -> None:
    assert asks_the_present(analyse(question, as_of=datetime(2026, 1, 1, tzinfo=UTC))) is present


# -- on every store ---------------------------------------------------------------------------------------------------


async def built(store: GraphStore, question: str, **options: Any) -> ContextBlock:
    builder = ContextBuilder(GraphSearchEngine(store=store), counter=WordCounter(), log=None)
    options = {"mode": SearchMode.NEIGHBORHOOD, **options}
    return await builder.build(question, gate=ALLOW_ALL, session_id="s1", **options)


def lines(block: ContextBlock) -> list[str]:
    return block.text.split("\n")


async def test_a_question_that_one_line_answers_gets_few(scoped: GraphStore) -> None:
    fillers = [Memory(id=f"f{n}", text=f"We fired shelf {n} of the kiln on a rainy day.") for n in range(30)]
    answer = Memory(id="answer", text="Glaze recipes of the kiln are kept for nine years in the tin box.")
    await scoped.write(Batch(memories=[*fillers, answer]))
    block = await built(scoped, "how long are kiln glaze recipes kept?")
    assert block.memories[0].memory.id == "answer"
    assert len(block.memories) <= 5
    assert block.skipped_memories == 31 - len(block.memories)


async def test_the_newest_comes_first_where_the_present_is_asked_and_nothing_is_dropped(scoped: GraphStore) -> None:
    old = Memory(id="old", text="The studio rent is 900 a month.", speaker="Odile", occurred_at=days_ago(90))
    new = Memory(id="new", text="From May the rent is 950.", speaker="Odile", occurred_at=days_ago(9))
    await scoped.write(Batch(memories=[old, new]))
    now, past = await built(scoped, "what is the studio rent?"), await built(scoped, "what was the studio rent?")
    assert [each.memory.id for each in now.memories] == ["new", "old"]
    assert (lines(now)[0], "until" in now.text) == (NEWEST_FIRST, False)
    assert [each.memory.id for each in past.memories] == ["old", "new"]
    assert lines(past)[0] == OBSERVATIONS
    await scoped.write(Batch(memories=[Memory(id="undated", text="The studio rent is due.")]))
    assert lines(await built(scoped, "what is the studio rent?"))[0] == OBSERVATIONS


async def test_what_claims_say_is_over_stands_behind_what_came_after_it(scoped: GraphStore) -> None:
    old = Memory(id="old", text="We buy all clay for the studio, the red clay too, from Quarrel.")
    new = Memory(id="new", text="The supplier is Tamsin.", occurred_at=days_ago(9))
    ended = Memory(id="ended", text="Quarrel is out.", occurred_at=days_ago(9))
    facts: dict[str, Any] = {"source_id": person("Odile"), "type": "buys_from", "confidence": 0.9}
    claims = [
        Claim(memory_id="old", target_id=person("Quarrel"), valid_from=days_ago(90), **facts),
        Claim(memory_id="ended", target_id=person("Quarrel"), valid_to=days_ago(9), **facts),
        Claim(memory_id="new", target_id=person("Tamsin"), valid_from=days_ago(9), **facts),
    ]
    named = people(names="Odile Quarrel Tamsin").entities
    await scoped.write(Batch(entities=named, memories=[old, new, ended], claims=claims))
    block = await built(scoped, "why do we buy red clay for the studio, and who is the supplier?", graph=False)
    shown = [each.memory.id for each in block.memories]
    assert shown.index("new") < shown.index("old")
    assert f"- (until {days_ago(9):%Y-%m-%d}; now Tamsin) We buy all clay" in block.text
    [over] = [each for each in block.memories if each.memory.id == "old"]
    assert (over.now, over.followed_by) == ("Tamsin", ("new",))


async def test_in_doubt_a_block_is_short_and_says_so(scoped: GraphStore) -> None:
    memories = [Memory(id=f"m{n}", text=f"Our contact at Quarrel, shelf {n}, is Tamsin. " * 6) for n in range(20)]
    await scoped.write(Batch(memories=memories))
    block = await built(scoped, "who is our contact at Brackwater?")
    assert lines(block)[0] == IN_DOUBT
    assert 0 < block.tokens <= SHORT
    assert block.reason == "what was found has no word of Brackwater"
    assert not (await built(scoped, "who is our contact at Quarrel?")).reason
    strange = await built(scoped, "kettle", graph=False)
    assert (strange.text, strange.reason) == (
        "",
        "no visible memory shares a word, a meaning or an entity with the question",
    )


@pytest.mark.parametrize(
    ("question", "unheard"),
    [
        ("what is the wifi password of Odile?", "wifi password"),
        ("when is Odile's birthday?", "birthday"),
        ("what's the kiln of Odile like?", ""),
        ("what is Odile's news?", ""),
        ("what of Odile?", ""),
    ],
)
async def test_of_a_name_nothing_says_what_is_asked(scoped: GraphStore, question: str, unheard: str) -> None:
    memories = [Memory(id=f"m{n}", text=f"Odile fires kiln {n}.") for n in range(6)]
    mentions = [Mention(memory_id=each.id, entity_id=person("Odile"), surface="Odile") for each in memories]
    await scoped.write(Batch(entities=people(names="Odile").entities, memories=memories, mentions=mentions))
    block = await built(scoped, question)
    assert (block.reason, bool(block.text)) == (f"what was found has no word of {unheard}" if unheard else "", True)


async def test_where_the_graph_answers_lines_of_others_who_did_the_same_are_left_out(scoped: GraphStore) -> None:
    said = {"Odile Moss": "Leeds", "Bram Cole": "York", "Wen Doran": "Oslo"}
    memories = [Memory(id=who, speaker=who, text=f"I moved to {to}.", occurred_at=NOON) for who, to in said.items()]
    engine = GraphSearchEngine(store=scoped, embedder=HashEmbedder())
    await Ingestor(engine).remember([*memories, Memory(id="fair", text="Leeds has a kiln fair.", occurred_at=NOON)])
    block = await built(scoped, "when did Odile Moss move?")
    assert {each.memory.id for each in block.memories} <= {"Odile Moss", "fair"}
    assert {each.target.name for each in block.triplets} == {"Leeds"}
    assert {each.key: each.reason for each in block.omitted}["memory:Bram Cole"] == Reason.ENOUGH


async def test_what_is_hardly_relevant_is_shown_shortly(scoped: GraphStore) -> None:
    embedder = HashEmbedder()
    await scoped.bind_embedder(embedder.name, embedder.dimensions)
    memories = [Memory(id=f"m{n}", text=f"It rained on day {n} and the yard was wet.") for n in range(20)]
    vectors = dict(zip((each.id for each in memories), await embedder.embed([m.text for m in memories]), strict=True))
    await scoped.write(Batch(memories=memories, vectors=vectors))
    builder = ContextBuilder(GraphSearchEngine(store=scoped, embedder=embedder), counter=WordCounter(), log=None)
    question = "which wet kettle whistles on the red stove of the old kitchen in the morning?"
    block = await builder.build(question, gate=ALLOW_ALL, session_id="s", graph=False)
    assert (lines(block)[0], block.tokens <= SHORT) == (IN_DOUBT, True)
    assert block.reason.startswith("what was found has little to do with the question")
    foreign = await builder.build("who won a regatta?", gate=ALLOW_ALL, session_id="s", graph=False)
    assert (foreign.text, foreign.reason[:14]) == ("", "what was found")


async def test_a_budget_without_room_for_any_line_says_so(scoped: GraphStore) -> None:
    await scoped.write(Batch(memories=[Memory(id="long", text="The kiln was sold to a potter. " * 60)]))
    assert (await built(scoped, "who was the kiln sold to?", budget=4)).reason == NO_ROOM
    block = await built(scoped, "who was the kiln sold to?", budget=15)
    assert (bool(block.text), block.reason) == (True, "")

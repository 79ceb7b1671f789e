"""The same question has the same answer: on every store, however it was written, in one scope whatever is in others."""

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.model import Memory
from graphsearch.ranking.recall_result import CHANNELS, RecallScoring
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.graphs import days_ago
from tests.properties import examples
from tests.ranking.memories.telling import asking, ids, mention, names, scores, steps, tell

PEOPLE = names("Ada", "Bob", "Cyd", "Dan")
WORDS = ["roses", "lilies", "garden", "gate", "house", "supper", "candle", "2025?", "why?"]
QUESTIONS = [
    "roses in the garden",
    "What did Bob do in the garden in 2025?",
    "why?",
    "Ada and Cyd",
    "supper since 2024",
]

texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
memory_fields = st.fixed_dictionaries(
    {
        "text": texts,
        "session_id": st.sampled_from(["", "s", "t"]),
        "speaker": st.sampled_from(["", "Ada", "Bob"]),
        "occurred_at": st.sampled_from([None, days_ago(10), days_ago(400)]),
        "feedback_weight": st.sampled_from([0.5, 0.45, 0.55, 0.0, 1.0]),
    }
)
mentioned = st.lists(
    st.tuples(st.sampled_from(sorted(PEOPLE)), st.booleans()), max_size=3, unique_by=lambda each: each[0]
)
scopes = st.lists(st.tuples(memory_fields, mentioned), min_size=1, max_size=9)
scorings = st.builds(
    RecallScoring,
    fusion=st.sampled_from(["walk", "walk", "rrf", "zscore"]),
    by_intent=st.booleans(),
    deployment=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    feedback_influence=st.sampled_from([0.0, 0.3, 1.0]),
)
channel_sets = st.sets(st.sampled_from(CHANNELS), min_size=1).map(lambda chosen: tuple(sorted(chosen)))


def written(scope):
    """The memories of a drawn scope, and their mentions."""
    memories = [Memory(id=f"m{place}", position=place, **details) for place, (details, _) in enumerate(scope)]
    mentions = [
        mention(memory, PEOPLE[name], at=None if about else 0)
        for memory, (_, some) in zip(memories, scope, strict=True)
        for name, about in some
    ]
    return memories, mentions


def fresh(stores=None):
    return (stores or InMemoryGraphStore(clock=FixedClock())).with_scope(org_id="acme", project_id=str(uuid4()))


async def filled(scope, store):
    memories, mentions = written(scope)
    await tell(store, memories, entities=list(PEOPLE.values()), mentions=mentions, embedded=True)
    return store


def portrait(result):
    """All that an answer says of its memories, rounded to what stores agree on."""
    return [
        (
            each.memory.id,
            round(each.score, 4),
            {name: round(part.contribution, 4) for name, part in each.channels.items()},
            steps(each),
        )
        for each in result.memories
    ]


def whole(result):
    """All that an answer says, exactly."""
    memories = [(each.memory.id, each.score, dict(each.channels), each.path) for each in result.memories]
    return memories, result.found, result.relevance


@given(scopes, scorings, channel_sets, st.sampled_from(QUESTIONS), st.sampled_from([0.0, 0.5]))
@examples(15)
async def test_scores_are_in_their_bounds_and_the_sum_of_their_parts(scope, scoring, channels, question, diversity):
    store = await filled(scope, fresh())
    engine = asking(store, embedded=True, recall_scoring=scoring)
    found = await engine.recall(question, channels=channels, diversity=diversity)
    for each in found.memories:
        assert 0.0 <= each.score <= 1.0
        assert sum(part.contribution for part in each.channels.values()) == pytest.approx(each.score, abs=1e-9)
        assert all(part.contribution >= 0.0 for part in each.channels.values())
        assert {"lexical", "semantic", "graph", "temporal"} & set(each.channels) <= set(channels)
    if not diversity:
        assert [each.score for each in found.memories] == pytest.approx(
            sorted((each.score for each in found.memories), reverse=True), rel=1e-5
        )
    assert bool(found.reason) == (not found.memories)
    assert whole(await engine.recall(question, channels=channels, diversity=diversity)) == whole(found)


@given(scopes, st.randoms(use_true_random=False), st.sampled_from(QUESTIONS))
@examples(15)
async def test_the_order_of_writing_is_no_matter(scope, random, question):
    once = await filled(scope, fresh())
    memories, mentions = written(scope)
    batches = [(memory, [each for each in mentions if each.memory_id == memory.id]) for memory in memories]
    random.shuffle(batches)
    bit_by_bit = fresh()
    for memory, some in batches:
        await tell(bit_by_bit, [memory], entities=list(PEOPLE.values()), mentions=some, embedded=True)
    answers = [await asking(store, embedded=True).recall(question) for store in (once, bit_by_bit)]
    assert portrait(answers[0]) == portrait(answers[1])


@given(scopes, scopes, st.sampled_from(QUESTIONS))
@examples(15)
async def test_other_scopes_are_no_matter(scope, other, question):
    stores = InMemoryGraphStore(clock=FixedClock())
    store = await filled(scope, fresh(stores))
    before = whole(await asking(store, embedded=True).recall(question))
    await filled(other, fresh(stores))
    assert whole(await asking(store, embedded=True).recall(question)) == before


@given(scopes, scorings, st.sampled_from(QUESTIONS))
@examples(10)
async def test_both_stores_give_the_same_answers(shared_pool, scope, scoring, question):
    clock = FixedClock()
    postgres = PostgresGraphStore(shared_pool, clock=clock, exact=True)
    answers = [
        await asking(await filled(scope, fresh(stores)), embedded=True, recall_scoring=scoring).recall(question)
        for stores in (InMemoryGraphStore(clock=clock), postgres)
    ]
    assert ids(answers[0]) == ids(answers[1])
    assert scores(answers[0]) == pytest.approx(scores(answers[1]), abs=1e-5)
    assert answers[0].relevance == pytest.approx(answers[1].relevance, abs=1e-5)
    for one, other in zip(answers[0].memories, answers[1].memories, strict=True):
        assert one.path == other.path
        for name, part in one.channels.items():
            assert part.contribution == pytest.approx(other.channels[name].contribution, abs=1e-5)
            assert part.rank == other.channels[name].rank


async def test_ties_come_in_the_order_of_ids(scoped):
    await tell(scoped, [Memory(id=id_, text="roses") for id_ in ("c", "a", "B", "b", "ä")])
    assert ids(await asking(scoped).recall("roses")) == ["B", "a", "b", "c", "ä"]
    assert ids(await asking(scoped).recall("roses", limit=2)) == ["B", "a"]


async def test_only_what_was_there_is_recalled(scoped, clock):
    old, new = (
        Memory(id="old", text="roses", occurred_at=days_ago(10)),
        Memory(id="new", text="roses", occurred_at=days_ago(1)),
    )
    ada = PEOPLE["Ada"]
    await tell(scoped, [old, new], entities=[ada], mentions=[mention(old, ada), mention(new, ada)])
    engine = asking(scoped)
    assert sorted(ids(await engine.recall("roses of Ada"))) == ["new", "old"]
    then = await engine.recall("roses of Ada", as_of=days_ago(5))
    assert (ids(then), then.as_of) == (["old"], days_ago(5))
    written_at = clock.now()
    clock.advance(days=1)
    await tell(scoped, [Memory(id="later", text="roses", occurred_at=days_ago(20))])
    assert "later" in ids(await engine.recall("roses"))
    assert "later" not in ids(await engine.recall("roses", known_at=written_at))


async def test_what_is_forgotten_is_recalled_no_more(scoped):
    ada = PEOPLE["Ada"]
    turns = [
        Memory(id=f"t{place}", text=text, session_id="s", position=place) for place, text in enumerate(("roses", "tea"))
    ]
    await tell(scoped, turns, entities=[ada], mentions=[mention(each, ada) for each in turns])
    assert sorted(ids(await asking(scoped).recall("roses of Ada"))) == ["t0", "t1"]
    await scoped.forget(["t0"])
    assert ids(await asking(scoped).recall("roses of Ada")) == ["t1"]
    assert ids(await asking(scoped).recall("roses")) == []


# -- any text is a question ---------------------------------------------------------------------------------------

ODD = {
    "empty": "",
    "blank": " \n\t ",
    "stop words": "what is it that they were of",
    "another script": "薔薇はどこに咲いていますか",
    "right to left": "איפה הוורדים?",
    "operators": "roses & !garden | (gate <-> 'supper':*) \\ \" -house OR near/3 title:x ~ ^ * ? {} []",
    "sql": "'; DROP TABLE memory; -- %s $1 %(org)s",
    "long": "roses and lilies in the garden " * 3300,
    "many words": " ".join(f"word{number}" for number in range(12_000)),
    "one long word": "r" * 100_000,
    "marks": "?!…—" * 50,
    "capitals": "ROSES IN THE GARDEN",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
async def test_any_text_is_a_question(scoped, text):
    garden = [
        Memory(id="a", text="roses in the garden", session_id="s", speaker="Ada"),
        Memory(id="b", text="薔薇が咲く", session_id="s", position=1),
        Memory(id="c", text="supper"),
    ]
    await tell(scoped, garden, entities=[PEOPLE["Ada"]], mentions=[mention(garden[0], PEOPLE["Ada"])], embedded=True)
    for embedded in (False, True):
        found = await asking(scoped, embedded=embedded).recall(text)
        assert all(0.0 <= each.score <= 1.0 for each in found.memories)
        assert bool(found.reason) == (not found.memories)
        if not text.strip():
            assert (found.memories, found.reason) == ((), "nothing was asked")
    if "roses" in text.casefold():
        assert ids(await asking(scoped).recall(text))[0] == "a"


async def test_questions_in_another_script_find_their_words(scoped):
    await tell(
        scoped, [Memory(id="a", text="薔薇が庭に咲く"), Memory(id="b", text="roses"), Memory(id="c", text="ורדים בגן")]
    )
    engine = asking(scoped)
    assert ids(await engine.recall("薔薇はどこ")) == ["a"]
    assert ids(await engine.recall("איפה ורדים")) == ["c"]

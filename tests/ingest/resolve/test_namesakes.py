"""People of one first name, distinguished by the groups that qualify it, in whatever order the memories come and go."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence

import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory, Principal
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.samples import day
from tests.ingest.folders import Parts
from tests.ingest.write.test_permission import Refusing

NIGHT = "Sam from the Night team fixed the pump."
DAY = "We called Sam from the Day team."


def memories(*texts: str | tuple[str, str]) -> list[Memory]:
    """Memories with these texts, or texts and sessions, called by their positions."""
    given = [(text, "") if isinstance(text, str) else text for text in texts]
    return [
        Memory(id=f"m{at}", text=text, session_id=session, occurred_at=day(at))
        for at, (text, session) in enumerate(given)
    ]


async def remember(store: GraphStore, *calls: Sequence[Memory]) -> None:
    for call in calls:
        await Ingestor(Parts(store=store, embedder=None)).remember(call)


async def sams(store: GraphStore) -> dict[str, list[str]]:
    """The names of the entities that each memory means by "Sam", in the order of the text."""
    names = {each.id: each.name for each in await store.list_entities()}
    ids = [each.id for each in await store.list_memories()]
    found: dict[str, list[str]] = {}
    mentions = [each for each in await store.list_mentions(memory_ids=ids) if each.surface == "Sam"]
    for each in sorted(mentions, key=lambda each: (each.memory_id, each.span.start if each.span else -1)):
        found.setdefault(each.memory_id, []).append(names[each.entity_id])
    return found


async def meant(store: GraphStore, *texts: str | tuple[str, str]) -> list[str]:
    """Whom each text means by "Sam", each remembered in a call of its own."""
    await remember(store, *([each] for each in memories(*texts)))
    return [name for some in (await sams(store)).values() for name in some]


async def test_two_qualifiers_are_two_people(scoped: GraphStore) -> None:
    assert await meant(scoped, NIGHT, DAY) == ["Sam of the Night team", "Sam of the Day team"]
    names = {each.id: each.name for each in await scoped.list_entities()}
    stated = {(names[each.source_id], names[each.target_id]) for each in await scoped.list_relations(type="member_of")}
    assert stated == {("Sam of the Night team", "Night team"), ("Sam of the Day team", "Day team")}
    curator = Curator(GraphSearchEngine(store=scoped))
    assert (await curator.find_duplicates(), await curator.find_ambiguous()) == ((), ())


@pytest.mark.parametrize(
    "text",
    [
        "I told Sam on the Day team about it.",
        "The Sam in the Day team wrote the parser.",
        "Ask the Day team's Sam.",
        "Sam, of the Day team, called.",
    ],
)
async def test_qualifiers_have_several_forms(scoped: GraphStore, text: str) -> None:
    assert await meant(scoped, NIGHT, text) == ["Sam of the Night team", "Sam of the Day team"]


async def test_one_text_may_tell_two_people_apart(scoped: GraphStore) -> None:
    text = "Sam from the Night team met Sam from the Day team."
    assert await meant(scoped, text) == ["Sam of the Night team", "Sam of the Day team"]


@pytest.mark.parametrize(
    "texts",
    [
        (NIGHT,),
        (NIGHT, "I met Sam from the Night team."),
        ("Sam is on the Night team.", "Sam is on the Day team."),
        ("Sam is on the Night team and also on the Day team.",),
        (NIGHT, DAY, "Sam is on the Night team and also on the Day team."),
        (NIGHT, DAY, "Sam moved from the Night team to the Day team."),
        (NIGHT, DAY, "Sam left the Night team in May and joined the Day team."),
        (NIGHT, DAY, "Sam from the Night team transferred to the Day team."),
        (NIGHT, DAY, "Sam has been on the Day team since May 2025."),
        (NIGHT, "I met Sam from the Safety Committee."),
    ],
)
async def test_one_person_may_change_groups_or_be_in_several(scoped: GraphStore, texts: Sequence[str]) -> None:
    assert set(await meant(scoped, *texts)) == {"Sam"}


async def test_a_mention_that_nothing_qualifies_stays_open_with_candidates(scoped: GraphStore) -> None:
    later = ("I met Sam today.", "Bo Lind called Sam of the Day team.", "Sam is on the Night team.")
    assert (await meant(scoped, NIGHT, DAY, *later))[2:] == ["Sam", "Sam of the Day team", "Sam of the Night team"]
    [found] = await Curator(GraphSearchEngine(store=scoped)).find_ambiguous()
    assert found.entity.name == "Sam"
    assert [each.name for each in found.candidates] == ["Sam of the Day team", "Sam of the Night team"]


async def test_a_conversation_that_tells_one_apart_means_that_one(scoped: GraphStore) -> None:
    texts = [("I met Sam today.", "s"), (NIGHT, "s"), ("I met Sam again.", "s"), (DAY, "t"), ("I met Sam.", "u")]
    night = ["Sam of the Night team"] * 3
    assert await meant(scoped, *texts) == [*night, "Sam of the Day team", "Sam"]


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
async def test_a_whole_name_is_that_of_the_one_in_the_group(scoped: GraphStore, order: Sequence[int]) -> None:
    texts = [NIGHT, DAY, "Sam Doyle of the Day team called."]
    await meant(scoped, *(texts[at] for at in order))
    names = {each.id: {each.name, *each.aliases} for each in await scoped.list_entities()}
    stated = [(names[each.source_id], names[each.target_id]) for each in await scoped.list_relations(type="member_of")]
    people = sorted(stated, key=lambda pair: min(pair[1]))
    assert [(who - {"Sam"}, group) for who, group in people] == [
        ({"Sam Doyle"}, {"Day team"}),
        ({"Sam of the Night team"}, {"Night team"}),
    ]


TEXTS = (
    (NIGHT, "a"),
    (DAY, "b"),
    ("We saw Sam of the Night team with Bo Lind.", "c"),
    ("I met Sam today.", "a"),
    ("I met Sam again.", "d"),
    ("Sam reports to Bo Lind.", "b"),
    ("Sam is on the Day team.", "e"),
    ("Sam from the Night team met Sam from the Day team.", "f"),
    ("Sam moved to the Day team in May.", "g"),
    ("Sam from the Swing team left.", "h"),
    ("Sam is on the Night team and on the Swing team.", "i"),
    ("Sam left the Day team in May and joined the Swing team.", "j"),
)


async def portrait(memories: Iterable[Memory], forgotten: Iterable[Memory] = ()) -> tuple[object, ...]:
    """The graph of some memories, remembered one by one, after others were forgotten."""
    store = Parts().store
    await remember(store, *([each] for each in memories))
    for each in forgotten:
        await Curator(GraphSearchEngine(store=store)).forget(each.id)
    names = {each.id: each.name for each in await store.list_entities()}
    relations = {
        (names[each.source_id], each.type, names[each.target_id], each.valid_from, each.valid_to, each.evidence)
        for each in await store.list_relations()
    }
    return set(names.values()), relations, await sams(store)


@pytest.mark.parametrize("seed", range(25))
async def test_the_order_does_not_matter_and_what_is_forgotten_leaves_no_trace(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    some = [TEXTS[0], TEXTS[1], *rng.sample(TEXTS[2:], 3)]
    given = memories(*rng.sample(some, len(some)))
    gone = rng.sample(given, 2)
    never = await portrait(each for each in given if each not in gone)
    assert await portrait(rng.sample(given, len(given))) == await portrait(given)
    assert await portrait(rng.sample(given, len(given)), gone) == never


async def test_a_memory_that_is_changed_joins_again(scoped: GraphStore) -> None:
    await meant(scoped, NIGHT, DAY)
    await remember(scoped, memories("I met Bo Lind."))
    assert await sams(scoped) == {"m1": ["Sam"]}


async def test_forgetting_joins_them_again_whichever_embedder_the_curator_has(scoped: GraphStore) -> None:
    for each in memories(NIGHT, DAY):
        await Ingestor(Parts(store=scoped)).remember([each])
    await Curator(GraphSearchEngine(store=scoped, embedder=HashEmbedder(16))).forget("m1")
    assert await sams(scoped) == {"m0": ["Sam"]}


async def test_whoever_somebody_merged_stays_merged(scoped: GraphStore) -> None:
    await meant(scoped, NIGHT, DAY)
    ids = {each.name: each.id for each in await scoped.list_entities()}
    await scoped.merge(ids["Sam of the Day team"], ids["Sam of the Night team"])
    later = Memory(id="later", text="I met Sam from the Day team.")
    await remember(scoped, [later], [Memory(id="third", text="I met Sam from the Swing team.")])
    night = ["Sam of the Night team"]
    assert await sams(scoped) == {"later": night, "m0": night, "m1": night, "third": ["Sam of the Swing team"]}


async def test_what_may_not_be_written_stays(scoped: GraphStore) -> None:
    night, day = memories(NIGHT, DAY)
    await remember(scoped, [night])
    gate = Gate(Refusing(frozenset({night.id})), Principal(id="bot"))
    await Ingestor(Parts(store=scoped, embedder=None), gate=gate).remember([day])
    assert await sams(scoped) == {"m0": ["Sam"], "m1": ["Sam of the Day team"]}

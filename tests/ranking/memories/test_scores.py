"""The numbers of the score, by the book, on both stores; every score is the sum of its parts."""

import numpy as np
import pytest

from graphsearch.curation import Curator
from graphsearch.errors import EmbeddingModelError, InvalidInputError, UnknownScopeError
from graphsearch.model import ElementKind, ElementRef, Entity, Memory, Outcome
from graphsearch.model.codec import encode
from graphsearch.ranking.recall_result import RecallRequest, RecallScoring, Workload
from graphsearch.ranking.recaller import influence_of
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.samples import ids_of, view
from tests.ranking.memories.telling import (
    EMBEDDER,
    asking,
    ids,
    mention,
    names,
    relevance,
    scores,
    standard,
    steps,
    tell,
)

ADA, BOB = names("Ada", "Bob").values()
GARDEN = [
    Memory(id="a", text="roses and lilies in the garden"),
    Memory(id="b", text="the garden"),
    Memory(id="c", text="roses, a fence, a gate and a long gravel path to the house"),
    Memory(id="d", text="supper"),
]


async def lexical_scores(store, query):
    hits = await store.search_lexical(ElementKind.MEMORY, query, limit=10, view=view())
    return dict(zip(ids_of(store, ElementKind.MEMORY, hits), hits.values.tolist(), strict=True))


async def test_words_alone_are_bm25_relative_to_the_best(scoped):
    await tell(scoped, GARDEN)
    found = await asking(scoped).recall("roses in the garden")
    # Both words are in two of four memories, so each has ln 2. The lengths are 3, 1, 7 and 1, their mean 3 on the grid
    # 1.25⁵ = 3.0518. With f / (f + 1.2 · (0.25 + 0.75 · length / mean)) a has 2 · 0.457721, b 0.626994, c 0.297231.
    assert ids(found) == ["a", "b", "c"]
    assert relevance(found) == pytest.approx({"a": 1.0, "b": 0.684908, "c": 0.324686}, abs=1e-5)
    lexical = found.memories[1].channels["lexical"]
    assert (lexical.rank, lexical.weight) == (2, 1.0)
    assert lexical.score == pytest.approx(0.434599, abs=1e-5)  # 0.626994 · ln 2
    assert found.weights == {"lexical": 1.0, "semantic": 0.0, "graph": 1.0, "temporal": 0.0}


async def test_words_and_meaning_are_standard_scores(scoped):
    await tell(scoped, GARDEN, embedded=True)
    query = "roses in the garden"
    found = await asking(scoped, embedded=True).recall(query, channels=("lexical", "semantic"))
    words = await lexical_scores(scoped, query)
    near = await scoped.search_by_embedding(ElementKind.MEMORY, EMBEDDER.vector(query), limit=10, view=view())
    close = dict(zip(ids_of(scoped, ElementKind.MEMORY, near), (1 - near.values / 2).tolist(), strict=True))
    every = sorted(close)
    fused = standard([words.get(id_, 0.0) for id_ in every], 0.0) + 0.5 * standard(
        [close[id_] for id_ in every], min(close.values())
    )
    expected = dict(zip(every, (fused / fused.max()).tolist(), strict=True))
    assert relevance(found) == pytest.approx(expected, abs=1e-5)
    assert found.memories[0].channels["semantic"].weight == 0.5


async def test_meaning_alone(scoped):
    await tell(scoped, GARDEN, embedded=True)
    found = await asking(scoped, embedded=True).recall("roses garden", channels=("semantic",))
    near = await scoped.search_by_embedding(ElementKind.MEMORY, EMBEDDER.vector("roses garden"), limit=9, view=view())
    assert ids(found) == ids_of(scoped, ElementKind.MEMORY, near)
    assert set(found.memories[0].channels) == {"semantic", "feedback"}


async def test_one_memory_found_is_the_best_there_is(scoped):
    await tell(scoped, GARDEN)
    found = await asking(scoped).recall("supper")
    assert scores(found) == pytest.approx({"d": 0.85})


async def test_the_graph_alone(scoped):
    """Ada leads to what is about her twenty times as likely as to what mentions her."""
    about, near, other = (Memory(id=id_, text=text) for id_, text in zip("abc", ("Tea", "Rain", "Fog"), strict=True))
    mentions = [mention(about, ADA, at=None), mention(near, ADA), mention(other, BOB)]
    await tell(scoped, [about, near, other], entities=[ADA, BOB], mentions=mentions)
    found = await asking(scoped).recall("Where is Ada?", channels=("graph",))
    assert scores(found) == pytest.approx({"a": 0.85, "b": 0.185}, abs=1e-5)  # 0.7 and a 20th of it, + 0.15
    graph = found.memories[1].channels["graph"]
    assert (graph.rank, graph.weight) == (2, 1.0)
    assert graph.score == pytest.approx(0.05, abs=1e-5)
    assert steps(found.memories[1]) == [f"entity:{ADA.id}", "memory:b"]


async def test_time_adds_to_what_was_found(scoped, clock):
    dated = [Memory(id=str(year), text="a walk", occurred_at=clock.now().replace(year=year)) for year in (2021, 2023)]
    await tell(scoped, dated)
    engine = asking(scoped)
    found = await engine.recall("the walk in 2023")
    assert ids(found) == ["2023", "2021"]
    temporal = found.memories[0].channels["temporal"]
    assert temporal.weight == 0.1
    assert "temporal" not in found.memories[1].channels
    assert ids(await engine.recall("walk", channels=("temporal",))) == []
    assert relevance(await engine.recall("a walk")) == pytest.approx({"2021": 1.0, "2023": 1.0})
    assert (await engine.recall("a walk")).weights["temporal"] == 0.0


@pytest.mark.parametrize(
    ("query", "within"),
    [("the walk before 2022", "2021"), ("the walk since 2022", "2023"), ("the walk in 2022", "")],
)
async def test_open_periods_and_undated_memories(scoped, clock, query, within):
    dated = [Memory(id=str(year), text="a walk", occurred_at=clock.now().replace(year=year)) for year in (2021, 2023)]
    await tell(scoped, [*dated, Memory(id="some day", text="a walk")])
    found = await asking(scoped).recall(query)
    assert {each.memory.id for each in found.memories if "temporal" in each.channels} == {within} - {""}


async def test_every_score_is_the_sum_of_its_parts_and_in_its_bounds(scoped):
    turns = [
        Memory(id=f"t{place}", text=text, session_id="s", position=place, speaker=speaker)
        for place, (speaker, text) in enumerate(
            [("Ada", "Where do roses grow?"), ("Bob", "In the garden, since 2021."), ("Ada", "Thanks, Bob!")]
        )
    ]
    mentions = [mention(turns[2], BOB), mention(GARDEN[2], BOB)]
    await tell(scoped, [*turns, *GARDEN], entities=[ADA, BOB], mentions=mentions, embedded=True)
    for fusion in ("walk", "rrf", "zscore"):
        engine = asking(scoped, embedded=True, recall_scoring=RecallScoring(fusion=fusion))
        found = await engine.recall("What did Bob say of roses in 2026?")
        assert len(found.memories) > 4
        for each in found.memories:
            assert sum(part.contribution for part in each.channels.values()) == pytest.approx(each.score, abs=1e-9)
            assert 0.0 <= each.score <= 1.0
        assert found.memories[0].score == pytest.approx(0.85)


async def test_rankings_are_fused_by_reciprocal_ranks(scoped):
    """The graph's are graded: 1 / (60 + 1) for the first, 0.05 / (60 + 2) for the second."""
    words, both, named = Memory(id="a", text="roses"), Memory(id="b", text="red roses"), Memory(id="c", text="Tea")
    mentions = [mention(both, ADA), mention(named, ADA, at=None)]
    await tell(scoped, [words, both, named], entities=[ADA], mentions=mentions)
    scoring = RecallScoring(fusion="rrf", memory_mass=0.0)
    found = await asking(scoped, recall_scoring=scoring).recall("roses of Ada")
    # a and c: 1 / 61 = 0.016393; b: 1 / 62 + 0.05 / 62 = 0.016935
    assert ids(found) == ["b", "a", "c"]
    assert relevance(found) == pytest.approx({"a": 0.967994, "b": 1.0, "c": 0.967994}, abs=1e-5)


async def test_rankings_are_fused_by_standard_scores(scoped):
    words, named, both = Memory(id="a", text="roses"), Memory(id="b", text="Tea"), Memory(id="c", text="red roses")
    mentions = [mention(named, ADA), mention(both, ADA)]
    await tell(scoped, [words, named, both], entities=[ADA], mentions=mentions)
    scoring = RecallScoring(fusion="zscore", memory_mass=0.0)
    found = await asking(scoped, recall_scoring=scoring).recall("roses of Ada")
    # Words: with a mean length of 1.25 on the grid a has 1 / 2.02 = 0.495050, b 0, c 1 / 2.74 = 0.364964 of ln 1.6;
    # σ is 0.209548, so 2.362461, 0, 1.741667. Graph: 0, 1, 1 with σ = √2 / 3, so 0, 2.121320, 2.121320.
    assert relevance(found) == pytest.approx({"a": 0.611562, "b": 0.549139, "c": 1.0}, abs=1e-5)


# -- weights ------------------------------------------------------------------------------------------------------


async def graph_weight(store, query="why?", scoring=None, **options):
    found = await asking(store, recall_scoring=scoring).recall(query, **options)
    return found.weights["graph"]


async def test_the_graph_counts_by_intent_deployment_and_health(scoped):
    await tell(scoped, GARDEN)
    assert await graph_weight(scoped) == 1.0
    by_intent = RecallScoring(by_intent=True)
    assert await graph_weight(scoped, scoring=by_intent) == 1.5
    assert await graph_weight(scoped, "Who is it?", by_intent) == 1.8
    assert await graph_weight(scoped, scoring=RecallScoring(deployment=2.0)) == 2.0
    assert await graph_weight(scoped, health=0.35) == pytest.approx(0.5)
    assert await graph_weight(scoped, health=0.9) == 1.0
    assert await graph_weight(scoped, health=0.0) == 0.0
    assert await graph_weight(scoped, channels=("lexical",)) == 0.0
    found = await asking(scoped, embedded=True, recall_scoring=by_intent).recall("How is it done?")
    assert found.weights == {"lexical": 1.0, "semantic": 0.6, "graph": 0.8, "temporal": 0.0}


@pytest.mark.parametrize(
    ("workload", "weight"), [("relational", 2.0), ("general", 1.0), ("informational", 0.5), ("text", 0.0)]
)
async def test_a_workload_is_a_weight_of_the_graph_by_name(scoped, workload, weight):
    assert Workload(workload).graph_weight == weight
    await tell(scoped, GARDEN)
    assert await graph_weight(scoped, workload=workload) == weight
    assert await graph_weight(scoped, workload=Workload(workload), health=0.35) == pytest.approx(weight / 2)
    assert await graph_weight(scoped, scoring=RecallScoring(deployment=0.3), workload=workload) == weight


async def test_half_the_health_is_half_the_graph(scoped):
    """score = (1 − λ) · text + λ · rank · (1 + β · text) / (1 + β), λ = 0.5 and β = 0.5."""
    words, named = Memory(id="a", text="roses"), Memory(id="b", text="Tea")
    await tell(scoped, [words, named], entities=[ADA], mentions=[mention(named, ADA)])
    engine = asking(scoped, recall_scoring=RecallScoring(feedback_influence=0.0, memory_mass=0.0))
    healthy = await engine.recall("roses of Ada")
    assert scores(healthy) == pytest.approx({"b": 1.0, "a": 1.5e-6}, rel=1e-4)
    poor = await engine.recall("roses of Ada", health=0.35)
    assert scores(poor) == pytest.approx({"a": 1.0, "b": 0.666667}, rel=1e-4)  # 0.5 / 1.5, of a's 0.5


async def test_a_graph_that_counts_twice_adds_more_and_poor_health_takes_from_that(scoped):
    """λ = 1 − (1 − trust) ^ weight above a weight of 1; trust is 0.1 where no rare name is much of the question."""
    words, named = Memory(id="a", text="roses roses tulips tulips"), Memory(id="b", text="Tea")
    await tell(scoped, [words, named], entities=[ADA], mentions=[mention(named, ADA)])
    engine = asking(scoped, recall_scoring=RecallScoring(feedback_influence=0.0, anchored=1.0, text_share=0.0))
    question = "which roses or tulips of Ada"

    async def share(**options):
        found = {each.memory.id: each.score for each in (await engine.recall(question, **options)).memories}
        return found["b"] / found["a"]

    general, relational = await share(), await share(workload="relational")
    assert general < await share(workload="relational", health=0.5) < relational
    assert await share(workload="informational") < general
    assert influence_of(2.0, 0.1) == pytest.approx(0.19)
    assert influence_of(1.8, 0.1) == pytest.approx(1 - 0.9**1.8)
    assert [influence_of(weight, 0.5) for weight in (0.0, 0.5, 1.0)] == [0.0, 0.25, 0.5]
    assert influence_of(9.0, 1.0) == influence_of(1.0, 1.0) == 1.0


async def test_the_health_that_a_curator_finds_weakens_the_graph(scoped):
    twins = [
        Entity(type="person", name=name)
        for name in ("Augusta Ada Byron, Countess of Lovelace", "Augusta Ada Byron, Countess of Lovelacee")
    ]
    memory = Memory(id="m", text="tea")
    await tell(scoped, [memory], entities=twins, mentions=[mention(memory, each) for each in twins])
    engine = asking(scoped)
    health = (await Curator(engine).graph_health()).value
    assert health == pytest.approx(0.5)  # one pair of duplicates among two
    assert (await engine.recall("tea", health=health)).weights["graph"] == pytest.approx(0.714285714)  # 0.5 of 0.7


@pytest.mark.parametrize("off", [{"deployment": 0.0}, {"max_share": 0.0}])
async def test_what_is_off_does_nothing(scoped, off):
    memories = [Memory(id=f"m{number}", text="Tea") for number in range(6)]
    mentions = [mention(each, ADA) for each in memories]
    await tell(scoped, [*memories, *GARDEN], entities=[ADA], mentions=mentions)
    found = await asking(scoped, recall_scoring=RecallScoring(**off)).recall("roses of Ada")
    assert ids(found) == ["a", "c"]
    assert all(each.path == () for each in found.memories)
    assert all("graph" not in each.channels for each in found.memories)


async def test_without_memory_mass_and_names_the_walk_still_starts(scoped):
    first, second = Memory(id="a", text="roses"), Memory(id="b", text="Tea")
    await tell(scoped, [first, second], entities=[ADA], mentions=[mention(first, ADA), mention(second, ADA)])
    found = await asking(scoped, recall_scoring=RecallScoring(memory_mass=0.0)).recall("any roses")
    assert ids(found) == ["a", "b"]
    assert steps(found.memories[1]) == ["memory:a", f"entity:{ADA.id}", "memory:b"]
    assert found.memories[0].path == ()


# -- learning, floors, variety ------------------------------------------------------------------------------------


async def test_feedback_is_mixed_in(scoped):
    twins = [Memory(id=id_, text="roses") for id_ in "ab"]
    await tell(scoped, twins)
    engine = asking(scoped)
    assert scores(await engine.recall("roses")) == pytest.approx({"a": 0.85, "b": 0.85})
    await scoped.apply_outcome("s", Outcome.ACCEPTED, [ElementRef(ElementKind.MEMORY, "b")])
    found = await engine.recall("roses")
    assert ids(found) == ["b", "a"]
    assert scores(found) == pytest.approx({"b": 0.865, "a": 0.85})  # 0.7 + 0.3 · 0.55, 0.7 + 0.3 · 0.5
    part = found.memories[0].channels["feedback"]
    assert (part.rank, part.weight) == (0, 0.3)
    assert part.score == pytest.approx(0.55)
    uninfluenced = asking(scoped, recall_scoring=RecallScoring(feedback_influence=0.0))
    assert ids(await uninfluenced.recall("roses")) == ["a", "b"]


async def test_a_floor_and_the_reason_where_nothing_is_left(scoped):
    await tell(scoped, GARDEN)
    engine = asking(scoped)
    every = await engine.recall("roses in the garden")
    assert every.reason == ""
    second = every.memories[1].score
    found = await engine.recall("roses in the garden", min_score=second)
    assert ids(found) == ids(every)[:2]
    none = await engine.recall("roses in the garden", min_score=0.9)
    assert (ids(none), none.found) == ([], 3)
    assert none.reason == "none of 3 memories scores 0.9 or more"
    assert (
        await engine.recall("zeppelin")
    ).reason == "no visible memory shares a word, a meaning or an entity with the question"
    assert (await engine.recall(" ")).reason == "nothing was asked"


async def test_variety(scoped):
    alike = [Memory(id=id_, text="roses roses roses in the garden") for id_ in "ab"]
    await tell(scoped, [*alike, Memory(id="c", text="roses, and supper by candle light")])
    engine = asking(scoped)
    assert ids(await engine.recall("roses", limit=2)) == ["a", "b"]
    assert ids(await engine.recall("roses", limit=2, diversity=0.5)) == ["a", "c"]
    assert ids(await engine.recall("roses", limit=5, diversity=0.5)) == ["a", "c", "b"]
    assert ids(await engine.recall("zeppelin", diversity=0.5)) == []


# -- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 0},
        {"min_score": 1.5},
        {"diversity": -0.1},
        {"health": 2.0},
        {"workload": "all of it"},
        {"channels": ("smell",)},
        {"query": "a\0b"},
    ],
)
def test_requests_are_checked(options):
    with pytest.raises(InvalidInputError):
        RecallRequest(**{"query": "roses", **options})


@pytest.mark.parametrize(
    "constants",
    [
        {"fusion": "sum"},
        {"restart": -0.1},
        {"neighbour": -1.0},
        {"subject_weight": 0.5},
        {"candidates": 0},
        {"deployment": -1.0},
    ],
)
def test_constants_are_checked(constants):
    with pytest.raises(InvalidInputError):
        RecallScoring(**constants)


async def test_nothing_was_ever_written(scoped):
    with pytest.raises(UnknownScopeError):
        await asking(scoped).recall("roses")


async def test_vectors_of_another_model(scoped):
    await tell(scoped, GARDEN, embedded=True)
    engine = asking(scoped)
    engine.embedder = HashEmbedder(32, name="another")
    with pytest.raises(EmbeddingModelError):
        await engine.recall("roses")
    assert ids(await engine.recall("roses", channels=("lexical",))) == ["a", "c"]


async def test_a_scope_without_vectors_is_asked_for_its_words(scoped):
    await tell(scoped, GARDEN)
    assert set(ids(await asking(scoped, embedded=True).recall("roses"))) == {"a", "c"}


async def test_a_recall_as_json(scoped):
    await tell(scoped, GARDEN)
    as_json = encode(await asking(scoped).recall("roses", limit=1))
    (memory,) = as_json["memories"]
    assert (as_json["query"], as_json["reason"], memory["memory"]["id"], memory["until"]) == ("roses", "", "a", None)
    assert memory["channels"]["lexical"]["rank"] == 1
    assert np.isfinite(memory["score"])

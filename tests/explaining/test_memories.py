"""Why a memory was, or was not, recalled."""

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import UnknownElementError
from graphsearch.explaining.elements import KeptOut
from graphsearch.model import Batch, ElementKind, ElementRef, Memory, Mention, Outcome
from graphsearch.ranking.recall_result import RecallScoring
from graphsearch.testing.fakes import NOON, HashEmbedder
from graphsearch.testing.samples import person
from tests.gates import no_secrets
from tests.graphs import days_ago

EMBEDDER = HashEmbedder(128)
TEXTS = {
    "moved": "Ada moved to Paris in spring.",
    "again": "Ada moved to Paris in spring, again.",
    "works": "Ada works with Bob.",
    "noise": "The weather was fine.",
}


async def engine_over(store, *, texts=TEXTS, embedded=False, scoring=None, **labels):
    memories = [
        Memory(id=id_, text=text, occurred_at=days_ago(3), labels=labels.get(id_, ())) for id_, text in texts.items()
    ]
    ada = person("Ada")
    mentions = [Mention(memory_id=id_, entity_id=ada.id, surface="Ada") for id_, text in texts.items() if "Ada" in text]
    vectors = {}
    if embedded:
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        vectors = {id_: EMBEDDER.vector(text) for id_, text in texts.items()}
    await store.write(Batch(entities=[ada], memories=memories, mentions=mentions, vectors=vectors))
    return GraphSearchEngine(store=store, embedder=EMBEDDER if embedded else None, recall_scoring=scoring)


def adds_up(why):
    return sum(factor.contribution for factor in why.parts) == pytest.approx(why.score, abs=1e-9)


@pytest.mark.parametrize("embedded", [False, True])
async def test_what_is_recalled_has_the_score_and_the_rank_of_the_recall(scoped, embedded):
    engine = await engine_over(scoped, embedded=embedded)
    result = await engine.recall("When did Ada move to Paris?", limit=2)
    for rank, recalled in enumerate(result.memories, 1):
        why = await engine.explain("When did Ada move to Paris?", recalled.memory.id, limit=2)
        assert (why.rank, why.of, why.kept_out, why.mode) == (rank, result.found, None, "recall")
        assert why.score == pytest.approx(recalled.score)
        assert {factor.name for factor in why.parts} == set(recalled.channels)
        assert adds_up(why)
    beyond = await engine.explain("When did Ada move to Paris?", "works", limit=2)
    assert (beyond.rank, beyond.kept_out) == (3, KeptOut.RANK)
    assert 0.0 < beyond.score <= result.memories[-1].score
    assert adds_up(beyond)


async def test_the_floor_and_diversity_keep_out(scoped):
    engine = await engine_over(scoped)
    question = "When did Ada move to Paris in spring?"
    low = await engine.explain(question, "works", min_score=0.9)
    assert (low.kept_out, low.score < 0.9) == (KeptOut.MIN_SCORE, True)
    order = [each.memory.id for each in (await engine.recall(question, limit=2)).memories]
    assert set(order) == {"moved", "again"}
    alike = await engine.explain(question, order[1], limit=2, diversity=0.8)
    assert (alike.rank, alike.kept_out) == (2, KeptOut.DIVERSITY)
    assert "too like others" in alike.reason


async def test_what_shares_nothing_scores_nothing(scoped):
    engine = await engine_over(scoped)
    why = await engine.explain("Where is Ada?", ElementRef(ElementKind.MEMORY, "noise"))
    assert (why.rank, why.score, why.kept_out, why.found) == (None, 0.0, KeptOut.NOT_FOUND, None)
    assert [(factor.name, factor.contribution) for factor in why.parts] == [("found", 0.0)]
    assert "shares no word, no meaning and no entity" in why.reason


async def test_what_the_searches_missed_is_scored_as_if_they_had_gone_on(scoped):
    engine = await engine_over(scoped, scoring=RecallScoring(candidates=1))
    question = "Who moved to Paris in spring?"
    shown = (await engine.recall(question, channels=("lexical",))).memories
    (missed,) = {"moved", "again"} - {each.memory.id for each in shown}
    why = await engine.explain(question, missed, channels=("lexical",))
    assert (why.rank, why.kept_out) == (None, KeptOut.CANDIDATES)
    assert "among its 1 best; had they gone on, its rank would be 2" in why.reason
    assert why.score > 0.0
    assert adds_up(why)


async def test_what_was_learnt_is_looked_at_for_the_best_alone(scoped):
    """The last of sixty by words is the first by feedback, which is looked at for fifty."""
    texts = {f"m{number:02}": "Paris" + " again" * number for number in range(60)}
    engine = await engine_over(scoped, texts=texts)
    for session in range(40):
        await scoped.apply_outcome(f"s{session}", Outcome.ACCEPTED, [ElementRef(ElementKind.MEMORY, "m59")])
    assert "m59" not in {each.memory.id for each in (await engine.recall("Paris", limit=10)).memories}
    rank = (await engine.explain("Paris", "m59", limit=60)).rank
    assert rank is not None
    why = await engine.explain("Paris", "m59", limit=min(rank, 12))
    assert (why.rank, why.kept_out) == (rank, KeptOut.CANDIDATES)
    assert "not among those for which that is looked at" in why.reason


async def test_other_times(scoped, clock):
    engine = await engine_over(scoped)
    early = await engine.explain("Paris", "moved", as_of=days_ago(10))
    assert (early.kept_out, early.score) == (KeptOut.NOT_HELD, 0.0)
    assert [factor.name for factor in early.parts] == ["held"]
    unknown = await engine.explain("Paris", "moved", known_at=days_ago(1))
    assert (unknown.kept_out, [factor.name for factor in unknown.parts]) == (KeptOut.NOT_KNOWN, ["known"])
    assert clock.now() == NOON


async def test_what_is_hidden_is_as_unknown_as_what_is_not_there(scoped):
    engine = await engine_over(scoped, moved=["secret"])
    for id_, gate in (("moved", no_secrets()), ("nothing", None)):
        with pytest.raises(UnknownElementError) as error:
            await engine.explain("Paris", id_, gate=gate)
        assert str(error.value).startswith(f"no memory {id_!r}")
    assert (await engine.explain("Paris", "again", gate=no_secrets())).rank == 1

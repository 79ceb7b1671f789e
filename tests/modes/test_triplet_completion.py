"""TRIPLET_COMPLETION on every store: the question against the sentences of relations."""

import attrs
import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch, Claim, ElementKind, Memory
from graphsearch.modes.result import SearchMode
from graphsearch.ranking.retrieval import FACTS as CANDIDATES
from graphsearch.ranking.triplet_score import ScoringOptions
from graphsearch.testing.fakes import NOON, HashEmbedder
from tests.gates import POLICIES, no_secrets
from tests.graphs import days_ago, edge, people, person

FACTS = SearchMode.TRIPLET_COMPLETION
EMBEDDER = HashEmbedder(32)
ONLY_NEARNESS = ScoringOptions(feedback_influence=0.0, importance_influence=0.0)


@pytest.fixture
async def engine(scoped):
    await scoped.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
    return GraphSearchEngine(store=scoped, embedder=EMBEDDER, scoring=ONLY_NEARNESS)


def embedded(batch, *, only=None):
    """A batch with the vectors of its facts, or of some."""
    facts = batch.relations if only is None else only
    return attrs.evolve(batch, vectors={each.id: EMBEDDER.vector(each.fact) for each in facts})


async def facts_found(engine, question, **options):
    found = await engine.search(question, mode=FACTS, **options)
    return [triplet.relation.fact for triplet in found.triplets]


# -- what is found ------------------------------------------------------------------------------------------------


async def test_facts_are_found_by_meaning_and_by_words(engine):
    near = edge("Ada", "built", "Engine", fact="Ada built the engine of the mill", confidence=0.9)
    worded = edge("Bob", "sold", "Engine", fact="Bob sold what was built", confidence=0.8)
    far = edge("Cyd", "likes", "Tea", fact="Cyd likes green tea", confidence=1.0)
    await engine.store.write(
        embedded(people(near, worded, far, names="Ada Bob Cyd Engine Tea"), only=[near, far]),
    )
    found = await engine.search("who built the engine", mode=FACTS)
    by_fact = {triplet.relation.fact: triplet for triplet in found.triplets}
    assert found.triplets[0].relation.fact == near.fact
    dense, lexical = by_fact[near.fact].breakdown, by_fact[worded.fact].breakdown
    assert dense.relevance["fact_meaning"] > 0
    assert min(dense.relevance["fact_words"], lexical.relevance["fact_words"]) > 0
    assert lexical.relevance["fact_meaning"] == 0  # it has no vector
    assert lexical.value == pytest.approx(0.8 * lexical.proximity)
    for score in (dense, lexical, by_fact[far.fact].breakdown):
        assert sum(score.relevance.values()) == pytest.approx(score.proximity)
    assert found.found == 3
    assert (found.left_out, found.connections) == ({}, ())
    assert [anchor.name for anchor in found.anchors] == ["engine"]


async def test_without_vectors_words_find(engine):
    both = edge("Ada", "built", "Mill", fact="Ada built the mill", confidence=0.7)
    one = edge("Bob", "saw", "Mill", fact="Bob saw the mill", confidence=0.7)
    await engine.store.write(people(both, one, names="Ada Bob Mill"))
    found = (await engine.search("who built the mill", mode=FACTS)).triplets
    assert [triplet.relation.id for triplet in found] == [both.id, one.id]
    assert found[0].breakdown.proximity > found[1].breakdown.proximity > 0
    assert found[0].breakdown.relevance["fact_meaning"] == 0


async def test_strength_is_that_of_the_relation_alone(engine):
    month = days_ago(30)
    chain = [
        edge("Ada", "knows", "Bob", fact="Ada knows Bob", confidence=0.55),
        edge("Bob", "collaborated_with", "Cyd", fact="Bob and Cyd make clocks", confidence=0.9, supported_at=month),
    ]
    await engine.store.write(embedded(people(*chain, names="Ada Bob Cyd")))
    found = (await engine.search("who makes clocks", mode=FACTS)).triplets
    (clocks,) = [triplet for triplet in found if triplet.relation.id == chain[1].id]
    assert (clocks.breakdown.confidence, clocks.breakdown.prior, clocks.breakdown.hops, clocks.path) == (
        0.9,
        0.8,
        0,
        (),
    )
    assert clocks.breakdown.freshness == pytest.approx(0.5)
    assert clocks.score == pytest.approx(0.9 * 0.5 * 0.8 * clocks.breakdown.proximity)


async def test_parts_of_the_score_add_up(scoped):
    await scoped.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
    batch = embedded(people(edge("Ada", "knows", "Bob", fact="Ada knows Bob", confidence=0.8), names="Ada Bob"))
    await scoped.write(batch)
    engine = GraphSearchEngine(store=scoped, embedder=EMBEDDER)
    (triplet,) = (await engine.search("Ada knows Bob", mode=FACTS)).triplets
    score = triplet.breakdown
    assert score.value == pytest.approx(0.8 * score.proximity * (0.7 * (0.8 + 0.2 * 0.5) + 0.3 * 0.5))
    assert score.value == pytest.approx(score.proximity_part + score.importance_part + score.feedback_part)


async def test_equal_scores_come_in_one_order(engine):
    facts = [edge(name, "likes", "Tea", fact="somebody likes tea") for name in ("Zed", "Bob", "Ada")]
    await engine.store.write(embedded(people(*facts, names="Ada Bob Zed Tea")))
    for limit in (3, 2, 1):
        found = (await engine.search("likes tea", mode=FACTS, limit=limit)).triplets
        assert [triplet.source.name for triplet in found] == ["Ada", "Bob", "Zed"][:limit]


async def test_what_does_not_hold_or_has_no_fact_is_not_found(engine):
    past = edge("Ada", "led", "Lab", fact="Ada led the lab", valid_from=days_ago(90), valid_to=days_ago(30))
    silent = edge("Bob", "led", "Lab")
    weak = edge("Cyd", "led", "Lab", fact="Cyd led the lab", confidence=0.4)
    await engine.store.write(embedded(people(past, silent, weak, names="Ada Bob Cyd Lab"), only=[past, weak]))
    assert await facts_found(engine, "who led the lab") == []
    assert await facts_found(engine, "who led the lab", as_of=days_ago(60), known_at=NOON) == ["Ada led the lab"]
    assert await facts_found(engine, "who led the lab", min_edge_confidence=0.3) == ["Cyd led the lab"]


@pytest.mark.parametrize("question", ["", "   ", "the of and", "？", "& | ! <-> :*"])
async def test_any_question_has_an_answer(engine, question):
    await engine.store.write(embedded(people(edge("Ada", "knows", "Bob", fact="Ada knows Bob"), names="Ada Bob")))
    found = await engine.search(question, mode=FACTS)
    assert found.found == (1 if question.strip() else 0)  # a question with a vector has a nearest fact, however far
    assert found.reason == ("" if question.strip() else "nothing was asked")


async def test_no_fact_is_a_reason(engine):
    await engine.store.write(people(edge("Ada", "knows", "Bob"), names="Ada Bob"))
    found = await engine.search("who knows Bob", mode=FACTS)
    assert (found.triplets, found.found) == ((), 0)
    assert found.reason == "nothing visible of Bob answers what is asked"


async def test_the_hundredth_by_sentence_may_be_the_first_by_score(engine):
    fact = "a cup of tea"
    weak = [
        edge("Ada", "drinks", "Tea", fact=fact, confidence=0.5, valid_from=days_ago(number))
        for number in range(1, CANDIDATES)
    ]
    sure = edge("Bob", "drinks", "Tea", fact="a cup of tea today", confidence=1.0)
    await engine.store.write(embedded(people(*weak, sure, names="Ada Bob Tea")))
    found = await engine.search("a cup of tea", mode=FACTS, limit=1)
    assert [triplet.relation.id for triplet in found.triplets] == [sure.id]


# -- behind a gate ------------------------------------------------------------------------------------------------

SECRET = {"labels": ("secret",)}


@POLICIES
async def test_a_fact_is_shown_if_the_relation_and_both_ends_may_be_seen(engine, by_signature):
    hidden = edge("Ada", "likes", "Bob", fact="Ada likes tea", labels=("secret",))
    to_hidden = edge("Ada", "likes", "Spy", fact="Ada likes tea with Spy")
    of_hidden = edge("Spy", "likes", "Ada", fact="Spy likes tea")
    shown = edge("Bob", "likes", "Ada", fact="Bob likes tea")
    relations = (hidden, to_hidden, of_hidden, shown)
    await engine.store.write(embedded(people(*relations, names="Ada Bob Spy", Spy=SECRET)))
    assert len(await facts_found(engine, "who likes tea")) == 4
    gate = no_secrets(by_signature=by_signature)
    found = await engine.search("who likes tea", mode=FACTS, gate=gate)
    assert [triplet.relation.id for triplet in found.triplets] == [shown.id]
    assert found.found == 1
    assert found.denied[ElementKind.RELATION] == 1
    assert found.denied[ElementKind.ENTITY] == 1


@POLICIES
async def test_a_relation_is_found_by_its_visible_sentence_and_by_no_hidden_one(engine, by_signature):
    old, new = Memory(id="old", occurred_at=days_ago(9)), Memory(id="new", occurred_at=days_ago(1), labels=("secret",))

    def claims(memory, fact, kind):
        return Claim(
            memory_id=memory.id, source_id=person("Ada"), type=kind, target_id=person("Bob"), fact=fact, confidence=0.8
        )

    await engine.store.write(
        Batch(
            entities=people(names="Ada Bob").entities,
            memories=(old, new),
            claims=(
                claims(old, "Ada met Bob", "met"),
                claims(new, "Ada robbed Bob", "met"),
                claims(old, "Ada paid Bob", "paid"),
                claims(new, "Ada paid Bob", "paid"),
                claims(new, "Ada blackmailed Bob", "blackmailed"),
            ),
        )
    )
    stored = await engine.store.list_relations()
    await engine.store.write(Batch(vectors={each.id: EMBEDDER.vector(each.fact) for each in stored}))
    everything = {"Ada robbed Bob", "Ada paid Bob", "Ada blackmailed Bob"}
    assert set(await facts_found(engine, "what did Ada do to Bob")) == everything
    gate = no_secrets(by_signature=by_signature)
    found = await engine.search("what did Ada do to Bob", mode=FACTS, gate=gate)
    met, paid = sorted(found.triplets, key=lambda each: each.relation.fact)
    assert (met.relation.fact, met.relation.evidence) == ("Ada met Bob", ("old",))
    assert (paid.relation.fact, paid.relation.evidence) == ("Ada paid Bob", ("old",))
    assert paid.breakdown.confidence == pytest.approx(0.8)  # not the 0.96 that both memories come to
    assert "robbed" not in str(found)
    assert "blackmailed" not in str(found)


async def test_hidden_facts_take_no_place_among_the_candidates(engine):
    hidden = [edge("Spy", f"t{number}", "Bob", fact="a cup of tea") for number in range(2 * CANDIDATES)]
    shown = edge("Ada", "likes", "Bob", fact="Ada has no cup of tea at all")
    await engine.store.write(embedded(people(*hidden, shown, names="Ada Bob Spy", Spy=SECRET)))
    assert await facts_found(engine, "a cup of tea", gate=no_secrets()) == [shown.fact]
    assert shown.fact not in await facts_found(engine, "a cup of tea", limit=5)


async def test_hidden_facts_shape_no_score(engine):
    shown = edge("Ada", "likes", "Tea", fact="Ada likes tea")
    other = edge("Bob", "knows", "Tea", fact="Bob knows of tea and much else that he likes to tell")
    secret = edge("Cyd", "likes", "Tea", fact="likes tea likes tea", labels=("secret",))
    await engine.store.write(people(shown, other, secret, names="Ada Bob Cyd Tea"))
    found = (await engine.search("likes tea", mode=FACTS, gate=no_secrets())).triplets
    await engine.store.delete(relations=[secret.id])
    without = (await engine.search("likes tea", mode=FACTS)).triplets
    assert [triplet.relation.id for triplet in found] == [shown.id, other.id]
    assert [triplet.score for triplet in found] == [triplet.score for triplet in without]

"""Why a relation was, or was not, among the triplets: rank, factors, what kept it out, and the score as a number."""

from uuid import UUID

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError, UnknownElementError
from graphsearch.explaining.elements import KeptOut
from graphsearch.model import Batch, ElementKind, ElementRef
from graphsearch.model.codec import encode
from graphsearch.modes.result import SearchMode
from graphsearch.ranking.triplet_score import ScoringOptions
from graphsearch.testing.fakes import NOON, HashEmbedder
from graphsearch.traversal.pagerank import PersonalizedPageRank
from tests.gates import allowing
from tests.graphs import days_ago, edge, people

HOPS = SearchMode.NEIGHBORHOOD
ONLY_HOPS = ScoringOptions(feedback_influence=0.0, importance_influence=0.0)
EMBEDDER = HashEmbedder()


def adds_up(why):
    return sum(factor.contribution for factor in why.parts) == pytest.approx(why.score)


@pytest.fixture
async def engine(scoped):
    return GraphSearchEngine(store=scoped, embedder=EMBEDDER)


async def write(engine, *edges, names, embed=True):
    batch = people(*edges, names=names)
    vectors = {entity.id: EMBEDDER.vector(entity.name) for entity in batch.entities} if embed else {}
    if embed:
        await engine.store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
    await engine.store.write(Batch(entities=batch.entities, relations=batch.relations, vectors=vectors))


async def test_a_score_taken_apart(engine):
    edges = [edge("Ada", "knows", "Bob", confidence=0.9), edge("Ada", "knows", "Cyd", confidence=0.8)]
    await write(engine, *edges, names="Ada Bob Cyd")
    first = await engine.explain("Ada", edges[0].id, mode=HOPS, limit=1)
    assert (first.rank, first.of, first.kept_out, first.mode) == (1, 2, None, HOPS)
    assert "shown: rank 1" in first.reason
    why = await engine.explain("Ada", ElementRef(ElementKind.RELATION, str(edges[1].id)), mode=HOPS, limit=1)
    assert (why.rank, why.of, why.kept_out) == (2, 2, KeptOut.RANK)
    assert "rank 2 lies beyond the 1" in why.reason
    assert {factor.name: (factor.value, factor.weight) for factor in why.parts} == {
        "proximity": (0.6, pytest.approx(0.448)),  # 0.7 · 0.8, of confidence 0.8
        "importance": (0.5, pytest.approx(0.0672)),  # 0.7 · 0.2 · 0.6
        "feedback": (0.5, pytest.approx(0.144)),  # 0.3 · 0.6
    }
    assert why.score == pytest.approx(0.3744)  # 0.448 · 0.6 + 0.0672 · 0.5 + 0.144 · 0.5
    assert adds_up(why)
    data = encode(why)
    assert (data["found"]["breakdown"]["confidence"], data["score"], data["kept_out"]) == (0.8, why.score, "rank")
    assert data["element"] == {"kind": "relation", "id": str(edges[1].id)}


async def test_the_floor_and_diversity_keep_out(engine):
    edges = [
        edge("Ada", "knows", "Bob", confidence=0.9, fact="Ada knows Bob well."),
        edge("Ada", "likes", "Bob", confidence=0.8, fact="Ada knows Bob well."),
        edge("Ada", "owns", "Cyd", confidence=0.7),
    ]
    await write(engine, *edges, names="Ada Bob Cyd")
    low = await engine.explain("Ada", edges[2].id, mode=HOPS, min_score=0.6)
    assert (low.kept_out, low.rank) == (KeptOut.MIN_SCORE, 3)
    assert f"its score {low.score:.4f} is below" in low.reason
    alike = await engine.explain("Ada", edges[1].id, mode=HOPS, diversity=0.7, limit=2)
    assert (alike.kept_out, alike.rank) == (KeptOut.DIVERSITY, 2)


async def test_what_is_not_sure_enough_or_skipped_has_the_score_it_would_have(engine):
    edges = [
        edge("Ada", "knows", "Bob", confidence=0.4),
        edge("Ada", "met_with", "Cyd", supported_at=NOON),
        edge("Ada", "knows", "Dan"),
    ]
    await write(engine, *edges, names="Ada Bob Cyd Dan")
    low = await engine.explain("Ada", edges[0].id, mode=HOPS)
    assert (low.kept_out, low.rank, low.of) == (KeptOut.LOW_CONFIDENCE, None, 1)
    # proximity 0.6, importance and feedback 0.5: 0.6 · (0.56 + 0.07 + 0.15) = 0.468, of confidence 0.4 and of prior 0.5
    assert low.score == pytest.approx(0.1872)
    skipped = await engine.explain("Ada", edges[1].id, mode=HOPS)
    assert (skipped.kept_out, skipped.rank) == (KeptOut.SKIPPED_TYPE, None)
    assert skipped.score == pytest.approx(0.234)
    assert "of type 'met_with' are skipped" in skipped.reason
    assert adds_up(low)
    assert adds_up(skipped)


async def test_what_was_not_known_or_does_not_hold_scores_nothing(engine):
    old = edge("Ada", "knows", "Old", valid_to=days_ago(1))
    new = edge("Ada", "knows", "New", retracted_at=days_ago(1), created_at=days_ago(2))
    await write(engine, old, new, names="Ada Old New")
    for relation, kept_out, name, words in (
        (old, KeptOut.NOT_HELD, "held", "does not hold at"),
        (new, KeptOut.NOT_KNOWN, "known", "not known at"),
    ):
        why = await engine.explain("Ada", relation.id, mode=HOPS)
        assert (why.kept_out, why.rank, why.score) == (kept_out, None, 0.0)
        assert [(factor.name, factor.contribution) for factor in why.parts] == [(name, 0.0)]
        assert words in why.reason
        assert why.triplet is not None
        assert why.triplet.breakdown.confidence == 1.0


async def test_too_many_hops_away(engine):
    """Three hops from Ada, so that the table of hop scores has 0.15 for it, but two are walked."""
    chain = [edge("Ada", "knows", "Bob"), edge("Bob", "knows", "Cyd"), edge("Cyd", "knows", "Dan")]
    await write(engine, *chain, names="Ada Bob Cyd Dan")
    far = await engine.explain("what of Ada?", chain[2].id, mode=HOPS, max_hops=2)
    assert (far.kept_out, far.rank, far.of) == (KeptOut.NOT_FOUND, None, 2)
    assert "no seed leads to it" in far.reason
    assert far.score == pytest.approx(0.117)  # 0.15 · (0.56 + 0.07 + 0.15)


async def test_what_nothing_leads_to_scores_nothing(engine):
    alone = edge("Far", "met", "Off", confidence=0.9)
    await write(engine, edge("Ada", "knows", "Bob"), alone, names="Ada Bob Far Off")
    why = await engine.explain("Ada", alone.id, mode=HOPS)
    assert (why.kept_out, why.score) == (KeptOut.NOT_FOUND, 0.0)
    assert [(part.name, part.value) for part in why.parts] == [("found", 0.0)]
    assert why.triplet is not None
    assert str(why).startswith("Far --met--> Off: not reached")


async def test_by_embedding_more_seeds_tell_the_score(engine):
    """With one seed Cyd and Dan are not reached; a wider search has a score for them."""
    edges = [edge("Ada", "knows", "Bob"), edge("Cyd", "knows", "Dan", confidence=0.5)]
    await write(engine, *edges, names="Ada Bob Cyd Dan")
    why = await engine.explain("Ada", edges[1].id, seeds=1)
    assert (why.kept_out, why.rank, why.of) == (KeptOut.NOT_FOUND, None, 1)
    known = await engine.explain("Ada", edges[0].id, seeds=1)
    assert 0 < why.score < known.score
    assert adds_up(why)


async def test_facts_and_pagerank(scoped):
    edges = [edge("Ada", "knows", "Bob", fact="They met in Paris."), edge("Ada", "knows", "Cyd", fact="By chance.")]
    engine = GraphSearchEngine(store=scoped, embedder=EMBEDDER, traversal=PersonalizedPageRank())
    await write(engine, *edges, names="Ada Bob Cyd")
    fact = await engine.explain("Paris", edges[0].id, mode=SearchMode.TRIPLET_COMPLETION)
    assert (fact.rank, fact.of) == (1, 1)
    assert {each.name: each.value > 0 for each in fact.parts}["fact_words"]
    assert adds_up(fact)
    other = await engine.explain("Paris", edges[1].id, mode=SearchMode.TRIPLET_COMPLETION)
    assert (other.kept_out, other.parts[0].value) == (KeptOut.NOT_FOUND, 0.0)
    walked = await engine.explain("Ada", edges[1].id, mode=HOPS)
    assert walked.rank in (1, 2)
    assert adds_up(walked)


async def test_the_worst_of_three(scoped):
    relation = edge("Ada", "knows", "Bob", confidence=0.5)
    engine = GraphSearchEngine(store=scoped, scoring=ScoringOptions(combine="worst"))
    await write(engine, relation, names="Ada Bob", embed=False)
    why = await engine.explain("Ada", relation.id, mode=HOPS)
    assert why.parts[0].value == 0.6
    assert why.parts[0].contribution == pytest.approx(0.28)  # 0.7 · 0.8 · 0.5
    assert adds_up(why)


async def test_what_is_hidden_is_as_unknown_as_what_is_not_there(engine):
    hiding = allowing(lambda resource: resource.name != "Bob")
    relation = edge("Ada", "knows", "Bob")
    await write(engine, relation, names="Ada Bob")
    bob = relation.target_id
    for id_, gate in ((relation.id, hiding), (bob, hiding), (UUID(int=7), None)):
        with pytest.raises(UnknownElementError, match=f"no relation and no entity {id_} in"):
            await engine.explain("Ada", id_, gate=gate)
        with pytest.raises(UnknownElementError) as error:
            await engine.explain("Ada", ElementRef(ElementKind.RELATION, str(id_)), mode=HOPS, gate=gate)
        assert str(error.value).startswith(f"no relation {id_}")


async def test_options_of_something_else_are_refused(engine):
    relation = edge("Ada", "knows", "Bob")
    await write(engine, relation, names="Ada Bob")
    with pytest.raises(InvalidInputError) as error:
        await engine.explain("Ada", relation.id, channels=("graph",), ranking="rrf")
    assert error.value.faults == ("'channels' is no option of it", "'ranking' is no option of it")
    with pytest.raises(InvalidInputError, match="explanation of a memory"):
        await engine.explain("Ada", "m1", mode=HOPS)
    with pytest.raises(InvalidInputError, match="must be a UUID"):
        await engine.explain("Ada", ElementRef(ElementKind.RELATION, "x"), mode=HOPS)

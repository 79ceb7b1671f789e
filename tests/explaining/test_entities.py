"""Why an entity was, or was not, among those that a question asks for."""

import pytest

from graphsearch.errors import UnknownElementError
from graphsearch.explaining.elements import KeptOut
from graphsearch.model import Batch, ElementKind, ElementRef, Entity
from tests.gates import no_secrets
from tests.ranking.entities.office import BECERRA, HARRIS, LONE, office, person, year

WHO = "Who was attorney general of California in 2020?"


def named(name):
    return ElementRef(ElementKind.ENTITY, name)


def adds_up(why):
    return sum(factor.contribution for factor in why.parts) == pytest.approx(why.score)


@pytest.mark.parametrize("embedded", [False, True])
async def test_the_ranked_have_the_scores_of_the_ranking(scoped, embedded):
    engine = await office(scoped, embedded=embedded)
    result = await engine.rank_entities(WHO, limit=2)
    for rank, found in enumerate(result.entities, 1):
        why = await engine.explain(WHO, found.entity.id, limit=2)
        assert (why.rank, why.kept_out, why.score, why.found) == (rank, None, found.score, found)
        assert [factor.name for factor in why.parts] == [*(factor.name for factor in found.factors), "feedback"]
        assert adds_up(why)
    third = (await engine.rank_entities(WHO, limit=3)).entities[2]
    why = await engine.explain(WHO, named(third.entity.name), limit=2)
    assert (why.rank, why.kept_out, why.score) == (3, KeptOut.RANK, third.score)


async def test_the_floor_and_diversity_keep_out(scoped):
    engine = await office(scoped)
    low = await engine.explain(WHO, HARRIS.id, min_score=0.99)
    assert (low.kept_out, low.mode) == (KeptOut.MIN_SCORE, "question_aware")
    twins = [Entity(type=kind, name="Storage Team", description="keeps the disks") for kind in ("team", "guild")]
    await scoped.write(Batch(entities=[*twins, Entity(type="project", name="Storage rewrite", description="a format")]))
    second = (await engine.rank_entities("storage team", limit=2)).entities[1]
    alike = await engine.explain("storage team", second.entity.id, limit=2, diversity=0.6)
    assert (alike.rank, alike.kept_out) == (2, KeptOut.DIVERSITY)


async def test_beyond_the_candidates_it_is_scored_as_one_more(scoped):
    engine = await office(scoped)
    found = {each.entity.name: each for each in (await engine.rank_entities(WHO, ranking="rrf")).entities}
    (last,) = [name for name, each in found.items() if each.channels["lexical"].rank == 4]
    why = await engine.explain(WHO, named(last), ranking="rrf", candidates=3)
    assert (why.rank, why.of, why.kept_out) == (None, 3, KeptOut.CANDIDATES)
    assert "place 4 lies beyond the 3 candidates" in why.reason
    assert why.score == pytest.approx(found[last].score)
    assert adds_up(why)


async def test_what_no_search_finds_has_what_its_other_factors_give(scoped):
    engine = await office(scoped)
    why = await engine.explain(WHO, LONE.id)
    assert (why.rank, why.of, why.kept_out) == (None, 4, KeptOut.NOT_FOUND)
    values = {factor.name: factor.value for factor in why.parts}
    assert values == {
        "original": 0.0,
        "connection": 0.0,
        "temporal": 0.5,
        "query_match": 0.0,
        "entity_type": 1.0,
        "feedback": 0.5,
    }
    # Relevance 0.2 · 0.5 + 0.15 · 1 = 0.25, of the 0.830556 of the best; 0.7 of that, and 0.3 · 0.5 for feedback.
    assert why.score == pytest.approx(0.360702341)
    nothing = await engine.explain("quasar", LONE.id, ranking="rrf")
    assert (nothing.score, nothing.of) == (pytest.approx(0.15), 0)
    assert adds_up(nothing)


async def test_other_times(scoped):
    old = person("Ada Old", valid_from=year(2000), valid_to=year(2010))
    engine = await office(scoped, entities=(old, LONE), relations=())
    why = await engine.explain("Ada", old.id)
    assert (why.kept_out, why.score, why.found) == (KeptOut.NOT_HELD, 0.0, None)
    assert [factor.name for factor in why.parts] == ["held"]
    assert (await engine.explain("Ada", old.id, as_of=year(2005))).rank == 1
    unknown = await engine.explain("Ada", old.id, as_of=year(2005), known_at=year(2015))
    assert (unknown.kept_out, [factor.name for factor in unknown.parts]) == (KeptOut.NOT_KNOWN, ["known"])


async def test_a_merged_entity_is_explained_as_its_target(scoped):
    engine = await office(scoped)
    other = person("X. Becerra")
    await scoped.write(Batch(entities=[other]))
    await scoped.merge(other.id, BECERRA.id)
    why = await engine.explain(WHO, other.id)
    assert (why.element.id, why.kept_out) == (str(BECERRA.id), None)


async def test_what_is_hidden_is_as_unknown_as_what_is_not_there(scoped):
    spy = person("Spy", labels=["secret"])
    engine = await office(scoped, entities=(spy, LONE), relations=())
    for name, gate in (("Spy", no_secrets(by_signature=False)), ("Nobody", None)):
        with pytest.raises(UnknownElementError, match=f"no entity called '{name}'"):
            await engine.explain("spy", named(name), gate=gate)

"""What a question finds, on every store: seeds, hops, filters, scores, order, gates and paths."""

from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import ClassVar
from uuid import UUID

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.engine import DEFAULT_MODES, GraphSearchEngine
from graphsearch.errors import (
    EmbeddingModelError,
    InvalidInputError,
    MissingDependencyError,
    UnknownElementError,
    UnknownModeError,
    UnknownScopeError,
)
from graphsearch.model import Batch, Claim, EdgeKind, ElementKind, Memory, RelationType
from graphsearch.model.signatures import Resource
from graphsearch.modes.mode import GraphCompletion, Neighborhood, Part, Question
from graphsearch.modes.result import SearchMode, SearchRequest, SearchResult
from graphsearch.ranking.recall_result import RecallRequest
from graphsearch.ranking.triplet_score import ScoringOptions
from graphsearch.testing.fakes import NOON, HashEmbedder
from graphsearch.traversal.paths import KHopTraversal
from tests.gates import allowing
from tests.graphs import days_ago, edge, people, person

HOPS = SearchMode.NEIGHBORHOOD
ONLY_HOPS = ScoringOptions(feedback_influence=0.0, importance_influence=0.0)


def facts(triplets):
    return [(triplet.source.name, triplet.relation.type, triplet.target.name) for triplet in triplets]


@pytest.fixture
async def engine(scoped):
    return GraphSearchEngine(store=scoped, scoring=ONLY_HOPS)


async def embedded(store, batch: Batch, embedder: HashEmbedder) -> None:
    await store.bind_embedder(embedder.name, embedder.dimensions)
    vectors = await embedder.embed([entity.name for entity in batch.entities])
    by_id = {entity.id: vector for entity, vector in zip(batch.entities, vectors, strict=True)}
    await store.write(Batch(entities=batch.entities, relations=batch.relations, vectors=by_id))


# -- NEIGHBORHOOD -------------------------------------------------------------------------------------------------


async def test_a_chain_is_as_reliable_as_its_weakest_link(engine):
    chain = [edge("Ada", "knows", "Bob", confidence=0.90), edge("Bob", "knows", "Cyd", confidence=0.95)]
    await engine.store.write(people(*chain, names="Ada Bob Cyd"))
    result = await engine.search("what of Ada?", mode=HOPS)
    assert facts(result.triplets) == [("Ada", "knows", "Bob"), ("Bob", "knows", "Cyd")]
    assert result.triplets[0].score == pytest.approx(0.90 * 0.6)
    assert result.triplets[1].score == pytest.approx(0.90 * 0.35)
    assert result.triplets[1].path == (chain[0].id,)
    assert [anchor.name for anchor in result.anchors] == ["Ada"]


async def test_product_confidence(scoped):
    edges = [
        edge("Ada", "knows", "Bob", confidence=0.90),
        edge("Bob", "knows", "Cyd", confidence=0.95),
    ]
    await scoped.write(people(*edges, names="Ada Bob Cyd"))
    product = ScoringOptions(feedback_influence=0.0, importance_influence=0.0, path_confidence="product")
    result = await GraphSearchEngine(store=scoped, scoring=product).search("Ada", mode=HOPS)
    assert result.triplets[-1].score == pytest.approx(0.29925)


async def test_the_hop_table_by_confidence_and_the_worst_of_three(scoped):
    edges = [edge("Ada", "knows", "Bob", confidence=0.9), edge("Bob", "knows", "Cyd", confidence=0.8)]
    await scoped.write(people(*edges, names="Ada Bob Cyd"))
    for options, expected in (
        (attrs.evolve(ONLY_HOPS, hop_table="by_confidence"), [0.9, 0.4 * 0.8]),
        (attrs.evolve(ONLY_HOPS, combine="worst"), [0.6, 0.35]),
    ):
        result = await GraphSearchEngine(store=scoped, scoring=options).search("Ada", mode=HOPS)
        assert [triplet.score for triplet in result.triplets] == pytest.approx(expected)


async def test_half_a_year_at_two_hops(engine):
    old = days_ago(180)
    edges = [
        edge("Ada", "collaborated_with", "Bob", confidence=0.9, supported_at=NOON),
        edge("Bob", "collaborated_with", "Cyd", confidence=0.70, supported_at=old, valid_from=old),
    ]
    await engine.store.write(people(*edges, names="Ada Bob Cyd"))
    result = await engine.search("Ada", mode=HOPS)
    assert result.triplets[-1].score == pytest.approx(0.0030625)


async def test_parts_add_up_and_feedback_and_importance_count(scoped):
    await scoped.write(
        people(
            edge("Ada", "knows", "Bob", confidence=0.8),
            names="Ada Bob",
            Ada={"importance_weight": 0.9},
            Bob={"importance_weight": 0.3},
        )
    )
    (triplet,) = (await GraphSearchEngine(store=scoped).search("Ada", mode=HOPS)).triplets
    score = triplet.breakdown
    assert score.value == pytest.approx(0.8 * 0.6 * (0.7 * (0.8 + 0.2 * 0.6) + 0.3 * 0.5))
    assert score.value == pytest.approx(score.proximity_part + score.importance_part + score.feedback_part)


async def test_filters_leave_out_and_say_so(engine):
    edges = [
        edge("Ada", "knows", "Bob", confidence=0.9),
        edge("Ada", "knows", "Low", confidence=0.4),
        edge("Ada", "met_with", "Bob", confidence=0.9),
        edge("Ada", "knows", "Old", confidence=0.9, valid_to=days_ago(1)),
    ]
    await engine.store.write(people(*edges, names="Ada Bob Low Old"))
    result = await engine.search("Ada", mode=HOPS)
    assert facts(result.triplets) == [("Ada", "knows", "Bob")]
    assert result.left_out == {"not_held": 1, "low_confidence": 1, "skipped_type": 1}
    earlier = await engine.search("Ada", mode=HOPS, as_of=days_ago(2), known_at=NOON, min_edge_confidence=0.3)
    assert {name for _, _, name in facts(earlier.triplets)} == {"Bob", "Low", "Old"}


async def test_a_search_skips_types_of_its_own(engine):
    edges = [edge("Ada", name, "Bob", confidence=0.9) for name in ("knows", "likes", "met_with")]
    await engine.store.write(people(*edges, names="Ada Bob"))
    for skipped, shown in {("likes",): {"knows", "met_with"}, (): {"knows", "likes", "met_with"}}.items():
        found = await engine.search("Ada", mode=HOPS, skip_types=skipped)
        assert {each.relation.type for each in found.triplets} == shown
    assert "met_with" not in {each.relation.type for each in (await engine.search("Ada", mode=HOPS)).triplets}
    for faulty in ("likes", [1]):
        with pytest.raises(InvalidInputError, match="skip_types"):
            await engine.search("Ada", mode=HOPS, skip_types=faulty)
    explained = await engine.explain("Ada", edges[1].id, mode=HOPS, skip_types=["likes"])
    assert explained.kept_out == "skipped_type"


async def test_what_was_not_known_yet_is_not_shown(engine):
    await engine.store.write(people(edge("Ada", "knows", "Bob", created_at=days_ago(3)), names="Ada Bob"))
    assert (await engine.search("Ada", mode=HOPS, known_at=days_ago(2))).found == 0  # Ada herself was not known
    assert (await engine.search("Ada", mode=HOPS)).found == 1


async def test_equal_scores_come_by_kind_then_names(engine):
    edges = [
        edge("Ada", "likes", "Zed", kind=EdgeKind.LIFECYCLE),
        edge("Ada", "likes", "Yan", kind=EdgeKind.SEMANTIC),
        edge("Ada", "likes", "Xia", kind=EdgeKind.STRUCTURAL),
        edge("Ada", "likes", "Bob", kind=EdgeKind.SEMANTIC),
        edge("Ada", "hates", "Bob", kind=EdgeKind.SEMANTIC),
    ]
    await engine.store.write(people(*edges, names="Ada Bob Xia Yan Zed"))
    ordered = ["Xia", "Bob", "Bob", "Yan", "Zed"]
    for limit in (5, 4, 3, 2, 1):
        found = facts((await engine.search("Ada", mode=HOPS, limit=limit)).triplets)
        assert [name for _, _, name in found] == ordered[:limit]
    assert facts((await engine.search("Ada", mode=HOPS)).triplets)[1][1] == "hates"


async def test_registered_types_change_priors_hop_scores_and_skips(engine):
    await engine.store.write(people(edge("Ada", "knows", "Bob"), edge("Bob", "knows", "Cyd"), names="Ada Bob Cyd"))
    await engine.store.register_types([RelationType(name="knows", prior=0.5, hop_scores=(1.0, 0.8, 0.4))])
    values = [triplet.score for triplet in (await engine.search("Ada", mode=HOPS)).triplets]
    assert values == pytest.approx([0.4, 0.2])
    await engine.store.register_types([RelationType(name="knows", skip=True)])
    assert (await engine.search("Ada", mode=HOPS)).triplets == ()


async def test_a_question_that_names_nothing_finds_nothing(engine):
    await engine.store.write(people(edge("Ada", "knows", "Bob"), names="Ada Bob"))
    for question in ("", "where is the", "who is Zoe?"):
        result = await engine.search(question, mode=HOPS)
        assert (result.triplets, result.anchors, result.found) == ((), (), 0)


async def test_a_path_is_chosen_by_its_last_relation(engine):
    edges = [
        edge("Ada", "knows", "Bob", confidence=0.6),
        edge("Ada", "knows", "Cyd", confidence=0.8),
        edge("Bob", "knows", "Dan", confidence=0.9),
        edge("Cyd", "knows", "Dan", confidence=0.7),
        edge("Dan", "knows", "Eve", confidence=1.0),
    ]
    await engine.store.write(people(*edges, names="Ada Bob Cyd Dan Eve"))
    triplets = {triplet.target.name: triplet for triplet in (await engine.search("Ada", mode=HOPS)).triplets}
    assert triplets["Eve"].path == (edges[0].id, edges[2].id)  # 0.9 into Dan beats 0.7, though Bob is less sure
    assert triplets["Eve"].breakdown.confidence == pytest.approx(0.6)


# -- GRAPH_COMPLETION ---------------------------------------------------------------------------------------------


async def test_seeds_by_embedding_then_hops(scoped):
    embedder = HashEmbedder()
    batch = people(
        edge("Ada", "knows", "Bob"),
        edge("Bob", "knows", "Cyd"),
        edge("Eve", "knows", "Fay"),
        names="Ada Bob Cyd Eve Fay",
    )
    await embedded(scoped, batch, embedder)
    engine = GraphSearchEngine(store=scoped, embedder=embedder, scoring=ONLY_HOPS)
    result = await engine.search("Ada", seeds=1)
    assert facts(result.triplets) == [("Ada", "knows", "Bob"), ("Bob", "knows", "Cyd")]
    first, second = (triplet.breakdown for triplet in result.triplets)
    assert 0 < second.proximity < first.proximity < 1
    for score in (first, second):
        assert sum(score.relevance.values()) == pytest.approx(score.proximity)
    assert first.relevance["source"] > 0 == second.relevance["source"]
    stages = {"understanding", "embedding", "seeds", "traversal", "scoring", "hydration"}
    assert set(result.timings) == stages | {"total"}
    assert (await engine.search("")).triplets == ()


@pytest.mark.parametrize("asked", ["whom does Ada know?", "whom did Ada know in 2019?"])
async def test_a_question_opens_one_snapshot_and_is_embedded_once_before(scoped, monkeypatch, asked):
    embedder = HashEmbedder()
    await embedded(scoped, people(edge("Ada", "knows", "Bob"), names="Ada Bob"), embedder)
    engine, steps = GraphSearchEngine(store=scoped, embedder=embedder), list[str]()
    await engine.search(asked)  # what the engine keeps of the scope is read once
    snapshot, embed = type(scoped).snapshot, embedder.embed

    within = ContextVar("within", default=False)

    @asynccontextmanager
    async def opened(self):
        if not within.get():  # what is read within another snapshot is of that one
            steps.append("opened")
        token = within.set(True)
        async with snapshot(self):
            yield
        within.reset(token)

    async def embedded_as(texts, *, input_type):
        steps.append(input_type)
        return await embed(texts, input_type=input_type)

    monkeypatch.setattr(type(scoped), "snapshot", opened)
    monkeypatch.setattr(embedder, "embed", embedded_as)
    for ask in (engine.search, engine.rank_entities, engine.recall):
        await ask(asked)
    await engine.search_and_recall(SearchRequest(asked), RecallRequest(asked))
    assert steps == ["query", "opened"] * 4


async def test_a_plain_function_embeds(scoped):
    hashed = HashEmbedder()

    async def embed(text: str) -> list[float]:
        return [float(number) for number in hashed.vector(text)]

    batch = people(edge("Ada", "knows", "Bob"), names="Ada Bob")
    engine = GraphSearchEngine(store=scoped, embedder=embed)
    assert engine.embedder is not None
    vectors = await engine.embedder.embed([entity.name for entity in batch.entities], input_type="document")
    await scoped.bind_embedder(engine.embedder.name, engine.embedder.dimensions)
    by_id = {entity.id: vector for entity, vector in zip(batch.entities, vectors, strict=True)}
    await scoped.write(Batch(entities=batch.entities, relations=batch.relations, vectors=by_id))
    assert len((await engine.search("Ada")).triplets) == 1


async def test_another_embedding_model_is_refused(scoped):
    await embedded(scoped, people(names="Ada"), HashEmbedder(64, name="first"))
    with pytest.raises(EmbeddingModelError, match=r"'first'.*'second'.*ingest again"):
        await GraphSearchEngine(store=scoped, embedder=HashEmbedder(64, name="second")).search("Ada")
    with pytest.raises(EmbeddingModelError):
        await GraphSearchEngine(store=scoped, embedder=HashEmbedder(32, name="first")).search("Ada")


# -- modes and requests -------------------------------------------------------------------------------------------


async def test_a_missing_part_is_named_with_how_to_pass_it(engine):
    with pytest.raises(
        MissingDependencyError, match=r"graph_completion.*embedder.*GraphSearchEngine\(store=…, embedder=…"
    ):
        await engine.search("Ada")


async def test_a_mode_that_needs_a_model_says_so(scoped):
    class Asking(GraphCompletion):
        needs: ClassVar[frozenset[Part]] = frozenset({"llm"})

    with pytest.raises(MissingDependencyError, match=r"mine.*llm.*GraphSearchEngine\(store=…, llm=…"):
        await GraphSearchEngine(store=scoped, modes={"mine": Asking()}).search("Ada", mode="mine")


async def test_unknown_modes_are_refused(engine):
    with pytest.raises(UnknownModeError, match="no mode 'psychic'; there are: graph_completion, natural_language"):
        await engine.search("Ada", mode="psychic")


async def test_every_mode_that_has_a_name_comes_with_the_engine(engine):
    assert set(engine.modes) == {mode.value for mode in SearchMode}


async def test_a_mode_of_ones_own_may_prepare_and_conclude(engine):
    class Shouting(Neighborhood):
        async def prepare(self, question: Question) -> Question:
            return await super().prepare(attrs.evolve(question, request=attrs.evolve(question.request, query="ADA")))

        async def conclude(self, found: SearchResult, question: Question) -> SearchResult:
            return attrs.evolve(found, reason=f"{question.request.query}!")

    await engine.store.write(people(edge("Ada", "knows", "Bob"), names="Ada Bob"))
    shouting = GraphSearchEngine(store=engine.store, modes={"shouting": Shouting()})
    found = await shouting.search("Bob?", mode="shouting")
    assert (found.query, found.reason, len(found.triplets)) == ("ADA", "ADA!", 1)


async def test_with_since_a_period_of_time_is_looked_at(engine):
    then = edge("Ada", "knew", "Bob", valid_from=days_ago(90), valid_to=days_ago(60))
    await engine.store.write(people(then, names="Ada Bob"))
    for mode in (HOPS, "INSIGHTS"):
        assert (await engine.search("Ada", mode=mode)).found == 0
        assert (await engine.search("Ada", mode=mode, since=days_ago(70))).found == 1
        assert (await engine.search("Ada", mode=mode, since=days_ago(50))).found == 0
    with pytest.raises(InvalidInputError, match="since must not be after as_of"):
        await engine.search("Ada", mode=HOPS, since=days_ago(1), as_of=days_ago(2))
    with pytest.raises(InvalidInputError, match="since must not be after as_of"):
        await engine.search("Ada", mode=HOPS, since=NOON.replace(year=2030))
    why = await engine.explain("Ada", then.id, mode=HOPS, since=days_ago(70))
    assert why.rank == 1


def test_aliases_of_modes():
    assert SearchMode["INSIGHTS"] is SearchMode.NEIGHBORHOOD
    assert SearchMode["SUMMARIES"] is SearchMode.SUMMARY


async def test_modes_answer_to_their_names_in_any_case(engine):
    await engine.store.write(people(edge("Ada", "knows", "Bob"), names="Ada Bob"))
    for name in ("INSIGHTS", "insights", "Neighborhood"):
        assert (await engine.search("Ada", mode=name)).found == 1


async def test_a_mode_and_a_traversal_of_ones_own(scoped):
    await scoped.write(people(edge("Ada", "knows", "Bob"), edge("Bob", "knows", "Cyd"), names="Ada Bob Cyd"))
    modes = {**DEFAULT_MODES, "mine": DEFAULT_MODES["neighborhood"]}
    engine = GraphSearchEngine(store=scoped, modes=modes, traversal=KHopTraversal(scoped, fan_out=1))
    assert (await engine.search("Bob", mode="mine")).found == 2  # one relation each way
    with pytest.raises(InvalidInputError):
        KHopTraversal(scoped, fan_out=0)


async def test_every_fault_of_a_request_is_named(engine):
    with pytest.raises(InvalidInputError) as error:
        await engine.search("a\0b", seeds=0, limit=0, depth=-1, max_hops=11, min_edge_confidence=2)
    assert len(error.value.faults) == 6


async def test_a_scope_never_written_is_unknown(engine):
    with pytest.raises(UnknownScopeError):
        await engine.search("Ada", mode=HOPS)


# -- neighbors, path ----------------------------------------------------------------------------------------------


async def test_neighbors(engine):
    await engine.store.write(
        people(edge("Ada", "knows", "Bob"), edge("Bob", "knows", "Cyd", confidence=0.9), names="Ada Bob Cyd")
    )
    assert facts(await engine.neighbors("Ada")) == [("Ada", "knows", "Bob")]
    assert len(await engine.neighbors(person("Ada"), depth=2)) == 2
    assert len(await engine.neighbors("bob", limit=1)) == 1
    with pytest.raises(UnknownElementError, match="no entity called 'Zoe'"):
        await engine.neighbors("Zoe")


async def test_the_shortest_path_wins_then_the_strongest(engine):
    edges = [
        edge("Ada", "knows", "Bob", confidence=0.6),
        edge("Bob", "knows", "Dan", confidence=1.0),
        edge("Ada", "knows", "Cyd", confidence=0.8),
        edge("Dan", "knows", "Cyd", confidence=0.7),
        edge("Dan", "knows", "Eve", confidence=1.0),
    ]
    await engine.store.write(people(*edges, names="Ada Bob Cyd Dan Eve Lone"))
    path = await engine.path("Ada", "Eve")
    assert path is not None
    assert [entity.name for entity in path.entities] == ["Ada", "Cyd", "Dan", "Eve"]
    assert [relation.id for relation in path.relations] == [edges[2].id, edges[3].id, edges[4].id]
    assert (path.hops, path.strength) == (3, pytest.approx(0.7))
    assert await engine.path("Ada", "Lone") is None
    assert await engine.path("Ada", "Eve", max_hops=2) is None
    same = await engine.path("Ada", "Ada")
    assert same is not None
    assert (same.hops, same.strength) == (0, 1.0)
    with pytest.raises(UnknownElementError):
        await engine.path("Ada", UUID(int=7))


async def test_a_path_weighs_least_parts_not_only_products(engine):
    """Bob's way is stronger so far, Cyd's is stronger in the end: both must be kept until Eve is reached."""
    await engine.store.register_types([RelationType(name="owes", prior=0.5)])
    edges = [
        edge("Ada", "knows", "Bob", confidence=0.6),
        edge("Bob", "knows", "Dan", confidence=0.6),
        edge("Ada", "owes", "Cyd", confidence=1.0),
        edge("Cyd", "knows", "Dan", confidence=1.0),
        edge("Dan", "owes", "Eve", confidence=1.0),
    ]
    await engine.store.write(people(*edges, names="Ada Bob Cyd Dan Eve"))
    path = await engine.path("Ada", "Eve")
    assert path is not None
    assert [entity.name for entity in path.entities] == ["Ada", "Cyd", "Dan", "Eve"]
    assert path.strength == pytest.approx(0.5)


async def test_a_layer_of_a_path_keeps_the_strongest(engine, monkeypatch):
    monkeypatch.setattr("graphsearch.traversal.paths.MAX_ENTITIES", 1)
    edges = [
        edge("Ada", "knows", "Bob", confidence=0.6),
        edge("Ada", "knows", "Cyd", confidence=0.9),
        edge("Bob", "knows", "Dan"),
        edge("Cyd", "knows", "Eve"),
    ]
    await engine.store.write(people(*edges, names="Ada Bob Cyd Dan Eve"))
    assert await engine.path("Ada", "Eve") is not None
    assert await engine.path("Ada", "Dan") is None


# -- gates --------------------------------------------------------------------------------------------------------


def denying(*hidden: str, by_signature: bool = False) -> Gate:
    """A gate that hides what has a name or a label, element by element unless asked to go by signature."""

    def rule(resource: Resource) -> bool:
        return not {*hidden} & {resource.name, resource.type, resource.id, *resource.labels}

    return allowing(rule, by_signature=by_signature)


async def test_a_path_never_leads_through_what_is_hidden(engine):
    edges = [edge("Ada", "knows", "Spy"), edge("Spy", "knows", "Dan"), edge("Ada", "knows", "Bob", confidence=0.6)]
    await engine.store.write(people(*edges, names="Ada Bob Dan Spy"))
    gate = denying("Spy")
    result = await engine.search("Ada", mode=HOPS, gate=gate)
    assert facts(result.triplets) == [("Ada", "knows", "Bob")]
    assert result.denied[ElementKind.ENTITY] == 1
    assert await engine.path("Ada", "Dan", gate=gate) is None
    assert len(await engine.neighbors("Ada", depth=3, gate=gate)) == 1
    with pytest.raises(UnknownElementError):
        await engine.neighbors("Spy", gate=gate)
    with pytest.raises(UnknownElementError):
        await engine.explain("Ada", edges[0].id, mode=HOPS, gate=gate)


async def test_a_hub_is_fetched_again_past_the_denied(scoped):
    """Forty stronger relations are hidden; the next 25 take their place, as if the forty were not there."""
    hidden = [f"H{number:02}" for number in range(40)]
    shown = [f"S{number:02}" for number in range(30)]
    edges = [edge("Hub", "knows", name, confidence=0.9) for name in hidden]
    edges += [edge("Hub", "knows", name, confidence=0.6 + number / 100) for number, name in enumerate(shown)]
    details = {name: {"labels": ["secret"]} for name in hidden}
    await scoped.write(people(*edges, names=" ".join(["Hub", *hidden, *shown]), **details))
    result = await GraphSearchEngine(store=scoped).search("Hub", mode=HOPS, gate=denying("secret"), limit=100)
    assert sorted(triplet.target.name for triplet in result.triplets) == shown[5:]
    assert result.denied[ElementKind.ENTITY] == 40


async def test_seeds_are_asked_for_again_past_the_denied(scoped):
    embedder = HashEmbedder()
    secret = {f"Ada{number}": {"labels": ["secret"]} for number in range(20)}
    batch = people(edge("Bob", "knows", "Cyd"), names=" ".join(["Bob", "Cyd", *secret]), **secret)
    await embedded(scoped, batch, embedder)
    engine = GraphSearchEngine(store=scoped, embedder=embedder)
    result = await engine.search("knows", seeds=2, gate=denying("secret"))
    assert facts(result.triplets) == [("Bob", "knows", "Cyd")]


# -- provenance ---------------------------------------------------------------------------------------------------


async def tell(store, *memories: tuple[str, str, float]) -> None:
    """Memories (id, label, confidence) that each claim that Ada knows Bob."""
    await store.write(
        Batch(
            entities=people(names="Ada Bob").entities,
            memories=[
                Memory(id=id_, text="Ada knows Bob.", labels=[label], occurred_at=days_ago(number))
                for number, (id_, label, _) in enumerate(memories)
            ],
            claims=[
                Claim(memory_id=id_, source_id=person("Ada"), type="knows", target_id=person("Bob"), confidence=sure)
                for id_, _, sure in memories
            ],
        )
    )


async def test_provenance(scoped):
    await tell(scoped, ("one", "open", 0.6), ("two", "open", 0.9))
    result = await GraphSearchEngine(store=scoped).search("Ada", mode=HOPS)
    assert list(result.provenance.values()) == [("one", "two")]

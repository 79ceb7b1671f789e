"""A relation with partly hidden evidence is the fold of the rest, on every store."""

from typing import Any

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import UnknownElementError
from graphsearch.model import Batch, Claim, ElementKind, Memory
from tests.curation.team import GREG
from tests.gates import POLICIES
from tests.graphs import days_ago, edge, people, person
from tests.test_engine import HOPS, ONLY_HOPS, denying, facts, tell


def hiding(by_signature, *hidden):
    return denying(*hidden, by_signature=by_signature)


@POLICIES
async def test_hidden_evidence_shapes_nothing_that_is_shown(scoped, by_signature):
    await tell(scoped, ("open", "open", 0.6), ("secret", "secret", 0.9))
    engine = GraphSearchEngine(store=scoped, scoring=ONLY_HOPS)
    gate = hiding(by_signature, "secret")
    (everything,) = (await engine.search("Ada", mode=HOPS)).triplets
    (shown,) = (await engine.search("Ada", mode=HOPS, gate=gate)).triplets
    assert everything.breakdown.confidence == pytest.approx(0.96)
    assert [shown.breakdown.confidence, shown.relation.confidence] == pytest.approx([0.6, 0.6])
    assert (shown.relation.evidence, shown.relation.valid_from) == (("open",), days_ago(0))
    assert shown.relation.id == everything.relation.id
    assert (await engine.search("Ada", mode=HOPS, gate=gate, min_edge_confidence=0.7)).triplets == ()


async def test_a_relation_of_hidden_evidence_alone_is_hidden(scoped):
    await tell(scoped, ("one", "secret", 0.6), ("two", "secret", 0.9))
    engine = GraphSearchEngine(store=scoped)
    result = await engine.search("Ada", mode=HOPS, gate=denying("secret"))
    assert (result.triplets, result.denied[ElementKind.RELATION]) == ((), 1)
    (relation,) = await scoped.list_relations()
    with pytest.raises(UnknownElementError):
        await engine.explain("Ada", relation.id, mode=HOPS, gate=denying("secret"))


async def say(store, *claims, names, **details):
    """What memories say: (memory, source, type, target, options of the claim), a memory a day after the one before.

    Those whose ids begin with "secret" are labelled so.
    """
    memories = {
        id_: Memory(id=id_, labels=["secret"] if id_.startswith("secret") else [], occurred_at=days_ago(90 - number))
        for number, id_ in enumerate(dict.fromkeys(id_ for id_, *_ in claims))
    }
    stated = [
        Claim(memory_id=id_, source_id=person(source), type=type_, target_id=person(target), **options)
        for id_, source, type_, target, options in claims
    ]
    entities = people(names=names, **details).entities
    await store.write(Batch(entities=entities, memories=list(memories.values()), claims=stated))


@POLICIES
async def test_what_only_the_hidden_ended_goes_on(scoped, by_signature):
    await say(
        scoped,
        ("open", "Ada", "reports_to", "Bob", {"confidence": 0.9}),
        ("secret", "Ada", "reports_to", "Cyd", {"confidence": 0.9}),
        names="Ada Bob Cyd",
    )
    engine = GraphSearchEngine(store=scoped, scoring=ONLY_HOPS)
    gate = hiding(by_signature, "secret")
    assert facts((await engine.search("Ada", mode=HOPS)).triplets) == [("Ada", "reports_to", "Cyd")]
    result = await engine.search("Ada", mode=HOPS, gate=gate)
    assert facts(result.triplets) == [("Ada", "reports_to", "Bob")]
    assert result.triplets[0].relation.valid_to is None
    assert result.denied[ElementKind.RELATION] == 1
    assert [each.relation.valid_to for each in await engine.neighbors("Ada", gate=gate)] == [None]
    path = await engine.path("Ada", "Bob", gate=gate)
    assert path is not None
    explanation = await engine.explain("Ada", path.relations[0].id, mode=HOPS, gate=gate)
    assert explanation.rank == 1


@POLICIES
async def test_what_only_a_claim_of_something_hidden_ended_goes_on(scoped, by_signature):
    await say(
        scoped,
        ("one", "Ada", "works_at", "Bob", {"confidence": 0.9}),
        ("two", "Ada", "works_at", "Cyd", {"confidence": 0.9}),
        names="Ada Bob Cyd",
        Cyd={"labels": ["secret"]},
    )
    engine = GraphSearchEngine(store=scoped)
    result = await engine.search("Ada", mode=HOPS, gate=hiding(by_signature, "secret"))
    assert facts(result.triplets) == [("Ada", "works_at", "Bob")]


@POLICIES
async def test_what_only_the_hidden_told_apart_is_one(scoped, by_signature):
    """Its confidence and evidence are those of its visible claims."""
    await say(
        scoped,
        ("first", "Ada", "knows", "Bob", {"confidence": 0.4}),
        ("secret", "Ada", "knows", "Bob", {"confidence": 0.9, "valid_to": days_ago(88)}),
        ("second", "Ada", "knows", "Bob", {"confidence": 0.4, "fact": "They know each other."}),
        names="Ada Bob",
    )
    assert len(await scoped.list_relations()) == 2
    engine = GraphSearchEngine(store=scoped, scoring=ONLY_HOPS)
    assert (await engine.search("Ada", mode=HOPS)).triplets == ()  # the confidence of the rest is too low
    (shown,) = (await engine.search("Ada", mode=HOPS, gate=hiding(by_signature, "secret"))).triplets
    assert shown.breakdown.confidence == pytest.approx(0.64)
    assert (shown.relation.evidence, shown.relation.valid_from) == (("first", "second"), days_ago(90))
    assert shown.relation.fact == "They know each other."


async def test_proofs_of_what_only_the_hidden_told_apart(scoped):
    await say(
        scoped,
        ("first", "Ada", "knows", "Bob", {"confidence": 0.4}),
        ("secret", "Ada", "knows", "Bob", {"confidence": 0.9, "valid_to": days_ago(88)}),
        ("second", "Ada", "knows", "Bob", {"confidence": 0.4}),
        names="Ada Bob",
    )

    class NoSecrets:
        by_signature = True

        async def authorize(self, principal, action, resources, *, scope):
            return ["secret" not in resource.labels for resource in resources]

    early, late = sorted(await scoped.list_relations(), key=lambda each: each.valid_from)
    curator = Curator(GraphSearchEngine(store=scoped), gate=Gate(NoSecrets(), GREG))
    found = await curator.why(early.id)
    assert [each.memory.id for each in found.proofs] == ["first", "second"]
    assert sum(each.adds for each in found.proofs) == pytest.approx(found.relation.confidence) == pytest.approx(0.64)
    with pytest.raises(UnknownElementError):
        await curator.why(late.id)


@POLICIES
async def test_what_is_weaker_than_it_was_taken_for_takes_no_place(scoped, by_signature):
    """Of thirty relations those are shown that are strongest by their visible evidence, though others come first."""
    weak = [f"W{number:02}" for number in range(30)]
    strong = [f"S{number:02}" for number in range(30)]
    claims = [("open", "Hub", "knows", name, {"confidence": 0.55}) for name in weak]
    claims += [("secret", "Hub", "knows", name, {"confidence": 0.9}) for name in weak]
    claims += [("open", "Hub", "knows", name, {"confidence": 0.6 + n / 100}) for n, name in enumerate(strong)]
    await say(scoped, *claims, names=" ".join(["Hub", *weak, *strong]))
    gate = hiding(by_signature, "secret")
    result = await GraphSearchEngine(store=scoped).search("Hub", mode=HOPS, gate=gate, limit=100)
    assert sorted(triplet.target.name for triplet in result.triplets) == strong[5:]


@POLICIES
async def test_what_supported_it_by_then_is_what_may_be_seen(scoped, by_signature):
    """Freshness at a moment counts from the newest support up to then."""
    await say(
        scoped,
        *[(name, "Ada", "works_with", "Bob", {"confidence": 0.6}) for name in ("one", "two", "secret", "three")],
        names="Ada Bob",
    )
    engine = GraphSearchEngine(store=scoped, scoring=ONLY_HOPS)
    options: dict[str, Any] = {"mode": HOPS, "as_of": days_ago(87.5)}
    (shown,) = (await engine.search("Ada", gate=hiding(by_signature, "secret"), **options)).triplets
    await scoped.forget(["secret"])
    (expected,) = (await engine.search("Ada", **options)).triplets
    *numbers, parts = attrs.astuple(shown.breakdown)
    assert numbers == pytest.approx(attrs.astuple(expected.breakdown)[:-1])
    assert parts == {}


@POLICIES
async def test_evidence_of_what_was_asserted_is_what_may_be_seen(scoped, by_signature):
    """Of three memories behind one relation two, of the one behind another none."""
    memories = [
        Memory(id=id_, labels=labels, occurred_at=days_ago(days))
        for id_, days, labels in (("one", 90, ()), ("two", 80, ()), ("three", 70, ["secret"]))
    ]
    proved = edge("Ada", "knows", "Bob", evidence=[each.id for each in memories], supported_at=days_ago(70))
    hidden = edge("Ada", "knows", "Cyd", evidence=["three"])
    await scoped.write(attrs.evolve(people(proved, hidden, names="Ada Bob Cyd"), memories=memories))
    engine, gate = GraphSearchEngine(store=scoped), hiding(by_signature, "secret")
    (shown,) = await engine.neighbors("Ada", gate=gate)
    assert (shown.relation.evidence, shown.relation.supported_at) == (("one", "two"), days_ago(80))
    curator = Curator(engine, gate=gate)
    assert [each.memory.id for each in (await curator.why(proved.id)).proofs] == ["one", "two"]
    with pytest.raises(UnknownElementError):
        await curator.why(hidden.id)
    assert not any(each.relation and each.relation.id == hidden.id for each in await curator.entity_timeline("Ada"))


@POLICIES
async def test_what_the_visible_ended_holds_no_longer(scoped, by_signature):
    """What is folded again is read from a store whenever it held."""
    dates = {"valid_from": days_ago(90), "valid_to": days_ago(80)}
    await say(
        scoped,
        ("open", "Ada", "works_with", "Bob", {"confidence": 0.9, **dates}),
        ("secret", "Ada", "works_with", "Bob", {"confidence": 0.9, **dates}),
        names="Ada Bob",
    )
    engine, gate = GraphSearchEngine(store=scoped), hiding(by_signature, "secret")
    assert await engine.neighbors("Ada", gate=gate) == ()
    assert (await engine.search("Ada", mode=HOPS, gate=gate)).triplets == ()
    assert len(await engine.neighbors("Ada", gate=gate, as_of=days_ago(87))) == 1

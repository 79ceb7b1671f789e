"""What stands behind a line: its explanation, its proofs with their quotes, and how its weight came about."""

from __future__ import annotations

from uuid import uuid4

import attrs
import pytest

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import UnknownElementError
from graphsearch.federation.engine import FederatedEngine
from graphsearch.model import Batch, ElementKind, Entity, Memory, Outcome, Principal, Span
from graphsearch.page.asking import ask
from graphsearch.page.evidence import AROUND, PROOFS, evidence
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.samples import claim
from tests.curation.team import ADA, AGAIN, BATCH, BOB, HIRED, SECRET, Labels
from tests.integrations.mcp.conftest import team_engine

QUESTION = "who knows Bob?"
GREG, EVE = Principal(id="greg"), Principal(id="eve")


async def key_of(engine: GraphSearchEngine, type_: str) -> str:
    shown = await ask(ContextBuilder(engine), QUESTION, gate=ALLOW_ALL)
    return next(each.key for each in (*shown.relations, *shown.past) if each.type == type_).removeprefix("relation:")


async def test_a_relation_has_its_place_its_proofs_and_what_each_adds():
    engine = await team_engine()
    shown = await ask(ContextBuilder(engine), QUESTION, gate=ALLOW_ALL)
    place, row = next((place, each) for place, each in enumerate(shown.relations, 1) if each.type == "knows")
    found = await evidence(engine, ElementKind.RELATION, row.key.partition(":")[2], query=QUESTION, gate=ALLOW_ALL)
    assert (found.explanation.rank, found.explanation.of) == (place, shown.found)
    parts = {each.name: each.contribution for each in found.explanation.parts if each.contribution}
    assert parts == pytest.approx(row.parts, abs=1e-5)
    assert found.provenance is not None
    assert found.proved_by == row.evidence
    adds = [each.adds for each in found.provenance.proofs]
    assert adds == sorted(adds, reverse=True)
    assert sum(adds) == pytest.approx(row.confidence, abs=1e-5)


async def test_a_quote_stands_in_the_words_around_it_and_only_the_best_proofs_are_sent():
    long = Memory(id="long", text="x" * 5_000 + "Ada knows Bob." + "y" * 5_000)
    span = Span(start=5_000, end=5_014)
    many = [Memory(id=f"m{number}", text="Ada knows Bob.") for number in range(30)]
    claims = [claim(long, ADA, BOB, "knows", span=span, confidence=0.9)]
    claims += [claim(each, ADA, BOB, "knows", confidence=0.5) for each in many]
    engine = await team_engine(Batch(entities=(ADA, BOB), memories=(long, *many), claims=claims))
    found = await evidence(engine, ElementKind.RELATION, await key_of(engine, "knows"), query=QUESTION, gate=ALLOW_ALL)
    assert found.provenance is not None
    best = found.provenance.proofs[0]
    assert best.claim is not None
    assert best.claim.span is not None
    assert best.memory.text[best.claim.span.start : best.claim.span.end] == best.quote == "Ada knows Bob."
    assert len(best.memory.text) == 2 * AROUND + len(best.quote)
    assert (len(found.provenance.proofs), found.proved_by) == (PROOFS, 31)


async def test_a_memory_says_what_it_states_and_an_entity_has_its_rank():
    engine = await team_engine()
    found = await evidence(engine, ElementKind.MEMORY, HIRED.id, query=QUESTION, gate=ALLOW_ALL)
    assert {(each.source.name, each.type, each.quote) for each in found.states} == {
        (ADA.name, "works_at", "Ada works at Acme."),
        (BOB.name, "works_at", "Bob works at Acme."),
    }
    entity = await evidence(engine, ElementKind.ENTITY, str(ADA.id), query=QUESTION, gate=ALLOW_ALL)
    assert isinstance(entity.element, Entity)
    assert entity.explanation.rank is not None


async def test_the_weight_after_each_outcome_is_what_it_was_then():
    engine = await team_engine()
    builder = ContextBuilder(engine)
    relation, weights = await key_of(engine, "knows"), []
    for session, outcome in (("a", Outcome.ACCEPTED), ("b", Outcome.REJECTED), ("c", Outcome.ACCEPTED)):
        await builder.build(QUESTION, gate=ALLOW_ALL, session_id=session)
        await builder.feedback(session, outcome, gate=ALLOW_ALL)
        found = await evidence(engine, ElementKind.RELATION, relation, query=QUESTION, gate=ALLOW_ALL)
        weights.append(found.element.feedback_weight)
    assert [each.weight for each in found.history] == pytest.approx(weights)
    assert [each.session_id for each in found.history] == ["a", "b", "c"]
    assert all(each.shown_at == engine.store.clock.now() for each in found.history)


async def test_sessions_of_others_are_not_named():
    engine = await team_engine()
    builder = ContextBuilder(engine)
    for principal in (GREG, EVE):
        gate = Gate(Labels(), principal)
        await builder.build(QUESTION, gate=gate, session_id=principal.id)
        await builder.feedback(principal.id, Outcome.ACCEPTED, gate=gate)
    relation = await key_of(engine, "knows")
    found = await evidence(engine, ElementKind.RELATION, relation, query=QUESTION, gate=Gate(Labels(), GREG))
    assert [each.session_id for each in found.history] == ["greg", ""]


async def test_of_what_is_hidden_nothing_is_told():
    """A session that was shown a hidden element too, and proofs by hidden memories, are as if these were not there."""
    secret = (attrs.evolve(AGAIN, labels=(SECRET,)), attrs.evolve(HIRED, labels=(SECRET,)))
    whole = [each for each in BATCH.memories if each.id not in {AGAIN.id, HIRED.id}]
    told = []
    for memories in ((*whole, *secret), whole):
        known = {each.id for each in memories}
        claims = [each for each in BATCH.claims if each.memory_id in known]
        mentions = [each for each in BATCH.mentions if each.memory_id in known]
        engine = await team_engine(attrs.evolve(BATCH, memories=memories, claims=claims, mentions=mentions))
        builder, gate = ContextBuilder(engine), Gate(Labels(), GREG, statistics="visible")
        await builder.build(QUESTION, gate=ALLOW_ALL, session_id="owner")
        await builder.feedback("owner", Outcome.ACCEPTED, gate=ALLOW_ALL)
        shown = await ask(builder, QUESTION, gate=gate)
        [relation] = (each.key.removeprefix("relation:") for each in shown.relations if each.type == "knows")
        found = await evidence(engine, ElementKind.RELATION, relation, query=QUESTION, gate=gate)
        assert [each.session_id for each in found.history] == [""]
        assert found.provenance is not None
        told.append((found.provenance.proofs, found.history, found.explanation.parts, found.proved_by))
        for kind, id_ in ((ElementKind.MEMORY, HIRED.id), (ElementKind.RELATION, str(uuid4()))):
            with pytest.raises(UnknownElementError):
                await evidence(engine, kind, id_, query=QUESTION, gate=gate)
    assert told[0] == told[1]


async def test_of_several_scopes_the_one_that_has_the_element_answers():
    engine, empty = await team_engine(), InMemoryGraphStore().with_scope(org_id="acme", project_id="app")
    await empty.write(Batch(memories=[Memory(id="other", text="Nothing.")]))
    several = FederatedEngine([engine, GraphSearchEngine(store=empty, embedder=engine.embedder)])
    for id_ in (HIRED.id, "other"):
        found = await evidence(several, ElementKind.MEMORY, id_, query=QUESTION, gate=ALLOW_ALL)
        assert found.explanation.element.id == id_
    with pytest.raises(UnknownElementError):
        await evidence(several, ElementKind.MEMORY, "none", query=QUESTION, gate=ALLOW_ALL)

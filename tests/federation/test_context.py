"""One block of several scopes, and what each scope's log records of it."""

import pytest

from graphsearch import ALLOW_ALL, ContextBuilder, Outcome
from graphsearch.errors import ForeignSessionError, InvalidInputError
from graphsearch.federation.engine import FederatedEngine
from graphsearch.model import ElementKind, ElementRef
from tests.federation.scopes import QUESTIONS, engines_of, member

SESSION = "s-1"


async def block_of(engines, gate, question="Where does Ada work?", **options):
    builder = ContextBuilder(FederatedEngine(engines))
    return builder, await builder.build(question, gate=gate, session_id=SESSION, **options)


async def logged(engine):
    return {element for entry in await engine.store.injections(SESSION) for element in entry.elements}


async def test_each_line_begins_with_its_projects_and_no_fact_is_there_twice(scopes):
    engines = await engines_of(scopes)
    _, block = await block_of(engines, member(*engines), budget=400)
    lines = [line for line in block.text.splitlines() if line.startswith("- ")]
    assert all(line.startswith("- [") for line in lines)
    (shared,) = (line for line in lines if "Ada works at Globex." in line)
    assert shared.startswith("- [company, me] ")
    assert block.tokens <= 400


async def test_one_readable_scope_needs_no_labels(scopes):
    engines = await engines_of(scopes)
    alone = await block_of(engines[:1], member(engines[0]))
    _, block = await block_of(engines, member(engines[0]))
    assert block.text == alone[1].text
    assert "[" not in block.text


async def test_each_log_records_its_own_elements_and_nothing_of_another_scope(scopes):
    engines = await engines_of(scopes)
    gate = member(*engines)
    _, block = await block_of(engines, gate, budget=600)
    assert set(block.injection_ids) == {engine.store.scope for engine in engines}
    assert block.injection_id is None
    for engine in engines:
        for element in await logged(engine):
            found = {
                ElementKind.ENTITY: engine.store.get_entities,
                ElementKind.RELATION: engine.store.get_relations,
                ElementKind.MEMORY: engine.store.get_memories,
            }[element.kind]
            assert len(await found([element.key])) == 1
    me, team, company = engines
    assert ElementRef(ElementKind.MEMORY, "m2") not in await logged(me)
    relation = next(each.relation for each in block.triplets if each.relation.fact == "Ada works at Globex.")
    about = ElementRef(ElementKind.RELATION, str(relation.id))
    assert about in await logged(me)
    assert about in await logged(company)
    assert about not in await logged(team)


async def test_an_outcome_reaches_each_element_in_its_own_scope(scopes):
    engines = await engines_of(scopes)
    gate = member(*engines)
    builder, block = await block_of(engines, gate, budget=600)
    report = await builder.feedback(SESSION, Outcome.ACCEPTED, gate=gate)
    logs = [await logged(engine) for engine in engines]
    assert sorted(report.applied) == sorted(element for log in logs for element in log)
    assert (report.missing, report.denied) == ((), 0)
    relation = next(each.relation for each in block.triplets if each.relation.fact == "Ada works at Globex.")
    for engine in (engines[0], engines[2]):
        assert (await engine.store.get_relations([relation.id]))[0].feedback_weight > 0.5
    again = await builder.feedback(SESSION, Outcome.ACCEPTED, gate=gate)
    assert sorted(again.repeated) == sorted(report.applied)


async def test_an_outcome_stays_out_of_scopes_that_the_principal_may_not_enter(scopes):
    engines = await engines_of(scopes)
    builder, _ = await block_of(engines, member(*engines), budget=600)
    report = await builder.feedback(SESSION, Outcome.REJECTED, gate=member(engines[0]))
    assert set(report.applied) == await logged(engines[0])
    for engine in engines[1:]:
        assert all(each.feedback_weight == 0.5 for each in await engine.store.list_memories())


async def test_the_session_of_another_principal_in_one_scope_leaves_all_logs_empty(scopes):
    engines = await engines_of(scopes)
    other = ContextBuilder(engines[2])
    await other.build(QUESTIONS[0], gate=member(engines[2], id="bob"), session_id=SESSION)
    before = await logged(engines[2])
    with pytest.raises(ForeignSessionError):
        await block_of(engines, member(*engines))
    assert await logged(engines[0]) == await logged(engines[1]) == set()
    assert await logged(engines[2]) == before


async def test_logs_are_one_store_for_each_scope(scopes):
    engines = await engines_of(scopes)
    federated = FederatedEngine(engines)
    with pytest.raises(InvalidInputError, match="its scope must be"):
        ContextBuilder(federated, log=engines[0].store)
    unlogged = await ContextBuilder(federated, log=None).build(QUESTIONS[0], gate=ALLOW_ALL, session_id=SESSION)
    assert unlogged.text
    assert not unlogged.injection_ids
    builder = ContextBuilder(federated, log=[engine.store for engine in engines])
    assert (await builder.build(QUESTIONS[0], gate=ALLOW_ALL, session_id=SESSION)).injection_ids

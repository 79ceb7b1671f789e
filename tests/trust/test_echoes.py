"""What a session was shown and writes back is no new evidence, however often it does."""

from __future__ import annotations

import attrs
import pytest

from graphsearch import Ingestor, Memory, TextExtractor
from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.curation import Curator
from graphsearch.ingest import Echo
from graphsearch.model import Principal
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock
from tests.trust.echoes import EXTRACTOR, JANUARY, KNOWN, content, engine_of, ingestor_of, loop, shown


async def test_loops_of_recall_and_remember_change_nothing(scoped: GraphStore) -> None:
    await loop(scoped, 24)


async def test_what_is_new_beside_an_echo_counts(scoped: GraphStore) -> None:
    ingestor, store = ingestor_of(scoped), scoped
    await ingestor.remember(KNOWN)
    before = {each.id: each for each in await store.list_relations()}
    await shown(store)
    text = "You said that Priya Sharma reports to Sarah Chen. Priya Sharma works at Globex."
    report = await ingestor.remember([Memory(id="new", text=text, session_id="s", occurred_at=JANUARY)])
    assert report.echoes == (Echo("new", ("n1",), claims=1),)
    assert report.changed == 1
    after = {each.id: each for each in await store.list_relations()}
    assert {id_: after[id_] for id_ in before} == before
    [added] = [each for id_, each in after.items() if id_ not in before]
    assert (added.type, added.evidence) == ("works_at", ("new",))
    [link] = await store.memory_links(["new"])
    assert (link.from_id, link.to_id, link.type) == ("new", "n1", "quotes")
    back, *_ = await Curator(engine_of(store)).backlinks(memory="n1")  # what is linked comes first
    assert back.memory.id == "new"
    # forgetting the source forgets the link; what was new stays
    await store.forget(["n1"])
    assert await store.memory_links(["new"]) == []
    assert [each.type for each in await store.list_relations() if "new" in each.evidence] == ["works_at"]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Indeed, Sarah Chen still works at Acme.", 0),  # other words, the same statement
        ("Sarah Chen works at Acme and Globex.", 1),  # one of two is new
        ("Sarah Chen worked at Acme until 2025-06-30.", 1),  # its end is new
        ("Sarah Chen reports to Priya Sharma.", 1),  # the other direction
        ("Sarah Chen works at Acme? Priya Sharma works at Acme.", 1),
    ],
)
async def test_what_another_text_adds_is_kept(scoped: GraphStore, text: str, stated: int) -> None:
    ingestor = ingestor_of(scoped)
    await ingestor.remember(KNOWN)
    await shown(scoped)
    report = await ingestor.remember([Memory(id="new", text=text, session_id="s", occurred_at=JANUARY)])
    assert report.changed == 1
    claims = await scoped.list_claims(memory_ids=["new"])
    assert len([each for each in claims if each.type != "co_occurs"]) == stated


async def test_only_what_the_session_was_shown_is_an_echo(scoped: GraphStore) -> None:
    ingestor = ingestor_of(scoped)
    await ingestor.remember(KNOWN)
    await shown(scoped)
    again = attrs.evolve(KNOWN[0], id="again", speaker="")
    elsewhere = await ingestor.remember([attrs.evolve(again, session_id="t")])
    assert (elsewhere.changed, elsewhere.echoes) == (1, ())
    here = await ingestor.remember([attrs.evolve(again, id="again 2")], session_id="s")
    assert (here.changed, here.echoes) == (0, (Echo("again 2", ("n1",), stored=False),))


async def test_a_memory_that_was_shown_is_no_echo_of_itself(scoped: GraphStore, clock: FixedClock) -> None:
    ingestor = ingestor_of(scoped)
    known = [attrs.evolve(each, session_id="s") for each in KNOWN]
    await ingestor.remember(known)
    before = await content(scoped)
    clock.advance(days=1)
    await shown(scoped)
    clock.advance(days=1)
    again = Ingestor(engine_of(scoped), extractor=TextExtractor(name="rules/another"))
    report = await again.remember(known)
    assert (report.changed, report.echoes) == (len(known), ())
    after = await content(scoped)
    assert [each.confidence for each in after["claims"]] == [each.confidence for each in before["claims"]]
    edited = attrs.evolve(known[0], text="Priya Sharma reports to Sarah Chen. Priya Sharma works at Globex.")
    report = await again.remember([edited])
    assert (report.changed, report.echoes) == (1, ())


async def test_what_another_principal_was_shown_is_no_echo(scoped: GraphStore) -> None:
    await ingestor_of(scoped).remember(KNOWN)
    member = {"role": "editor"}
    ada, bob = (Principal(id=name, attributes=member, projects=[scoped.scope]) for name in ("ada", "bob"))
    gates = [Gate(CedarAuthorizer.default(), each) for each in (ada, bob)]
    await shown(scoped, gate=gates[0])
    text = "Sarah Chen works at Acme."
    for gate, stored in zip(gates, (False, True), strict=True):
        ingestor = Ingestor(engine_of(scoped), extractor=EXTRACTOR, gate=gate)
        memory = Memory(id=f"of {gate.principal.id}", text=text, session_id="s")
        report = await ingestor.remember([memory])
        assert (report.changed == 1, bool(report.echoes)) == (stored, not stored)

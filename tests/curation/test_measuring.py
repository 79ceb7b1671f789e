"""Health and contradictions of a stored graph."""

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator
from graphsearch.curation.health import Growth, Maturity
from graphsearch.errors import AccessDeniedError
from graphsearch.ingest.resolve.resolution import ResolutionCounts, Stage
from graphsearch.model import Batch, Memory, Principal
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.samples import claim, day, person
from tests.curation.team import ADA, BOB, EVE, GREG, SECRET, Labels, engine_over


async def test_health_is_counted_from_the_store(scoped):
    alike = [person("Christopher Montgomery"), person("Christopher Montgomerys"), person("Somebody Else")]
    curator = Curator(await engine_over(scoped, Batch(entities=[*alike, ADA], memories=[Memory(id="m")])))
    counts = ResolutionCounts(by_stage={Stage.ID: 6, Stage.CREATE: 4}, created=2, unseen=5)
    health = await curator.graph_health(resolutions=counts, earlier=Growth(memories=0, entities=3))
    assert health.fragment_rate == pytest.approx(1 / 4)
    assert (health.resolution_fail_rate, health.baseline_fail_rate) == (0.2, 0.5)
    assert health.value == pytest.approx(0.75 * (1 - 0.4))
    assert (health.maturity, health.entity_growth, health.edge_coverage) == (Maturity.SPARSE, 1.0, 1.0)
    assert (await curator.graph_health()).value == 0.75
    await curator.mark_distinct(alike[0].id, alike[1].id)
    assert (await curator.graph_health()).value == 1.0


async def test_more_pairs_than_entities_are_no_worse_than_all(scoped):
    alike = [person(f"Christopher Bartholomew Montgomery Wellington {number}") for number in range(6)]
    health = await Curator(await engine_over(scoped, Batch(entities=alike))).graph_health()
    assert health.fragment_rate == 1.0


async def test_edges_are_looked_at_in_the_scopes_handed_in(scoped):
    engine = await engine_over(scoped, Batch(memories=[Memory(id=f"m{number}") for number in range(501)]))
    large = InMemoryGraphStore().with_scope(org_id="acme", project_id="other")
    people = [person(f"P{number}") for number in range(12)]
    memories = [Memory(id=f"m{number}") for number in range(501)]
    claims = [claim(memories[0], people[0], other) for other in people[1:]]
    await large.write(Batch(entities=people, memories=memories, claims=claims))
    assert (await Curator(engine).graph_health()).edge_coverage == 0.0
    assert (await Curator(engine).graph_health(scopes=[scoped, large])).edge_coverage == 0.5
    assert (await Curator(engine).graph_health(scopes=[])).edge_coverage == 1.0
    with pytest.raises(AccessDeniedError, match="read is denied for 1 of the 2"):
        await Curator(engine, gate=Gate(Labels(), GREG)).graph_health(scopes=iter([scoped, large]))
    member = Principal(id="greg", projects=[large.scope])
    health = await Curator(engine, gate=Gate(Labels(), member)).graph_health(scopes=[scoped, large])
    assert health.edge_coverage == 0.5


CONTRADICTING = Batch(
    entities=[ADA, BOB, EVE],
    memories=[Memory(id=key, occurred_at=day(1)) for key in ("m1", "m2", "m3")],
    claims=[
        claim("m1", ADA, BOB, "reports_to", valid_from=day(1)),
        claim("m2", ADA, EVE, "reports_to", valid_from=day(1)),
        claim("m3", BOB, EVE, "reports_to", valid_from=day(1)),
    ],
)


async def test_contradictions_are_listed(scoped):
    [found] = await Curator(await engine_over(scoped, CONTRADICTING)).contradictions()
    assert (found.source_id, found.type, found.valid_from) == (ADA.id, "reports_to", day(1))
    assert {found.one.target_id, found.other.target_id} == {BOB.id, EVE.id}
    assert await Curator(await engine_over(scoped, Batch())).contradictions(limit=0) == ()


@pytest.mark.parametrize("hidden", ["memory", "entity"])
async def test_what_is_hidden_contradicts_nothing(scoped, hidden):
    await scoped.write(CONTRADICTING)
    zoe, yan, xia = (person(name) for name in ("Zoe", "Yan", "Xia"))
    secret = (SECRET,)
    batch = Batch(
        entities=[zoe, yan, attrs.evolve(xia, labels=secret if hidden == "entity" else ())],
        memories=[
            Memory(id="n1", occurred_at=day(1)),
            Memory(id="n2", occurred_at=day(1), labels=secret if hidden == "memory" else ()),
        ],
        claims=[claim("n1", zoe, yan, "reports_to"), claim("n2", zoe, xia, "reports_to")],
    )
    engine = await engine_over(scoped, batch)
    curator = Curator(engine, gate=Gate(Labels(), GREG))
    assert {each.source_id for each in await Curator(engine).contradictions()} == {ADA.id, zoe.id}
    assert [each.source_id for each in await curator.contradictions()] == [ADA.id]
    assert [each.source_id for each in await curator.contradictions(limit=1)] == [ADA.id]


async def test_evidence_that_is_hidden_may_settle_a_contradiction(scoped):
    batch = Batch(
        entities=[ADA, BOB, EVE],
        memories=[Memory(id="m1", occurred_at=day(1)), Memory(id="m2", occurred_at=day(1), labels=(SECRET,))],
        claims=[
            claim("m1", ADA, BOB, "reports_to", valid_from=day(1), valid_to=day(1)),
            claim("m2", ADA, BOB, "reports_to", valid_from=day(1), valid_to=day(9)),
            claim("m1", ADA, EVE, "reports_to", valid_from=day(1)),
        ],
    )
    engine = await engine_over(scoped, batch)
    everything = await Curator(engine).contradictions()
    assert len(everything) == 1
    assert await Curator(engine, gate=Gate(Labels(), GREG)).contradictions() == ()

"""Types of relations: listed, registered and changed, by whom, and what they change."""

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import AccessDeniedError, InvalidInputError, PartialViewError
from graphsearch.model import KNOWN_RELATION_TYPES, Action, Memory, RelationType
from graphsearch.testing.samples import claim, day, mention
from tests.curation.team import ACME, ADA, BATCH, GLOBEX, GREG, SECRET, Labels, engine_over

NOTE = Memory(id="note", text="Ada advises Acme, then Globex.", occurred_at=day(20), labels=[SECRET])
ADVISED = attrs.evolve(
    BATCH,
    memories=[*BATCH.memories, NOTE],
    mentions=[*BATCH.mentions, mention(NOTE, ADA), mention(NOTE, ACME), mention(NOTE, GLOBEX)],
    claims=[
        *BATCH.claims,
        claim(NOTE, ADA, ACME, "advises", valid_from=day(1)),
        claim(NOTE, ADA, GLOBEX, "advises", valid_from=day(20)),
    ],
)


class ReadOnly:
    """Allows reading, and nothing else."""

    by_signature = True

    async def authorize(self, principal, action, resources, *, scope):
        return [action is Action.READ for _ in resources]


def named(types):
    return {each.name: each for each in types}


async def test_known_types_are_listed_and_changed_property_by_property(scoped):
    curator = Curator(await engine_over(scoped, BATCH))
    assert named(await curator.relation_types()) == dict(KNOWN_RELATION_TYPES)
    changed = await curator.register_type("Works With", prior=0.4)
    assert changed == attrs.evolve(KNOWN_RELATION_TYPES["works_with"], prior=0.4)
    blocks = await curator.register_type("blocks", causal=True, hop_scores=(1.0, 0.5))
    assert blocks == RelationType(name="blocks", causal=True, hop_scores=(1.0, 0.5))
    assert await curator.register_type("blocks", prior=0.9) == attrs.evolve(blocks, prior=0.9)
    await curator.register_type("blocks", half_life_days=9.0)
    assert await curator.register_type("blocks", half_life_days=0) == attrs.evolve(blocks, prior=0.9)  # it does not age
    found = await curator.relation_types()
    assert [each.name for each in found] == sorted({*KNOWN_RELATION_TYPES, "blocks"})
    assert named(found)["works_with"].prior == 0.4


async def test_a_type_that_becomes_functional_is_folded_again(scoped):
    engine = await engine_over(scoped, ADVISED)

    async def advised():
        found = await engine.neighbors(ADA.id, limit=50)
        return {each.target.name for each in found if each.relation.type == "advises"}

    assert await advised() == {"Acme", "Globex"}
    await Curator(engine).register_type("advises", functional=True)
    assert await advised() == {"Globex"}


async def test_a_type_is_registered_before_anything_is_written(scoped):
    curator = Curator(GraphSearchEngine(store=scoped))
    assert (await curator.register_type("reports_to", prior=0.5)).functional
    assert (await curator.register_type("feeds")).prior == 1.0
    assert named(await curator.relation_types())["reports_to"].prior == 0.5


async def test_what_is_no_type_is_refused_with_every_fault(scoped):
    curator = Curator(await engine_over(scoped, BATCH))
    with pytest.raises(InvalidInputError) as refused:
        await curator.register_type("x", prior=2.0, hop_scores=(3.0,), half_life_days=-1)
    assert len(refused.value.faults) == 3
    assert named(await curator.relation_types()) == dict(KNOWN_RELATION_TYPES)


async def test_types_that_only_hidden_relations_have_are_hidden_and_no_partial_view_registers(scoped):
    engine = await engine_over(scoped, ADVISED)
    await Curator(engine).register_type("advises", causal=True)
    await Curator(engine).register_type("knows", prior=0.7)
    partial = Curator(engine, gate=Gate(Labels(), GREG))
    seen = named(await partial.relation_types())
    assert "advises" not in seen
    assert seen["knows"].prior == 0.7
    with pytest.raises(PartialViewError):
        await partial.register_type("knows", prior=0.1)
    assert named(await Curator(engine).relation_types())["knows"].prior == 0.7


async def test_who_may_not_write_relations_of_a_type_registers_none(scoped):
    engine = await engine_over(scoped, BATCH)
    with pytest.raises(AccessDeniedError):
        await Curator(engine, gate=Gate(ReadOnly(), GREG)).register_type("knows", prior=0.1)
    assert named(await Curator(engine).relation_types()) == dict(KNOWN_RELATION_TYPES)

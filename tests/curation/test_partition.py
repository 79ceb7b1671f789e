"""Communities of a store: stored, refreshed around changes, shown to those who may see every member."""

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator
from graphsearch.errors import AccessDeniedError, PartialViewError
from graphsearch.model import Batch, Relation
from graphsearch.testing.samples import person
from tests.curation.team import GREG, SECRET, Labels, engine_over

GROUPS = [[person(f"{group}{number}") for number in range(4)] for group in "abc"]
ENTITIES = [each for group in GROUPS for each in group]
RELATIONS = [
    Relation(source_id=one.id, type="knows", target_id=other.id, confidence=0.9)
    for group in GROUPS
    for one in group
    for other in group
    if one.name < other.name
]
BATCH = Batch(entities=ENTITIES, relations=RELATIONS)


def sets(found):
    return {frozenset(each.members) for each in found}


def ids(*groups):
    return {frozenset(each.id for each in group) for group in groups}


async def test_they_are_found_and_kept(scoped):
    curator = Curator(await engine_over(scoped, BATCH))
    assert await curator.communities() == ()
    found = await curator.detect_communities(seed=3)
    assert sets(found) == ids(*GROUPS)
    assert await curator.communities() == found
    assert await curator.communities(limit=2) == found[:2]
    assert await curator.communities(limit=None) == found
    assert sets(await curator.communities("b1")) == ids(GROUPS[1])
    assert [each.label for each in await curator.communities("a0")] == ["a0, a1, a2"]
    assert await curator.detect_communities(seed=3) == found


async def test_pages_of_relations_make_no_difference(scoped, monkeypatch):
    curator = Curator(await engine_over(scoped, BATCH))
    whole = await curator.detect_communities()
    monkeypatch.setattr("graphsearch.curation.community_partition._EDGES", 5)
    monkeypatch.setattr("graphsearch.curation.community_partition.PAGE", 5)
    assert await curator.detect_communities() == whole


async def test_only_what_changed_is_looked_at_and_written(scoped, monkeypatch):
    curator = Curator(await engine_over(scoped, BATCH))
    await curator.detect_communities()
    written = []
    write = type(scoped).write_communities

    async def seen(self, communities, *, replacing=None):
        written.append((sets(communities), replacing))
        await write(self, communities, replacing=replacing)

    monkeypatch.setattr(type(scoped), "write_communities", seen)
    assert await curator.refresh_communities() == ()
    assert written == []
    zoe = person("zoe")
    joins = [Relation(source_id=zoe.id, type="knows", target_id=each.id) for each in GROUPS[0]]
    await scoped.write(Batch(entities=[zoe], relations=joins))
    joined = [*GROUPS[0], zoe]
    assert sets(await curator.refresh_communities()) == ids(joined)
    assert [changed for changed, _ in written] == [ids(joined)]
    assert sets(await curator.communities()) == ids(joined, *GROUPS[1:])
    await scoped.delete(entities=[each.id for each in GROUPS[2]])
    await curator.refresh_communities()
    assert sets(await curator.communities()) == ids(joined, GROUPS[1])


async def test_what_no_longer_holds_together_goes(scoped):
    pair = [person("x"), person("y")]
    knows = Relation(source_id=pair[0].id, type="knows", target_id=pair[1].id)
    curator = Curator(await engine_over(scoped, Batch(entities=pair, relations=[knows])))
    assert sets(await curator.detect_communities()) == ids(pair)
    await scoped.delete(relations=[knows.id])
    assert await curator.refresh_communities() == ()
    assert await curator.communities() == ()


async def test_an_empty_graph_has_none(scoped):
    curator = Curator(await engine_over(scoped, Batch(entities=[person("x")])))
    assert await curator.detect_communities() == await curator.refresh_communities() == ()


async def test_a_merged_entity_is_no_member(scoped):
    curator = Curator(await engine_over(scoped, BATCH))
    await curator.detect_communities()
    await curator.merge_entities("a0", "a1")
    assert sets(await curator.communities("a1")) == ids(GROUPS[0][1:])
    assert sets(await curator.communities(GROUPS[0][0].id)) == ids(GROUPS[0][1:])


async def test_one_hidden_member_hides_its_community(scoped):
    entities = [attrs.evolve(each, labels=(SECRET,)) if each.name == "a3" else each for each in ENTITIES]
    engine = await engine_over(scoped, attrs.evolve(BATCH, entities=entities))
    reader = Curator(engine, gate=Gate(Labels(action="read"), GREG))
    for change in (reader.detect_communities, reader.refresh_communities):
        with pytest.raises(PartialViewError):
            await change()
    assert sets(await Curator(engine).detect_communities()) == ids(*GROUPS)
    assert sets(await reader.communities()) == ids(*GROUPS[1:])
    assert len(await reader.communities(limit=1)) == 1
    assert await reader.communities("a0") == ()


async def test_every_member_is_authorized_before_anything_is_stored(scoped):
    entities = [attrs.evolve(each, labels=(SECRET,)) if each.name == "a3" else each for each in ENTITIES]
    engine = await engine_over(scoped, attrs.evolve(BATCH, entities=entities))
    curator = Curator(engine, gate=Gate(Labels(action="write"), GREG))
    for change in (curator.detect_communities, curator.refresh_communities):
        with pytest.raises(AccessDeniedError, match="write is denied for 1 of the 12"):
            await change()
    assert await scoped.communities() == []

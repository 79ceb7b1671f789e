"""Communities: found as planted, refreshed only around changes, and shown to those who may see everything."""

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.communities import agreement, labels_of
from graphsearch.access.gate import Gate
from graphsearch.curation import Curator
from graphsearch.curation.communities import Network, detect_communities
from graphsearch.errors import AccessDeniedError, PartialViewError
from graphsearch.model import Batch, Community, Relation
from graphsearch.testing.samples import person
from tests.curation.planted import modularity, network, planted
from tests.curation.team import GREG, SECRET, Labels, engine_over
from tests.gates import POLICIES, no_secrets

KARATE = """
1-2 1-3 1-4 1-5 1-6 1-7 1-8 1-9 1-11 1-12 1-13 1-14 1-18 1-20 1-22 1-32 2-3 2-4 2-8 2-14 2-18 2-20 2-22 2-31 3-4 3-8
3-9 3-10 3-14 3-28 3-29 3-33 4-8 4-13 4-14 5-7 5-11 6-7 6-11 6-17 7-17 9-31 9-33 9-34 10-34 14-34 15-33 15-34 16-33
16-34 19-33 19-34 20-34 21-33 21-34 23-33 23-34 24-26 24-28 24-30 24-33 24-34 25-26 25-28 25-32 26-32 27-30 27-34
28-34 29-32 29-34 30-33 30-34 31-33 31-34 32-33 32-34 33-34
"""
"""Zachary's karate club, whose greatest modularity is 0.4198."""


@st.composite
def networks(draw, max_size=14):
    size = draw(st.integers(0, max_size))
    node = st.integers(0, size - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=40)) if size else []
    weights = draw(st.lists(st.floats(0, 1), min_size=len(pairs), max_size=len(pairs)))
    return network(size, [source for source, _ in pairs], [target for _, target in pairs], weights)


def linked(size, *pairs, weights=None):
    return network(size, [one for one, _ in pairs], [other for _, other in pairs], weights)


def clique(*nodes):
    return [(one, other) for one in nodes for other in nodes if one < other]


def assert_valid(found: tuple[Community, ...], known: Network) -> None:
    row = {id_: place for place, id_ in enumerate(known.ids)}
    members = [id_ for community in found for id_ in community.members]
    assert len(members) == len(set(members))
    assert set(members) <= set(row)
    assert len({community.id for community in found}) == len(found)
    assert [(-each.size, each.id) for each in found] == sorted((-each.size, each.id) for each in found)
    kept = known.weights > 2**-21
    pairs = {frozenset(pair) for pair in zip(known.sources[kept].tolist(), known.targets[kept].tolist(), strict=True)}
    for community in found:
        rows = {row[id_] for id_ in community.members}
        inside = [pair for pair in pairs if len(pair) == 2 and pair <= rows]
        assert community.size > 1
        assert community.density == pytest.approx(2 * len(inside) / (community.size * (community.size - 1)))
        assert 0 < community.density <= 1
        reached = {min(rows)}
        while grown := set().union(*(pair for pair in inside if pair & reached)) - reached:
            reached |= grown
        assert reached == rows


# -- detecting ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "communities", "inside", "outside", "least"),
    [
        (300, 3, 3, 1, 0.9),
        (200, 4, 4, 1, 0.98),
        (1000, 10, 4, 2, 0.96),
        (1000, 2, 5, 1, 0.98),
        (2000, 100, 4, 2, 0.98),
        (2000, 200, 4, 2, 0.98),
    ],
)
def test_planted_communities_are_found(size, communities, inside, outside, least):
    agreed = []
    for seed in range(4):
        made = planted(size, communities, inside=inside, outside=outside, seed=seed)
        found = labels_of(made.network, detect_communities(made.network))
        agreed.append(agreement(found, made.community))
        assert modularity(made.network, found) > least * modularity(made.network, made.community)
    assert np.mean(agreed) > least


def test_nothing_is_made_of_chance_alone():
    made = planted(500, 5, inside=0, outside=6)
    assert agreement(labels_of(made.network, detect_communities(made.network)), made.community) < 0.35


@pytest.mark.parametrize("seed", range(4))
def test_the_karate_club_comes_apart_as_well_as_it_can(seed):
    pairs = [tuple(int(end) - 1 for end in pair.split("-")) for pair in KARATE.split()]
    club = linked(34, *pairs)
    assert modularity(club, labels_of(club, detect_communities(club, seed=seed))) == pytest.approx(0.4198, abs=1e-4)


def test_a_hub_does_not_flood_the_graph():
    cliques = [clique(*range(start, start + 6)) for start in range(1, 61, 6)]
    known = linked(61, *(pair for each in cliques for pair in each), *((0, node) for node in range(1, 61)))
    assert len(detect_communities(known)) == 10


def test_many_small_communities_of_a_large_graph_stay_apart():
    """A ring of 200 cliques, which modularity alone would merge by twos and threes."""
    cliques = [pair for start in range(0, 1000, 5) for pair in clique(*range(start, start + 5))]
    ring = linked(1000, *cliques, *((start, (start + 5) % 1000) for start in range(0, 1000, 5)))
    assert [community.size for community in detect_communities(ring)] == [5] * 200


def test_weights_decide_where_an_entity_belongs():
    pairs = [*clique(0, 1, 2), *clique(3, 4, 5), (6, 0), (6, 3)]
    for strong, fellow in ((6, 0), (7, 3)):
        known = linked(7, *pairs, weights=[0.9 if number == strong else 0.3 for number in range(8)])
        labels = labels_of(known, detect_communities(known))
        assert labels[6] == labels[fellow] != labels[3 - fellow]


@pytest.mark.parametrize(
    ("size", "pairs", "sizes"),
    [
        (0, [], []),
        (3, [], []),
        (1, [(0, 0)], []),
        (2, [(0, 1)], [2]),
        (2, [(0, 1), (1, 0), (0, 1)], [2]),
        (4, [(0, 1), (2, 3)], [2, 2]),
        (5, [(0, node) for node in range(1, 5)], [5]),
    ],
)
def test_the_smallest_graphs(size, pairs, sizes):
    found = detect_communities(linked(size, *pairs))
    assert [community.size for community in found] == sizes


def test_relations_that_weigh_nothing_bind_nothing():
    assert detect_communities(linked(3, (0, 1), (1, 2), weights=[0.0, 0.0])) == ()


@given(networks(), st.integers(0, 3))
def test_it_always_ends_in_communities_that_hold_together(known, seed):
    assert_valid(detect_communities(known, seed=seed), known)


@given(networks())
def test_communities_are_no_worse_than_none(known):
    found = labels_of(known, detect_communities(known))
    alone = np.arange(len(known.ids))
    assert modularity(known, found) >= modularity(known, alone) - 1e-5


@given(networks(), st.randoms(use_true_random=False), st.integers(0, 2))
def test_the_order_of_relations_and_their_direction_do_not_matter(known, random, seed):
    relations = list(range(len(known.sources)))
    random.shuffle(relations)
    sources, targets = known.targets[relations], known.sources[relations]
    shuffled = attrs.evolve(known, sources=sources, targets=targets, weights=known.weights[relations])
    assert detect_communities(shuffled, seed=seed) == detect_communities(known, seed=seed)


def test_a_large_graph_is_the_same_each_time():
    made = planted(3000, 60, inside=4, outside=4).network
    assert detect_communities(made, seed=5) == detect_communities(made, seed=5)


# -- descriptions of a community ----------------------------------------------------------------------------------


def test_a_community_is_labelled_by_its_best_linked_members():
    names = ("Ada", "Bob", "Cy", "Di", "Eve", "Flo")
    ada, bob, cy, di, eve, flo = range(6)
    pairs = [*((ada, other) for other in (bob, cy, di, eve, flo)), (bob, cy), (bob, di), (bob, eve), (bob, flo)]
    pairs += [(cy, di), (cy, eve), (cy, flo), (di, eve)]
    known = linked(6, *pairs)
    known = attrs.evolve(known, names=names, importance=np.where(np.arange(6) == cy, 0.9, 0.5))
    (found,) = detect_communities(known)
    assert found.members == tuple(sorted(known.ids))
    assert found.top == tuple(known.ids[each] for each in (cy, ada, bob, di, eve))
    assert found.label == "Cy, Ada, Bob"
    assert found.density == pytest.approx(13 / 15)


def test_an_id_stays_while_the_least_member_does():
    known = linked(7, *clique(0, 1, 2), *clique(3, 4, 5))
    one, other = detect_communities(known)
    grown = linked(7, *clique(0, 1, 2), *clique(3, 4, 5), (6, 5), (6, 4), (6, 3))
    kept = {community.members[0]: community.id for community in detect_communities(grown)}
    assert all(kept.get(each.members[0], each.id) == each.id for each in (one, other))
    assert one.id != other.id


# -- refreshing ---------------------------------------------------------------------------------------------------


@given(networks(), st.integers(0, 3), st.integers(0, 3))
def test_with_nothing_changed_nothing_changes(known, seed, other_seed):
    found = detect_communities(known, seed=seed)
    assert detect_communities(known, found, seed=other_seed) == found


@given(networks(), networks(), st.integers(0, 3))
def test_a_refresh_after_any_change_ends_in_a_valid_labelling(before, after, seed):
    found = detect_communities(before, seed=seed)
    assert_valid(detect_communities(after, found, seed=seed), after)


@given(st.data(), st.integers(0, 2))
def test_a_refresh_moves_only_what_is_around_a_change(data, seed):
    near, far = data.draw(networks()), planted(60, 3, inside=4, outside=0).network
    size = len(near.ids)
    sources, targets = (
        np.concatenate(ends) for ends in ((near.sources, far.sources + size), (near.targets, far.targets + size))
    )
    before = network(size + 60, sources, targets)
    found = detect_communities(before, seed=seed)
    beyond = set(before.ids[size:])
    cut = data.draw(st.integers(0, len(near.sources)))
    after = network(size + 60, sources[cut:], targets[cut:])
    refreshed = detect_communities(after, found, seed=seed)
    assert_valid(refreshed, after)
    assert [each for each in refreshed if beyond & set(each.members)] == [
        each for each in found if beyond & set(each.members)
    ]


def test_an_entity_goes_where_it_is_linked_now():
    pairs = [*clique(0, 1, 2, 3), *clique(4, 5, 6, 7)]
    found = detect_communities(linked(9, *pairs, (0, 8), (1, 8)))
    assert {community.size for community in found} == {5, 4}
    for known in (linked(9, *pairs, (4, 8), (5, 8)), linked(9, *pairs, (4, 8), (5, 8), (8, 8))):
        labels = labels_of(known, detect_communities(known, found))
        assert labels[8] == labels[4] != labels[0]


def test_a_new_entity_joins_where_it_is_linked():
    known = linked(7, *clique(0, 1, 2), *clique(3, 4, 5), (6, 4), (6, 5))
    former = detect_communities(linked(6, *clique(0, 1, 2), *clique(3, 4, 5)))
    labels = labels_of(known, detect_communities(known, former))
    assert labels[6] == labels[4] != labels[0]


def test_a_community_that_fell_apart_is_two():
    pairs = [*clique(0, 1, 2), *clique(3, 4, 5)]
    known = linked(6, *pairs)
    members = sorted(known.ids)
    former = Community(id=members[0], members=members, strengths=[2.0] * 6, density=1, top=(), label="")
    found = detect_communities(known, [former])
    assert [community.size for community in found] == [3, 3]


def test_an_entity_that_is_gone_leaves_its_community():
    former = detect_communities(linked(4, *clique(0, 1, 2, 3)))
    known = linked(3, *clique(0, 1, 2))
    (found,) = detect_communities(known, former)
    assert found.members == tuple(sorted(known.ids))


def test_a_refreshed_graph_is_as_good_as_one_looked_at_anew():
    before, after = (planted(1000, 20, inside=4, outside=outside) for outside in (2, 3))
    found = detect_communities(after.network, detect_communities(before.network))
    assert agreement(labels_of(after.network, found), after.community) > 0.95


# -- by the curator ---------------------------------------------------------------------------------------------

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
    monkeypatch.setattr("graphsearch.curation.communities._EDGES", 5)
    monkeypatch.setattr("graphsearch.curation.communities.PAGE", 5)
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
    for entity in (None, "a0", "b0"):
        with pytest.raises(PartialViewError):
            await reader.communities(entity)
    assert (await reader.recall_entity("a0")).community is None


@POLICIES
async def test_what_a_hidden_relation_links_is_shown_to_nobody_who_may_not_see_it(scoped, by_signature):
    """Every member may be seen, and a relation that makes two of them one community may not."""
    one, other = person("one"), person("other")
    links = Relation(source_id=one.id, type="knows", target_id=other.id, labels=(SECRET,))
    engine = await engine_over(scoped, Batch(entities=[one, other], relations=[links]))
    owned, gated = Curator(engine), Curator(engine, gate=no_secrets(by_signature=by_signature))
    [found] = await owned.detect_communities()
    assert (await owned.recall_entity("one")).community == found
    assert (await gated.recall_entity("one")).community is None
    with pytest.raises(PartialViewError):
        await gated.communities()


@POLICIES
async def test_who_sees_everything_through_policies_sees_communities(scoped, by_signature):
    curator = Curator(await engine_over(scoped, BATCH), gate=no_secrets(by_signature=by_signature))
    found = await curator.detect_communities()
    assert await curator.communities() == found
    [own] = await curator.communities("a0")
    recalled = await curator.recall_entity("a0")
    assert recalled.community == (own if by_signature else None)  # elements are not read for it, only signatures


async def test_every_member_is_authorized_before_anything_is_stored(scoped):
    entities = [attrs.evolve(each, labels=(SECRET,)) if each.name == "a3" else each for each in ENTITIES]
    engine = await engine_over(scoped, attrs.evolve(BATCH, entities=entities))
    curator = Curator(engine, gate=Gate(Labels(action="write"), GREG))
    for change in (curator.detect_communities, curator.refresh_communities):
        with pytest.raises(AccessDeniedError, match="write is denied"):
            await change()
    assert await scoped.communities() == []

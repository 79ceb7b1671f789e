"""The cascade over names alone: which stage decides, and that neither order nor company changes what a name means."""

from __future__ import annotations

import itertools
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.listed_names import ListedNames
from graphsearch.errors import InvalidInputError
from graphsearch.ingest.resolve.cascade import Resolver
from graphsearch.ingest.resolve.resolution import Resolution, ResolutionCounts, Stage
from graphsearch.model import Entity
from graphsearch.model.identity import keyed_id
from graphsearch.testing.strategies import texts
from tests.ingest.resolve.surfaces import groups, person, remember, resolve, surface

SHARMA = person("Priya Sharma")


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("Priya Sharma", Stage.ID),
        ("Dr. Priya Sharma", Stage.ID),
        ("priya sharma", Stage.ID),
        ("the Countess", Stage.ALIAS),
        ("Priya", Stage.NAME_PART),
        ("@priya", Stage.NAME_PART),
        ("P. Sharma", Stage.NAME_PART),
        ("Pirya Sharma", Stage.TRIGRAM),
        ("Priya Patel", Stage.CREATE),
    ],
)
async def test_the_stage_that_decides_is_reported(name: str, stage: Stage) -> None:
    known = attrs.evolve(SHARMA, aliases=("The Countess",))
    (found,) = await resolve(name, known=[known])
    assert found.stage is stage
    assert (found.entity == known) == (stage is not Stage.CREATE)
    assert 0 <= found.score <= 1
    assert (found.score == 1) == (stage in {Stage.ID, Stage.ALIAS})
    assert found.surface == surface(name)


async def test_a_declared_short_name_is_the_whole_one() -> None:
    surfaces = [surface(name, "person") for name in ("Zdenek Marek", "Zed", "Kit")]
    same = [("Zed", "Zdenek Marek"), ("Kit", "Zdenek Marek"), ("Kit", "Nobody Known")]
    found = await Resolver(ListedNames()).resolve(surfaces, same=same)
    assert [(each.entity.name, each.stage) for each in found] == [
        ("Zdenek Marek", Stage.CREATE),
        ("Zdenek Marek", Stage.ALIAS),
        ("Kit", Stage.CREATE),
    ]


async def test_one_person_in_one_batch() -> None:
    found = await resolve("Dr. Priya Sharma", "priya sharma", "Priya", "@priya")
    assert {resolution.entity.name for resolution in found} == {"Priya Sharma"}
    assert {resolution.entity.id for resolution in found} == {keyed_id(SHARMA.id, await ListedNames().id_key())}


async def test_a_parent_and_a_child_are_two() -> None:
    names = ["Robert Okafor Jr.", "Robert Okafor, Sr."]
    assert await groups(*names) == {frozenset({name}) for name in names}
    assert len(await groups(*names, "Robert Okafor III", "Bob Okafor")) == 4


async def test_namesakes_in_one_batch() -> None:
    names = ["Dr. Priya Sharma", "priya sharma", "Priya Patel", "Patel", "@psharma", "Priya"]
    sharma, patel = frozenset({names[0], names[1], names[4]}), frozenset({names[2], names[3]})
    assert await groups(*names) == {sharma, patel, frozenset({"Priya"})}


async def test_a_part_that_fits_two_is_none_of_them() -> None:
    (found,) = await resolve("Priya", known=[SHARMA, person("Priya Patel")])
    assert (found.stage, found.entity.name) == (Stage.CREATE, "Priya")


async def test_a_part_that_fits_one_whole_name_is_it_though_it_is_like_another_part() -> None:
    chris = person("Chris Nguyen")
    (found,) = await resolve("Topher Nguyen", known=[chris, person("Christopher Nguyen")])
    assert found.entity.name == "Christopher Nguyen"


async def test_initials_are_those_of_who_has_as_many_names() -> None:
    names = ["Jean-Pierre Dubois", "Jeanne Dubois", "J. P. Dubois"]
    assert await groups(*names) == {frozenset({names[0], names[2]}), frozenset({names[1]})}


async def test_a_firm_that_is_named_whole_is_no_other_of_which_a_word_is_left_out() -> None:
    names = ["Contoso Systems", "Contoso Ltd", "Contoso"]
    assert await groups(*names, type="organisation") == {frozenset({names[0]}), frozenset(names[1:])}
    assert len(await groups("Contoso Systems", "Contoso", type="organisation")) == 1


@pytest.mark.parametrize(
    ("first", "later"),
    [("k8s", "Kubernetes"), ("VSCode", "Visual Studio Code"), ("sklearn", "scikit-learn"), ("Grafana", "Graphana")],
)
async def test_a_short_name_may_be_known_before_the_long_one(first: str, later: str) -> None:
    for name, other in ((first, later), (later, first)):
        known = Entity(type="tool", name=name)
        (found,) = await resolve(other, type="tool", known=[known])
        assert found.entity.id == known.id


async def test_a_part_that_fits_a_hundred_is_none_of_them() -> None:
    given = itertools.product(["ba", "do", "fe", "gu", "hi", "ka", "lo", "me", "nu", "pi"], repeat=2)
    *kims, kim = await resolve(*(f"{a}{b} Kim" for a, b in given), "Kim")
    assert len({each.entity.id for each in kims}) == 100
    assert kim.stage is Stage.CREATE


async def test_an_alias_that_two_have_is_neither_s() -> None:
    known = [person("Priya Sharma", "Pri"), person("Priya Patel", "Pri")]
    (found,) = await resolve("Pri", known=known)
    assert found.stage is Stage.CREATE


async def test_a_whole_name_is_a_part_that_is_known_unless_the_batch_has_another() -> None:
    priya = person("Priya")
    (found,) = await resolve("Priya Sharma", known=[priya])
    assert (found.stage, found.entity) == (Stage.NAME_PART, priya)
    both = await resolve("Priya Sharma", "Priya Patel", known=[priya])
    assert [each.stage for each in both] == [Stage.CREATE, Stage.CREATE]


async def test_what_is_known_of_a_part_rules_others_out() -> None:
    priya = person("Priya", "Priya Sharma")
    (other,) = await resolve("Priya Patel", known=[priya])
    assert other.stage is Stage.CREATE
    (same,) = await resolve("Priya K. Sharma", known=[priya])
    assert same.entity == priya


async def test_a_misspelt_alias_rules_nobody_out() -> None:
    known = person("Samuel Adeyemi", "Samuel Adeymi")
    (found,) = await resolve("Sam Adeyemi", known=[known])
    assert found.entity == known


async def test_versions_of_a_tool() -> None:
    python = Entity(type="tool", name="Python", aliases=("Python 2.7",))
    found = await resolve("Python 2", "python", "Python 3.11", type="tool", known=[python])
    assert [each.entity.name for each in found] == ["Python", "Python", "Python 3.11"]


async def test_the_most_similar_name_wins() -> None:
    near = Entity(type="project", name="International Customer Onboarding Platforms")
    nearer = Entity(type="project", name="International Customer Onboardings Platform")
    for known in ([near, nearer], [nearer, near]):
        (found,) = await resolve("International Customer Onboarding Platform", type="project", known=known)
        assert found.stage is Stage.TRIGRAM
        assert found.score >= 0.85
    (found,) = await resolve("Customer Boardings Alpha", type="project", known=[near])
    assert found.stage is Stage.CREATE


async def test_a_slip_that_may_be_of_two_names_is_of_neither() -> None:
    known = [Entity(type="tool", name="Padnas"), Entity(type="tool", name="Pnadas")]
    (found,) = await resolve("Pandas", type="tool", known=known)
    assert found.stage is Stage.CREATE


# -- types --------------------------------------------------------------------------------------------------------


async def test_types_that_conflict_are_reported_and_never_merged() -> None:
    project = Entity(type="project", name="Phoenix")
    (found,) = await resolve("Phoenix", type="place", known=[project])
    assert (found.stage, found.entity.type, found.conflict) == (Stage.CREATE, "place", project)
    assert (await resolve("Phoenix", type="project", known=[project]))[0].conflict is None


@pytest.mark.parametrize("unknown", ["thing", "concept", "unknown"])
async def test_an_entity_of_unknown_type_takes_that_of_its_first_typed_match(unknown: str) -> None:
    phoenix = Entity(type=unknown, name="Phoenix")
    (found,) = await resolve("Project Phoenix", type="project", known=[phoenix])
    assert (found.entity.id, found.entity.type) == (phoenix.id, "project")
    (same,) = await resolve("Phoenix", type="", known=[phoenix])
    assert same.entity == phoenix


async def test_a_name_of_unknown_type_is_that_of_a_known_one() -> None:
    (part,) = await resolve("Priya", type="", known=[SHARMA])
    assert (part.entity, part.stage) == (SHARMA, Stage.NAME_PART)
    whole, untyped = await Resolver(ListedNames()).resolve([surface("kafka", ""), surface("Kafka", "tool")])
    assert whole.entity == untyped.entity
    assert whole.entity.type == "tool"
    (new,) = await resolve("Serendipity", type="")
    assert (new.stage, new.entity.type) == (Stage.CREATE, "thing")


async def test_a_name_of_unknown_type_that_two_types_have_is_neither() -> None:
    known = [Entity(type="project", name="Phoenix"), Entity(type="place", name="Phoenix")]
    (found,) = await resolve("Phoenix", type="", known=known)
    assert (found.stage, found.entity.type) == (Stage.CREATE, "thing")


async def test_spellings_of_a_type_are_one_type() -> None:
    acme = Entity(type="organization", name="Acme")
    (found,) = await resolve("Acme Inc.", type="organisation", known=[acme])
    assert found.entity == acme


# -- ids ----------------------------------------------------------------------------------------------------------


async def test_an_id_once_minted_holds_though_name_and_type_were_corrected() -> None:
    renamed = attrs.evolve(person("Acme"), type="organisation", name="Acme Robotics")
    (found,) = await resolve("Acme", known=[renamed])
    assert (found.entity, found.stage) == (renamed, Stage.ID)


async def test_a_name_that_another_took_over_is_the_other_s() -> None:
    renamed = attrs.evolve(person("Priya"), name="Priya Sharma")
    other = attrs.evolve(person("Priya Patel"), name="Priya")
    (found,) = await resolve("Priya", known=[renamed, other])
    assert found.entity == other


async def test_of_two_entities_with_one_name_the_spelling_decides_then_the_id() -> None:
    plain, legal = Entity(type="organisation", name="Acme"), Entity(type="organisation", name="Acme Inc.")
    assert (await resolve("Acme Inc.", type="organisation", known=[plain, legal]))[0].entity in {plain, legal}
    known = [Entity(type="organisation", name=name) for name in ("Acme GmbH", "Acme Ltd")]
    (found,) = await resolve("ACME", type="organisation", known=known)
    assert found.entity == min(known, key=lambda each: each.id)


async def test_what_was_merged_away_stands_for_what_it_was_merged_into() -> None:
    target = person("Priya Sharma")
    middle = attrs.evolve(person("P. Sharma-Rao"), merged_into=target.id)
    source = attrs.evolve(person("Piri"), merged_into=middle.id)
    (found,) = await resolve("Piri", known=[target, middle, source])
    assert found.entity == target


async def test_entities_merged_in_a_circle_are_nobody() -> None:
    one, other = person("One"), person("Other")
    known = [attrs.evolve(one, merged_into=other.id), attrs.evolve(other, merged_into=one.id)]
    (found,) = await resolve("One", known=known)
    assert found.stage is Stage.CREATE


# -- batches ------------------------------------------------------------------------------------------------------

TEAM = ["Priya Sharma", "Priya", "@psharma", "Dr. Sharma", "Bob Okafor", "Robert Okafor", "Bob", "Pirya Sharma", "Ada"]


@given(st.permutations(TEAM))
async def test_the_order_within_a_batch_does_not_matter(names: list[str]) -> None:
    found = {each.surface.name: each for each in await resolve(*names)}
    usual = {each.surface.name: each for each in await resolve(*TEAM)}
    assert {name: (each.entity, each.stage, each.score) for name, each in found.items()} == {
        name: (each.entity, each.stage, each.score) for name, each in usual.items()
    }


async def test_a_question_is_asked_once_a_stage_for_the_whole_batch() -> None:
    names = ListedNames([SHARMA])
    await Resolver(names).resolve([surface(f"Somebody Number{number}") for number in range(20)])
    assert names.asked == ["find_names", "get_entities", "find_name_words"]
    names.asked.clear()
    await Resolver(names).resolve([surface("Sharma"), surface("psharma"), surface("Wilhelmina")])
    assert names.asked == ["find_names", "get_entities", "find_name_words", "get_entities"]


async def test_what_is_known_by_name_is_not_looked_for_further() -> None:
    names = ListedNames([SHARMA])
    await Resolver(names).resolve([surface("Dr. Priya Sharma"), surface("priya sharma")])
    assert names.asked == ["find_names", "get_entities"]


async def test_nothing_is_asked_for_nothing() -> None:
    names = ListedNames()
    assert list(await Resolver(names).resolve([])) == []
    assert names.asked == []


async def test_memories_one_after_another_are_one_graph() -> None:
    names = ListedNames()
    ids: list[UUID] = []
    for name in ["Dr. Priya Sharma", "Priya", "@priya", "P. Sharma", "priya sharma"]:
        found = await Resolver(names).resolve([surface(name)])
        await remember(names, found)
        ids += [each.entity.id for each in found]
    assert len(set(ids)) == 1


@given(
    st.lists(st.tuples(texts(), st.sampled_from(["person", "organisation", "project", "tool", "file", ""])), max_size=6)
)
async def test_any_names_have_entities_that_a_store_can_hold(named: list[tuple[str, str]]) -> None:
    surfaces = [surface(name, kind) for name, kind in named]
    names = ListedNames()
    found = await Resolver(names).resolve(surfaces)
    assert [each.surface for each in found] == surfaces
    await remember(names, found)
    again = await Resolver(names).resolve(surfaces)
    assert all(each.stage in {Stage.ID, Stage.ALIAS} for each in again)
    for (a, x), (b, y) in itertools.product(zip(named, found, strict=True), repeat=2):
        if a == b:
            assert x.entity == y.entity


async def test_every_name_that_no_entity_can_have_is_reported() -> None:
    with pytest.raises(InvalidInputError) as raised:
        await resolve("Ada", " ", "a\0b", "\ud800")
    assert len(raised.value.faults) == 3


# -- counts -------------------------------------------------------------------------------------------------------


async def test_counts_tell_the_fail_rate_and_that_of_exact_ids() -> None:
    names = ListedNames()
    first = await Resolver(names).resolve([surface(name) for name in ("Priya Sharma", "Priya", "Priya", "Ada Byron")])
    await remember(names, first)
    second = await Resolver(names).resolve([surface(name) for name in ("Priya", "Dr. Priya Sharma", "ada byron")])
    counts = ResolutionCounts.of(first) + ResolutionCounts.of(second)
    assert counts.resolved == 7
    assert counts.by_stage == {Stage.CREATE: 2, Stage.NAME_PART: 2, Stage.ALIAS: 1, Stage.ID: 2}
    assert counts.created == 2
    assert counts.unseen == 4  # the two, "Priya" once, "Dr. Priya Sharma"
    assert counts.fail_rate == pytest.approx(2 / 7)
    assert counts.baseline == pytest.approx(4 / 7)


def test_no_resolutions_fail_at_no_rate() -> None:
    nothing = ResolutionCounts.of([])
    assert (nothing.resolved, nothing.fail_rate, nothing.baseline) == (0, 0.0, 0.0)
    assert nothing + nothing == nothing


def test_an_entity_that_many_mentions_made_counts_once() -> None:
    ada = person("Ada")
    made = [Resolution(surface=surface("Ada"), entity=ada, stage=Stage.CREATE, score=0.0) for _ in range(3)]
    assert ResolutionCounts.of(made).created == 1

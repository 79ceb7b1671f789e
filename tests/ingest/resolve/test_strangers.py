"""Strangers stay apart: in long texts short names fit many, and what fits one name of an entity need not be it."""

from __future__ import annotations

import itertools

import attrs
import pytest

from benchmarks.listed_names import ListedNames
from graphsearch.ingest.resolve.cascade import Resolver
from graphsearch.ingest.resolve.resolution import Resolution, Stage
from graphsearch.model import Entity, Span
from graphsearch.model.extracted import ExtractedName
from tests.ingest.resolve.surfaces import groups, person, remember, resolve, surface


def apart(*names: str) -> set[frozenset[str]]:
    return {frozenset({name}) for name in names}


def text(*names: tuple[str, str], between: int) -> list[ExtractedName]:
    """Surfaces in a text, as many characters between each two."""
    found: list[ExtractedName] = []
    at = 0
    for name, kind in names:
        found.append(attrs.evolve(surface(name, kind), span=Span(start=at, end=at + len(name))))
        at += len(name) + between
    return found


async def stream(*names: tuple[str, str]) -> dict[str, Resolution]:
    """Names one after another, each in a batch of its own."""
    known = ListedNames()
    found: dict[str, Resolution] = {}
    for name, kind in names:
        (each,) = await Resolver(known).resolve([surface(name, kind)])
        await remember(known, [each])
        found[name] = each
    return found


# -- every whole name counts --------------------------------------------------------------------------------------


async def test_what_fits_a_short_name_must_fit_the_whole_one_as_well() -> None:
    clinton = person("Bill Clinton", "Bill", "Mr. Clinton")
    found = await resolve("William Copley", "Bill W. Rogers", "William Clinton", known=[clinton])
    assert [each.entity == clinton for each in found] == [False, False, True]


async def test_initials_conflict_as_names_do() -> None:
    miller = person("Miller", "John H. Miller")
    (found,) = await resolve("T.J. Miller", known=[miller])
    assert found.stage is Stage.CREATE


async def test_a_short_name_of_an_organisation_is_no_bridge_to_another() -> None:
    league = Entity(type="organisation", name="American Football League", aliases=("AFL",))
    (found,) = await resolve("Australian Football League", type="organisation", known=[league])
    assert found.stage is Stage.CREATE
    acme = Entity(type="organisation", name="Acme", aliases=("Acme Systems",))
    (found,) = await resolve("Acme Industries", type="organisation", known=[acme])
    assert found.stage is Stage.CREATE


async def test_names_that_somebody_put_together_count_each() -> None:
    sharma = person("Priya Sharma", "Priya Rao")
    found = await resolve("P. Rao", "P. Sharma", known=[sharma])
    assert {each.entity for each in found} == {sharma}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("John F. Kennedy", "John Fahey"),
        ("George H. W. Bush", "George W. Bush"),
        ("Robert Holbrook Smith", "Holbrook"),
        ("Jean Dubois", "JD"),
    ],
)
async def test_persons_whose_initials_and_middle_names_meet(a: str, b: str) -> None:
    assert await groups(a, b) == apart(a, b)


# -- initials -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["", "person", "organisation", "place"])
async def test_two_letters_are_the_initials_of_too_many(kind: str) -> None:
    names = ["SA", "Saudi Aramco"]
    assert await groups(*names, type=kind) == apart(*names)


@pytest.mark.parametrize(
    "order", list(itertools.permutations(["ABC", "Australian Bowls Club", "Amateur Boxing Council"]))
)
async def test_initials_that_fit_two_are_neither_s_in_any_order_of_one_batch(order: tuple[str, ...]) -> None:
    for kind in ("organisation", "project"):
        assert await groups(*order, type=kind) == apart(*order)


async def test_initials_that_fitted_two_stay_alone() -> None:
    found = await stream(
        ("Australian Bowls Club", "organisation"),
        ("Amateur Boxing Council", "organisation"),
        ("ABC", "organisation"),
        ("Association of Basque Cooks", "organisation"),
    )
    assert {each.stage for each in found.values()} == {Stage.CREATE}


async def test_initials_are_not_those_of_a_name_that_the_batch_speaks_of_with_another() -> None:
    club = Entity(type="organisation", name="Australian Bowls Club")
    named = [surface("ABC", "organisation"), surface("Amateur Boxing Council", "")]
    short, _ = await Resolver(ListedNames([club])).resolve(named)
    assert short.stage is Stage.CREATE


@pytest.mark.parametrize(
    ("short", "long", "one"),
    [
        ("LRFF", "Little Rock Film Festival", True),
        ("MPM", "Marco Polo Miniseries", False),
        ("Saw", "Strunk And White", False),
        ("Blu-ray", "Bray", False),
    ],
)
async def test_untyped_initials_are_four_capitals(short: str, long: str, one: bool) -> None:
    assert len(await groups(short, long, type="")) == (1 if one else 2)


@pytest.mark.parametrize(("short", "long"), [("SA", "Saudi Aramco"), ("HDI", "Human Development Index")])
async def test_a_text_may_declare_its_initials(short: str, long: str) -> None:
    for names in ((long, short), (short, long)):
        surfaces = text(*((name, "") for name in names), between=2)
        assert len({each.entity.id for each in await Resolver(ListedNames()).resolve(surfaces)}) == 1
        surfaces = text(*((name, "") for name in names), between=9)
        assert len({each.entity.id for each in await Resolver(ListedNames()).resolve(surfaces)}) == 2


async def test_what_is_declared_of_two_is_neither_s() -> None:
    surfaces = [*text(("Saudi Aramco", ""), ("SA", ""), between=2), *text(("Scott Adsit", ""), ("SA", ""), between=3)]
    found = await Resolver(ListedNames()).resolve(surfaces)
    assert len({each.entity.id for each in found}) == 3


# -- names of unknown type ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Billy", "Williams", "WBC", "@wclinton", "Will C"])
async def test_nicknames_and_handles_are_persons_alone(name: str) -> None:
    clinton = person("William Clinton")
    (found,) = await resolve(name, type="", known=[clinton])
    assert found.stage is Stage.CREATE
    (found,) = await resolve("Clinton", type="", known=[clinton])
    assert found.entity == clinton


async def test_a_word_of_many_names_is_no_person_s() -> None:
    person_called = person("Lord North")
    for others in (["North Korea", "North Sea"], ["North"]):
        each_found = await resolve(*others, type="", known=[person_called])
        assert {each.entity == person_called for each in each_found} == {others == ["North"]}
    (found,) = await resolve("Tale of the Lord Kitchener", type="", known=[person("Tale")])
    assert found.stage is Stage.CREATE
    (found,) = await resolve(
        "Hayek", type="", known=[person("Friedrich Hayek"), Entity(type="place", name="Hayek Hall")]
    )
    assert found.stage is Stage.CREATE


async def test_parts_of_what_has_no_initials() -> None:
    for kind, name, short in (
        ("file", "src/auth/login.py", "login.py"),
        ("tool", "Apache Kafka", "Kafka"),
        ("tool", "Python", "Python 3.11"),
        ("organisation", "University of Oxford", "Oxford University"),
    ):
        known = Entity(type=kind, name=name)
        (found,) = await resolve(short, type="", known=[known])
        assert found.entity == known


@pytest.mark.parametrize(("a", "b"), [("Turin", "Turpin"), ("Columbia", "Colombia"), ("Sumer", "Summer")])
async def test_a_slip_in_one_word_of_any_kind_is_another_name(a: str, b: str) -> None:
    assert await groups(a, b, type="") == apart(a, b)
    assert len(await groups("Damejog", "Damedjog", type="")) == 2
    assert len(await groups("Damerjog", "Damerdjog", type="")) == 1

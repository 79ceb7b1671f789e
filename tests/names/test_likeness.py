"""Names that may be of one entity, names of two, and names that fit several."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.resolution import FILES, read
from graphsearch.names.likeness import Findings, Likeness, Named, alike
from graphsearch.testing.strategies import texts

TYPES = ["person", "organisation", "project", "tool", "concept", "place", "function", "date"]


def compare(*written: str, distinct: frozenset[frozenset[str]] = frozenset()) -> Findings[str]:
    """Compare entities written "type: name = alias"."""
    entities = []
    for each in written:
        kind, _, names = each.partition(": ")
        entities.append(Named(each, kind, names.split(" = ")))
    return alike(entities, distinct)


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [
        ("person: Dmitri", "person: Dmitri Volkov", Likeness.PART),
        ("person: Dima", "person: Dmitri Volkov", Likeness.PART),
        ("person: Volkov", "person: Dmitri Volkov", Likeness.PART),
        ("concept: Dmitri", "person: Dmitri Volkov", Likeness.PART),
        ("person: Lizzie", "person: Elizabeth", Likeness.PART),
        ("person: Lizzie Bennet", "person: Elizabeth Bennet", Likeness.SHORT_FORM),
        ("person: Jon Smith", "person: John Smith", Likeness.SPELLING),
        ("person: Maria of Aragon", "person: Maria of Arragon", Likeness.SPELLING),
        ("person: J. Smith", "person: John Smith", Likeness.PART),
        ("concept: J. Smith", "person: John Smith", Likeness.PART),
        ("concept: L. Rossi", "concept: Leonardo Rossi", Likeness.SHORT_FORM),
        ("person: Karin Berg", "concept: Karen Bergh", Likeness.SPELLING),
        ("organisation: Acme Corp", "organisation: ACME", Likeness.NAME),
        ("organisation: Acme Corp", "concept: Acme Corporation", Likeness.NAME),
        ("company: Acme", "organisation: Acme Insurance", Likeness.PART),
        ("organisation: IBM", "organisation: International Business Machines", Likeness.SHORT_FORM),
        ("concept: Harbor", "project: Project Harbour", Likeness.SPELLING),
        ("concept: Phoenix", "concept: Project Phoenix", Likeness.SHORT_FORM),
        ("organisation: Silver Labs", "concept: SilverLab", Likeness.SPELLING),
        ("tool: Postgres", "tool: PostgreSQL", Likeness.NAME),
        ("organisation: Mercury", "tool: mercury", Likeness.TYPE),
        ("place: Lisbon = Lisboa", "concept: Lisboa", Likeness.NAME),
    ],
)
def test_names_that_may_be_of_one_entity(one: str, other: str, likeness: Likeness) -> None:
    for pair in ((one, other), (other, one)):
        found = compare(*pair)
        assert [(each.likeness, {each.one, each.other}) for each in found.pairs] == [(likeness, {one, other})]
        assert 0.85 < found.pairs[0].score <= 1.0
        assert found.ambiguous == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("person: Paul Weber", "person: Paula Weber"),
        ("person: Maria Lopez", "person: Mario Lopez"),
        ("person: Tim Miller", "person: Tom Miller"),
        ("person: William Chen", "person: Wilma Chen"),
        ("person: John Johnson", "person: John Johnston"),
        ("person: Robert Okafor Jr.", "person: Robert Okafor Sr."),
        ("person: Ada Lovelace", "person: Grace Hopper"),
        ("person: Sam of the Night team", "person: Sam of the Day team"),
        ("organisation: Northgate Hospital", "organisation: Northgate School"),
        ("organisation: Acme Bank", "organisation: Acme Insurance"),
        ("project: Phoenix 2", "project: Phoenix 3"),
        ("tool: Python 2", "tool: Python 3"),
        ("place: Turin", "place: Turpin"),
        ("concept: Porto", "person: Ines Carvalho"),
        ("function: store.Memory.read", "function: store.Postgres.read"),
        ("date: 2024-04-12", "date: 2024-04-13"),
        ("file: src/read.py", "file: read.py"),
        ("person: Mercury Jones", "tool: Mercury"),
    ],
)
def test_names_of_two_entities(one: str, other: str) -> None:
    assert compare(one, other).pairs == ()


def test_a_part_that_fits_several_is_ambiguous() -> None:
    found = compare("person: Priya", "person: Priya Patel", "person: Priya Sharma")
    assert found == Findings((), ("person: Priya",))


def test_a_part_that_fits_spellings_of_one_name_is_not() -> None:
    found = compare("person: J. Smith", "person: Jon Smith", "person: John Smith", "person: Ada Byron")
    assert found.ambiguous == ()
    assert {each.likeness for each in found.pairs} == {Likeness.SPELLING, Likeness.PART}
    assert len(found.pairs) == 2


def test_what_is_known_to_be_two_is_left_out() -> None:
    jon, john, priya = "person: Jon Smith", "person: John Smith", "person: Priya"
    assert compare(jon, john, distinct=frozenset({frozenset({jon, john})})).pairs == ()
    patel, sharma = "person: Priya Patel", "person: Priya Sharma"
    found = compare(priya, patel, sharma, distinct=frozenset({frozenset({priya, patel})}))
    assert [{each.one, each.other} for each in found.pairs] == [{priya, sharma}]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_few_pairs_of_labelled_names_are_of_two_entities(path: Path) -> None:
    entity = {(line.surface.type, line.surface.name): line.entity for line in read(path)}
    found = alike([Named(key, key[0], (key[1],)) for key in entity])
    right = [each for each in found.pairs if entity[each.one] == entity[each.other]]
    assert len(right) >= 0.96 * len(found.pairs)
    assert len({each.one for each in right} | {each.other for each in right}) >= 0.6 * len(entity)


@given(st.lists(st.tuples(st.sampled_from(TYPES), texts().filter(str.strip)), max_size=8))
def test_any_names_can_be_compared_in_any_order(drawn: list[tuple[str, str]]) -> None:
    entities = [Named(number, kind, (name,)) for number, (kind, name) in enumerate(drawn)]
    found, turned = alike(entities), alike(entities[::-1])
    compared = [{frozenset((each.one, each.other)) for each in each.pairs} for each in (found, turned)]
    whole = [{pair for pair in pairs if len(pair) == 2} for pairs in compared]
    assert whole == compared
    assert set(found.ambiguous) == set(turned.ambiguous)

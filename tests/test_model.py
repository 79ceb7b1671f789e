"""Values are checked when they are made, and every fault is named."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import attrs
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from graphsearch.errors import GraphSearchError, InvalidInputError
from graphsearch.model import (
    KNOWN_RELATION_TYPES,
    Batch,
    Claim,
    EdgeKind,
    Entity,
    Memory,
    MemoryLink,
    Mention,
    Principal,
    Relation,
    RelationType,
    Scope,
    Span,
    View,
)
from graphsearch.model.identity import entity_id, normalise_name, relation_id, snake_case
from graphsearch.model.stored import Attestation
from graphsearch.modes.result import SearchRequest

ADA, ACME = UUID(int=1), UUID(int=2)
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
NAIVE = datetime(2024, 5, 1, 12)  # noqa: DTZ001 - a fault to be found


def faults(make) -> tuple[str, ...]:
    with pytest.raises(InvalidInputError) as error:
        make()
    return error.value.faults


def test_all_faults_of_an_entity_are_reported_together():
    found = faults(
        lambda: Entity(
            type=" ",
            name="a\0b",
            description="\ud800",
            aliases=["", "ok"],
            attributes={"x": float("nan")},
            importance_weight=1.5,
            feedback_weight=True,
            valid_from=NAIVE,
        )
    )
    assert len(found) == 8
    assert any("timezone-aware" in fault for fault in found)


def test_all_faults_of_a_relation_are_reported_together():
    found = faults(
        lambda: Relation(
            source_id=ADA,
            type="!",
            target_id=ACME,
            confidence=float("inf"),
            attributes={"nested": [{"deep": object()}]},
            created_at="today",  # type: ignore[arg-type]
        )
    )
    assert len(found) == 4


def test_a_period_is_not_reversed():
    found = faults(
        lambda: Relation(source_id=ADA, type="a", target_id=ACME, valid_from=NOON, valid_to=NOON - timedelta(seconds=1))
    )
    assert found == ("valid_from must not be after valid_to",)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Scope("", "web"),
        lambda: Scope("acme", "w\0b"),
        lambda: Scope(7, "web"),  # type: ignore[arg-type]
        lambda: Memory(id=" "),
        lambda: Memory(id="m", position=-1),
        lambda: Memory(id="m", attributes={"a\0": 1}),
        lambda: Memory(id="m", attributes=[]),  # type: ignore[arg-type]
        lambda: Mention(memory_id="m", entity_id=ADA, surface=""),
        lambda: Claim(memory_id="m", source_id=ADA, type="t", target_id=ACME, confidence=-0.1),
        lambda: Span(start=3, end=2),
        lambda: RelationType(name="t", half_life_days=0),
        lambda: RelationType(name="t", hop_scores=[2.0]),
        lambda: Principal(id="ada", type="not an identifier"),
        lambda: View(NAIVE, NOON),
        lambda: View(NOON, NOON, min_edge_confidence=2),
    ],
)
def test_bad_values_are_refused(make):
    assert len(faults(make)) == 1


def test_values_of_the_wrong_type_are_faults_too():
    assert len(faults(lambda: Entity(type=3, name=4, aliases=5, labels=[6], attributes=None))) == 5  # type: ignore[arg-type, list-item]
    assert len(faults(lambda: Relation(source_id=ADA, type=3, target_id=ACME, kind="odd", valid_from=NAIVE))) == 3  # type: ignore[arg-type]


EAST, WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))
VALUES = (
    Scope("o", "p"),
    Span(start=0, end=1),
    RelationType(name="knows"),
    Entity(type="person", name="Ada"),
    Relation(source_id=ADA, type="works_at", target_id=ACME),
    Memory(id="m"),
    Mention(memory_id="m", entity_id=ADA, surface="Ada"),
    Claim(memory_id="m", source_id=ADA, type="works_at", target_id=ACME, confidence=0.9),
    MemoryLink(from_id="m", to_id="n"),
    Batch(),
    Principal(id="ada"),
    View(as_of=NOON, known_at=NOON),
)
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(max_size=3),
    st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=3)), max_size=3),
    st.dictionaries(st.one_of(st.integers(), st.text(max_size=3)), st.one_of(st.none(), st.floats()), max_size=2),
    st.datetimes(timezones=st.sampled_from([None, EAST, WEST])),
    st.sampled_from(
        [object(), ADA, EdgeKind.SEMANTIC, Span(start=0, end=1), [1, 2], {1: object()}, "\ud800", "x" * 5_000]
    ),
)


@pytest.mark.parametrize("value", VALUES, ids=lambda each: type(each).__name__)
@given(data=st.data())
def test_values_of_any_type_are_taken_or_refused(value, data):
    field = data.draw(st.sampled_from([each.name for each in attrs.fields(type(value))]))
    try:
        attrs.evolve(value, **{field: data.draw(JUNK)})
    except InvalidInputError:
        event("refused")
    else:
        event("taken")


@pytest.mark.parametrize("moment", [datetime.min.replace(tzinfo=EAST), datetime.max.replace(tzinfo=WEST)])
def test_times_that_are_not_in_the_calendar_as_utc_are_refused(moment):
    [fault] = faults(lambda: Memory(id="m", occurred_at=moment))
    assert fault == f"occurred_at must be in the years 1 to 9999 as UTC, not {moment.isoformat()}"
    assert faults(lambda: View(as_of=moment, known_at=NOON))


@pytest.mark.parametrize("moment", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_times_at_the_ends_of_the_calendar_are_kept(moment):
    assert Memory(id="m", occurred_at=moment).occurred_at == moment


def test_ids_are_checked():
    found = faults(lambda: Relation(source_id="a", type="x", target_id=ACME, id=3))  # type: ignore[arg-type]
    assert found == ("source_id must be a UUID, not str", "id must be a UUID, not int")
    assert faults(lambda: Entity(id="x", type="t", name="n")) == ("id must be a UUID, not str",)  # type: ignore[arg-type]


def test_keys_are_of_bounded_length():
    assert Memory(id="é" * 500, session_id="x" * 1_000).id
    assert faults(lambda: Memory(id="é" * 501)) == ("id must have at most 1000 bytes in UTF-8, not 1002",)
    assert faults(lambda: Scope("x" * 256, "p")) == ("org_id must have at most 255 bytes in UTF-8, not 256",)


def test_the_items_of_a_batch_are_checked():
    assert faults(lambda: Batch(entities=[3], memories=4)) == (  # type: ignore[arg-type]
        "each of entities must be Entity, not int",
        "memories must be a list, not int",
    )
    (fault,) = faults(lambda: Batch(vectors={3: [1.0]}))  # type: ignore[dict-item]
    assert fault == "a key of vectors must be a UUID or the id of a memory, not 3"


def test_refusals_are_value_errors_and_graphsearch_errors():
    assert issubclass(InvalidInputError, ValueError)
    assert issubclass(InvalidInputError, GraphSearchError)


def test_values_are_immutable_and_compare_by_content():
    ada = Entity(type="Person", name="Ada", attributes={"team": "core"})
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        ada.name = "Bob"  # type: ignore[misc]
    with pytest.raises(TypeError):
        ada.attributes["team"] = "web"  # type: ignore[index]
    assert ada == Entity(type="person", name="Ada", attributes={"team": "core"})
    assert len({ada, ada}) == 1


def test_ids_are_minted_from_type_and_normalised_name():
    assert Entity(type="Person", name="Ada  Lovelace").id == entity_id("person", "ada lovelace")
    assert Entity(type="person", name="Ada").id != Entity(type="tool", name="Ada").id
    assert Entity(type="person", name="Ada", id=ACME).id == ACME


def test_names_of_code_keep_their_case():
    assert entity_id("class", "queue.Queue") != entity_id("class", "queue.queue")
    assert normalise_name("ＡＣＭＥ\u00a0 Corp\n") == "acme corp"


def test_the_id_of_a_relation_tells_periods_apart():
    first = Relation(source_id=ADA, type="worksAt", target_id=ACME, valid_from=NOON)
    assert first.id == relation_id(ADA, "works_at", ACME, NOON.astimezone(timezone(timedelta(hours=5))))
    assert len({first.id, relation_id(ADA, "works_at", ACME, None), relation_id(ACME, "works_at", ADA, NOON)}) == 3


@pytest.mark.parametrize("spelling", ["reportsTo", "Reports To", "REPORTS_TO", "reports-to", "__reports__to__"])
def test_types_are_lower_snake_case(spelling):
    assert snake_case(spelling) == "reports_to"
    assert RelationType(name=spelling).name == "reports_to"


def test_known_types_are_those_of_the_design():
    known = {name: (kind.prior, kind.half_life_days) for name, kind in KNOWN_RELATION_TYPES.items()}
    assert known["reports_to"] == known["member_of"] == (1.0, 180)
    assert known["works_with"] == known["collaborated_with"] == (0.8, 30)
    assert known["co_occurs"] == known["mentioned_with"] == (0.5, 14)
    assert known["met_with"] == (0.5, 7)
    assert {name for name, kind in KNOWN_RELATION_TYPES.items() if kind.functional} == {
        "reports_to",
        "lives_in",
        "works_at",
        "has_status",
        "deadline",
        "budget",
        "priority",
    }
    assert {name for name, kind in KNOWN_RELATION_TYPES.items() if kind.skip} == {"met_with"}


def test_a_view_is_open_at_the_end_of_a_period():
    view = View(NOON, NOON)
    assert view.holds(None, None)
    assert view.holds(NOON, None)
    assert not view.holds(None, NOON)
    assert not view.holds(NOON + timedelta(microseconds=1), None)
    assert view.known(NOON, None)
    assert not view.known(NOON, NOON)
    assert not view.known(NOON + timedelta(microseconds=1), None)


def test_collections_are_kept_without_repetitions():
    entity = Entity(type="t", name="n", aliases=["b", "a", "b"], labels={"y", "x"})
    assert entity.aliases == ("b", "a")
    assert entity.labels == ("x", "y")
    assert Entity(type="t", name="n", aliases="one").aliases == ("one",)
    assert Relation(source_id=ADA, type="t", target_id=ACME, kind="lifecycle").kind is EdgeKind.LIFECYCLE


@given(st.text(), st.text())
def test_ids_never_collide_across_the_separator(entity_type, name):
    assert entity_id(entity_type, name) != entity_id(entity_type + "x", name) or not snake_case(entity_type + "x")
    assert entity_id(entity_type, name) == entity_id(entity_type, name)


@given(st.text(max_size=30))
def test_normalising_twice_changes_nothing(name):
    assert normalise_name(normalise_name(name)) == normalise_name(name)
    assert snake_case(snake_case(name)) == snake_case(name)


def test_an_integer_that_python_does_not_write_out_is_refused_by_its_size():
    huge = 16**5_000
    assert faults(lambda: SearchRequest(query="ada", limit=huge)) == (
        "limit must be a finite number, not an integer of 20001 bits",
    )
    assert faults(lambda: Attestation(influences=(huge,)))[0].endswith("not an integer of 20001 bits")

"""The one JSON form of every value."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import graphsearch
from graphsearch import ALLOW_ALL
from graphsearch.context import ContextBlock, ContextBuilder
from graphsearch.errors import InvalidInputError
from graphsearch.model import (
    Batch,
    Community,
    CommunitySummary,
    ElementKind,
    ElementRef,
    Entity,
    Fact,
    Memory,
    NamedEntity,
    Outcome,
    Relation,
    Scope,
    Span,
    SummarySentence,
    Triplet,
    TripletScore,
)
from graphsearch.model.codec import COMPUTED, UNSAID, Says, decode, encode, schema, schema_of_result
from graphsearch.model.reports import Statistics
from graphsearch.modes.result import SearchResult, Sentence, Source
from graphsearch.ranking.entity_ranking import RankResult
from graphsearch.ranking.recall_result import RecallResult
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import WordCounter
from graphsearch.testing.strategies import texts as hostile
from tests.exporting.answers import team
from tests.properties import examples
from tests.strategies import entities, graphs, instants, scopes, units

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
ADA, BOB = Entity(type="person", name="Ada", aliases=("A.",)), Entity(type="person", name="Bob")
KNOWS = Relation(source_id=ADA.id, type="knows", target_id=BOB.id, evidence=("m1",), valid_from=NOON)
SCORE = TripletScore(0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, hops=1, relevance={"near": 0.5})
TRIPLET = Triplet(source=ADA, relation=KNOWS, target=BOB, breakdown=SCORE, path=(KNOWS.id,))


def through(value: Any, *, sparse: bool = False) -> Any:
    return json.loads(json.dumps(encode(value, sparse=sparse), allow_nan=False))


facts = st.builds(
    Fact,
    subject=hostile(),
    relation=hostile(),
    object=hostile(),
    since=st.none() | instants | hostile(),
    until=st.none() | instants,
    confidence=st.none() | units,
    ended=st.booleans(),
)
memories = st.builds(
    Memory,
    id=hostile(),
    text=hostile(min_size=0),
    occurred_at=st.none() | instants,
    labels=st.lists(hostile(), max_size=2),
    attributes=st.dictionaries(hostile(), st.none() | st.integers() | hostile(), max_size=2),
    facts=st.lists(facts, max_size=2),
    entities=st.lists(st.builds(NamedEntity, hostile(), hostile()), max_size=2),
)


# -- there and back ---------------------------------------------------------------------------------------------------


@given(value=entities() | scopes() | memories | facts, sparse=st.booleans())
def test_elements_are_read_as_they_were_written(value: Any, sparse: bool) -> None:
    assert decode(type(value), through(value, sparse=sparse)) == value


@examples(10)
@given(batch=graphs())
def test_a_batch_is_read_as_it_was_written(batch: Batch) -> None:
    assert decode(Batch, through(batch)) == batch


def test_a_memory_keeps_what_its_giver_states() -> None:
    memory = Memory(id="m", facts=[Fact("a", "b", "c", since="2026-05-01", until=NOON)])
    assert decode(Memory, through(memory)).facts == memory.facts


def test_computed_properties_are_written_and_not_read() -> None:
    written = through(TRIPLET)
    assert written["score"] == TRIPLET.score
    assert [part["contribution"] for part in written["parts"]] == [part.contribution for part in TRIPLET.parts]
    assert decode(Triplet, written) == TRIPLET


def test_a_community_with_its_summary() -> None:
    ids = sorted([ADA.id, BOB.id])
    sentence = SummarySentence(text="They met.", cites=[ElementRef(ElementKind.MEMORY, "m1")])
    summary = CommunitySummary(sentences=[sentence], fingerprint="0" * 64, model="", written_at=NOON)
    community = Community(
        id=ids[0], members=ids, strengths=[1, 1], density=1, top=ids, label="Ada, Bob", summary=summary
    )
    written = through(community)
    assert (written["size"], written["summary"]["text"]) == (2, "They met.")
    assert written["summary"]["sentences"][0]["cites"] == [{"kind": "memory", "id": "m1"}]
    assert decode(Community, written) == community


def test_sparse_leaves_out_what_is_at_its_default() -> None:
    assert encode(Span(start=0, end=2), sparse=True) == {"start": 0, "end": 2}
    assert encode(BOB, sparse=True) == {"type": "person", "name": "Bob", "id": str(BOB.id)}


def test_keys_are_text() -> None:
    assert encode({Outcome.REWORK: 1, ADA.id: 2, Scope("o", "p"): 3, ElementKind.ENTITY: 4, 5: 5}) == {
        "0.5": 1,
        str(ADA.id): 2,
        "o/p": 3,
        "entity": 4,
        "5": 5,
    }
    assert decode(Mapping[Scope, int], {"o/p": 3}) == {Scope("o", "p"): 3}
    assert [encode(Scope("o", "p")), encode(Scope("o/o", "p"))] == ["o/p", {"org_id": "o/o", "project_id": "p"}]
    assert decode(Mapping[int, str], {"3": "c"}) == {3: "c"}


def test_other_values() -> None:
    vector = np.array([0.5, -2], np.float16)
    assert decode(np.ndarray, encode(vector)).tolist() == [0.5, -2]
    assert encode([timedelta(minutes=1), Path("/a"), np.float32(0.5), frozenset("ba")]) == [60.0, "/a", 0.5, ["a", "b"]]
    source = Source(number=3, element=ElementRef(ElementKind.MEMORY, "m"), line="- m")
    assert encode(Sentence(text="So.", sources=(source,))) == {"text": "So.", "cites": [3]}


@pytest.mark.parametrize("value", [print, Entity, object(), lambda: 1, [{"a": print}]])
def test_what_does_something_is_never_written(value: Any) -> None:
    with pytest.raises(TypeError, match="has no JSON form"):
        encode(value)


# -- what is taken ----------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Ask:
    question: Annotated[str, Says("What you want to know.", least=1, most=40)]
    limit: Annotated[int | None, Says("At most.", least=1, most=100)] = 10
    who: UUID | str | ElementRef | None = None
    kinds: Collection[str] = attrs.field(default=(), metadata={"says": Says("Of which.", most=2, of=("a", "b"))})
    way: Callable[[], int] | GraphStore | float | None = None
    facts: tuple[Fact, ...] = ()
    within: timedelta | None = None
    mode: Literal["near", "far"] = "near"
    outcome: Outcome | None = None
    deep: bool = False
    at: datetime | None = None
    ends: tuple[UUID, UUID] | None = None
    labels: frozenset[str] = frozenset()
    gone: Callable[[], int] | None = None


def faults_of(data: Any, *, lenient: bool = False, kind: Any = Ask) -> tuple[str, ...]:
    with pytest.raises(InvalidInputError) as caught:
        decode(kind, data, "ask", lenient=lenient)
    assert caught.value.subject == "ask"
    return caught.value.faults


def test_every_fault_is_named_with_its_place() -> None:
    given = {
        "limit": 0,
        "who": 3,
        "kinds": ["a", "c"],
        "way": "fast",
        "facts": [{"subject": 5, "relatoin": "is", "object": "o"}, {"subject": "a", "relation": "b", "object": ""}],
        "within": True,
        "mode": "middle",
        "outcome": 1.5,
        "deep": "false",
        "at": "soon",
        "ends": [str(ADA.id)],
        "labels": "red",
        "gone": None,
        "size": None,
    }
    assert faults_of(given) == (
        "limit: must be at least 1, not 0",
        "who: must be text or an object, not 3",
        "kinds: must be one of a, b, not 'c'",
        "way: must be a number, not 'fast'",
        "facts.0.subject: must be text, not 5",
        "facts.0.relatoin: is unknown: did you mean relation?",
        "facts.0.relation: is needed",
        "facts.1: object must not be empty",
        "within: must be seconds, not true",
        "mode: must be one of 'near', 'far', not 'middle'",
        "outcome: must be one of 1.0, 0.5, 0.0, not 1.5",
        "deep: must be true or false, not 'false'",
        "at: must be a time, such as 2024-05-01T09:00:00Z, not 'soon'",
        "ends: must be a list of 2, not a list",
        "labels: must be a list, not 'red'",
        "gone: is unknown",
        "size: is unknown",
        "question: is needed",
    )


def test_faults_inside_of_a_member_of_a_union() -> None:
    assert faults_of({"question": "?", "who": {"kind": "city", "id": 3}}) == (
        "who.kind: must be one of 'entity', 'relation', 'memory', not 'city'",
        "who.id: must be text, not 3",
    )


def test_bounds() -> None:
    assert faults_of({"question": "", "kinds": ["a"] * 3}) == (
        "question: must not be empty",
        "kinds: must have at most 2 items, not 3",
    )
    assert faults_of({"question": "q" * 41}) == ("question: must have at most 40 characters, not 41",)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (int, 1.5),
        (int, True),
        (int, "1"),
        (float, True),
        (float, "1"),
        (float, float("nan")),
        (float, 10**400),
        (bool, 1),
        (bool, "true"),
        (str, 1),
        (str, None),
        (Outcome, True),
        (UUID, "ada"),
        (UUID, 5),
        (timedelta, 1e300),
        (list[int], "12"),
        (Mapping[str, int], []),
        (Mapping[Scope, int], {"a/b/c": 1}),
        (Literal[1], True),
        (np.ndarray, "ä"),
        (dict[str, int], {"a": "b"}),
    ],
)
def test_kinds_are_exact(kind: Any, data: Any) -> None:
    assert len(faults_of(data, kind=kind)) == 1


@given(text=st.text(min_size=61, max_size=300))
def test_no_long_value_is_quoted(text: str) -> None:
    for fault in faults_of({"question": "?", "limit": text, text: 1, "mode": text, "who": {"kind": text, "id": "m"}}):
        assert len(fault) < 200


def test_an_id_is_one_where_it_reads_as_one() -> None:
    assert decode(UUID | str, str(ADA.id)) == ADA.id
    assert decode(UUID | str, "Ada") == "Ada"


def test_times() -> None:
    assert decode(datetime, "2024-05-01T12:00:00") == NOON
    assert decode(datetime, "2024-05-01T14:00:00+02:00") == NOON
    assert decode(datetime | str, "2024-05-01") == "2024-05-01"
    assert decode(datetime | str, encode(NOON)) == NOON
    assert decode(timedelta, 90) == timedelta(seconds=90)


def test_clients_that_are_not_exact() -> None:
    given = {
        "question": 42,
        "limit": "5",
        "who": " ",
        "kinds": '["a"]',
        "way": "2.5",
        "facts": '[{"subject": "a", "relation": "is", "object": 7, "since": null}]',
        "within": "60",
        "mode": None,
        "deep": "False",
        "outcome": None,
    }
    assert decode(Ask, given, lenient=True) == Ask(
        question="42",
        limit=5,
        kinds=("a",),
        way=2.5,
        facts=(Fact("a", "is", "7"),),
        within=timedelta(minutes=1),
    )
    assert decode(Ask, json.dumps({"question": "?", "limit": 5.0}), lenient=True) == Ask(question="?", limit=5)
    assert faults_of({"question": None, "limit": "many", "kinds": "[", "facts": "7"}, lenient=True) == (
        "question: must be text, not null",
        "limit: must be a whole number, not 'many'",
        "kinds: must be a list, not '['",
        "facts: must be a list, not '7'",
    )


def test_a_class_that_is_made_of_a_table() -> None:
    says = Says("How many.", least=1, most=9)
    field: Any = attrs.field
    fields = {
        "who": field(type=UUID | str),
        "limit": field(default=5, type=int | None, metadata={"says": says}),
        "gate": field(default=None, type=GraphStore | None),
    }
    made: Any = attrs.make_class("Made", fields, frozen=True, kw_only=True)
    assert schema(made) == {
        "type": "object",
        "properties": {
            "who": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 9, "description": "How many.", "default": 5},
        },
        "required": ["who"],
        "additionalProperties": False,
    }
    assert decode(made, {"who": "Ada", "limit": None}) == made(who="Ada", limit=None)
    assert decode(made, {"who": "Ada", "limit": None}, lenient=True) == made(who="Ada")
    assert faults_of({"limit": 10, "gate": None}, kind=made) == (
        "limit: must be at most 9, not 10",
        "gate: is unknown",
        "who: is needed",
    )


def test_text_is_not_bent_into_a_number_where_text_is_taken() -> None:
    assert decode(int | str, "5", lenient=True) == "5"


def test_a_kind_that_json_cannot_carry() -> None:
    for kind in (Callable[[], int], GraphStore, list[GraphStore]):
        with pytest.raises(TypeError, match="has no JSON form"):
            decode(kind, {})


# -- schemas ----------------------------------------------------------------------------------------------------------


def test_the_schema_of_what_is_taken() -> None:
    asked = schema(Ask)
    fact = asked["properties"]["facts"]["items"]
    assert fact["required"] == ["subject", "relation", "object"]
    assert fact["properties"]["since"] == {"type": "string"}
    del asked["properties"]["facts"]
    ref = {
        "type": "object",
        "properties": {"kind": {"type": "string", "enum": ["entity", "relation", "memory"]}, "id": {"type": "string"}},
        "required": ["kind", "id"],
        "additionalProperties": False,
    }
    uuid = {"type": "string", "format": "uuid"}
    assert asked == {
        "type": "object",
        "properties": {
            "question": {"type": "string", "minLength": 1, "maxLength": 40, "description": "What you want to know."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "At most.", "default": 10},
            "who": {"anyOf": [{"type": "string"}, ref]},
            "kinds": {
                "type": "array",
                "items": {"type": "string", "enum": ["a", "b"]},
                "maxItems": 2,
                "description": "Of which.",
            },
            "way": {"type": "number"},
            "within": {"type": "number"},
            "mode": {"type": "string", "enum": ["near", "far"], "default": "near"},
            "outcome": {"enum": [1.0, 0.5, 0.0]},
            "deep": {"type": "boolean"},
            "at": {"type": "string", "format": "date-time"},
            "ends": {"type": "array", "items": uuid, "minItems": 2, "maxItems": 2},
            "labels": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["question"],
        "additionalProperties": False,
    }


def test_the_schema_of_what_is_given() -> None:
    given = schema_of_result(Triplet)
    assert given["required"] == [*encode(TRIPLET)]
    assert given["properties"]["score"] == {"type": "number"}
    assert given["properties"]["parts"]["items"]["required"] == ["name", "value", "weight", "contribution"]
    assert given["properties"]["relation"]["properties"]["valid_to"]["anyOf"][-1] == {"type": "null"}


async def test_answers_are_as_their_schemas_say() -> None:
    engine = await team()
    builder = ContextBuilder(engine, counter=WordCounter())
    for value in (
        await engine.search("what do Ada and Bob share?", mode="neighborhood"),
        await engine.recall("what does Ada do?"),
        await engine.rank_entities("who works at Globex?"),
        await engine.path("Bob", "Globex"),
        await engine.explain("Ada", "m1"),
        await builder.build("Ada", gate=ALLOW_ALL, session_id="s", mode="neighborhood"),
        await engine.store.statistics(),
    ):
        said = schema_of_result(type(value))
        Draft202012Validator.check_schema(said)
        Draft202012Validator(said).validate(through(value))
    Draft202012Validator.check_schema(schema(Ask))


# -- what every class says --------------------------------------------------------------------------------------------


def classes() -> dict[str, list[Any]]:
    """All classes with fields, by name."""
    found: dict[str, list[Any]] = {}
    for module in pkgutil.walk_packages(graphsearch.__path__, "graphsearch."):
        if not module.name.endswith("__main__") and not module.name.startswith("graphsearch.testing"):
            for each in vars(importlib.import_module(module.name)).values():
                if isinstance(each, type) and attrs.has(each) and each.__module__ == module.name:
                    found.setdefault(each.__name__, []).append(each)
    return found


def test_computed_names_are_of_one_class() -> None:
    found = classes()
    for name in {*COMPUTED, *UNSAID}:
        (kind,) = found[name]
        assert all(isinstance(getattr(kind, each), property) for each in COMPUTED.get(name, ()))
        assert set(UNSAID.get(name, ())) <= {field.name for field in attrs.fields(kind)}


@pytest.mark.parametrize("kind", [SearchResult, RecallResult, RankResult, ContextBlock, Statistics])
def test_answers_have_a_schema(kind: Any) -> None:
    assert schema_of_result(kind)["required"] == [field.name for field in attrs.fields(kind)]

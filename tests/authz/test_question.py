"""Requests to Cedar are unambiguous."""

from __future__ import annotations

import json

import cedarpy
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.authz.cedar_request import Question
from graphsearch.model import Action, ElementKind, Principal, Scope
from graphsearch.model.signatures import Resource

# An id has at most 255 bytes in UTF-8, of which a character takes up to four.
printable = st.characters(exclude_categories=("C", "Z"), include_characters=" ")
texts = st.text(printable, min_size=1, max_size=60).filter(str.strip)
hostile = st.one_of(
    st.sampled_from(['a"b', "a/b", "a%2Fb", "%", "/", "\\", "::", "ä", "'; --", "\u2028x", "a\nb"]), texts
)


def question(org: str = "acme", project: str = "web", principal: Principal | None = None) -> Question:
    return Question(principal or Principal(id="ada"), Action.READ, Scope(org, project))


def memory(id: str) -> Resource:
    return Resource(kind=ElementKind.MEMORY, id=id)


def test_a_uid_begins_with_its_scope() -> None:
    assert question().describe(memory("m1"), 0)["uid"] == {"type": "Memory", "id": "acme/web/m1"}


@given(st.tuples(hostile, hostile, hostile), st.tuples(hostile, hostile, hostile))
def test_two_elements_never_share_a_uid(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    (org, project, name), (other_org, other_project, other_name) = one, other
    uid = question(org, project).describe(memory(name), 0)["uid"]
    other_uid = question(other_org, other_project).describe(memory(other_name), 0)["uid"]
    assert (uid == other_uid) == (one == other)


@given(hostile)
def test_a_signature_never_has_an_elements_uid(id: str) -> None:
    signature = question().describe(Resource(kind=ElementKind.MEMORY), 3)["uid"]
    assert signature != question().describe(memory(id), 3)["uid"]


def test_empty_optional_attributes_are_left_out() -> None:
    described = question().describe(Resource(kind=ElementKind.ENTITY, type="tool", owner="ada"), 0)
    assert described["attrs"] == {"type": "tool", "labels": [], "owner": "ada"}
    assert described["parents"] == [{"type": "Project", "id": "acme/web"}]


def test_tags_are_text_and_other_values_are_json() -> None:
    tags = {"team": "db", "size": 3, "open": None, "parts": [1, {"a": True}], "ratio": 0.5}
    described = question().describe(Resource(kind=ElementKind.ENTITY, tags=tags), 0)
    assert described["tags"] == {
        "team": "db", "size": "3", "open": "null", "parts": '[1, {"a": true}]', "ratio": "0.5"
    }  # fmt: skip


def test_a_principal_has_attributes_that_cedar_knows_and_all_of_them_as_tags() -> None:
    attributes = {
        "id": "somebody else", "role": "editor", "level": 3, "teams": ["db", "web"], "ratio": 0.5, "big": 2**63,
        "nothing": None, "mixed": [0.5], "nested": [["a"]], "record": {"__entity": {"type": "Org", "id": "other"}},
    }  # fmt: skip
    principal = Principal(id="ada", attributes=attributes, projects=(Scope("acme", "web"), Scope("zeta", "z")))
    *places, who = question(principal=principal).surroundings()
    assert who["attrs"] == {"id": "ada", "role": "editor", "level": 3, "teams": ["db", "web"]}
    assert who["tags"].keys() == attributes.keys()
    assert who["parents"] == [{"type": "Project", "id": "acme/web"}, {"type": "Project", "id": "zeta/z"}]
    assert [place["uid"]["id"] for place in places] == ["acme", "zeta", "acme/web", "zeta/z"]
    assert len(cedarpy.Entities.from_json_str(json.dumps([*places, who]))) == 5


@given(
    id=hostile,
    labels=st.lists(hostile, max_size=3),
    tags=st.dictionaries(hostile, hostile, max_size=3),
    attributes=st.dictionaries(hostile, hostile, max_size=3),
)
def test_cedar_understands_whatever_is_stored(
    id: str, labels: list[str], tags: dict[str, str], attributes: dict[str, str]
) -> None:
    principal = Principal(id=id, attributes=attributes, projects=(Scope(id, id),))
    asked = question(id, id, principal)
    resource = Resource(kind=ElementKind.MEMORY, id=id, name=id, owner=id, labels=tuple(labels), tags=tags)
    described = asked.describe(resource, 0)
    entities = cedarpy.Entities.from_json_str(json.dumps([*asked.surroundings(), described]))
    policy = (
        "permit (principal, action, resource) when { principal in context.project && resource in context.project };"
    )
    result = cedarpy.is_authorized(asked.request(described), policy, entities)
    assert result.decision is cedarpy.Decision.Allow
    assert result.diagnostics.errors == []

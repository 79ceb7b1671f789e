"""The shipped policies decide as documented, and every failure is a deny."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import cedarpy
import pytest

from graphsearch.access.gate import resource_of
from graphsearch.authz import CedarAuthorizer
from graphsearch.authz import cedar as module
from graphsearch.errors import PolicyError
from graphsearch.model import Action, ElementKind, Entity, Memory, Principal, Scope
from graphsearch.model.signatures import Resource
from graphsearch.protocols import Authorizer

WEB = Scope("acme", "web")
OTHER_PROJECT = Scope("acme", "api")
OTHER_ORG = Scope("zeta", "web")

ADA = Principal(id="ada", projects=(WEB,))
EDITOR = Principal(id="eve", attributes={"role": "editor"}, projects=(WEB,))
AGENT = Principal(id="bot", type="Agent", attributes={"see_private": True, "clearance": "restricted"}, projects=(WEB,))
STRANGER = Principal(id="sam", attributes={"role": "admin"}, projects=(OTHER_PROJECT, OTHER_ORG))

PLAIN = Resource(kind=ElementKind.ENTITY, type="tool")
PRIVATE = Resource(kind=ElementKind.ENTITY, type="function", labels=("private",))
RESTRICTED = Resource(kind=ElementKind.MEMORY, sensitivity="restricted")
PERSONAL = Resource(kind=ElementKind.MEMORY, labels=("personal",), owner="ada")
OWNERLESS = Resource(kind=ElementKind.RELATION, labels=("personal",))

SCHEMA = Path(module.__file__).parent / "policies" / "schema.cedarschema"
PERMIT_ALL = "permit (principal, action, resource);"


def authorizer(policies: str = PERMIT_ALL, **options: Any) -> CedarAuthorizer:
    return CedarAuthorizer(policies, SCHEMA.read_text(encoding="utf-8"), **options)


@pytest.fixture(scope="module")
def default() -> CedarAuthorizer:
    return CedarAuthorizer.default()


async def allowed(
    of: CedarAuthorizer, principal: Principal, resource: Resource, action: Action = Action.READ, scope: Scope = WEB
) -> bool:
    [answer] = await of.authorize(principal, action, [resource], scope=scope)
    return answer


# -- the shipped policies -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("principal", "resource", "action", "answer"),
    [
        (ADA, PLAIN, Action.READ, True),
        (ADA, PLAIN, Action.FEEDBACK, True),
        (ADA, PLAIN, Action.WRITE, False),
        (ADA, PLAIN, Action.MERGE, False),
        (ADA, PLAIN, Action.FORGET, False),
        (EDITOR, PLAIN, Action.READ, True),
        (EDITOR, PLAIN, Action.WRITE, True),
        (EDITOR, PLAIN, Action.MERGE, True),
        (EDITOR, PLAIN, Action.FORGET, True),
        (attrs.evolve(EDITOR, attributes={"role": "admin"}), PLAIN, Action.FORGET, True),
        (attrs.evolve(EDITOR, attributes={"role": "reader"}), PLAIN, Action.WRITE, False),
        (EDITOR, PLAIN, Action.REVIEW, False),
        (attrs.evolve(EDITOR, attributes={"role": "reviewer"}), PLAIN, Action.REVIEW, True),
        (attrs.evolve(EDITOR, attributes={"role": "reviewer"}), PRIVATE, Action.REVIEW, False),
        (attrs.evolve(EDITOR, attributes={"role": "reviewer"}), PLAIN, Action.MERGE, True),
        (attrs.evolve(EDITOR, attributes={"role": "admin"}), PLAIN, Action.REVIEW, True),
        (attrs.evolve(EDITOR, attributes={"role": "reviewer"}), PLAIN, Action.VIEW_AS, False),
        (attrs.evolve(EDITOR, attributes={"role": "admin"}), PLAIN, Action.VIEW_AS, True),
        (STRANGER, PLAIN, Action.VIEW_AS, False),
        (ADA, PRIVATE, Action.READ, False),
        (EDITOR, PRIVATE, Action.WRITE, False),
        (AGENT, PRIVATE, Action.READ, True),
        (attrs.evolve(ADA, attributes={"see_private": False}), PRIVATE, Action.READ, False),
        (ADA, RESTRICTED, Action.READ, False),
        (AGENT, RESTRICTED, Action.READ, True),
        (attrs.evolve(ADA, attributes={"clearance": "public"}), RESTRICTED, Action.READ, False),
        (ADA, PERSONAL, Action.READ, True),
        (AGENT, PERSONAL, Action.READ, False),
        (attrs.evolve(AGENT, attributes={"id": "ada"}), PERSONAL, Action.READ, False),
        (ADA, OWNERLESS, Action.READ, False),
        (STRANGER, PLAIN, Action.READ, False),
        (Principal(id="nobody"), PLAIN, Action.READ, False),
    ],
)
async def test_default_policies(
    default: CedarAuthorizer, principal: Principal, resource: Resource, action: Action, answer: bool
) -> None:
    assert await allowed(default, principal, resource, action) is answer


async def test_the_default_policies_are_asked_by_signature(default: CedarAuthorizer) -> None:
    asked: Authorizer = default
    assert asked.by_signature


def test_the_policies_that_deny_are_named(default: CedarAuthorizer) -> None:
    secret = Resource(kind=ElementKind.MEMORY, labels=("private",), sensitivity="restricted", id="s")
    some = [PLAIN, PRIVATE, secret, PERSONAL]
    found = default.reasons(EDITOR, Action.READ, some, scope=WEB)
    assert [*map(list, found)] == [
        [],
        ["private-elements"],
        ["private-elements", "restricted-elements"],
        ["personal-elements"],
    ]
    assert [*map(list, default.reasons(ADA, Action.WRITE, [PLAIN], scope=WEB))] == [["no policy permits it"]]
    assert [*map(list, default.reasons(STRANGER, Action.READ, [PLAIN], scope=WEB))] == [["isolation"]]
    assert default.reasons(Principal(id="x", type="Robot", projects=(WEB,)), Action.READ, [PLAIN], scope=WEB) == [
        ("no policy permits it",)
    ]
    unnamed = authorizer(f"{PERMIT_ALL} forbid (principal, action, resource is Memory);")
    assert [*map(list, unnamed.reasons(ADA, Action.READ, [PERSONAL], scope=WEB))] == [["policy1"]]


async def test_answers_come_in_the_order_of_the_resources(default: CedarAuthorizer) -> None:
    asked = [PLAIN, PRIVATE, PLAIN, RESTRICTED, PERSONAL, PRIVATE]
    assert await default.authorize(ADA, Action.READ, asked, scope=WEB) == [True, False, True, False, True, False]
    assert await default.authorize(ADA, Action.READ, [], scope=WEB) == []


# -- isolation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", [OTHER_PROJECT, OTHER_ORG, Scope("acme/web", "x"), Scope("acme", "web/x")])
async def test_isolation_holds_whatever_the_policies_permit(scope: Scope) -> None:
    permissive = authorizer()
    assert await allowed(permissive, ADA, PLAIN, scope=WEB)
    assert not await allowed(permissive, ADA, PLAIN, scope=scope)


async def test_a_principal_of_two_projects_is_let_into_both() -> None:
    both = attrs.evolve(ADA, projects=(WEB, OTHER_ORG))
    assert await allowed(authorizer(), both, PLAIN, scope=WEB)
    assert await allowed(authorizer(), both, PLAIN, scope=OTHER_ORG)
    assert not await allowed(authorizer(), both, PLAIN, scope=OTHER_PROJECT)


@pytest.mark.parametrize("type", ["Project", "Org", "Entity", "Robot"])
async def test_a_principal_of_a_type_that_policies_do_not_know_is_denied(type: str) -> None:
    impostor = Principal(id="acme/web", type=type, projects=(WEB,))
    assert not await allowed(authorizer(), impostor, PLAIN)


@pytest.mark.parametrize("id", ['a"b', "a/b", "a\\", "ä\u2028\n", "%2F", "'; permit"])
async def test_hostile_ids_are_just_ids(id: str) -> None:
    scope = Scope(id, id)
    policies = PERMIT_ALL + 'forbid (principal, action, resource == Memory::"acme/web/secret");'
    who = Principal(id=id, projects=(scope, WEB), attributes={id: id})
    assert await allowed(authorizer(policies), who, resource_of(Memory(id=id)), scope=scope)
    assert not await allowed(authorizer(policies), who, resource_of(Memory(id="secret")), scope=WEB)


# -- policies of one's own ----------------------------------------------------------------------------------------


async def test_policies_may_read_names_and_tags_and_are_then_asked_element_by_element() -> None:
    by_name = authorizer(
        PERMIT_ALL + 'forbid (principal, action, resource) when { resource has name && resource.name like "x*" };'
    )
    by_tag = authorizer(PERMIT_ALL + 'forbid (principal, action, resource) when { resource.hasTag("draft") };')
    assert not by_name.by_signature
    assert not by_tag.by_signature
    drafts = [Entity(type="tool", name="x1", attributes={"draft": 1}), Entity(type="tool", name="y")]
    asked = [resource_of(entity) for entity in drafts]
    assert await by_name.authorize(ADA, Action.READ, asked, scope=WEB) == [False, True]
    assert await by_tag.authorize(ADA, Action.READ, asked, scope=WEB) == [False, True]


async def test_policies_may_read_any_attribute_of_the_principal_as_a_tag() -> None:
    policy = """permit (principal, action, resource)
                when { principal.hasTag("team") && principal.getTag("team") == "db" };"""
    assert await allowed(authorizer(policy), attrs.evolve(ADA, attributes={"team": "db"}), PLAIN)
    assert not await allowed(authorizer(policy), ADA, PLAIN)


async def test_policies_come_from_files(tmp_path: Path) -> None:
    one, two = tmp_path / "one.cedar", tmp_path / "two.cedar"
    one.write_text('permit (principal, action == Action::"read", resource);', encoding="utf-8")
    two.write_text("forbid (principal, action, resource is Memory);", encoding="utf-8")
    for files in (CedarAuthorizer.from_files([one, two], SCHEMA), CedarAuthorizer.from_files([one, two])):
        assert await files.authorize(ADA, Action.READ, [PLAIN, RESTRICTED], scope=WEB) == [True, False]


async def test_without_policies_everything_is_denied() -> None:
    assert not await allowed(authorizer(""), EDITOR, PLAIN)


# -- refusing to start --------------------------------------------------------------------------------------------


def test_every_fault_of_the_policies_is_named() -> None:
    with pytest.raises(PolicyError) as refused:
        authorizer("""
            @id("misspelt") permit (principal, action, resource) when { resource.labls.contains("x") };
            @id("unguarded") permit (principal, action, resource) when { resource.owner == "x" };
            permit (principal, action, resource) when { resource.type == 1 };
        """)
    message = str(refused.value)
    assert "misspelt" in message
    assert "labls" in message
    assert "unguarded" in message
    assert "policy2" in message


@pytest.mark.parametrize(
    ("policies", "schema"),
    [
        pytest.param("permit (principal", None, id="policies that do not parse"),
        pytest.param(PERMIT_ALL, "entity", id="schema that does not parse"),
        pytest.param(PERMIT_ALL, "", id="no schema"),
        pytest.param(PERMIT_ALL, "entity Org;", id="schema without what isolation needs"),
    ],
)
def test_invalid_policies_or_schema_refuse_to_start(policies: str, schema: str | None) -> None:
    with pytest.raises(PolicyError):
        CedarAuthorizer(policies, SCHEMA.read_text(encoding="utf-8") if schema is None else schema)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"Cannot read .*nowhere") as refused:
        CedarAuthorizer.from_files([tmp_path / "nowhere.cedar"])
    assert isinstance(refused.value.__cause__, FileNotFoundError)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("permit(principal, action);", 2),
        ('@id("several\nlines") permit(principal,\n  action, resource) when { resource.name = "x" };\n// more', 4),
        ("permit(principal, action, resource)\n\nwhen { true };;\n" + PERMIT_ALL, 4),
        ("permit(principal, action, resource) when { true\n\n", 2),
        ('permit(principal, action, resource) when { "open };\n' + PERMIT_ALL, 2),
        ("permit(principal, actoin, resource);\npermit(", 2),
    ],
)
def test_a_fault_of_syntax_is_named_with_its_file_and_line(tmp_path: Path, text: str, line: int) -> None:
    good, bad = tmp_path / "good.cedar", tmp_path / "bad.cedar"
    good.write_text(PERMIT_ALL)
    bad.write_text(f"{PERMIT_ALL.strip()}\n{text}")
    with pytest.raises(PolicyError, match=rf"bad\.cedar, line {line}: "):
        CedarAuthorizer.from_files([good, bad])
    with pytest.raises(PolicyError, match=f"policies, line {line}: "):
        CedarAuthorizer(bad.read_text(), SCHEMA.read_text())


def test_policies_are_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    class Counting:
        @staticmethod
        def from_str(text: str) -> cedarpy.PolicySet:
            parsed.append(text)
            return policy_set.from_str(text)

    policy_set = cedarpy.PolicySet
    monkeypatch.setattr(cedarpy, "PolicySet", Counting)
    (tmp_path / "one.cedar").write_text(PERMIT_ALL)
    CedarAuthorizer.from_files([tmp_path / "one.cedar"])
    assert len(parsed) == 1


def test_policies_that_clash_with_those_added_to_all_are_refused() -> None:
    with pytest.raises(PolicyError):
        CedarAuthorizer('@id("isolation")', SCHEMA.read_text())


@pytest.mark.parametrize(("old", "new", "where"), [("Org;", "Org", "line 6"), ("User,", "Nobody,", "schema: ")])
def test_a_fault_of_a_schema_names_its_file(tmp_path: Path, old: str, new: str, where: str) -> None:
    (tmp_path / "a.cedarschema").write_text(SCHEMA.read_text().replace(old, new, 1))
    with pytest.raises(PolicyError, match=rf"a\.cedarschema.*{where}|a\.cedarschema: .*resolve"):
        CedarAuthorizer.from_files([], tmp_path / "a.cedarschema")


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "odd.cedar").write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match=r"Cannot read .*odd"):
        CedarAuthorizer.from_files([tmp_path / "odd.cedar"])


# -- failing closed -----------------------------------------------------------------------------------------------


async def test_an_evaluation_error_is_a_deny_even_where_another_policy_permits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    careless = authorizer(
        PERMIT_ALL + 'forbid (principal, action, resource) when { principal has role && principal.role like "guest*" };'
    )
    odd = attrs.evolve(ADA, attributes={"role": ["top secret"]})  # the schema promised text
    with caplog.at_level(logging.ERROR):
        assert not await allowed(careless, odd, PLAIN)
    assert "policy1" in caplog.text
    assert "top secret" not in caplog.text
    assert await allowed(careless, ADA, PLAIN)


def _raise(*_: Any) -> Any:
    raise RuntimeError("about a node called top secret")


def _no_decision(requests: list[Any], *_: Any) -> list[cedarpy.AuthzResult]:
    return [cedarpy.AuthzResult({"decision": "NoDecision"}) for _ in requests]


def _allow_with_errors(requests: list[Any], *_: Any) -> list[cedarpy.AuthzResult]:
    errors = {"errors": ["error while evaluating policy `policy0`: top secret"]}
    return [cedarpy.AuthzResult({"decision": "Allow", "diagnostics": errors}) for _ in requests]


def _unheard_of(requests: list[Any], *_: Any) -> list[cedarpy.AuthzResult]:
    return [cedarpy.AuthzResult({"decision": "Perhaps"}) for _ in requests]


def _short(requests: list[Any], *_: Any) -> list[cedarpy.AuthzResult]:
    return [cedarpy.AuthzResult({"decision": "Allow"}) for _ in requests[1:]]


def _long(requests: list[Any], *_: Any) -> list[cedarpy.AuthzResult]:
    return [cedarpy.AuthzResult({"decision": "Allow"}) for _ in [*requests, None]]


@pytest.mark.parametrize("failure", [_raise, _no_decision, _allow_with_errors, _unheard_of, _short, _long])
async def test_a_failure_of_cedar_is_a_deny(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: Callable[..., Any]
) -> None:
    one = authorizer()
    with monkeypatch.context() as patched, caplog.at_level(logging.DEBUG):
        patched.setattr(cedarpy, "is_authorized_batch", failure)
        assert await one.authorize(ADA, Action.READ, [PLAIN, PRIVATE], scope=WEB) == [False, False]
    assert caplog.records
    assert "top secret" not in caplog.text


async def test_a_failure_of_cedar_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    one = authorizer()
    with monkeypatch.context() as patched:
        patched.setattr(cedarpy, "is_authorized_batch", _raise)
        assert not await allowed(one, ADA, PLAIN)
    assert await allowed(one, ADA, PLAIN)


# -- remembering decisions ----------------------------------------------------------------------------------------


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of requests in each batch passed to Cedar."""
    asked: list[int] = []
    real = cedarpy.is_authorized_batch

    def counting(requests: list[Any], *rest: Any) -> list[cedarpy.AuthzResult]:
        asked.append(len(requests))
        return real(requests, *rest)

    monkeypatch.setattr(cedarpy, "is_authorized_batch", counting)
    return asked


async def test_what_policies_do_not_read_is_not_asked_about(questions: list[int]) -> None:
    many = [attrs.evolve(PLAIN, id=str(number), source=f"file {number}", name="x") for number in range(500)]
    assert all(await CedarAuthorizer.default().authorize(ADA, Action.READ, many, scope=WEB))
    assert questions == [1]


async def test_large_questions_are_put_in_batches(questions: list[int]) -> None:
    by_name = authorizer('permit (principal, action, resource) when { resource has name && resource.name like "*7" };')
    many = [attrs.evolve(PLAIN, id=str(number), name=str(number)) for number in range(150)]
    answers = await by_name.authorize(ADA, Action.READ, many, scope=WEB)
    assert [number for number, answer in enumerate(answers) if answer] == list(range(7, 150, 10))
    assert sum(questions) == 150
    assert max(questions) <= 64


async def test_a_decision_is_made_once_and_again_when_anything_it_rests_on_differs(questions: list[int]) -> None:
    one = CedarAuthorizer.default()
    for _ in range(3):
        await one.authorize(ADA, Action.READ, [PLAIN, PRIVATE], scope=WEB)
    assert questions == [2]
    for principal, action, scope in (
        (ADA, Action.WRITE, WEB),
        (ADA, Action.READ, OTHER_PROJECT),
        (attrs.evolve(ADA, attributes={"see_private": True}), Action.READ, WEB),
        (attrs.evolve(ADA, projects=()), Action.READ, WEB),
        (attrs.evolve(ADA, type="Agent"), Action.READ, WEB),
        (attrs.evolve(ADA, id="bob"), Action.READ, WEB),
    ):
        questions.clear()
        await one.authorize(principal, action, [PLAIN, PRIVATE], scope=scope)
        assert questions == [2]
    questions.clear()
    assert await one.authorize(ADA, Action.READ, [PLAIN, PRIVATE], scope=WEB) == [True, False]
    assert questions == []


async def test_equal_attributes_of_other_types_are_another_question(questions: list[int]) -> None:
    one = CedarAuthorizer.default()
    for value in (True, 1):
        await one.authorize(attrs.evolve(ADA, attributes={"see_private": value}), Action.READ, [PRIVATE], scope=WEB)
    assert questions == [1, 1]


async def test_only_so_many_decisions_are_kept(questions: list[int]) -> None:
    one = authorizer('permit (principal, action, resource) when { resource.type == "t1" };', cache_size=2)
    kinds = [attrs.evolve(PLAIN, type=f"t{number}") for number in range(4)]
    assert await one.authorize(ADA, Action.READ, kinds, scope=WEB) == [False, True, False, False]
    assert await one.authorize(ADA, Action.READ, kinds[2:], scope=WEB) == [False, False]
    assert questions == [4]
    assert await one.authorize(ADA, Action.READ, kinds[:2], scope=WEB) == [False, True]
    assert questions == [4, 2]


def test_the_version_follows_the_text() -> None:
    assert authorizer().policy_version == authorizer().policy_version
    assert authorizer().policy_version != authorizer(PERMIT_ALL + "//").policy_version


async def test_many_elements_are_decided_by_one_batch_of_their_signatures(questions: list[int]) -> None:
    many = [
        attrs.evolve(PLAIN, type=f"t{number % 60}", labels=(f"l{number % 20}",), owner=f"o{number % 3}")
        for number in range(600)
    ]
    one = CedarAuthorizer.default()
    decided = await one.authorize(ADA, Action.READ, many, scope=WEB)
    assert questions == [60]
    assert await one.authorize(ADA, Action.READ, many, scope=WEB) == decided
    assert questions == [60]

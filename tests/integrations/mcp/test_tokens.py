"""Bearer tokens: what a file of them must hold, and how they are distinguished."""

import pytest

from graphsearch.errors import AccessDeniedError, InvalidInputError
from graphsearch.integrations.mcp import Identity, TokenMap
from graphsearch.model import Scope
from tests.integrations.mcp.bearers import ADA, ENTRIES, token_file
from tests.integrations.mcp.conftest import EDITOR, SCOPE


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", "cannot be read as JSON"),
        ([], "Input should be"),
        ({}, "tokens: Field required"),
        ({"tokens": []}, "tokens: List should have at least 1 item"),
        ({"tokens": [{"sha256": ADA, "principal": "ada"}]}, "tokens.0.sha256: String should match pattern"),
        ({"tokens": [{"token": ADA, "principal": "ada"}]}, "tokens.0.token: Extra inputs are not permitted"),
        ({"tokens": [{**ENTRIES[0], "org": "acme"}]}, "tokens.0: project_id must not be empty"),
        ({"tokens": [ENTRIES[0], ENTRIES[0]]}, "tokens.1: another one has the same sha256"),
        ({"tokens": [{**ENTRIES[0], "principal": " "}]}, "tokens.0: id must not be empty"),
        ({"tokens": [ENTRIES[0], {**ENTRIES[1], "type": "a b"}]}, "tokens.1: type must be an identifier"),
        ({"tokens": ENTRIES, "disabled": [{"org": "acme", "project": ""}]}, "disabled.0.project: String should"),
        ({"tokens": [{**ENTRIES[0], "project": "web"}]}, "tokens.0: org_id must not be empty"),
    ],
)
def test_a_token_file_is_refused_whole_and_its_tokens_are_not_quoted(tmp_path, content, fault):
    with pytest.raises(InvalidInputError) as refused:
        TokenMap.read(token_file(tmp_path, content), SCOPE)
    assert fault in str(refused.value)
    assert ADA not in str(refused.value)


async def test_every_digest_is_compared_in_constant_time(tokens, monkeypatch):
    compared = []

    def compare(one, other):
        compared.append(one)
        return one == other

    monkeypatch.setattr("graphsearch.integrations.mcp.http_server.hmac.compare_digest", compare)
    found = await tokens.verify_token(ADA)
    assert found is not None
    assert compared == [entry["sha256"] for entry in ENTRIES]
    assert ADA not in repr(found), "the token itself is kept nowhere"
    assert await tokens.verify_token("") is None


def test_a_request_that_nobody_authenticated_is_nobodys(tokens):
    for request in (None, httpx_like({}), httpx_like({"user": "ada"})):
        with pytest.raises(AccessDeniedError):
            tokens.identify(request)


def httpx_like(scope):
    return type("Request", (), {"scope": scope})()


def test_an_identity_has_the_attributes_of_its_token(tmp_path):
    known = TokenMap.read(token_file(tmp_path, {"tokens": ENTRIES}), SCOPE)
    assert known._identities[ENTRIES[0]["sha256"]] == Identity(EDITOR, SCOPE)
    assert known._identities[ENTRIES[2]["sha256"]].scope == Scope("acme", "old")

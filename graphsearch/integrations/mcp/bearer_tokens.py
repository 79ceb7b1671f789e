"""Bearer tokens: the principal and the scope of a request.

The file holds digests, so that it reveals no token. Tokens have to be long and random.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from pydantic import BaseModel, Field

from graphsearch.errors import AccessDeniedError, InvalidInputError
from graphsearch.integrations.mcp.service import Identity
from graphsearch.integrations.mcp.tool import validated
from graphsearch.model import Action, Principal, Scope
from graphsearch.model import validation as check


class _Project(BaseModel, extra="forbid"):
    org: str = Field(pattern=r"\S")
    project: str = Field(pattern=r"\S")


class _Entry(BaseModel, extra="forbid"):
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    principal: str
    type: str = "User"
    attributes: dict[str, Any] = {}
    org: str = ""
    project: str = ""


class _File(BaseModel, extra="forbid"):
    tokens: list[_Entry] = Field(min_length=1)
    disabled: list[_Project] = []


class TokenMap:
    """Verifies bearer tokens and maps authenticated requests to identities."""

    def __init__(self, identities: Mapping[str, Identity]) -> None:
        self._identities = dict(identities)

    @classmethod
    def read(cls, path: Path, scope: Scope) -> TokenMap:
        """Read a JSON file of tokens; ``scope`` is the default scope of a token.

        ``{"tokens": [{"sha256", "principal", "type", "attributes", "org", "project"}], "disabled": [{"org",
        "project"}]}``, where sha256 is the token's digest in hexadecimal digits; everything but it and the principal is
        optional. Raises `InvalidInputError` that names every fault.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise InvalidInputError(str(path), [f"cannot be read as JSON: {type(error).__name__}"]) from error
        return cls(_identities(validated(_File, content, str(path)), scope, str(path)))

    async def verify_token(self, token: str) -> AccessToken | None:
        """Verify a token and return its digest in place of it, in constant time."""
        digest = hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()
        known = [each for each in self._identities if hmac.compare_digest(each, digest)]
        return AccessToken(token=known[0], client_id=known[0], scopes=[]) if known else None

    def identify(self, request: Any) -> Identity:
        """The identity of an authenticated request. Raises `AccessDeniedError` for any other."""
        user = request.scope.get("user") if request is not None else None
        if isinstance(user, AuthenticatedUser) and user.access_token.client_id in self._identities:
            return self._identities[user.access_token.client_id]
        raise AccessDeniedError(Action.READ.value, 1, 1)


def _identities(file: _File, default: Scope, subject: str) -> dict[str, Identity]:
    off = {Scope(each.org, each.project) for each in file.disabled}
    known: dict[str, Identity] = {}
    faults: list[str] = []
    for place, entry in enumerate(file.tokens):
        try:
            check.refuse("token", "another one has the same sha256" if entry.sha256 in known else None)
            known[entry.sha256] = _identity(entry, default, off)
        except InvalidInputError as error:
            faults += [f"tokens.{place}: {fault}" for fault in error.faults]
    check.refuse(subject, *faults)
    return known


def _identity(entry: _Entry, default: Scope, off: set[Scope]) -> Identity:
    scope = Scope(entry.org, entry.project) if entry.org or entry.project else default
    principal = Principal(id=entry.principal, type=entry.type, attributes=entry.attributes, projects=[scope])
    return Identity(principal, scope, disabled=scope in off)

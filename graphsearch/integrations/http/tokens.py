"""Bearer tokens: whose request it is, and for which project."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Protocol

import attrs
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from graphsearch.errors import AccessDeniedError, InvalidInputError
from graphsearch.model import Action, Principal, Scope
from graphsearch.model import validation as check
from graphsearch.model.codec import Says, decode
from graphsearch.operations.service import Identity


class Bearers(Protocol):
    """Verifies bearer tokens and knows whose they are: a `TokenMap`, or one of your own, as for OAuth."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """The token's client and scopes; None for a token that is not valid, or not meant for this server."""
        ...

    def identify(self, request: Any) -> Identity:
        """The identity of an authenticated request. Raises `AccessDeniedError` for any other."""
        ...


@attrs.frozen(kw_only=True)
class _Project:
    org: Annotated[str, Says(least=1)]
    project: Annotated[str, Says(least=1)]


@attrs.frozen(kw_only=True)
class _Entry:
    sha256: Annotated[str, Says(least=64, most=64)]
    principal: str
    type: str = "User"
    attributes: Mapping[str, Any] = attrs.field(factory=dict)
    org: str = ""
    project: str = ""


@attrs.frozen(kw_only=True)
class _File:
    tokens: Annotated[tuple[_Entry, ...], Says(least=1)]
    disabled: tuple[_Project, ...] = ()


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
            content = check.parse_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidInputError(str(path), [f"cannot be read as JSON: {type(error).__name__}"]) from error
        return cls(_identities(decode(_File, content, str(path)), scope, str(path)))

    @property
    def identities(self) -> tuple[Identity, ...]:
        """Those that tokens stand for."""
        return tuple(self._identities.values())

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
        raise AccessDeniedError(Action.READ.value)


def _identities(file: _File, default: Scope, subject: str) -> dict[str, Identity]:
    off = {Scope(each.org, each.project) for each in file.disabled}
    known: dict[str, Identity] = {}
    faults: list[str] = []
    for place, entry in enumerate(file.tokens):
        try:
            check.refuse(
                "token",
                "another one has the same sha256" if entry.sha256 in known else None,
                None
                if all(char in "0123456789abcdef" for char in entry.sha256)
                else "sha256 must be hexadecimal digits",
            )
            scope = Scope(entry.org, entry.project) if entry.org or entry.project else default
            who = Principal(id=entry.principal, type=entry.type, attributes=entry.attributes, projects=[scope])
            known[entry.sha256] = Identity(who, scope, disabled=scope in off)
        except InvalidInputError as error:
            faults += [f"tokens.{place}: {fault}" for fault in error.faults]
    check.refuse(subject, *faults)
    return known

"""Answer one request for a principal: within the limits of the service, by an operation of the table."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final, TypeVar

import attrs

from graphsearch._support.concurrency import within
from graphsearch.access.gate import Gate
from graphsearch.errors import (
    AccessDeniedError,
    EmbedderError,
    GraphSearchError,
    InvalidInputError,
    LLMError,
    RateLimitError,
    StoreError,
    UnknownScopeError,
)
from graphsearch.model import Action, ElementKind, Principal, Scope
from graphsearch.model.codec import Says, decode
from graphsearch.model.signatures import Resource
from graphsearch.model.validation import parse_json
from graphsearch.operations import review
from graphsearch.operations.operation import Operation, Profile
from graphsearch.operations.service import Caller, GraphService, Identity
from graphsearch.operations.table import operations
from graphsearch.text.rendering import safe_text

T = TypeVar("T")
_log = logging.getLogger(__name__)
_INTERNAL_ERRORS: Final = (StoreError, EmbedderError, LLMError)
"""Errors whose messages name servers and quote vendors: these go to the log only."""
_LONGEST: Final = 1_000
"""Maximum number of characters of an error message."""
_MINUTE: Final = 60.0
_MOST: Final = 10_000
"""The number of principals above which those who may make all of their requests are no longer remembered."""


@attrs.define
class RateLimit:
    """Admits at most ``per_minute`` requests of each principal a minute, all of them at once if they have waited."""

    per_minute: int
    now: Callable[[], float] = time.monotonic
    _left: dict[str, tuple[float, float]] = attrs.field(factory=dict)
    """By principal: the requests that were left, and when."""

    def admit(self, principal: str) -> None:
        """Count a request. Raises `RateLimitError` for one too many."""
        left, now = self._left_now(principal), self.now()
        if left < 1:
            raise RateLimitError(self.per_minute, (1 - left) * _MINUTE / self.per_minute)
        if len(self._left) >= _MOST:
            self._left = {who: self._left[who] for who in self._left if self._left_now(who) < self.per_minute}
        self._left[principal] = left - 1, now

    def _left_now(self, principal: str) -> float:
        left, then = self._left.get(principal, (float(self.per_minute), self.now()))
        return min(float(self.per_minute), left + (self.now() - then) * self.per_minute / _MINUTE)


@attrs.define
class Desk:
    """Answers the requests of all principals of a service."""

    service: GraphService
    _rate: RateLimit | None = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._rate = None if self.service.rate is None else RateLimit(self.service.rate)

    def is_off(self, identity: Identity) -> bool:
        """Whether the service, or the project of a principal, is switched off: then every answer only states that."""
        return self.service.disabled or identity.disabled

    def rows(self, profile: int = Profile.ALL) -> list[Operation]:
        """The rows of a profile; with ``read_only``, those that read."""
        rows = (each for each in operations().values() if each.profile <= profile)
        return [each for each in rows if each.reads or not self.service.read_only]

    def operation(self, name: str) -> Operation | None:
        """The row of a name, if it is served."""
        return next((each for each in self.rows() if each.name == name), None)

    async def may(self, identity: Identity, action: Action) -> bool:
        """Whether a principal may do something to a kind of elements without attributes, in all of its scopes.

        To view as others, it must be allowed for every kind.
        """
        gate, plain = Gate(self.service.authorizer, identity.principal), [Resource(kind=each) for each in ElementKind]
        enough = all if action is Action.VIEW_AS else any
        return all([enough(await gate.bind(each, action).permits(plain)) for each in (identity.scope, *identity.also)])

    async def viewing(self, identity: Identity, as_: str | None) -> Identity:
        """The identity, or, as JSON of a principal says, that of another whom it may view the project as, to read.

        Raises `AccessDeniedError`, and `InvalidInputError` for what is no principal.
        """
        allowed = await self.may(identity, Action.VIEW_AS)
        if as_ is None:
            return attrs.evolve(identity, may_view_as=allowed)
        if not allowed:
            raise AccessDeniedError(Action.VIEW_AS.value)
        other = read_principal(as_, (identity.scope, *identity.also))
        return attrs.evolve(identity, principal=other, may_view_as=True, viewed_by=identity.principal)

    async def answer(self, operation: Operation, request: Any, identity: Identity) -> Any:
        """Run an operation. Raises what `ask` and the operation raise."""
        if identity.viewed_by is not None and not review.only_reads(operation, request):
            raise AccessDeniedError(operation.permission.value)
        if self.service.review and review.waits(operation, request):
            return await self.ask(identity, lambda caller: review.propose(caller, operation, request))
        return await self.ask(identity, lambda caller: operation.run(caller, request))

    async def ask(self, identity: Identity, question: Callable[[Caller], Awaitable[T]]) -> T:
        """Ask on behalf of an identity: a scope to which nothing was ever written is empty.

        Raises `RateLimitError`, `TimeLimitError`, and what the question raises.
        """
        if self._rate is not None:
            self._rate.admit((identity.viewed_by or identity.principal).qualified_id)
        async with within(self.service.time_limit):
            await asyncio.to_thread(self.service.counter.count, "{")  # the first count may have to fetch a vocabulary
            try:
                return await question(self.service.caller(identity))
            except UnknownScopeError:
                new = await self.service.with_new_scopes_empty(identity)
                return await question(new.caller(identity))


@attrs.frozen(kw_only=True)
class _Viewed:
    id: Annotated[str, Says(least=1)]
    type: str = "User"
    attributes: Mapping[str, Any] = attrs.field(factory=dict)


def read_principal(text: str, projects: tuple[Scope, ...]) -> Principal:
    """The principal of projects that JSON says: ``{"id", "type", "attributes"}``. Raises `InvalidInputError`."""
    try:
        read = parse_json(text)
    except ValueError as error:
        raise InvalidInputError("view as", ['must be the JSON of a principal, as in {"id": "ana"}']) from error
    given = decode(_Viewed, read, "view as")
    return Principal(id=given.id, type=given.type, attributes=given.attributes, projects=projects)


def error_json(error: Exception, doing: str) -> dict[str, Any]:
    """An error as clients see it: ``{"error": {"type", "message"}}``, without a traceback, a DSN or a secret.

    The message of an `InvalidInputError` names every fault; the details of an unexpected error go to the log.
    """
    if not isinstance(error, GraphSearchError):
        _log.error("%s failed", safe_text(doing), exc_info=error)
        return {"error": {"type": "InternalError", "message": "The server failed; see its log."}}
    message = str(error)
    if isinstance(error, _INTERNAL_ERRORS):
        _log.warning("%s: %s", type(error).__name__, safe_text(message))
        message = (inspect.getdoc(type(error)) or "").partition("\n")[0]
    safe = safe_text(message)
    return {
        "error": {"type": type(error).__name__, "message": safe if len(safe) <= _LONGEST else f"{safe[:_LONGEST]}…"}
    }

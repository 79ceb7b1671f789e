"""Answer one request for a principal: within the limits of the service, by an operation of the table."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

import attrs

from graphsearch._support.concurrency import within
from graphsearch.errors import (
    EmbedderError,
    GraphSearchError,
    LLMError,
    StoreError,
    UnknownScopeError,
)
from graphsearch.model import Action
from graphsearch.operations import review
from graphsearch.operations.limits import RateLimit
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
        """The rows of a profile; with ``read_only``, those that read; for reviewers where there is review."""
        rows = (each for each in operations().values() if each.profile <= profile)
        rows = (each for each in rows if each.permission is not Action.REVIEW or self.service.review)
        return [each for each in rows if each.reads or not self.service.read_only]

    def operation(self, name: str) -> Operation | None:
        """The row of a name, if it is served."""
        return next((each for each in self.rows() if each.name == name), None)

    async def answer(self, operation: Operation, request: Any, identity: Identity) -> Any:
        """Run an operation. Raises what `ask` and the operation raise."""
        if self.service.review and review.waits(operation, request):
            return await self.ask(identity, lambda caller: review.propose(caller, operation, request))
        return await self.ask(identity, lambda caller: operation.run(caller, request))

    async def ask(self, identity: Identity, question: Callable[[Caller], Awaitable[T]]) -> T:
        """Ask on behalf of an identity: a scope to which nothing was ever written is empty.

        Raises `RateLimitError`, `TimeLimitError`, and what the question raises.
        """
        if self._rate is not None:
            self._rate.admit(identity.principal.qualified_id)
        async with within(self.service.time_limit):
            await asyncio.to_thread(self.service.counter.count, "{")  # the first count may have to fetch a vocabulary
            try:
                return await question(self.service.caller(identity))
            except UnknownScopeError:
                new = await self.service.with_new_scopes_empty(identity)
                return await question(new.caller(identity))


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
        "error": {
            "type": type(error).__name__,
            "message": safe if len(safe) <= _LONGEST else f"{safe[:_LONGEST]}…",
        }
    }

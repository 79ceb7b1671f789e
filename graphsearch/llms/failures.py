"""What a failed request amounts to, whichever vendor it was sent to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graphsearch._support.retrying import PassingFailureError, may_pass, retry_after
from graphsearch.errors import LLMRefusalError, LLMRequestError
from graphsearch.text.rendering import safe_text

_FILTERED: Final = "content_filter"
_SPENT: Final = "insufficient_quota"  # a 429 that no wait will heal


def told(body: object) -> str:
    """A vendor's own words in the body of a failure, on one line; empty where it has none.

    Only its message: the rest of a body may repeat what was sent.
    """
    found = _error(body).get("message")
    return safe_text(found[:300]) if isinstance(found, str) else ""


def failure_of(
    where: str, status: int, body: object, headers: Mapping[str, str]
) -> LLMRefusalError | LLMRequestError | PassingFailureError:
    """What an HTTP status other than success amounts to."""
    code = _error(body).get("code")
    detail = f"{where}: {told(body) or 'the request failed'} (HTTP {status})"
    if code == _FILTERED:
        return LLMRefusalError(detail)
    if status in (401, 403):
        return LLMRequestError(f"{detail}; check the key")
    if 300 <= status < 400:  # noqa: PLR2004 - HTTP's own numbers
        return LLMRequestError(f"{detail}; it sends elsewhere, which is not followed: check base_url")
    if may_pass(status) and code != _SPENT:
        return PassingFailureError(detail, retry_after(headers))
    return LLMRequestError(detail)


def _error(body: object) -> Mapping[str, Any]:
    """The part of a body that tells the error: ``{"error": {…}}`` of both protocols, or that part alone."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}

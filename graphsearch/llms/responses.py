"""Responses of vendors, whichever protocol they came in: a reply, or the error for a failed request."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

import attrs

from graphsearch._support.retrying import PassingFailureError, may_pass, retry_after
from graphsearch.errors import LLMAnswerError, LLMRefusalError, LLMRequestError, LLMTruncatedError
from graphsearch.llms.usage import Tokens
from graphsearch.model import validation as check
from graphsearch.text.rendering import safe_text

_FILTERED: Final = "content_filter"
_SPENT: Final = "insufficient_quota"  # a 429 that no waiting cures


class Ending(Enum):
    """Why a model stopped."""

    FINISHED = "finished"
    CUT_OFF = "cut off"
    DECLINED = "declined"


@attrs.frozen(kw_only=True)
class Reply:
    """A decoded reply: its text, why it ended, the vendor's word for that, and its token counts if reported."""

    text: str
    ending: Ending
    reason: str
    tokens: Tokens | None

    def answer(self, where: str) -> str:
        """The text, if it is complete, not blank, and can be stored. Raises an `LLMError` otherwise."""
        if self.ending is Ending.DECLINED:
            raise LLMRefusalError(f"{where} declined to answer ({self.reason})")
        if self.ending is Ending.CUT_OFF:
            raise LLMTruncatedError(
                f"{where}: the answer broke off at its limit ({self.reason}); raise max_tokens, or ask for less"
            )
        if fault := check.text("the answer", self.text):
            raise LLMAnswerError(where, faults=[fault])
        return self.text


def failure_of(
    where: str, status: int, body: object, headers: Mapping[str, str]
) -> LLMRefusalError | LLMRequestError | PassingFailureError:
    """The error for an HTTP status other than success."""
    code = _error(body).get("code")
    detail = f"{where}: {vendor_message(body) or 'the request failed'} (HTTP {status})"
    if code == _FILTERED:
        return LLMRefusalError(detail)
    if status in (401, 403):
        return LLMRequestError(f"{detail}; check the key")
    if 300 <= status < 400:  # noqa: PLR2004 - HTTP's own numbers
        return LLMRequestError(f"{detail}; redirects are not followed: check base_url")
    if may_pass(status) and code != _SPENT:
        return PassingFailureError(detail, retry_after(headers))
    return LLMRequestError(detail)


def vendor_message(body: object) -> str:
    """The vendor's error message in the body of a failed response, on one line; empty if there is none.

    The rest of a body is ignored, since it may repeat the request.
    """
    found = _error(body).get("message")
    return safe_text(found[:300]) if isinstance(found, str) else ""


def _error(body: object) -> Mapping[str, Any]:
    """The error object of a body: ``{"error": {…}}`` in both protocols, or the inner object alone."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}

"""Errors as shown to clients: type and message, never a traceback, a DSN or a secret."""

from __future__ import annotations

import inspect
import logging
from typing import Any, Final

from graphsearch.errors import EmbedderError, GraphSearchError, LLMError, StoreError
from graphsearch.text.rendering import safe_text

_log = logging.getLogger(__name__)

_OURS: Final = (StoreError, EmbedderError, LLMError)
"""Errors whose messages name servers and quote vendors: these go to the log only."""
_LONGEST: Final = 1_000


def error_json(error: GraphSearchError) -> dict[str, Any]:
    """``{"error": {"type", "message"}}``; the message of an `InvalidInputError` names every fault."""
    return {"error": {"type": type(error).__name__, "message": _message(error)}}


def unexpected_error_json(error: Exception, doing: str) -> dict[str, Any]:
    """The same for an unexpected error; its details go to the log."""
    _log.error("%s failed", safe_text(doing), exc_info=error)
    return {"error": {"type": "InternalError", "message": "The server failed; see its log."}}


def _message(error: GraphSearchError) -> str:
    message = str(error)
    if isinstance(error, _OURS):
        _log.warning("%s: %s", type(error).__name__, safe_text(message))
        message = (inspect.getdoc(type(error)) or "").partition("\n")[0]
    safe = safe_text(message)
    return safe if len(safe) <= _LONGEST else f"{safe[:_LONGEST]}…"

"""Anthropic's published messages as pure functions.

Source: https://platform.claude.com/docs/en/api/messages
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from graphsearch._support.retrying import PassingFailureError
from graphsearch.llms.failures import told
from graphsearch.llms.reply import Ending, Reply
from graphsearch.llms.usage import Tokens, counts

RESERVED: Final = ("max_tokens", "tools", "tool_choice")
_ENDINGS: Final = {
    "max_tokens": Ending.CUT_OFF,
    "model_context_window_exceeded": Ending.CUT_OFF,
    "pause_turn": Ending.CUT_OFF,
    "refusal": Ending.DECLINED,
}
_TOOL: Final = "answer"


def answer_tool(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What is added to a request for an answer in data: a tool that takes it, and that the model has to use.

    Every model that uses tools can do this, and it takes any schema.
    """
    tool = {"name": _TOOL, "description": "Takes the answer to the question.", "input_schema": schema}
    return {
        "tools": [tool],
        "tool_choice": {"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True},
    }


def reply_of(answer: object) -> Reply:
    """The reply in a decoded answer: what was given to the tool as JSON, or else the text.

    Raises `PassingFailureError` for what is not an answer of the protocol.
    """
    try:
        blocks: list[Mapping[str, Any]] = list(answer["content"])  # type: ignore[index]
        given = [block["input"] for block in blocks if block["type"] == "tool_use"]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        reason, usage = str(answer.get("stop_reason")), answer.get("usage")  # type: ignore[attr-defined]
    except (AttributeError, KeyError, TypeError) as error:
        raise PassingFailureError(told(answer) or "it is no message") from error
    return Reply(
        text=json.dumps(given[0], ensure_ascii=False) if given else text,
        ending=_ENDINGS.get(reason, Ending.FINISHED),
        reason=reason,
        tokens=_tokens(usage),
    )


def _tokens(usage: object) -> Tokens | None:
    """Anthropic counts what came out of its cache, and what went into it, apart from the other input."""
    if not isinstance(usage, Mapping):
        return None
    fresh, cached = usage.get("input_tokens"), usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    parts = [counts(part, 0) for part in (fresh, cached, written)]
    if any(part is None for part in parts):
        return None
    return counts(sum(part.input for part in parts if part), usage.get("output_tokens"), cached)

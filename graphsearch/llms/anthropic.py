"""Anthropic's models.

The protocol is at https://platform.claude.com/docs/en/api/messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from graphsearch._support.retrying import PassingFailureError
from graphsearch.llms.hosted import Ending, HostedLLM, Reply, Vendor, vendor_message
from graphsearch.llms.usage import Usage, token_counts

_ENDINGS: Final = {
    "max_tokens": Ending.CUT_OFF,
    "model_context_window_exceeded": Ending.CUT_OFF,
    "pause_turn": Ending.CUT_OFF,
    "refusal": Ending.DECLINED,
}
_TOOL: Final = "answer"
_MAX_TOKENS: Final = 4096


def answer_tool(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request that asks for structured data: a tool that the model has to call with its answer.

    This works with every model that uses tools, and with any schema.
    """
    tool = {"name": _TOOL, "description": "Takes the answer to the question.", "input_schema": schema}
    return {
        "tools": [tool],
        "tool_choice": {"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True},
    }


def reply_of(answer: object) -> Reply:
    """The reply in a decoded response: the tool's input as JSON, or else the text.

    Raises `PassingFailureError` for a response outside the protocol.
    """
    try:
        blocks: list[Mapping[str, Any]] = list(answer["content"])  # type: ignore[index]
        given = [block["input"] for block in blocks if block["type"] == "tool_use"]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        reason, usage = str(answer.get("stop_reason")), answer.get("usage")  # type: ignore[attr-defined]
    except (AttributeError, KeyError, TypeError) as error:
        raise PassingFailureError(vendor_message(answer) or "it is not a message") from error
    return Reply(
        text=json.dumps(given[0], ensure_ascii=False) if given else text,
        ending=_ENDINGS.get(reason, Ending.FINISHED),
        reason=reason,
        tokens=_tokens(usage),
    )


def _tokens(usage: object) -> Usage | None:
    """Token counts; Anthropic reports input read from its cache, and written to it, apart from the other input."""
    if not isinstance(usage, Mapping):
        return None
    fresh, cached = usage.get("input_tokens"), usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    parts = [token_counts(part, 0) for part in (fresh, cached, written)]
    if any(part is None for part in parts):
        return None
    return token_counts(sum(part.input_tokens for part in parts if part), usage.get("output_tokens"), cached)


class AnthropicLLM(HostedLLM):
    """A model of Anthropic, or of a gateway that speaks its protocol at a ``base_url``.

    ``api_key`` defaults to ANTHROPIC_API_KEY if no ``base_url`` is given. ``max_tokens`` limits each answer, as the
    protocol requires; default: 4096. ``settings`` are sent unchanged: temperature, system, service_tier and whatever
    else the vendor accepts. ``prices`` turn tokens into costs.

    ``timeout`` is in seconds, for one whole request; ``max_retries`` counts the attempts after the first, with waits
    that double from ``first_wait`` seconds.

    The constructor raises `MissingExtraError`, `MissingCredentialError` and `InvalidInputError`.
    """

    _vendor = Vendor(
        adapter="AnthropicLLM",
        package="anthropic",
        client="AsyncAnthropic",
        errors="AnthropicError",
        url="https://api.anthropic.com",
        key_variable="ANTHROPIC_API_KEY",
        create=lambda client: client.messages.with_raw_response.create,
        structured=answer_tool,
        reply_of=reply_of,
        limits=lambda max_tokens, _: {"max_tokens": _MAX_TOKENS if max_tokens is None else max_tokens},
        reserved=("max_tokens", "tools", "tool_choice"),
    )

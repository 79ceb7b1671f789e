"""Anthropic's models.

The protocol is at https://platform.claude.com/docs/en/api/messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from graphsearch.llms.hosted import HostedLLM, Reply
from graphsearch.llms.usage import Usage, is_count, token_counts

_TOOL: Final = "answer"
_MAX_TOKENS: Final = 4096


def answer_tool(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request that asks for structured data: a tool that the model has to call with its answer.

    This works with every model that uses tools, and with any schema.
    """
    tool = {"name": _TOOL, "description": "Takes the answer to the question.", "input_schema": schema}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True}}


class AnthropicLLM(HostedLLM):
    """A model of Anthropic, or of a gateway that speaks its protocol at a ``base_url``.

    ``api_key`` defaults to ANTHROPIC_API_KEY if no ``base_url`` is given. ``max_tokens`` limits each answer, as the
    protocol requires; default: 4096. ``settings`` are sent unchanged: temperature, system, service_tier and whatever
    else the vendor accepts. ``prices`` turn tokens into costs.

    ``timeout`` is in seconds, for the connection and for each wait for the next bytes of an answer; ``max_retries``
    counts the attempts after the first, which the vendor's client makes.

    The constructor raises `MissingExtraError`, `MissingCredentialError` and `InvalidInputError`.
    """

    _package, _client = "anthropic", "AsyncAnthropic"
    _create = "messages.with_raw_response.create"
    _vendor_url, _key_variable = "https://api.anthropic.com", "ANTHROPIC_API_KEY"
    _reserved = ("max_tokens", "tools", "tool_choice")
    _truncated, _refused = ("max_tokens", "model_context_window_exceeded", "pause_turn"), ("refusal",)
    _structured = staticmethod(answer_tool)

    @staticmethod
    def _limits(max_tokens: int | None, _: str | None) -> Mapping[str, int]:
        return {"max_tokens": _MAX_TOKENS if max_tokens is None else max_tokens}

    @staticmethod
    def _reply_of(answer: Any) -> Reply:
        given = [block["input"] for block in answer["content"] if block["type"] == "tool_use"]
        text = "".join(block["text"] for block in answer["content"] if block["type"] == "text")
        return Reply(
            text=json.dumps(given[0], ensure_ascii=False) if given else text,
            reason=str(answer.get("stop_reason")),
            tokens=_tokens(answer.get("usage") or {}),
        )


def _tokens(usage: Mapping[str, Any]) -> Usage | None:
    """Token counts; Anthropic reports input read from its cache, and written to it, apart from the other input."""
    cached, written = (usage.get(f"cache_{way}_input_tokens") or 0 for way in ("read", "creation"))
    parts = [each for each in (usage.get("input_tokens"), cached, written) if is_count(each)]
    return token_counts(sum(parts) if len(parts) == 3 else None, usage.get("output_tokens"), cached)  # noqa: PLR2004

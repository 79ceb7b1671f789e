"""Anthropic's models.

The protocol is at https://platform.claude.com/docs/en/api/messages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from graphsearch._support.retrying import PassingFailureError
from graphsearch.llms.hosted import HostedLLM, Options, Vendor
from graphsearch.llms.responses import Ending, Reply, vendor_message
from graphsearch.llms.usage import Prices, Tokens, token_counts
from graphsearch.model import validation as check

_ENDINGS: Final = {
    "max_tokens": Ending.CUT_OFF,
    "model_context_window_exceeded": Ending.CUT_OFF,
    "pause_turn": Ending.CUT_OFF,
    "refusal": Ending.DECLINED,
}
_TOOL: Final = "answer"


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


def _tokens(usage: object) -> Tokens | None:
    """Token counts; Anthropic reports input read from its cache, and written to it, apart from the other input."""
    if not isinstance(usage, Mapping):
        return None
    fresh, cached = usage.get("input_tokens"), usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    parts = [token_counts(part, 0) for part in (fresh, cached, written)]
    if any(part is None for part in parts):
        return None
    return token_counts(sum(part.input for part in parts if part), usage.get("output_tokens"), cached)


_ANTHROPIC: Final = Vendor(
    adapter="AnthropicLLM",
    package="anthropic",
    client="AsyncAnthropic",
    errors="AnthropicError",
    url="https://api.anthropic.com",
    key_variable="ANTHROPIC_API_KEY",
    create=lambda client: client.messages.with_raw_response.create,
    structured=answer_tool,
    reply_of=reply_of,
    reserved=("max_tokens", "tools", "tool_choice"),
)


class AnthropicLLM(HostedLLM):
    """A model of Anthropic, or of a gateway that speaks its protocol at a ``base_url``.

    ``api_key`` defaults to ANTHROPIC_API_KEY if no ``base_url`` is given. ``max_tokens`` limits each answer, as the
    protocol requires. ``settings`` are sent unchanged: temperature, system, service_tier and whatever else the vendor
    accepts. ``prices`` turn tokens into costs.

    ``timeout`` is in seconds, for one whole request; ``max_retries`` counts the attempts after the first, with waits
    that double from ``first_wait`` seconds.

    The constructor raises `MissingExtraError`, `MissingCredentialError` and `InvalidInputError`.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        max_tokens: int = 4096,
        settings: Mapping[str, Any] | None = None,
        prices: Prices | None = None,
        timeout: float = 120.0,
        max_retries: int = 4,
        first_wait: float = 0.5,
    ) -> None:
        options = Options(
            api_key=api_key,
            base_url=base_url,
            settings=settings,
            prices=prices,
            timeout=timeout,
            max_retries=max_retries,
            first_wait=first_wait,
        )
        fault = check.number("max_tokens", max_tokens, 1)
        super().__init__(_ANTHROPIC, model, options, {"max_tokens": max_tokens}, fault)

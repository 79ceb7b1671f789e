"""Models behind OpenAI's chat completions: OpenAI's own, and those of vLLM, Ollama, llama.cpp and others.

The protocol is at https://platform.openai.com/docs/api-reference/chat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graphsearch._support.retrying import PassingFailureError
from graphsearch.llms.hosted import Ending, HostedLLM, Reply, Vendor, vendor_message
from graphsearch.llms.usage import Usage, token_counts

_ENDINGS: Final = {"length": Ending.CUT_OFF, "content_filter": Ending.DECLINED}


def answer_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request that asks for structured data.

    OpenAI refuses "strict" for a schema that it cannot guarantee, so it is set only if every object requires all its
    properties and allows no others.
    """
    described = {"name": "answer", "schema": schema, "strict": _closed(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def _closed(schema: object) -> bool:
    """Whether every object in a schema requires all its properties and allows no others."""
    if isinstance(schema, list):
        return all(map(_closed, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" and (
        schema.get("additionalProperties") is not False
        or set(schema.get("required", ())) != set(schema.get("properties", ()))
    ):
        return False
    return all(map(_closed, schema.values()))


def reply_of(answer: object) -> Reply:
    """The reply in a decoded response. Raises `PassingFailureError` for a response outside the protocol."""
    try:
        choice = answer["choices"][0]  # type: ignore[index]
        message = choice["message"]
        text, refusal, reason = message.get("content"), message.get("refusal"), str(choice.get("finish_reason"))
        usage = answer.get("usage")  # type: ignore[attr-defined]
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise PassingFailureError(vendor_message(answer) or "it is not a chat completion") from error
    if not isinstance(text, str | None):
        raise PassingFailureError("its content is not text")
    ending = Ending.DECLINED if refusal else _ENDINGS.get(reason, Ending.FINISHED)
    return Reply(text=text or "", ending=ending, reason="refusal" if refusal else reason, tokens=_tokens(usage))


def _tokens(usage: object) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return token_counts(usage.get("prompt_tokens"), usage.get("completion_tokens"), cached or 0)


def _limits(max_tokens: int | None, base_url: str | None) -> Mapping[str, int]:
    # OpenAI's newer models refuse the older name; many other servers accept only that.
    name = "max_completion_tokens" if base_url is None else "max_tokens"
    return {} if max_tokens is None else {name: max_tokens}


class OpenAILLM(HostedLLM):
    """A model of OpenAI, or of any server that speaks its protocol at a ``base_url`` such as ``http://host:8000/v1``.

    ``api_key`` defaults to OPENAI_API_KEY if no ``base_url`` is given. ``max_tokens`` limits each answer; without it
    the server's limit applies. ``settings`` are sent unchanged: temperature, seed, reasoning_effort and whatever else
    the server accepts. ``prices`` turn tokens into costs.

    ``timeout`` is in seconds, for one whole request; ``max_retries`` counts the attempts after the first, with waits
    that double from ``first_wait`` seconds.

    The constructor raises `MissingExtraError`, `MissingCredentialError` and `InvalidInputError`.
    """

    _vendor = Vendor(
        adapter="OpenAILLM",
        package="openai",
        client="AsyncOpenAI",
        errors="OpenAIError",
        url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        create=lambda client: client.chat.completions.with_raw_response.create,
        structured=answer_format,
        reply_of=reply_of,
        limits=_limits,
        reserved=("response_format",),
    )

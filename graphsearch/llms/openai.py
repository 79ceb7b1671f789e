"""Models behind OpenAI's chat completions: OpenAI's own, and those of vLLM, Ollama, llama.cpp and others.

The protocol is at https://platform.openai.com/docs/api-reference/chat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphsearch.llms.hosted import HostedLLM, Reply
from graphsearch.llms.usage import token_counts


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


class OpenAILLM(HostedLLM):
    """A model of OpenAI, or of any server that speaks its protocol at a ``base_url`` such as ``http://host:8000/v1``.

    ``api_key`` defaults to OPENAI_API_KEY if no ``base_url`` is given. ``max_tokens`` limits each answer; without it
    the server's limit applies. ``settings`` are sent unchanged: temperature, seed, reasoning_effort and whatever else
    the server accepts. ``prices`` turn tokens into costs.

    ``timeout`` is in seconds, for the connection and for each wait for the next bytes of an answer; ``max_retries``
    counts the attempts after the first, which the vendor's client makes.

    The constructor raises `MissingExtraError`, `MissingCredentialError` and `InvalidInputError`.
    """

    _package, _client = "openai", "AsyncOpenAI"
    _create = "chat.completions.with_raw_response.create"
    _vendor_url, _key_variable = "https://api.openai.com/v1", "OPENAI_API_KEY"
    _reserved = ("response_format",)
    _truncated, _refused = ("length",), ("content_filter", "refusal")
    _structured = staticmethod(answer_format)

    @staticmethod
    def _limits(max_tokens: int | None, base_url: str | None) -> Mapping[str, int]:
        # OpenAI's newer models refuse the older name; many other servers accept only that.
        name = "max_completion_tokens" if base_url is None else "max_tokens"
        return {} if max_tokens is None else {name: max_tokens}

    @staticmethod
    def _reply_of(answer: Any) -> Reply:
        choice, usage = answer["choices"][0], answer.get("usage") or {}
        text, refused = choice["message"].get("content") or "", choice["message"].get("refusal")
        counted = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        reason = "refusal" if refused else str(choice.get("finish_reason"))
        return Reply(text=text, reason=reason, tokens=token_counts(*counted, cached))

"""Models behind OpenAI's chat completions: OpenAI's own, and those of vLLM, Ollama, llama.cpp and others.

The protocol is at https://platform.openai.com/docs/api-reference/chat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graphsearch._support.retrying import PassingFailureError
from graphsearch.llms.hosted import HostedLLM, Options, Vendor
from graphsearch.llms.responses import Ending, Reply, vendor_message
from graphsearch.llms.usage import Prices, Tokens, token_counts
from graphsearch.model import validation as check

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


def _tokens(usage: object) -> Tokens | None:
    if not isinstance(usage, Mapping):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return token_counts(usage.get("prompt_tokens"), usage.get("completion_tokens"), cached or 0)


_OPENAI: Final = Vendor(
    adapter="OpenAILLM",
    package="openai",
    client="AsyncOpenAI",
    errors="OpenAIError",
    url="https://api.openai.com/v1",
    key_variable="OPENAI_API_KEY",
    create=lambda client: client.chat.completions.with_raw_response.create,
    structured=answer_format,
    reply_of=reply_of,
    reserved=("response_format",),
)


class OpenAILLM(HostedLLM):
    """A model of OpenAI, or of any server that speaks its protocol at a ``base_url`` such as ``http://host:8000/v1``.

    ``api_key`` defaults to OPENAI_API_KEY if no ``base_url`` is given. ``max_tokens`` limits each answer; without it
    the server's limit applies. ``settings`` are sent unchanged: temperature, seed, reasoning_effort and whatever else
    the server accepts. ``prices`` turn tokens into costs.

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
        max_tokens: int | None = None,
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
        fault = None if max_tokens is None else check.number("max_tokens", max_tokens, 1)
        # OpenAI's newer models refuse the older name; many other servers accept only that.
        limit = "max_completion_tokens" if base_url is None else "max_tokens"
        limits = {} if max_tokens is None else {limit: max_tokens}
        super().__init__(_OPENAI, model, options, limits, fault)

"""Models behind OpenAI's protocol: OpenAI's own, and those of vLLM, Ollama, llama.cpp and others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graphsearch.llms import openai_protocol as protocol
from graphsearch.llms.hosted import HostedLLM, Options, Vendor
from graphsearch.llms.usage import Prices
from graphsearch.model import validation as check

_OPENAI: Final = Vendor(
    adapter="OpenAILLM",
    package="openai",
    client="AsyncOpenAI",
    errors="OpenAIError",
    url="https://api.openai.com/v1",
    key_variable="OPENAI_API_KEY",
    create=lambda client: client.chat.completions.with_raw_response.create,
    structured=protocol.answer_format,
    reply_of=protocol.reply_of,
    reserved=protocol.RESERVED,
)


class OpenAILLM(HostedLLM):
    """A model of OpenAI, or of any server that speaks its protocol at a ``base_url`` such as ``http://host:8000/v1``.

    ``api_key`` is taken from OPENAI_API_KEY when neither it nor a ``base_url`` is given. ``max_tokens`` bounds each
    answer; without it the server does. ``settings`` are sent along as they are: temperature, seed, reasoning_effort
    and whatever else the server knows. ``prices`` are what turns tokens into costs.

    ``timeout`` is in seconds, for one whole request; ``max_retries`` counts the tries after the first, with waits that
    double from ``first_wait`` seconds.

    Raises `MissingExtraError`, `MissingCredentialError` and `InvalidInputError` when made.
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
        # OpenAI's newer models refuse the older name, and many other servers know that alone.
        limit = "max_completion_tokens" if base_url is None else "max_tokens"
        limits = {} if max_tokens is None else {limit: max_tokens}
        super().__init__(_OPENAI, model, options, limits, fault)

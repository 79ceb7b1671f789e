"""Anthropic's models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graphsearch.llms import anthropic_protocol as protocol
from graphsearch.llms.hosted import HostedLLM, Options, Vendor
from graphsearch.llms.usage import Prices
from graphsearch.model import validation as check

_ANTHROPIC: Final = Vendor(
    adapter="AnthropicLLM",
    package="anthropic",
    client="AsyncAnthropic",
    errors="AnthropicError",
    url="https://api.anthropic.com",
    key_variable="ANTHROPIC_API_KEY",
    create=lambda client: client.messages.with_raw_response.create,
    structured=protocol.answer_tool,
    reply_of=protocol.reply_of,
    reserved=protocol.RESERVED,
)


class AnthropicLLM(HostedLLM):
    """A model of Anthropic, or of a gateway that speaks its protocol at a ``base_url``.

    ``api_key`` is taken from ANTHROPIC_API_KEY when neither it nor a ``base_url`` is given. ``max_tokens`` bounds each
    answer, as the protocol demands. ``settings`` are sent along as they are: temperature, system, service_tier and
    whatever else the vendor knows. ``prices`` are what turns tokens into costs.

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

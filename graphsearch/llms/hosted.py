"""A model hosted by a vendor: key and URL, one request through the vendor's client, its reply and usage.

The clients try again what may pass, and keep the limits of time. Errors are typed, and quote of the vendor's answer
only its message, since the rest may repeat the request.
"""

from __future__ import annotations

import asyncio
import functools
import os
import ssl
from collections.abc import Callable, Collection, Mapping
from operator import attrgetter
from types import ModuleType
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

import attrs

from graphsearch._support.lazy import load, require
from graphsearch._support.observing import observed
from graphsearch.errors import (
    LLMAnswerError,
    LLMError,
    LLMRefusalError,
    LLMRequestError,
    LLMTruncatedError,
    LLMUnavailableError,
    MissingCredentialError,
)
from graphsearch.llms.structured import Structure
from graphsearch.llms.usage import Call, Prices, Usage, record
from graphsearch.model import validation as check
from graphsearch.text.rendering import safe_text

_FILTERED: Final = "content_filter"
_SPENT: Final = "insufficient_quota"  # a 429 that no waiting cures
_RESERVED: Final = frozenset({"model", "messages", "stream", "n"})
_NO_KEY: Final = "none"  # the vendors' clients require a key, self-hosted servers ignore it


@attrs.frozen(kw_only=True)
class Reply:
    """A decoded reply: its text, the vendor's word for why it ended, and its token counts if reported."""

    text: str
    reason: str
    tokens: Usage | None


class HostedLLM:
    """One model of one vendor, and its usage so far; the subclass of each vendor documents the options."""

    _package: ClassVar[str]
    """Package of the vendor's client, and name of the extra."""
    _client: ClassVar[str]
    """Class of the client in that package."""
    _create: ClassVar[str]
    """Path, from a client, to the method that sends a request and returns the raw response."""
    _vendor_url: ClassVar[str]
    _key_variable: ClassVar[str]
    _reserved: ClassVar[Collection[str]]
    """Fields of a request that are set here, and so cannot be settings."""
    _truncated: ClassVar[Collection[str]]
    """Reasons of a reply that broke off."""
    _refused: ClassVar[Collection[str]]
    """Reasons of a reply that the model, or a filter, declined to give."""
    _limits: Callable[[int | None, str | None], Mapping[str, int]]
    """Returns, for ``max_tokens`` and ``base_url``, the fields of a request that limit its answer."""
    _structured: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """Returns the fields of a request that ask for data by a schema."""
    _reply_of: Callable[[Any], Reply]
    """Parses a decoded response; any error means that it is outside the protocol."""

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
    ) -> None:
        adapter, settings = type(self).__name__, settings or {}
        taken = sorted({*_RESERVED, *self._reserved} & set(settings))
        check.refuse(
            adapter,
            check.text("model", model),
            url_fault(base_url),
            key_fault("api_key", api_key),
            check.number("timeout", timeout, 1e-3),
            check.number("max_retries", max_retries, 0),
            check.json_object("settings", settings),
            f"settings must not hold {', '.join(taken)}" if taken else None,
            None if max_tokens is None else check.number("max_tokens", max_tokens, 1),
        )
        self._model = model
        self._request = {"model": model, **self._limits(max_tokens, base_url), "extra_body": dict(settings)}
        self._prices = prices
        self._timeout = timeout
        self._max_retries = max_retries
        self._url = base_url or self._vendor_url
        self._api_key = key_for(adapter, self._key_variable, api_key, base_url)
        self._usage = Usage()
        require(self._package, extra=self._package, purpose=adapter)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    @property
    def base_url(self) -> str:
        """The URL of the server."""
        return self._url

    @property
    def usage(self) -> Usage:
        """The usage of all answers so far."""
        return self._usage

    async def ask(self, text: str) -> str:
        """The model's answer to a prompt, never blank.

        Raises `InvalidInputError` for a blank prompt, `LLMUnavailableError`, `LLMRequestError`, `LLMRefusalError`,
        `LLMTruncatedError` and `LLMAnswerError`, with the error of the vendor's client as the cause if there is one.
        """
        return await self._ask(text, {})

    async def ask_json(self, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The model's answer to a prompt as data, valid by a JSON schema (draft 2020-12) of type object.

        Raises what `ask` does, `LLMAnswerError` with the faults of invalid data, and `InvalidInputError` for an invalid
        schema.
        """
        structure = Structure(schema, extra=self._package)
        answer = await self._ask(text, self._structured(schema))
        return structure.data(answer, self._where)

    @observed("chat")
    async def _ask(self, text: str, added: Mapping[str, Any]) -> str:
        check.refuse("prompt", check.text("text", text))
        reply = self._read(
            await self._send({"messages": [{"role": "user", "content": text}], **self._request, **added})
        )
        call = Call(self._model, (reply.tokens or Usage(answers=1, unreported=1)).priced(self._prices))
        self._usage += call.usage
        record(call)
        return self._complete(reply)

    async def _send(self, request: Mapping[str, Any]) -> bytes:
        vendor, certificates = await asyncio.to_thread(self._load)
        # A connection lasts for one request, so that any event loop may ask. It follows no redirect, which would take
        # the key to another host.
        http = vendor.DefaultAsyncHttpxClient(verify=certificates, follow_redirects=False)
        client = getattr(vendor, self._client)(
            api_key=self._api_key,
            base_url=self._url,
            timeout=self._timeout,
            max_retries=self._max_retries,
            http_client=http,
        )
        async with client:
            try:
                response = await attrgetter(self._create)(client)(**request)
            except vendor.APIError as error:
                raise self._failure(error, vendor) from error
        content: bytes = response.http_response.content
        return content

    def _load(self) -> tuple[ModuleType, ssl.SSLContext]:
        return load(self._package, extra=self._package, purpose=type(self).__name__), _certificates()

    def _failure(self, error: Any, vendor: ModuleType) -> LLMError:
        """The typed error for one of the vendor's client."""
        if isinstance(error, vendor.APITimeoutError):
            return LLMUnavailableError(f"{self._where}: no answer within {self._timeout:g} s; try again later")
        if not isinstance(error, vendor.APIStatusError):
            return LLMUnavailableError(f"{self._where} cannot be reached: {error.__cause__ or error}; try again later")
        status, code = error.status_code, _error(error.body).get("code")
        detail = f"{self._where}: {vendor_message(error.body) or 'the request failed'} (HTTP {status})"
        if code == _FILTERED:
            return LLMRefusalError(detail)
        if status in (401, 403):
            return LLMRequestError(f"{detail}; check the key")
        if 300 <= status < 400:  # noqa: PLR2004 - HTTP's own numbers
            return LLMRequestError(f"{detail}; redirects are not followed: check base_url")
        if (status in (408, 429) or status >= 500) and code != _SPENT:  # noqa: PLR2004 - HTTP's own numbers
            return LLMUnavailableError(f"{detail}; try again later")
        return LLMRequestError(detail)

    def _read(self, content: bytes) -> Reply:
        answer: Any = None
        try:
            answer = check.parse_json(content)
            return self._reply_of(answer)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            why = vendor_message(answer) or "it is not of the protocol"
            raise LLMUnavailableError(f"{self._where}: the answer cannot be read: {why}; try again later") from error

    def _complete(self, reply: Reply) -> str:
        """The text of a reply, if it is complete, not blank, and can be stored. Raises an `LLMError` otherwise."""
        if reply.reason in self._refused:
            raise LLMRefusalError(f"{self._where} declined to answer ({reply.reason})")
        if reply.reason in self._truncated:
            raise LLMTruncatedError(
                f"{self._where}: the answer broke off at its limit ({reply.reason}); raise max_tokens, or ask for less"
            )
        if fault := check.text("the answer", reply.text):
            raise LLMAnswerError(self._where, faults=[fault])
        return reply.text

    @property
    def _where(self) -> str:
        parts = urlsplit(self._url)
        return f"{self._model} at {parts.hostname}" + (f":{parts.port}" if parts.port else "")


@functools.cache
def _certificates() -> ssl.SSLContext:
    """The certificates that the clients trust, which take a tenth of a second to read."""
    import httpx2  # noqa: PLC0415 - under the clients, and so in their extras

    return httpx2.create_ssl_context()


def vendor_message(body: object) -> str:
    """The vendor's error message in the body of a failed response, on one line; empty if there is none."""
    found = _error(body).get("message")
    return safe_text(found[:300]) if isinstance(found, str) else ""


def _error(body: object) -> Mapping[str, Any]:
    """The error object of a body: ``{"error": {…}}`` in both protocols, or the inner object alone."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def key_for(adapter: str, variable: str, api_key: str | None, base_url: str | None) -> str:
    """The given key; else, for the vendor's own URL only, the key from the environment.

    Raises `MissingCredentialError` if that is needed and not set.
    """
    if api_key:
        return api_key
    if base_url is not None:
        return _NO_KEY
    key = os.environ.get(variable, "")
    if not key:
        raise MissingCredentialError(f"{adapter} needs a key: set {variable}, or pass api_key=")
    check.refuse(adapter, key_fault(variable, key))
    return key


def key_fault(field: str, key: object) -> str | None:
    """The fault of a key that cannot be sent, for instance one with a line break at its end; None if there is none."""
    sound = key is None or (isinstance(key, str) and key.isascii() and key.isprintable() and " " not in key)
    return None if sound else f"{field} must be printable ASCII without spaces and line breaks"


def url_fault(url: object) -> str | None:
    """The fault of a base URL that no request can be sent to; None if there is none."""
    return None if url is None or (isinstance(url, str) and _is_url(url)) else "base_url must be an http or https URL"


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # unbalanced brackets, or an invalid port
        return False
    shown = url.isascii() and url.isprintable() and " " not in url
    return shown and parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0

"""A model hosted by a vendor: key and URL, requests with a time-out and retries, replies and their usage."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from types import ModuleType
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

import attrs

from graphsearch._support.lazy import load, require
from graphsearch._support.observing import observed
from graphsearch._support.retrying import PassingFailureError, Retries, may_pass, retry_after
from graphsearch.errors import (
    GraphSearchError,
    LLMAnswerError,
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


class Ending(Enum):
    """Why a model stopped."""

    FINISHED = "finished"
    CUT_OFF = "cut off"
    DECLINED = "declined"


@attrs.frozen(kw_only=True)
class Reply:
    """A decoded reply: its text, why it ended, the vendor's word for that, and its token counts if reported."""

    text: str
    ending: Ending
    reason: str
    tokens: Usage | None

    def answer(self, where: str) -> str:
        """The text, if it is complete, not blank, and can be stored. Raises an `LLMError` otherwise."""
        if self.ending is Ending.DECLINED:
            raise LLMRefusalError(f"{where} declined to answer ({self.reason})")
        if self.ending is Ending.CUT_OFF:
            raise LLMTruncatedError(
                f"{where}: the answer broke off at its limit ({self.reason}); raise max_tokens, or ask for less"
            )
        if fault := check.text("the answer", self.text):
            raise LLMAnswerError(where, faults=[fault])
        return self.text


def failure_of(
    where: str, status: int, body: object, headers: Mapping[str, str]
) -> LLMRefusalError | LLMRequestError | PassingFailureError:
    """The error for an HTTP status other than success."""
    code = _error(body).get("code")
    detail = f"{where}: {vendor_message(body) or 'the request failed'} (HTTP {status})"
    if code == _FILTERED:
        return LLMRefusalError(detail)
    if status in (401, 403):
        return LLMRequestError(f"{detail}; check the key")
    if 300 <= status < 400:  # noqa: PLR2004 - HTTP's own numbers
        return LLMRequestError(f"{detail}; redirects are not followed: check base_url")
    if may_pass(status) and code != _SPENT:
        return PassingFailureError(detail, retry_after(headers))
    return LLMRequestError(detail)


def vendor_message(body: object) -> str:
    """The vendor's error message in the body of a failed response, on one line; empty if there is none.

    The rest of a body is ignored, since it may repeat the request.
    """
    found = _error(body).get("message")
    return safe_text(found[:300]) if isinstance(found, str) else ""


def _error(body: object) -> Mapping[str, Any]:
    """The error object of a body: ``{"error": {…}}`` in both protocols, or the inner object alone."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


_RESERVED: Final = frozenset({"model", "messages", "stream", "n"})
_NO_KEY: Final = "none"  # the vendors' clients require a key, self-hosted servers ignore it


@attrs.frozen(kw_only=True)
class Vendor:
    """The differences between vendors: client, endpoint, structured requests, and parsing of responses."""

    adapter: str
    package: str
    """Package of the official client, and name of the extra."""
    client: str
    """Class of the client in that package."""
    errors: str
    """Base class of the client's errors in that package."""
    url: str
    key_variable: str
    create: Callable[[Any], Callable[..., Any]]
    """Returns, for a client, the function that sends a request and returns the raw response."""
    structured: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """Returns the fields of a request that ask for data by a schema."""
    reply_of: Callable[[object], Reply]
    """Parses a decoded response; raises `PassingFailureError` for one outside the protocol."""
    limits: Callable[[int | None, str | None], Mapping[str, int]]
    """Returns, for ``max_tokens`` and ``base_url``, the fields of a request that limit its answer."""
    reserved: Collection[str]
    """Fields of a request that are set here, and so cannot be settings."""


class HostedLLM:
    """One model of one vendor, and its usage so far; the subclass of each vendor documents the options."""

    _vendor: ClassVar[Vendor]

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
        vendor, settings = self._vendor, settings or {}
        taken = sorted({*_RESERVED, *vendor.reserved} & set(settings))
        check.refuse(
            vendor.adapter,
            check.text("model", model),
            url_fault(base_url),
            key_fault("api_key", api_key),
            check.number("timeout", timeout, 1e-3),
            check.json_object("settings", settings),
            f"settings must not hold {', '.join(taken)}" if taken else None,
            None if max_tokens is None else check.number("max_tokens", max_tokens, 1),
        )
        self._model = model
        self._limits = vendor.limits(max_tokens, base_url)
        self._settings = dict(settings)
        self._prices = prices
        self._timeout = timeout
        self._retries = Retries(most=max_retries, first_wait=first_wait)
        self._url = base_url or vendor.url
        self._api_key = key_for(vendor.adapter, vendor.key_variable, api_key, base_url)
        self._usage = Usage()
        require(vendor.package, extra=vendor.package, purpose=vendor.adapter)

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
        structure = Structure(schema, extra=self._vendor.package)
        answer = await self._ask(text, self._vendor.structured(schema))
        return structure.data(answer, self._where)

    @observed("chat")
    async def _ask(self, text: str, added: Mapping[str, Any]) -> str:
        check.refuse("prompt", check.text("text", text))
        question = {"model": self._model, "messages": [{"role": "user", "content": text}], **self._limits, **added}
        return await self._retries.run(lambda: self._try(question), unavailable=LLMUnavailableError)

    async def _try(self, question: Mapping[str, Any]) -> str:
        reply = self._read(await self._send(question))
        call = Call(self._model, (reply.tokens or Usage(answers=1, unreported=1)).priced(self._prices))
        self._usage += call.usage
        record(call)
        return reply.answer(self._where)

    def _read(self, content: bytes) -> Reply:
        try:
            return self._vendor.reply_of(check.parse_json(content))
        except (ValueError, RecursionError, PassingFailureError) as error:
            raise PassingFailureError(f"{self._where}: the answer cannot be read: {error}") from error

    async def _send(self, question: Mapping[str, Any]) -> bytes:
        vendor, http = await asyncio.to_thread(self._load)
        try:
            async with (
                asyncio.timeout(self._timeout),
                http.connection() as connection,
                getattr(vendor, self._vendor.client)(
                    api_key=self._api_key, base_url=self._url, timeout=None, max_retries=0, http_client=connection
                ) as client,
            ):
                answer = await self._vendor.create(client)(**question, extra_body=self._settings)
                content: bytes = answer.http_response.content
                return content
        except TimeoutError as error:
            raise PassingFailureError(f"{self._where}: no answer within {self._timeout:g} s") from error
        except (getattr(vendor, self._vendor.errors), http.InvalidURL) as error:
            raise self._failure(error, vendor, http) from error

    def _load(self) -> tuple[ModuleType, ModuleType]:
        wanted = {"extra": self._vendor.package, "purpose": self._vendor.adapter}
        vendor = load(self._vendor.package, **wanted)
        http = load("graphsearch.llms.http_connection", **wanted)
        http.tls()
        return vendor, http

    def _failure(self, error: Any, vendor: ModuleType, http: ModuleType) -> GraphSearchError:
        if isinstance(error, vendor.APIStatusError):
            return failure_of(self._where, error.status_code, error.body, error.response.headers)
        if isinstance(error.__cause__, http.UnreadableAnswerError):
            return LLMAnswerError(f"{self._where}: {error.__cause__}")
        failed = f"{self._where} cannot be reached: {error.__cause__ or error}"
        return LLMRequestError(failed) if isinstance(error, http.InvalidURL) else PassingFailureError(failed)

    @property
    def _where(self) -> str:
        parts = urlsplit(self._url)
        return f"{self._model} at {parts.hostname}" + (f":{parts.port}" if parts.port else "")


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

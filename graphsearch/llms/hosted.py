"""Asking a model that a vendor serves: a key, a time-out, retries and a count around each request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from types import ModuleType
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

from graphsearch._support.extras import load, require
from graphsearch._support.observing import observed
from graphsearch._support.retrying import PassingFailureError, Retries
from graphsearch.errors import GraphSearchError, LLMAnswerError, LLMRequestError, LLMUnavailableError
from graphsearch.llms.decoding import decoded
from graphsearch.llms.endpoint import key_fault, key_for, url_fault
from graphsearch.llms.failures import failure_of
from graphsearch.llms.metering import Call, record
from graphsearch.llms.reply import Reply
from graphsearch.llms.structured import Structure
from graphsearch.llms.usage import Prices, Usage
from graphsearch.model import validation as check

_RESERVED: Final = frozenset({"model", "messages", "stream", "n"})


@attrs.frozen(kw_only=True)
class Vendor:
    """What differs between vendors: their client, their endpoint, and how an answer is asked for and read."""

    adapter: str
    package: str
    """Of the official client; the extra has its name too."""
    client: str
    """The client's class, in that package."""
    errors: str
    """The base class of the client's errors, in that package."""
    url: str
    key_variable: str
    create: Callable[[Any], Callable[..., Any]]
    """Given a client, what sends a request and returns the raw answer."""
    structured: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """What asks for data by a schema, beside the question."""
    reply_of: Callable[[object], Reply]
    """Raises `PassingFailureError` for what is no answer of the protocol."""
    reserved: Collection[str]
    """What is part of a request here, and so cannot be a setting."""


@attrs.frozen(kw_only=True)
class Options:
    """What the adapters have in common; each documents it for its users."""

    api_key: str | None
    base_url: str | None
    settings: Mapping[str, Any] | None
    prices: Prices | None
    timeout: float
    max_retries: int
    first_wait: float


class HostedLLM:
    """One model of one vendor, and what it took so far. ``limits`` are sent with every question."""

    def __init__(
        self, vendor: Vendor, model: str, options: Options, limits: Mapping[str, int], *faults: str | None
    ) -> None:
        settings = options.settings or {}
        taken = sorted({*_RESERVED, *vendor.reserved} & set(settings))
        check.refuse(
            vendor.adapter,
            check.text("model", model),
            url_fault(options.base_url),
            key_fault("api_key", options.api_key),
            check.number("timeout", options.timeout, 1e-3),
            check.json_object("settings", settings),
            f"settings must not hold {', '.join(taken)}" if taken else None,
            *faults,
        )
        self._vendor = vendor
        self._model = model
        self._limits = dict(limits)
        self._settings = dict(settings)
        self._prices = options.prices
        self._timeout = options.timeout
        self._retries = Retries(most=options.max_retries, first_wait=options.first_wait)
        self._url = options.base_url or vendor.url
        self._api_key = key_for(vendor.adapter, vendor.key_variable, options.api_key, options.base_url)
        self._usage = Usage()
        require(vendor.package, extra=vendor.package, purpose=vendor.adapter)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    @property
    def base_url(self) -> str:
        """Where it is served."""
        return self._url

    @property
    def usage(self) -> Usage:
        """What all answers together took so far."""
        return self._usage

    async def ask(self, text: str) -> str:
        """The model's answer to a prompt, never blank.

        Raises `InvalidInputError` for a blank prompt, `LLMUnavailableError`, `LLMRequestError`, `LLMRefusalError`,
        `LLMTruncatedError` and `LLMAnswerError`; where the vendor's client failed, with its error as the cause.
        """
        return await self._ask(text, {})

    async def ask_json(self, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The model's answer to a prompt as data, valid by a JSON schema (draft 2020-12) of type object.

        Raises what `ask` does; `LLMAnswerError` names what is wrong with data that is not valid, `InvalidInputError`
        what is wrong with the schema.
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
        call = Call(self._model, Usage.of(reply.tokens, self._prices))
        self._usage += call.usage
        record(call)
        return reply.answer(self._where)

    def _read(self, content: bytes) -> Reply:
        try:
            return self._vendor.reply_of(decoded(content))
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

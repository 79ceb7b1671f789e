"""OpenAI's published chat completions as pure functions; vLLM, Ollama, llama.cpp and many others speak it too.

Source: https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graphsearch._support.retrying import PassingFailureError
from graphsearch.llms.failures import told
from graphsearch.llms.reply import Ending, Reply
from graphsearch.llms.usage import Tokens, counts

RESERVED: Final = ("response_format",)
_ENDINGS: Final = {"length": Ending.CUT_OFF, "content_filter": Ending.DECLINED}


def answer_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What is added to a request for an answer in data.

    "Strict" makes OpenAI keep the schema to the letter, and refuse one that it cannot: so it is asked for only where
    every object says that it has no other properties than those required.
    """
    described = {"name": "answer", "schema": schema, "strict": _closed(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def _closed(schema: object) -> bool:
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
    """The reply in a decoded answer. Raises `PassingFailureError` for what is not an answer of the protocol."""
    try:
        choice = answer["choices"][0]  # type: ignore[index]
        message = choice["message"]
        text, refusal, reason = message.get("content"), message.get("refusal"), str(choice.get("finish_reason"))
        usage = answer.get("usage")  # type: ignore[attr-defined]
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise PassingFailureError(told(answer) or "it is no chat completion") from error
    if not isinstance(text, str | None):
        raise PassingFailureError("its content is not text")
    ending = Ending.DECLINED if refusal else _ENDINGS.get(reason, Ending.FINISHED)
    return Reply(text=text or "", ending=ending, reason="refusal" if refusal else reason, tokens=_tokens(usage))


def _tokens(usage: object) -> Tokens | None:
    if not isinstance(usage, Mapping):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return counts(usage.get("prompt_tokens"), usage.get("completion_tokens"), cached or 0)

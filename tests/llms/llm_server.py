"""A loopback server that speaks OpenAI's and Anthropic's published protocols, and misbehaves on request."""

import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any

from tests.loopback import Answering, listening
from tests.waiting import LONGEST

Json = dict[str, Any]
Answer = Callable[["Handler", Json], None]

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"


class LLMServer:
    """Requests are recorded; ``answers`` are used up one a request, and after that every request is answered well.

    A model of ``stuck`` always answers as it says there, whenever its request arrives, and uses up no other answer.
    """

    def __init__(self, host: str) -> None:
        self.host = host
        self.openai_url = f"{host}/v1"
        self.closing = Event()
        self.asked = Event()
        self.hung_up = Event()
        self.answers: deque[Answer] = deque()
        self.stuck: dict[str, Answer] = {}
        self.requests: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.lock = Lock()


class Handler(Answering):
    """Answers POST requests from a script; records all others."""

    llm: LLMServer

    def do_POST(self) -> None:  # noqa: N802 - the name that http.server calls
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.llm.lock:
            self.llm.requests.append(body)
            self.llm.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.llm.paths.append(self.path)
            answer = self.llm.stuck.get(body["model"]) or (self.llm.answers.popleft() if self.llm.answers else reply())
        self.llm.asked.set()
        answer(self, body)

    def do_GET(self) -> None:  # noqa: N802 - the name that http.server calls
        """A schema that allows everything, for whoever fetches one."""
        self.llm.paths.append(self.path)
        self.send(200, b"{}")


@contextmanager
def serving() -> Iterator[LLMServer]:
    handler = type("BoundHandler", (Handler,), {})
    with listening(handler) as host:
        llm = LLMServer(host)
        handler.llm = llm  # type: ignore[attr-defined]
        try:
            yield llm
        finally:
            llm.closing.set()


# -- proper answers --------------------------------------------------------------------------------------------------


def reply(text: str | None = None, *, data: object = None) -> Answer:
    """A proper answer, by the protocol that was asked: a text, or data where a schema came along."""

    def answer(handler: Handler, body: Json) -> None:
        openai = handler.path == CHAT
        handler.send(200, json.dumps((chat if openai else message)(body, text, data)).encode())

    return answer


def chat(body: Json, text: str | None, data: object) -> Json:
    reply_content = text or f"You asked: {body['messages'][0]['content']}"
    if "response_format" in body and text is None:
        schema = body["response_format"]["json_schema"]["schema"]
        reply_content = json.dumps(example(schema) if data is None else data)
    return chat_completion(reply_content)


def chat_completion(content: object, finish_reason: str | None = "stop", **changed: object) -> Json:
    """An answer of OpenAI's protocol as its reference shows it."""
    reply_content = {"role": "assistant", "content": content, "refusal": None, "annotations": []}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": "model-1",
        "choices": [{"index": 0, "message": reply_content, "logprobs": None, "finish_reason": finish_reason}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 40, "audio_tokens": 0},
        },
    } | changed


def message(body: Json, text: str | None, data: object) -> Json:
    if "tools" in body and text is None:
        given = example(body["tools"][0]["input_schema"]) if data is None else data
        return anthropic_message(
            [{"type": "tool_use", "id": "toolu_1", "name": "answer", "input": given}], stop_reason="tool_use"
        )
    reply_content = text or f"You asked: {body['messages'][0]['content']}"
    return anthropic_message([{"type": "text", "text": reply_content}])


def anthropic_message(content: object, stop_reason: str | None = "end_turn", **changed: object) -> Json:
    """An answer of Anthropic's protocol as its reference shows it."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "model-1",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 60,
            "output_tokens": 20,
            "cache_read_input_tokens": 40,
            "cache_creation_input_tokens": 0,
        },
    } | changed


def example(schema: Json) -> object:
    """The simplest value that keeps a schema of the plain kind that tests and documentation use."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "object":
            return {name: example(part) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [example(schema["items"])]
        case "string":
            return "text"
        case _:
            return 1


# -- other answers ---------------------------------------------------------------------------------------------------


def fail(status: int, message: str = "no", code: str | None = None, **headers: str) -> Answer:
    """A failure as both vendors word it."""
    error = {"type": "some_error", "message": message, "code": code}
    return raw(status, json.dumps({"type": "error", "error": error}).encode(), **headers)


def sent(value: object, status: int = 200, **headers: str) -> Answer:
    """Any JSON at all."""
    return raw(status, json.dumps(value).encode(), **headers)


def raw(status: int, body: bytes, missing: int = 0, /, **headers: str) -> Answer:
    """Any bytes at all, as an answer whose stated length is ``missing`` bytes more."""
    return lambda handler, _: handler.send(status, body, missing, **headers)


def hang(handler: Handler, _: Json) -> None:
    """No answer; the server notes when the client hangs up."""
    handler.connection.settimeout(LONGEST)
    if handler.connection.recv(1) == b"":
        handler.llm.hung_up.set()


def hang_up(handler: Handler, _: Json) -> None:
    """The connection is closed without an answer."""
    handler.close_connection = True

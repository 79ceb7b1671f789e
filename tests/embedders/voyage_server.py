"""A loopback server that speaks Voyage's published protocol, and misbehaves on request."""

import base64
import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any

import numpy as np

from tests.loopback import Answering, listening

Answer = Callable[["Handler", dict[str, Any]], None]


class VoyageServer:
    """Requests are recorded; ``answers`` are used up one a request, and after that every request is answered well."""

    def __init__(self, url: str, closing: Event) -> None:
        self.url = url
        self.closing = closing
        self.answers: deque[Answer] = deque()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.running = 0
        self.most_running = 0
        self.lock = Lock()


class Handler(Answering):
    """Answers POST requests from a script."""

    voyage: VoyageServer

    def do_POST(self) -> None:  # noqa: N802 - the name that http.server calls
        voyage = self.voyage
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with voyage.lock:
            voyage.requests.append(body)
            voyage.headers.append(dict(self.headers))
            voyage.paths.append(self.path)
            voyage.running += 1
            voyage.most_running = max(voyage.most_running, voyage.running)
            answer = voyage.answers.popleft() if voyage.answers else embed()
        try:
            answer(self, body)
        finally:
            with voyage.lock:
                voyage.running -= 1


@contextmanager
def serving() -> Iterator[VoyageServer]:
    handler = type("BoundHandler", (Handler,), {})
    with listening(handler) as host:
        voyage = VoyageServer(f"{host}/v1", Event())
        handler.voyage = voyage  # type: ignore[attr-defined]
        try:
            yield voyage
        finally:
            voyage.closing.set()


def vector_of(text: str, dimensions: int) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """A vector whose first number is the first number in the text."""
    found = re.search(r"\d+", text)
    vector = np.ones(dimensions, dtype="<f4")
    vector[0] = float(found.group()) if found else -1.0
    return vector


def embed(*, backwards: bool = False, plain: bool = False, dimensions: int | None = None, drop: int = 0) -> Answer:
    """A proper answer; or one in another order, in plain numbers, of other dimensions, or with rows left out."""

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        length = dimensions or body["output_dimension"] or 1024
        vectors = [vector_of(text, length) for text in body["input"]]
        rows = [
            {
                "object": "embedding",
                "index": index,
                "embedding": vector.tolist() if plain else base64.b64encode(vector.tobytes()).decode(),
            }
            for index, vector in enumerate(vectors)
        ][: len(vectors) - drop]
        rows = rows[::-1] if backwards else rows
        content = {"object": "list", "data": rows, "model": body["model"], "usage": {"total_tokens": 1}}
        handler.send(200, json.dumps(content).encode())

    return answer


def fail(status: int, detail: object = "no", **headers: str) -> Answer:
    """A failure as Voyage words it."""
    return raw(status, json.dumps({"detail": detail}).encode(), **headers)


def raw(status: int, body: bytes, missing: int = 0, /, **headers: str) -> Answer:
    """Any bytes at all, as an answer whose stated length is ``missing`` bytes more."""
    return lambda handler, _: handler.send(status, body, missing, **headers)


def hang(handler: Handler, _: dict[str, Any]) -> None:
    """No answer until the server closes."""
    handler.voyage.closing.wait(30)


def hang_up(handler: Handler, _: dict[str, Any]) -> None:
    """The connection is closed without an answer."""
    handler.close_connection = True


def slow(handler: Handler, body: dict[str, Any]) -> None:
    """A proper answer after a moment, so that requests overlap."""
    handler.voyage.closing.wait(0.05)
    embed()(handler, body)

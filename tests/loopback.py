"""What the loopback servers that speak vendors' protocols have in common: HTTP on a free port, in a thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Answering(BaseHTTPRequestHandler):
    """Sends answers, also ones that are shorter than they state."""

    def send(self, status: int, body: bytes, missing: int = 0, /, **headers: str) -> None:
        """Send an answer whose stated length is ``missing`` bytes more than what follows."""
        self.start(status, len(body) + missing, **headers)
        self.wfile.write(body)

    def start(self, status: int, length: int, **headers: str) -> None:
        """The head of an answer."""
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        for name, value in ({"Content_Type": "application/json"} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is what some tests are about."""


@contextmanager
def listening(handler: type[Answering]) -> Iterator[str]:
    """Answer on a free port; its address, as in "http://127.0.0.1:8000"."""
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()

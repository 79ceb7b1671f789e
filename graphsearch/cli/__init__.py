"""The command line: a client of the engine that opens a store, runs one command and prints its result."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from graphsearch.cli.handover import run_elsewhere
from graphsearch.errors import MissingExtraError


def main() -> None:
    """Run the command line; exit with 0 on success, 1 for a `GraphSearchError`, 2 for wrong usage."""
    code = run_elsewhere(sys.argv[1:])
    if code is not None:
        sys.exit(code)
    try:
        from graphsearch.cli.app import app  # noqa: PLC0415 - click is an optional extra
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("click", "platformdirs"):
            raise
        sys.exit(f"error: {MissingExtraError('cli', 'the command line')}")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a console that cannot encode a character prints its number
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="graphsearch")

"""The command line. It stands outside the engine: it opens a store, asks, and prints."""

from __future__ import annotations

import sys

from graphsearch.errors import MissingExtraError


def main() -> None:
    """Run the command that was typed; exits with 0, with 1 for a `GraphSearchError`, with 2 for wrong usage."""
    try:
        from graphsearch.cli.app import app  # noqa: PLC0415 - typer is an optional extra
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in {"typer", "rich"}:
            raise
        sys.exit(f"error: {MissingExtraError('cli', 'the command line')}")
    app()

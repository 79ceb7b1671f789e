"""The progress of a command: a bar on standard error if that is a terminal, removed at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from graphsearch.ingest import Progress as ProgressCallback
from graphsearch.text.rendering import safe_text


@contextmanager
def progress_bar() -> Iterator[ProgressCallback]:
    """Show a bar; the callback is to be called after every step."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)

        def report(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=safe_text(name)[-40:])

        yield report

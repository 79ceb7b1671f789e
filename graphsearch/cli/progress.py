"""How far a command is: a bar on standard error, gone when it is done, and nothing where that is no terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from graphsearch.ingest import Progress as Told
from graphsearch.text.rendering import safe_text


@contextmanager
def progress_bar() -> Iterator[Told]:
    """A bar, and what to tell after every step."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=None)

        def told(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=safe_text(name)[-40:])

        yield told

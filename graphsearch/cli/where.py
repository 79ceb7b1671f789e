"""where and completion: what a command works with here, and what a shell reads to complete commands."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import click
from click.shell_completion import get_completion_class

from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import (
    EMBEDDER,
    Asker,
    Model,
    Places,
    embedder_named,
    read_settings,
    source_of,
    user_name,
)
from graphsearch.cli.showing import aligned
from graphsearch.model.codec import Says
from graphsearch.stores.in_postgres.session.faults import describe
from graphsearch.text.rendering import safe_text


def where(*, place: Places, asker: Asker, model: Model) -> Answer:
    """Show where commands work here, and what says so."""
    file, written = read_settings()
    server = "dsn" if place.folder is None else "embedded"
    embedder = EMBEDDER if os.environ.get(EMBEDDER) else str(file) if "embedder" in written else "default"
    rows = {
        "organisation": (place.org, source_of("org")),
        "project": (place.project, source_of("project")),
        "principal": (asker.principal or ("" if place.folder is None else user_name()), source_of("principal")),
        "graph": (str(place.folder or describe(place.dsn)), source_of(server)),
        "also": (", ".join(place.also), source_of("also")),
        "model": (model.llm, source_of("llm")),
        "embedder": (embedder_named() or "that of the graph", embedder),
        "settings": (str(file or ""), ""),
    }
    shown = [(name, safe_text(value or "none"), source) for name, (value, source) in rows.items()]
    data = {name: {"value": value, "from": source} for name, (value, source) in rows.items()}
    return Answer(data, [*aligned(shown)])


def completion(shell: Annotated[Literal["bash", "zsh", "fish"], Says("The shell.")]) -> Answer:
    """Print what a shell has to read to complete commands."""
    made = get_completion_class(shell)
    root = click.get_current_context().find_root()
    script = made(root.command, {}, "graphsearch", "_GRAPHSEARCH_COMPLETE").source() if made else ""
    return Answer({"script": script}, script.splitlines())

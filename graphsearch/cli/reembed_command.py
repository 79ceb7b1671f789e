"""reembed: another embedding model for the project, without ingesting again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Final

import typer

from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, embedder_called, open_engine
from graphsearch.cli.output import as_json, pairs
from graphsearch.ingest import Progress
from graphsearch.model import ElementKind
from graphsearch.model.reembedding import Reembedding
from graphsearch.protocols import Embedder, GraphStore
from graphsearch.reembedding import estimate_reembedding
from graphsearch.reembedding import reembed as run
from graphsearch.reembedding.running import BATCH, SAMPLE
from graphsearch.text.rendering import safe_text

_EVERY_S: Final = 5.0
"""Seconds between two lines of progress."""


async def reembed(
    place: Place,
    model: Annotated[
        str, typer.Option(help="The embedder: wordllama, minilm, voyage, or a model of Voyage; not with --cancel.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report what it takes.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Discard an unfinished change first.")] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="Discard an unfinished change, and stop.")] = False,
    per_second: Annotated[float | None, typer.Option(min=1e-6, help="The most texts to embed in a second.")] = None,
    batch: Annotated[int, typer.Option(min=1, help="The most texts to embed at a time.")] = BATCH,
    sample: Annotated[int, typer.Option(min=0, help="Texts of each kind that --dry-run embeds to measure.")] = SAMPLE,
) -> Answer:
    """Change the embedding model: embed all texts again beside the old vectors, and switch at one moment."""
    if bool(model) == cancel:
        raise typer.BadParameter("give either --model or --cancel")
    embedder = embedder_called(model) if model else None
    async with open_engine(place) as engine:
        store = engine.store
        if embedder is None:
            cancelled = await store.cancel_reembedding()
            return Answer({"cancelled": cancelled}, ("cancelled" if cancelled else "nothing was unfinished",))
        if dry_run:
            return await _estimate(store, embedder, sample)
        report = await run(store, embedder, restart=restart, per_second=per_second, batch=batch, progress=_lines())
    rows: list[tuple[str, object]] = [("model", report.embedder), ("dimensions", report.dimensions)]
    rows += [("switched", "yes" if report.switched else "no, the project has this model")]
    return Answer(as_json(report), (pairs([*rows, *_by_kind(report.embedded)]),))


async def _estimate(store: GraphStore, embedder: Embedder, sample: int) -> Answer:
    found = await estimate_reembedding(store, embedder, sample=sample)
    seconds = "not measured" if found.seconds is None else f"about {found.seconds:.3g}"
    rows: list[tuple[str, object]] = [("present model", found.present), ("model", found.embedder)]
    rows += [("dimensions", found.dimensions), *_by_kind(found.texts)]
    rows += [("characters", sum(found.characters.values())), ("seconds of embedding", seconds)]
    rows += [("unfinished", _state(found.unfinished))]
    return Answer(as_json(found), (pairs(rows),))


def _by_kind(numbers: Mapping[ElementKind, int]) -> list[tuple[str, object]]:
    plural = {ElementKind.ENTITY: "entities", ElementKind.RELATION: "facts", ElementKind.MEMORY: "memories"}
    return [(plural[kind], number) for kind, number in numbers.items()]


def _state(unfinished: Reembedding | None) -> str:
    if unfinished is None:
        return "nothing"
    done, total = sum(unfinished.done.values()), sum(unfinished.total.values())
    return f"{unfinished.embedder}, {done} of {total} embedded"


def _lines() -> Progress:
    """Lines on standard error, one every few seconds, and the last."""
    last = -_EVERY_S

    def show(done: int, total: int, name: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY_S or done >= total:
            last = now
            typer.echo(f"embedded {done} of {total}: {safe_text(name)}", err=True)

    return show

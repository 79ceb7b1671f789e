"""export, import and reembed: a whole scope to a file and back, other memory layers' exports, another embedder."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Annotated, Final

import click

from graphsearch._support.files import STANDARD
from graphsearch.cli.commands import Answer, progress_bar
from graphsearch.cli.environment import Place, embedder_called, open_caller
from graphsearch.cli.showing import lines, pairs
from graphsearch.ingest import Ingestor, Progress
from graphsearch.model.codec import Says, encode
from graphsearch.moving import ExportFormat, detect_format, export_scope, import_export, import_scope
from graphsearch.reembedding import estimate_reembedding
from graphsearch.reembedding import reembed as run
from graphsearch.reembedding.running import BATCH, SAMPLE
from graphsearch.text.rendering import safe_text

_EVERY_S: Final = 5.0
"""Seconds between two lines of progress."""


async def export(
    file: Annotated[str, Says("The file to write, compressed if it ends in .gz; - for standard output.")],
    *,
    vectors: Annotated[bool, Says("Write the vectors of elements.")] = True,
    place: Place,
) -> Answer:
    """Export a scope."""
    async with open_caller(place) as caller:
        with progress_bar() as progress:
            report = await export_scope(caller.engine.store, file, vectors=vectors, progress=progress)
    if file == STANDARD:  # where the records went
        return Answer({})
    return Answer(encode(report), [*pairs([*report.counts.items(), ("vectors", report.vectors)])])


async def import_(
    files: Annotated[tuple[str, ...], Says("The export; - for standard input."), {"required": True}],
    *,
    format: Annotated[ExportFormat | None, Says("The format, where the files do not show it.")] = None,
    replace: Annotated[bool, Says("Remove what the project holds first.")] = False,
    embed: Annotated[bool, Says("Embed texts with the model chosen here, unless the file has its vectors.")] = False,
    group: Annotated[str | None, Says("The group_id to import of Graphiti, where there are several.")] = None,
    place: Place,
) -> Answer:
    """Import an export."""
    known = format
    if known is None:
        standard = STANDARD in files
        known = ExportFormat.GRAPHSEARCH if standard else await asyncio.to_thread(detect_format, Path(files[0]))
    if known is not ExportFormat.GRAPHSEARCH:
        if replace:
            raise click.UsageError("--replace is for exports of graphsearch; others are added to the project")
        return await _foreign(place, files, known, group)
    if len(files) > 1 or group is not None:
        raise click.UsageError("an export of graphsearch is one file, without groups")
    async with open_caller(place, embed=embed) as caller:
        with progress_bar() as progress:
            report = await import_scope(
                caller.engine.store, files[0], embedder=caller.engine.embedder, replace=replace, progress=progress
            )
    more = [("vectors", report.vectors), ("embedded", report.embedded), ("library", report.library)]
    return Answer({"format": known.value, **encode(report)}, [*pairs([*report.counts.items(), *more])])


async def _foreign(place: Place, files: tuple[str, ...], known: ExportFormat, group: str | None) -> Answer:
    async with open_caller(place, embed=True) as caller:
        report = await import_export(Ingestor(caller.engine), [Path(each) for each in files], format=known, group=group)
    converted, ingested = report.converted, report.ingested
    counts = [
        *((name, getattr(converted, name)) for name in ("entities", "memories", "claims", "relations")),
        ("left out", len(converted.faults)),
        ("in part", len(converted.losses)),
        ("embedded", ingested.embedded + ingested.facts),
    ]
    problems = [f"left out: {fault}" for fault in (*converted.faults, *ingested.faults)]
    problems += [f"in part: {loss}" for loss in converted.losses]
    return Answer(encode(report), [*pairs(counts), *map(safe_text, problems)])


async def reembed(
    *,
    model: Annotated[
        str, Says("The embedder: wordllama, minilm, voyage, or a model of Voyage; not with --cancel.")
    ] = "",
    dry_run: Annotated[bool, Says("Only report what it takes.")] = False,
    restart: Annotated[bool, Says("Discard an unfinished change first.")] = False,
    cancel: Annotated[bool, Says("Discard an unfinished change, and stop.")] = False,
    per_second: Annotated[float | None, Says("The most texts to embed in a second.", 1e-6)] = None,
    batch: Annotated[int, Says("The most texts to embed at a time.", 1)] = BATCH,
    sample: Annotated[int, Says("Texts of each kind that --dry-run embeds to measure.", 0)] = SAMPLE,
    place: Place,
) -> Answer:
    """Change the embedding model."""
    if bool(model) == cancel:
        raise click.UsageError("give either --model or --cancel")
    embedder = embedder_called(model) if model else None
    async with open_caller(place) as caller:
        store = caller.engine.store
        if embedder is None:
            cancelled = await store.cancel_reembedding()
            return Answer({"cancelled": cancelled}, ["cancelled" if cancelled else "nothing was unfinished"])
        found = (
            await estimate_reembedding(store, embedder, sample=sample)
            if dry_run
            else await run(store, embedder, restart=restart, per_second=per_second, batch=batch, progress=_lines())
        )
    return Answer(encode(found), [*lines(found)])


def _lines() -> Progress:
    """Lines on standard error, one every few seconds, and the last."""
    last = -_EVERY_S

    def show(done: int, total: int, name: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY_S or done >= total:
            last = now
            click.echo(f"embedded {done} of {total}: {safe_text(name)}", err=True)

    return show

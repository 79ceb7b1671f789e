"""export and import: a whole scope to a file and back, and the exports of other memory layers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from graphsearch._support.files import STANDARD
from graphsearch.cli.commands import Answer, progress_bar
from graphsearch.cli.environment import Place, open_engine
from graphsearch.cli.output import as_json, pairs
from graphsearch.ingest import Ingestor
from graphsearch.moving import ExportFormat, detect_format, export_scope, import_export, import_scope
from graphsearch.text.rendering import safe_text


async def export(
    place: Place,
    file: Annotated[
        str, typer.Argument(help="The file to write, compressed if it ends in .gz; - for standard output.")
    ],
    vectors: Annotated[bool, typer.Option(help="Write the vectors of elements.")] = True,
) -> Answer:
    """Export the whole project to a file that `import` reads into any store."""
    async with open_engine(place) as engine:
        with progress_bar() as progress:
            report = await export_scope(engine.store, file, vectors=vectors, progress=progress)
    if file == STANDARD:  # where the records went
        return Answer({}, ())
    return Answer(as_json(report), (pairs([*report.counts.items(), ("vectors", report.vectors)]),))


async def import_(
    place: Place,
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="The export; - for standard input.")],
    format: Annotated[
        ExportFormat | None, typer.Option("--format", help="The format, where the files do not show it.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Remove what the project holds first.")] = False,
    embed: Annotated[
        bool, typer.Option("--embed", help="Embed texts with the model chosen here, unless the file has its vectors.")
    ] = False,
    group: Annotated[
        str | None, typer.Option(help="The group_id to import of Graphiti, where there are several.")
    ] = None,
) -> Answer:
    """Import an export of graphsearch into an empty project, or that of another memory layer into any."""
    known = format
    if known is None:
        standard = STANDARD in files
        known = ExportFormat.GRAPHSEARCH if standard else await asyncio.to_thread(detect_format, Path(files[0]))
    if known is not ExportFormat.GRAPHSEARCH:
        if replace:
            raise typer.BadParameter("--replace is for exports of graphsearch; others are added to the project")
        return await _foreign(place, files, known, group)
    if len(files) > 1 or group is not None:
        raise typer.BadParameter("an export of graphsearch is one file, without groups")
    async with open_engine(place, embed=embed) as engine:
        with progress_bar() as progress:
            report = await import_scope(
                engine.store, files[0], embedder=engine.embedder, replace=replace, progress=progress
            )
    more = [("vectors", report.vectors), ("embedded", report.embedded), ("library", report.library)]
    return Answer({"format": known.value, **as_json(report)}, (pairs([*report.counts.items(), *more]),))


async def _foreign(place: Place, files: list[str], known: ExportFormat, group: str | None) -> Answer:
    async with open_engine(place, embed=True) as engine:
        report = await import_export(Ingestor(engine), [Path(each) for each in files], format=known, group=group)
    converted, ingested = report.converted, report.ingested
    counts = [
        *((name, getattr(converted, name)) for name in ("entities", "memories", "claims", "relations")),
        ("left out", len(converted.faults)),
        ("in part", len(converted.losses)),
        ("embedded", ingested.embedded + ingested.facts),
    ]
    lines = [f"left out: {fault}" for fault in (*converted.faults, *ingested.faults)]
    lines += [f"in part: {loss}" for loss in converted.losses]
    return Answer(as_json(report), (pairs(counts), *map(safe_text, lines)))

"""export, import and reembed: a whole scope to a file and back, and another embedding model for it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from graphsearch._support.files import STANDARD
from graphsearch.cli.commands import progress_bar
from graphsearch.cli.environment import Place, embedder_called, open_caller
from graphsearch.cli.options import refuse
from graphsearch.ingest import Ingestor
from graphsearch.model.codec import Says
from graphsearch.moving import (
    ExportFormat,
    ExportReport,
    ForeignReport,
    ImportReport,
    detect_format,
    export_scope,
    import_export,
    import_scope,
)
from graphsearch.reembedding import ReembedEstimate, ReembedReport, estimate_reembedding
from graphsearch.reembedding import reembed as run
from graphsearch.reembedding.running import BATCH, SAMPLE


async def export(
    place: Place,
    file: Annotated[str, Says("The file to write, compressed if it ends in .gz; - for standard output.")],
    *,
    vectors: Annotated[bool, Says("Write the vectors of elements.")] = True,
) -> ExportReport | None:
    """Export the whole project to a file that `import` reads into any store."""
    async with open_caller(place) as caller:
        with progress_bar() as progress:
            report = await export_scope(caller.engine.store, file, vectors=vectors, progress=progress)
    return None if file == STANDARD else report  # that is where the records went


async def import_(
    place: Place,
    files: Annotated[tuple[str, ...], Says("The export; - for standard input."), {"required": True}],
    *,
    format: Annotated[ExportFormat | None, Says("The format, where the files do not show it.")] = None,
    replace: Annotated[bool, Says("Remove what the project holds first.")] = False,
    embed: Annotated[bool, Says("Embed texts with the model chosen here, unless the file has its vectors.")] = False,
    group: Annotated[str | None, Says("The group_id to import of Graphiti, where there are several.")] = None,
) -> ImportReport | ForeignReport:
    """Import an export of graphsearch into an empty project, or that of another memory layer into any."""
    first, *others = files
    known = format or (None if STANDARD in files else await asyncio.to_thread(detect_format, Path(first)))
    is_ours = known in (None, ExportFormat.GRAPHSEARCH)
    refuse(replace and not is_ours, "--replace is for exports of graphsearch; others are added to the project")
    refuse(is_ours and (others or group), "an export of graphsearch is one file, without groups")
    async with open_caller(place, embed=embed or not is_ours) as caller:
        if not is_ours:
            return await import_export(Ingestor(caller.engine), [*map(Path, files)], format=known, group=group)
        with progress_bar() as progress:
            return await import_scope(
                caller.engine.store, first, embedder=caller.engine.embedder, replace=replace, progress=progress
            )


async def reembed(
    place: Place,
    *,
    model: Annotated[str, Says("The embedder: wordllama, minilm, voyage, or a model of Voyage.")] = "",
    dry_run: Annotated[bool, Says("Only report what it takes.")] = False,
    restart: Annotated[bool, Says("Discard an unfinished change first.")] = False,
    cancel: Annotated[bool, Says("Discard an unfinished change, and stop; without --model.")] = False,
    per_second: Annotated[float | None, Says("The most texts to embed in a second.", 1e-6)] = None,
    batch: Annotated[int, Says("The most texts to embed at a time.", 1)] = BATCH,
    sample: Annotated[int, Says("Texts of each kind that --dry-run embeds to measure.", 0)] = SAMPLE,
) -> ReembedReport | ReembedEstimate | Mapping[str, bool]:
    """Change the embedding model: embed all texts again beside the old vectors, then switch at once."""
    refuse(bool(model) == cancel, "give either --model or --cancel")
    embedder = embedder_called(model) if model else None
    async with open_caller(place) as caller:
        if embedder is None:
            return {"cancelled": await caller.engine.store.cancel_reembedding()}
        if dry_run:
            return await estimate_reembedding(caller.engine.store, embedder, sample=sample)
        with progress_bar() as progress:
            return await run(
                caller.engine.store, embedder, restart=restart, per_second=per_second, batch=batch, progress=progress
            )

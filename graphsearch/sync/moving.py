"""Export and import, blocking. ``progress`` is called from another thread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graphsearch.access.gate import Gate
from graphsearch.ingest import Progress
from graphsearch.moving import exporting, importing
from graphsearch.moving.exporting import ExportReport
from graphsearch.moving.foreign import converting
from graphsearch.moving.foreign.converting import ExportFormat, ForeignReport
from graphsearch.moving.importing import ImportReport
from graphsearch.protocols import Embedder
from graphsearch.sync.bridge import BRIDGE
from graphsearch.sync.engine import Ingestor
from graphsearch.sync.facade import behind
from graphsearch.sync.stores import GraphStore


def export_scope(
    store: GraphStore,
    target: Path | str,
    *,
    gate: Gate | None = None,
    vectors: bool = True,
    progress: Progress | None = None,
) -> ExportReport:
    """As `graphsearch.export_scope`."""
    return BRIDGE.run(exporting.export_scope(behind(store), target, gate=gate, vectors=vectors, progress=progress))


def import_scope(
    store: GraphStore,
    source: Path | str,
    *,
    embedder: Embedder | None = None,
    gate: Gate | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """As `graphsearch.import_scope`."""
    result = importing.import_scope(
        behind(store), source, embedder=embedder, gate=gate, replace=replace, progress=progress
    )
    return BRIDGE.run(result)


def import_export(
    ingestor: Ingestor, files: Sequence[Path], *, format: ExportFormat | None = None, group: str | None = None
) -> ForeignReport:
    """As `graphsearch.import_export`."""
    return BRIDGE.run(converting.import_export(behind(ingestor), files, format=format, group=group))

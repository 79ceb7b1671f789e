"""Exports of other memory layers into a scope: recognised, converted, and ingested."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

import attrs

from graphsearch._support.files import UNREADABLE, opened
from graphsearch.errors import InvalidInputError
from graphsearch.ingest import Ingestor, IngestReport
from graphsearch.moving.foreign.conversion import Conversion, ConversionReport, Json, Line, first_objects, read_lines
from graphsearch.moving.foreign.formats import COGNEE, GRAPHITI, MEM0, ZEP

_LOOKED_AT: Final = 200
"""Objects at the beginning of a file by which its format is recognised."""


_LONGEST_HEADER: Final = 100_000


class ExportFormat(StrEnum):
    """The formats of exports."""

    GRAPHSEARCH = "graphsearch"
    MEM0 = "mem0"
    ZEP = "zep"
    GRAPHITI = "graphiti"
    COGNEE = "cognee"


_FORMATS: Final = {
    ExportFormat.MEM0: MEM0,
    ExportFormat.ZEP: ZEP,
    ExportFormat.GRAPHITI: GRAPHITI,
    ExportFormat.COGNEE: COGNEE,
}


@attrs.frozen(kw_only=True)
class ForeignReport:
    """What was converted of an export, with all that was left out or lost, and what was ingested of that."""

    format: ExportFormat
    converted: ConversionReport
    ingested: IngestReport


def detect_format(file: Path) -> ExportFormat:
    """The format of an export, by fields that no other format has.

    Raises `InvalidInputError` where the first objects do not decide it.
    """
    if _is_scope(file):
        return ExportFormat.GRAPHSEARCH
    for part, content in first_objects(file, _LOOKED_AT):
        found = _format_of(part, content)
        if found is not None:
            return found
    raise InvalidInputError("import", [f"{file} may be of several formats, or of none: name the format"])


def _is_scope(file: Path) -> bool:
    """Whether the first line is the header of a scope; the rest of the file, which may be large, is not read."""
    try:
        with opened(file) as stream:
            first = stream.readline(_LONGEST_HEADER)
    except UNREADABLE as error:
        raise InvalidInputError("import", [f"cannot read {file}: {error}"]) from error
    return first.startswith(b'{"graphsearch"')


def _format_of(part: str, content: Json) -> ExportFormat | None:
    names = content.keys()
    if "source_node_id" in names or "relationship_name" in names:
        return ExportFormat.COGNEE
    if isinstance(content.get("memory"), str) or {"source", "relationship"} <= names:
        return ExportFormat.MEM0
    if names & {"graph_uuid", "episode_uuids", "role_type", "thread_id", "messages"} or part == "messages":
        return ExportFormat.ZEP
    if "group_id" in names and names & {"uuid", "source_node_uuid"}:
        return ExportFormat.GRAPHITI
    return None


def convert_export(
    files: Sequence[Path], out: Path, format: ExportFormat, *, group: str | None = None
) -> ConversionReport:
    """Convert exports of one format into a file of JSON lines that `Ingestor.add` ingests, written as a whole.

    ``group`` chooses one of several groups of Graphiti, each of which belongs into a project of its own. Raises
    `InvalidInputError` for files that cannot be read or written, and where nothing can be converted.
    """
    if format is ExportFormat.GRAPHSEARCH:
        raise InvalidInputError("import", [f"{format} is not converted: import_scope reads it"])
    if group is not None and format is not ExportFormat.GRAPHITI:
        raise InvalidInputError("import", [f"{format} has no groups"])
    known = _FORMATS[format]
    lines, faults = read_lines(files, known)
    conversion = Conversion(known, faults)
    known.collect(_of_group(lines, group) if format is ExportFormat.GRAPHITI else lines, conversion)
    return conversion.write(out)


def _of_group(lines: list[Line], group: str | None) -> list[Line]:
    groups = sorted({line.text("group_id") for line in lines})
    if group is None and len(groups) > 1:
        named = ", ".join(map(repr, groups))
        raise InvalidInputError("export", [f"has the groups {named}: choose one, each is a project of its own"])
    return lines if group is None else [line for line in lines if line.text("group_id") == group]


async def import_export(
    ingestor: Ingestor, files: Sequence[Path], *, format: ExportFormat | None = None, group: str | None = None
) -> ForeignReport:
    """Import an export of another memory layer, of one file or several: convert it, and ingest what it holds.

    Texts whose extraction the export has are not extracted again. Importing a newer export of the same name (of the
    first file) writes what changed and forgets what is gone. ``format`` is recognised where that is certain. Raises
    `InvalidInputError` for a file that cannot be read, or of which nothing can be converted, and what `Ingestor.add`
    raises.
    """
    if not files:
        raise InvalidInputError("import", ["there must be a file"])
    first = files[0]
    known = await asyncio.to_thread(detect_format, first) if format is None else format
    with tempfile.TemporaryDirectory(prefix="graphsearch-") as folder:
        out = Path(folder) / f"{first.name.split('.')[0]}.jsonl"
        converted = await asyncio.to_thread(convert_export, files, out, known, group=group)
        ingested = await ingestor.add(out, name=f"{known}:{first.name}")
    return ForeignReport(format=known, converted=converted, ingested=ingested)

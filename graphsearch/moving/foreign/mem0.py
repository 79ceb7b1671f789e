"""Exports of mem0: what ``get_all`` returns, its memories and the relations of its graph.

A memory has id, memory (its text), user_id, agent_id, app_id, run_id, metadata, categories, created_at and updated_at;
a relation has source, relationship and target, each a name. A file is the document with ``results`` and ``relations``,
a list of objects, or one object a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from graphsearch.moving.foreign.conversion import Conversion, ConversionReport, Format, Line, present, read_lines

IDS: Final = ("user_id", "agent_id", "app_id", "actor_id")
"""Whom a memory is of: kept as attributes. Those of a relation are left out: a scope is one graph."""
FORMAT: Final = Format(
    texts="id memory run_id source relationship relation target destination source_type target_type",
    lists="categories",
    objects="metadata",
    silent="id hash score embedding vector text role run_id user_id agent_id app_id actor_id",
)


def convert(files: Sequence[Path], out: Path) -> ConversionReport:
    """Convert the files and write ``out`` atomically.

    * A memory keeps its id and text, dated by ``created_at``; ``run_id`` is its session, ``categories`` its labels, and
      ``metadata`` with ``user_id``, ``agent_id``, ``app_id`` and ``updated_at`` its attributes. mem0 does not record
      what it extracted from which memory, so the text goes through extraction.
    * A relation is one of the file, between entities of type "thing" unless it states others: mem0 does not record
      which memory it was extracted from. Its names have spaces in place of underscores.

    Raises `InvalidInputError` if a file cannot be read or written, or nothing can be converted.
    """
    lines, faults = read_lines(files, FORMAT)
    conversion = Conversion(FORMAT, faults)
    for line in lines:
        if "memory" in line.content:
            _memory(line, conversion)
        elif "source" in line.content:
            _relation(line, conversion)
        else:
            conversion.leave_out(line, "is neither a memory nor a relation")
    return conversion.write(out)


def _memory(line: Line, conversion: Conversion) -> None:
    attributes = {
        **(line.get("metadata") or {}),
        **present(**{name: line.get(name) for name in IDS}, mem0_updated_at=line.get("updated_at")),
    }
    fields = present(
        text=line.get("memory"),
        session_id=line.get("run_id"),
        occurred_at=line.get("created_at"),
        labels=line.get("categories"),
        attributes=attributes,
    )
    if conversion.memory(line, line.text("id"), fields, extracted=False):
        conversion.lose_rest(line)


def _relation(line: Line, conversion: Conversion) -> None:
    source = {"type": line.text("source_type") or "thing", "name": _name(line.text("source"))}
    reached = line.text("target") or line.text("destination")
    target = {"type": line.text("target_type") or "thing", "name": _name(reached)}
    fields = {"type": line.text("relationship") or line.text("relation")}
    if conversion.relation(line, source, target, fields, ()):
        conversion.lose_rest(line)


def _name(written: str) -> str:
    return written.replace("_", " ").strip()

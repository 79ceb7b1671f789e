"""Stand-ins until the parts are merged."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from lean.clauses import Sentence
from lean.references import Context, Named
from lean.statements import Reader, Stated

from graphsearch.text.dates import DateSpan

__all__ = ["Context", "Named", "Stated", "read_line", "read_sentence"]


def read_sentence(
    read: Any, first: int, stop: int, context: Context, dates: Sequence[DateSpan], at: datetime | None
) -> list[Stated]:
    return Reader(Sentence(read, first, stop, spoken=bool(context.speaker)), context, dates, at).read()


def read_line(line: str) -> object:
    return line

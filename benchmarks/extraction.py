"""Precision, recall and speed of the reader of texts on labelled sentences: `python -m benchmarks.extraction [FILE]`.

FILE is JSON lines of {"text": …, "speaker": …, "says": [[source, type, target, from, to], …]}, dates as YYYY-MM-DD, or
null if the text says none, each text of 15 May 2024. A statement counts as correct if all five fields are;
co-occurrence is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.measuring import rounded
from graphsearch.claims.folding import EARLIEST
from graphsearch.ingest.reading.assembling import CO_OCCURS
from graphsearch.ingest.reading.extractor import TextExtractor
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory
from graphsearch.protocols import Extractor

LABELLED: Final = Path(__file__).parents[1] / "tests" / "ingest" / "reading" / "data" / "statements.jsonl"
AT: Final = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)
PRECISION: Final = 0.9
RECALL: Final = 0.8
MILLISECONDS: Final = 0.4
_ROUNDS: Final = 7

Triple = tuple[str | None, ...]


def labelled(path: Path = LABELLED) -> list[dict[str, Any]]:
    """The lines of a labelled set."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


async def measure(rows: Sequence[dict[str, Any]], extractor: Extractor) -> dict[str, Any]:
    """Precision, recall and processor time per memory, with every statement that was wrong or missed."""
    memories = [
        Memory(id=str(number), text=row["text"], speaker=row.get("speaker", ""), occurred_at=AT)
        for number, row in enumerate(rows)
    ]
    extracted = await extractor.extract(memories)
    right = wrong = missed = 0
    faults = []
    for row, found in zip(rows, extracted, strict=True):
        expected, stated = {tuple(each) for each in row["says"]}, triples(found)
        right += len(expected & stated)
        wrong += len(stated - expected)
        missed += len(expected - stated)
        if expected != stated:
            faults.append(
                {"text": row["text"], "wrong": _sorted(stated - expected), "missed": _sorted(expected - stated)}
            )
    cost = min([await _cost(extractor, memories) for _ in range(_ROUNDS)])
    precision, recall = right / max(1, right + wrong), right / max(1, right + missed)
    return {
        "benchmark": "extraction",
        "memories": len(rows),
        "statements": right + missed,
        "precision": rounded(precision),
        "recall": rounded(recall),
        "words_a_memory": rounded(sum(len(row["text"].split()) for row in rows) / max(1, len(rows))),
        "cpu_ms_a_memory": rounded(cost / max(1, len(rows))),
        "target": f"precision >= {PRECISION}, recall >= {RECALL}, <= {MILLISECONDS} ms",
        "met": precision >= PRECISION and recall >= RECALL and cost <= MILLISECONDS * len(rows),
        "faults": faults,
    }


def triples(found: ExtractedMemory) -> set[Triple]:
    """The statements of a text, in the form of the labels."""
    return {
        (each.source.name, each.type, each.target.name, _day(each.valid_from), _day(each.valid_to))
        for each in found.statements
        if each.type != CO_OCCURS
    }


def _day(moment: datetime | None) -> str | None:
    return None if moment is None or moment == EARLIEST else date.isoformat(moment)[:10]


def _sorted(found: set[Triple]) -> list[Triple]:
    return sorted(found, key=str)


async def _cost(extractor: Extractor, memories: Sequence[Memory]) -> float:
    """Milliseconds of processor time of the process, since the extractor works in a thread."""
    start = time.process_time()
    await extractor.extract(memories)
    return 1e3 * (time.process_time() - start)


def main(given: Sequence[str] | None = None) -> None:
    """Print the figures; without ``--json`` each fault on its own line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.extraction", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=LABELLED, metavar="FILE")
    parser.add_argument("--json", action="store_true", help="everything on one line")
    options = parser.parse_args(given)
    report = asyncio.run(measure(labelled(options.file), TextExtractor()))
    if options.json:
        print(json.dumps(report, ensure_ascii=False))
        return
    for fault in report.pop("faults"):
        print(
            fault["text"],
            *(f"\n  wrong  {each}" for each in fault["wrong"]),
            *(f"\n  missed {each}" for each in fault["missed"]),
        )
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()

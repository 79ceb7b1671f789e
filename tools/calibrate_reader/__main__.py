"""Fit the shares of confidence of the reader of texts to statements that were judged by hand.

usage: python -m tools.calibrate_reader TEXTS.jsonl JUDGED.jsonl

A line of TEXTS is a memory: "id", "text", "set" (its source), and where known "speaker", "session", "time" and "title".
A line of JUDGED is a statement: "id" of its memory, "source", "type", "target", and "right", from 0 to 1.

Prints the share of each part, fitted on all sources, and the share of right statements by band of confidence, where
each source is left out of the fit of its own. A confidence is the product of the shares of what holds of a statement.
So how often a part counts is read off by reading with that share at one half, and all others at one.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from graphsearch.ingest.reading import references, statements
from graphsearch.ingest.reading.extractor import TextExtractor
from graphsearch.model import Memory

PARTS: Final[Sequence[tuple[ModuleType, str]]] = (
    *((statements, name) for name in ("_GUESSED", "_DESCRIBING", "_COMMON", "_PARTED", "_LONG", "_HEARSAY")),
    *((references, name) for name in ("_NEAR", "_TITLE", "_ELSEWHERE")),
)
BANDS: Final = ((0.8, 1.01), (0.7, 0.8), (0.6, 0.7), (0.0, 0.6))
STEPS: Final = 4000
Vector = NDArray[np.float64]
Key = tuple[str, str, str, str]


def lines(path: str) -> list[dict[str, Any]]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def memory(row: Mapping[str, Any], place: int) -> Memory:
    """A memory of a line."""
    return Memory(
        id=row["id"],
        text=row["text"],
        subject=row.get("title", ""),
        speaker=row.get("speaker", ""),
        session_id=row.get("session", ""),
        occurred_at=datetime.fromisoformat(row["time"]) if row.get("time") else None,
        position=place,
    )


@contextmanager
def shares(halved: str) -> Iterator[None]:
    """Let all shares be one, but for that of a part, which is one half."""
    before = [(module, name, getattr(module, name)) for module, name in (*PARTS, (statements, "_CLEAR"))]
    try:
        for module, name, _ in before:
            setattr(module, name, 0.5 if name == halved else 1.0)
        yield
    finally:
        for module, name, share in before:
            setattr(module, name, share)


def confidences(memories: Sequence[Memory]) -> dict[Key, float]:
    """The confidence of each statement of some texts."""
    found = asyncio.run(TextExtractor(min_confidence=0.0).extract(memories))
    return {
        (each.memory_id, one.source.name.casefold(), one.type, one.target.name.casefold()): one.confidence
        for each in found
        for one in each.statements
    }


def fit(counts: Vector, right: Vector, weights: Vector) -> Vector:
    """The logarithms of the shares, the first that of statements of which no part counts; none is above one."""
    logs = np.full(counts.shape[1], -0.2)
    mean, spread = np.zeros_like(logs), np.zeros_like(logs)
    for step in range(1, STEPS + 1):
        expected = np.clip(np.exp(counts @ logs), 1e-4, 0.985)
        slope = counts.T @ (weights * (right - expected) / (1 - expected))
        slope[1:] -= 2.0 * logs[1:]  # few have been judged of some parts
        mean, spread = 0.9 * mean + 0.1 * slope, 0.999 * spread + 0.001 * slope**2
        rate = 0.02 if 2 * step < STEPS else 0.004
        logs = np.minimum(logs + rate * mean / (1 - 0.9**step) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-9), 0)
    return logs


def main(texts: str, judged: str) -> None:
    """Read, fit and print."""
    rows = lines(texts)
    memories = [memory(row, place) for place, row in enumerate(rows)]
    sources = {row["id"]: row["set"] for row in rows}
    verdicts = {
        (row["id"], row["source"].casefold(), row["type"], row["target"].casefold()): row for row in lines(judged)
    }
    read: list[dict[Key, float]] = []
    for _, name in PARTS:
        with shares(name):
            read.append(confidences(memories))
    keys = [key for key in verdicts if all(each.get(key) for each in read)]
    counts = np.array([[1.0, *(round(-math.log2(each[key])) for each in read)] for key in keys])
    right = np.array([float(verdicts[key]["right"]) for key in keys])
    together = Counter((key[0], key[2]) for key in keys)  # those of one list are one finding
    weights = np.array([together[key[0], key[2]] ** -0.5 for key in keys])
    for name, share in zip(("_CLEAR", *(name for _, name in PARTS)), np.exp(fit(counts, right, weights)), strict=True):
        sys.stdout.write(f"{name:12} {share:.2f}\n")
    left_out = np.zeros(len(keys))
    for source in {*sources.values()}:
        own = np.array([sources[key[0]] == source for key in keys])
        if own.any():
            left_out[own] = np.exp(counts[own] @ fit(counts[~own], right[~own], weights[~own]))
    for low, high in BANDS:
        some = right[(left_out >= low) & (left_out < high)]
        sys.stdout.write(f"{low:.1f} to {min(high, 1):.1f}: {some.sum():.1f} of {len(some)} right\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

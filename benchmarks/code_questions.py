"""The first lines of blocks about packages of Python.

    python -m benchmarks.code_questions FOLDER [--package NAME]…

FOLDER holds unpacked packages (`pip download --no-deps`, then unzip). ``data/code_questions.jsonl`` has questions on
their public names, in three sets that were written before any answer was looked at: each with the texts that the first
line of a right block has, all of one of the lists. They are answered as by the README: default policies, WordLlama.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from graphsearch import (
    CedarAuthorizer,
    ContextBuilder,
    Gate,
    GraphSearchEngine,
    Ingestor,
    InMemoryGraphStore,
    Principal,
    WordLlamaEmbedder,
)

QUESTIONS: Final = Path(__file__).parent / "data" / "code_questions.jsonl"


def is_right(line: str, wanted: Sequence[Sequence[str]]) -> bool:
    """Whether a line has all texts of one list, each as whole names."""
    return any(all(re.search(re.escape(text) + r"(?![\w.])", line) for text in texts) for texts in wanted)


async def first_lines(folder: Path, questions: Sequence[str]) -> list[str]:
    """The first line of the block for each question about one package; empty if nothing is shown."""
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    engine = GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())
    await Ingestor(engine).add(folder)
    gate = Gate(CedarAuthorizer.default(), Principal(id="ada", projects=[store.scope]))
    blocks = [await ContextBuilder(engine).build(each, gate=gate, session_id="s") for each in questions]
    shown = ([line for line in block.text.splitlines() if line.startswith("- ")] for block in blocks)
    return [lines[0] if lines else "" for lines in shown]


async def measure(folder: Path, packages: Sequence[str]) -> Mapping[str, Any]:
    """The right first lines by set, of all questions on the packages that are there."""
    asked = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    right: Counter[str] = Counter()
    every: Counter[str] = Counter()
    wrong = {}
    for package in packages or sorted({each["package"] for each in asked}):
        about = [each for each in asked if each["package"] == package and (folder / package).is_dir()]
        lines = await first_lines(folder / package, [each["question"] for each in about]) if about else []
        for each, line in zip(about, lines, strict=True):
            every[each["set"]] += 1
            right[each["set"]] += is_right(line, each["first"])
            if not is_right(line, each["first"]):
                wrong[each["question"]] = line
    return {"right": {name: f"{right[name]} of {number}" for name, number in every.items()}, "wrong": wrong}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--package", action="append", default=[])
    given = parser.parse_args()
    print(json.dumps(asyncio.run(measure(given.folder, given.package)), indent=2))

"""Quality of resolution: pairwise precision ≥ 0.98 and recall ≥ 0.90 on labelled surface forms.

    python -m benchmarks.resolution [FILE …] [--embedder] [--one-by-one] [--json]

A file has one surface form per line, {"surface": …, "type": …, "entity": …}, in any order. It is resolved as one batch,
as one ingest would, into an empty scope. Every two lines are a pair, predicted positive if they get one entity,
labelled positive if their ``entity`` is the same.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from benchmarks.command import show
from benchmarks.listed_names import ListedNames
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.errors import InvalidInputError
from graphsearch.ingest.resolve.cascade import Resolver
from graphsearch.ingest.resolve.resolution import Resolution, ResolutionCounts
from graphsearch.model.extracted import ExtractedName
from graphsearch.protocols import Embedder

DATA: Final = Path(__file__).parent / "data"
FILES: Final = tuple(DATA / f"resolution{name}.jsonl" for name in ("", "_second", "_held_out", "_fourth", "_fifth"))
PRECISION: Final = 0.98
RECALL: Final = 0.90


@attrs.frozen(kw_only=True)
class Labelled:
    """A line of a file: a surface form and the entity that it denotes."""

    surface: ExtractedName
    entity: str


def read(path: Path) -> list[Labelled]:
    """The lines of a file; `InvalidInputError` names every invalid line."""
    found: list[Labelled] = []
    faults: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                given = json.loads(line)
                name, type_, entity = given["surface"], given["type"], given["entity"]
            except (ValueError, KeyError, TypeError) as error:
                faults.append(f"line {number}: {error!r}")
                continue
            surface = ExtractedName(name=name, type=type_, span=None, confidence=1.0, pattern="label")
            found.append(Labelled(surface=surface, entity=str(entity)))
    if faults:
        raise InvalidInputError(str(path), faults)
    return found


async def resolved(lines: Sequence[Labelled], *, embedder: Embedder | None, one_by_one: bool) -> list[Resolution]:
    """The lines' resolutions in an empty scope, in one batch, or as a stream of batches of one."""
    names = ListedNames()
    found: list[Resolution] = []
    for batch in [[line] for line in lines] if one_by_one else [lines]:
        resolver = Resolver(names, embedder=embedder)
        for resolution in await resolver.resolve([line.surface for line in batch]):
            found.append(resolution)
            known = names.entities.get(resolution.entity.id, resolution.entity)
            names.add(attrs.evolve(resolution.entity, aliases=(*known.aliases, resolution.surface.name)))
    return found


def pairwise(labels: Iterable[Hashable], predicted: Iterable[Hashable]) -> dict[str, Any]:
    """Precision and recall over pairs of lines; 1 if there is no pair."""
    both = list(zip(labels, predicted, strict=True))
    shared = _pairs(both)
    labelled = _pairs(label for label, _ in both)
    found = _pairs(entity for _, entity in both)
    return {
        "forms": len(both),
        "labelled_pairs": labelled,
        "predicted_pairs": found,
        "precision": round(shared / found, 4) if found else 1.0,
        "recall": round(shared / labelled, 4) if labelled else 1.0,
    }


def _pairs(items: Iterable[Hashable]) -> int:
    return sum(count * (count - 1) // 2 for count in Counter(items).values())


def by(lines: Sequence[Labelled], found: Sequence[Resolution], of: Callable[[Labelled, Resolution], str]) -> Any:
    """`pairwise` within each group of lines."""
    groups: defaultdict[str, list[tuple[str, Hashable]]] = defaultdict(list)
    for line, resolution in zip(lines, found, strict=True):
        groups[of(line, resolution)].append((line.entity, resolution.entity.id))
    return {name: pairwise(*zip(*pairs, strict=True)) for name, pairs in sorted(groups.items())}


def by_stage(lines: Sequence[Labelled], found: Sequence[Resolution]) -> dict[str, Any]:
    """For each stage the number of lines it decided, and how many of them agree with most lines of their entity."""
    votes: defaultdict[object, Counter[str]] = defaultdict(Counter)
    for line, resolution in zip(lines, found, strict=True):
        votes[resolution.entity.id][line.entity] += 1
    decided: Counter[str] = Counter(resolution.stage for resolution in found)
    right: Counter[str] = Counter(
        resolution.stage
        for line, resolution in zip(lines, found, strict=True)
        if votes[resolution.entity.id].most_common(1)[0][0] == line.entity
    )
    return {stage: {"forms": count, "right": right[stage]} for stage, count in sorted(decided.items())}


def mistakes(lines: Sequence[Labelled], found: Sequence[Resolution]) -> dict[str, list[str]]:
    """Entities that were wrongly merged, and those that were wrongly split, with their forms."""
    together: defaultdict[object, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    apart: defaultdict[str, defaultdict[object, list[str]]] = defaultdict(lambda: defaultdict(list))
    for line, resolution in zip(lines, found, strict=True):
        form = f"{line.surface.name} [{resolution.stage}]"
        together[resolution.entity.id][line.entity].append(form)
        apart[line.entity][resolution.entity.id].append(form)
    return {
        "together": [_described(groups) for groups in together.values() if len(groups) > 1],
        "apart": [_described(groups) for groups in apart.values() if len(groups) > 1],
    }


def _described(groups: dict[Any, list[str]]) -> str:
    return " | ".join(", ".join(forms) for forms in groups.values())


async def measure(path: Path, *, embedder: Embedder | None = None, one_by_one: bool = False) -> dict[str, Any]:
    """The report on one file."""
    lines = read(path)
    found = await resolved(lines, embedder=embedder, one_by_one=one_by_one)
    counts = ResolutionCounts.of(found)
    total = pairwise([line.entity for line in lines], [each.entity.id for each in found])
    return {
        "benchmark": "resolution",
        "file": path.name,
        "embedder": embedder.name if embedder else None,
        "batch": "one by one" if one_by_one else "whole",
        **total,
        "target": f"precision >= {PRECISION}, recall >= {RECALL}",
        "met": total["precision"] >= PRECISION and total["recall"] >= RECALL,
        "by_type": by(lines, found, lambda line, _: line.surface.type),
        "by_stage": by_stage(lines, found),
        "fail_rate": round(counts.fail_rate, 4),
        "fail_rate_of_exact_ids": round(counts.baseline, 4),
        "mistakes": mistakes(lines, found),
    }


def main(given: Sequence[str] | None = None) -> None:
    """Print one report per file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "files", metavar="FILE", type=Path, nargs="*", default=FILES, help="labelled forms, a line each"
    )
    parser.add_argument("--embedder", action="store_true", help="with the local embedding model")
    parser.add_argument("--one-by-one", action="store_true", help="each line as a batch of its own, in order")
    parser.add_argument("--json", action="store_true", help="one line an object, for programs")
    options = parser.parse_args(given)
    embedder = WordLlamaEmbedder() if options.embedder else None
    for path in options.files:
        show(asyncio.run(measure(path, embedder=embedder, one_by_one=options.one_by_one)), compact=options.json)


if __name__ == "__main__":
    main()

"""Recall and precision of facts over whole texts, after resolution: python -m benchmarks.facts FILE … [--json].

A FILE is JSON lines: first {"people": […], "tools": […], "user": …}; then {"text": …, "at": …, "speaker": …} for each
turn or note, or {"document": id, "text": …, "at": …} for a Markdown document; and {"fact": [source, type, target, from,
to]} for each fact, dates as YYYY-MM-DD or null, with "optional": true if it may be left out. The texts of a file are
remembered as one call, without an embedder.

An end of a fact counts where its entity has the gold name as its name or as an alias; ``dates`` is the share of the
facts found whose gold dates are all found. Co-occurrence and what the texts themselves retract, are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import attrs

from benchmarks.asking import SCOPE
from benchmarks.measuring import rounded
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.ingest.reading.assembling import CO_OCCURS
from graphsearch.ingest.reading.extractor import TextExtractor
from graphsearch.ingest.sources.documents import document_memories
from graphsearch.model import Claim, Entity, Memory
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore

GOLD: Final = Path(__file__).parents[1] / "tests" / "ingest" / "reading" / "data" / "texts"
_PAGE: Final = 1000

Triple = tuple[UUID, str, UUID]


@attrs.frozen
class GoldText:
    """A text with its gold: the memories, names of people and tools, the user, and the facts."""

    name: str
    memories: tuple[Memory, ...]
    people: tuple[str, ...]
    tools: tuple[str, ...]
    user: str
    facts: tuple[tuple[tuple[str, str, str], tuple[str | None, str | None], bool], ...]
    """Source, type and target; start and end; whether the fact may be left out."""


def gold_text(path: Path) -> GoldText:
    """A file of the format above."""
    head, *lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    memories: list[Memory] = []
    for number, line in enumerate(line for line in lines if "text" in line):
        at = datetime.fromisoformat(line["at"]).replace(tzinfo=UTC)
        if "document" in line:
            memories += document_memories(
                line["text"], document_id=line["document"], source=line["document"], occurred_at=at
            )
        else:
            memories.append(
                Memory(
                    id=f"{path.stem}-{number}",
                    text=line["text"],
                    speaker=line.get("speaker", ""),
                    session_id=path.stem,
                    position=number,
                    occurred_at=at,
                )
            )
    facts = [(each["fact"], each.get("optional", False)) for each in lines if "fact" in each]
    return GoldText(
        path.stem,
        tuple(memories),
        tuple(head.get("people", ())),
        tuple(head.get("tools", ())),
        head.get("user", ""),
        tuple(((fact[0], fact[1], fact[2]), (fact[3], fact[4]), optional) for fact, optional in facts),
    )


@attrs.frozen
class _Graph:
    """What was read from a text: entities, and the claims behind each triple."""

    entities: Mapping[UUID, Entity]
    claims: Mapping[Triple, Sequence[Claim]]

    def named(self, name: str) -> list[Entity]:
        """The entities with a name or alias, in any case."""
        key = name.casefold()
        return [
            each
            for each in self.entities.values()
            if key in (each.name.casefold(), *(alias.casefold() for alias in each.aliases))
        ]

    def found(self, fact: tuple[str, str, str]) -> list[Triple]:
        """The triples that state a fact."""
        ends = [(source.id, target.id) for source in self.named(fact[0]) for target in self.named(fact[2])]
        return [triple for source, target in ends if (triple := (source, fact[1], target)) in self.claims]

    def written(self, triple: Triple) -> str:
        """A triple by its names."""
        return f"{self.entities[triple[0]].name} {triple[1]} {self.entities[triple[2]].name}"


async def _read(gold: GoldText) -> _Graph:
    store: GraphStore = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    extractor = TextExtractor(user=gold.user) if gold.user else TextExtractor()
    await Ingestor(GraphSearchEngine(store=store), extractor=extractor).remember(gold.memories)
    entities = {each.id: each for each in await store.list_entities(limit=_PAGE)}
    claims: dict[Triple, list[Claim]] = {}
    for claim in await store.list_claims(memory_ids=[each.id for each in gold.memories]):
        if claim.type != CO_OCCURS and not (claim.valid_from and claim.valid_from == claim.valid_to):
            claims.setdefault((claim.source_id, claim.type, claim.target_id), []).append(claim)
    return _Graph(entities, claims)


def measure(gold: GoldText) -> dict[str, Any]:
    """The figures of one text, with the facts that were missed and those that are wrong."""
    graph = asyncio.run(_read(gold))
    right: set[Triple] = set()
    missed: list[str] = []
    needed = dated = on_time = 0
    for fact, period, optional in gold.facts:
        triples = graph.found(fact)
        right.update(triples)
        needed += not optional
        if not triples and not optional:
            missed.append(" ".join(fact))
        if triples and any(period):
            dated += 1
            on_time += _on_time(period, [claim for triple in triples for claim in graph.claims[triple]])
    wrong = [graph.written(triple) for triple in graph.claims if triple not in right]
    persons = {each.id for each in graph.entities.values() if each.type == "person"}
    people = {each.id for name in gold.people for each in graph.named(name)}
    return {
        "text": gold.name,
        "facts": needed,
        "recall": _share(needed - len(missed), needed),
        "precision": _share(len(right), len(graph.claims)),
        "dates": _share(on_time, dated),
        "people": _typed(graph, gold.people, "person"),
        "tools": _typed(graph, gold.tools, "tool"),
        "missed": missed,
        "wrong": sorted(wrong),
        "no_people": sorted(graph.entities[each].name for each in persons - people),
    }


def _typed(graph: _Graph, names: Sequence[str], type: str) -> float:
    """The share of names that have an entity of a type."""
    return _share(sum(any(each.type == type for each in graph.named(name)) for name in names), len(names))


def _on_time(period: tuple[str | None, str | None], claims: Iterable[Claim]) -> bool:
    found = [*claims]
    starts = {None if each.valid_from is None else each.valid_from.date().isoformat() for each in found}
    ends = {None if each.valid_to is None else each.valid_to.date().isoformat() for each in found}
    return (period[0] is None or period[0] in starts) and (period[1] is None or period[1] in ends)


def _share(part: int, whole: int) -> float:
    return rounded(part / whole) if whole else 1.0


def main(given: Sequence[str] | None = None) -> None:
    """Print the figures of each file; without ``--json`` the faults of each as well."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.facts", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=sorted(GOLD.glob("*.jsonl")), metavar="FILE")
    parser.add_argument("--json", action="store_true", help="the figures without the faults, a line each")
    options = parser.parse_args(given)
    for path in options.files:
        report = measure(gold_text(path))
        faults = [(name, report.pop(name)) for name in ("missed", "wrong", "no_people")]
        sys.stdout.write(json.dumps(report, ensure_ascii=False) + "\n")
        for name, listed in faults if not options.json else ():
            sys.stdout.writelines(f"  {name}: {each}\n" for each in listed)


if __name__ == "__main__":
    main()

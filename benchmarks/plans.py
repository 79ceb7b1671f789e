"""What constants of recall change for questions of each plan, on a question set.

    python -m benchmarks.plans FOLDER [FIELD]

FOLDER has corpus.jsonl and questions.jsonl as `graphsearch.evaluation.question_set` reads them; FIELD is that by which
both are grouped, such as "conversation". Every question is asked with each of `VARIANTS`, with WordLlama and in memory.
Per plan: the number of questions, and by measure (recall of evidence among the first 2, 5 and 10, reciprocal rank of
the first) what the default has in percent, what a variant changes in points, and the numbers of questions that are
better and worse by it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.evaluator import fresh_scope, memories_of
from graphsearch.evaluation.question_set import QuestionSet, read_question_set
from graphsearch.ingest import Ingestor
from graphsearch.protocols import Embedder
from graphsearch.ranking.recall_result import RecallScoring
from graphsearch.stores.memory import InMemoryGraphStore

DEFAULT: Final = RecallScoring()
VARIANTS: Final[Mapping[str, RecallScoring]] = {
    "text_share x 1/2": RecallScoring(text_share=DEFAULT.text_share / 2),
    "restart x 2/3": RecallScoring(restart=DEFAULT.restart * 2 / 3),
    "both": RecallScoring(text_share=DEFAULT.text_share / 2, restart=DEFAULT.restart * 2 / 3),
}
KS: Final = (2, 5, 10)

Measures = Mapping[str, float]
Asked = tuple[str, Measures, Mapping[str, Measures]]
"""A question: its plan, its measures by default, and by each variant."""


def measures(found: Sequence[str], gold: Sequence[str]) -> Measures:
    """R@k for each of `KS`, and the reciprocal rank of the first evidence, 0 if none is found."""
    recall = {f"R@{k}": len({*found[:k]}.intersection(gold)) / len(gold) for k in KS}
    ranks = (1.0 / rank for rank, id_ in enumerate(found, start=1) if id_ in gold)
    return {**recall, "RR": next(ranks, 0.0)}


def by_plan(asked: Iterable[Asked]) -> dict[str, Any]:
    """The changes by plan, and for all questions together."""
    groups: defaultdict[str, list[Asked]] = defaultdict(list)
    for each in asked:
        groups["all"].append(each)
        groups[each[0]].append(each)
    return {plan: _changes(groups[plan]) for plan in sorted(groups)}


def _changes(asked: Sequence[Asked]) -> dict[str, Any]:
    names = [*asked[0][1]]
    default = {name: round(100.0 * sum(first[name] for _, first, _ in asked) / len(asked), 2) for name in names}
    variants = {
        variant: {name: _change([others[variant][name] - first[name] for _, first, others in asked]) for name in names}
        for variant in asked[0][2]
    }
    return {"questions": len(asked), "default": default, "changes": variants}


def _change(differences: Sequence[float]) -> dict[str, float]:
    better, worse = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    return {"points": round(100.0 * sum(differences) / len(differences), 2), "better": better, "worse": worse}


async def measure(given: QuestionSet, group_by: str | None, embedder: Embedder | None) -> dict[str, Any]:
    """Ask every question that has evidence, by default and with each variant."""
    asked = []
    for part in given.grouped_by(group_by).values() if group_by else (given,):
        async with fresh_scope(InMemoryGraphStore()) as store:
            await Ingestor(GraphSearchEngine(store=store, embedder=embedder)).remember(memories_of(part.passages))
            engines = {
                name: GraphSearchEngine(store=store, embedder=embedder, recall_scoring=scoring)
                for name, scoring in {"default": DEFAULT, **VARIANTS}.items()
            }
            times = [passage.time for passage in part.passages if passage.time]
            as_of = max([*times, store.clock.now()])
            for question in part.questions:
                if not question.gold:
                    continue
                found = {name: await engine.recall(question.question, as_of=as_of) for name, engine in engines.items()}
                each = {
                    name: measures([shown.memory.id for shown in result.memories], sorted(question.gold))
                    for name, result in found.items()
                }
                asked.append((str(found["default"].analysis.plan), each.pop("default"), each))
    return {"benchmark": "plans", **by_plan(asked)}


def main() -> None:
    """Measure a folder and print JSON."""
    if not sys.argv[1:]:
        raise SystemExit(__doc__)
    folder, group_by = Path(sys.argv[1]), next(iter(sys.argv[2:]), None)
    given = read_question_set(folder / "corpus.jsonl", folder / "questions.jsonl")
    sys.stdout.write(json.dumps(asyncio.run(measure(given, group_by, WordLlamaEmbedder()))) + "\n")


if __name__ == "__main__":
    main()
